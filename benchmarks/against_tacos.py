"""All-Gather on tori: our best schedules beside those that TACOS 1.3.0 synthesized.

TACOS plans every message on every link of the torus. Here chunks are planned on dimensions: rings, all links of an NPU
taken together, so that with two links per dimension a ring has twice the bandwidth of a link. In TACOS a message keeps
its link busy for latency and transfer, as a stage does its dimension under exclusive occupancy: that comparison counts.
It favours TACOS: a ring of P costs P - 1 latencies here, although its two directions could meet half way. Pipelined
occupancy is printed beside it. Exits 1 unless every exclusive schedule is faster and the geometric mean reaches its
limit.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from checks import Check, report
from solves import AutoSolver, Solved

from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.network import Dimension, Network, Topology
from themis_opt.timing.metrics import geometric_mean

DATA = Path(__file__).parent / "data" / "tacos_times.json"

MAX_CHUNKS = 16
STOP_GAP = 1e-4
MIN_GEOMETRIC_MEAN = 1.03
GIB = 2**30
PS_PER_NS = 1000


@dataclass(frozen=True, slots=True)
class Record:
    """One torus and the time of TACOS on it.

    Attributes
    ----------
    instance
        The same problem here, exclusive occupancy.
    name
        The torus in words.
    theirs_us
        The best time of TACOS [us].
    """

    instance: Instance
    name: str
    theirs_us: float

    def with_occupancy(self, occupancy: Occupancy) -> Instance:
        """Return the instance with another occupancy."""
        here = self.instance
        return Instance(here.network, here.collective, here.size_bytes, here.num_chunks, occupancy)


def recorded() -> list[Record]:
    """Return the recorded tori as our instances."""
    records = []
    for record in json.loads(DATA.read_text())["records"]:
        bandwidths = record["bandwidth_per_link_GiBps"]
        dimensions = tuple(
            Dimension(
                Topology.RING,
                size,
                Fraction(record["links_per_npu_per_dimension"] * bandwidth * GIB),
                Fraction(record["latency_ns"] * PS_PER_NS),
            )
            for size, bandwidth in zip(record["sizes"], bandwidths, strict=True)
        )
        name = f"{' x '.join(map(str, record['sizes']))}, {'/'.join(map(str, bandwidths))} GiB/s"
        network = Network(name, dimensions)
        instance = Instance(network, Collective(record["collective"]), record["gathered_bytes"], MAX_CHUNKS)
        records.append(Record(instance, name, record["time_us"]))
    return records


def speedup(record: Record, ours: Solved) -> float:
    """Return how many times faster than TACOS a schedule of ours is."""
    return record.theirs_us * 1e6 / ours.makespan_ps


def print_table(occupancy: Occupancy, records: Sequence[Record], solved: Sequence[Solved]) -> None:
    """Print one line per torus."""
    heading = f"{occupancy} occupancy"
    print(f"\n{heading:<32} {'TACOS us':>9} {'ours us':>9} {'faster':>7} {'chunks':>6} {'gap %':>7} {'s':>4}")
    for record, ours in zip(records, solved, strict=True):
        print(
            f"{record.name:<32} {record.theirs_us:>9,.2f} {ours.makespan_ps / 1e6:>9,.2f} "
            f"{speedup(record, ours):>7.4f} {ours.schedule.num_chunks:>6} {ours.gap_pct:>7.4f} {ours.wall_s:>4.1f}"
        )
    mean = geometric_mean(speedup(record, ours) for record, ours in zip(records, solved, strict=True))
    print(f"{'geometric mean':<32} {'':>9} {'':>9} {mean:>7.4f}")


def checks(records: Sequence[Record], exclusive: Sequence[Solved]) -> list[Check]:
    """Return the verdicts: one per torus, and the mean."""
    ratios = [speedup(record, ours) for record, ours in zip(records, exclusive, strict=True)]
    just_above_one = 1 + 1e-6
    each = [
        Check(record.name, ratio, low=just_above_one, unit="x", digits=4)
        for record, ratio in zip(records, ratios, strict=True)
    ]
    return [*each, Check("geometric mean", geometric_mean(ratios), low=MIN_GEOMETRIC_MEAN, unit="x", digits=4)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time-limit", type=float, default=10.0, metavar="SECONDS", help="per torus (default: 10)")
    options = parser.parse_args(arguments)
    records = recorded()
    solved: dict[Occupancy, list[Solved]] = {}
    with AutoSolver() as solver:
        for occupancy in (Occupancy.EXCLUSIVE, Occupancy.PIPELINED):
            instances = [record.with_occupancy(occupancy) for record in records]
            solved[occupancy] = [
                solver.free(instance, options.time_limit, max_chunks=MAX_CHUNKS, gap=STOP_GAP) for instance in instances
            ]
            print_table(occupancy, records, solved[occupancy])
    return report(checks(records, solved[Occupancy.EXCLUSIVE]))


if __name__ == "__main__":
    raise SystemExit(main())
