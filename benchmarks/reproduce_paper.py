"""Figures 8, 10 and 11 of the Themis paper beside the same quantities computed here.

The runs are those the paper plots: All-Reduce on the six networks of Table 2 as its artifact simulated them (the
``-artifact`` networks), 64 chunks, one active chunk per dimension. They are repeated with the stage times and queues of
the simulator it used (`as_plotted`), to show where the deviations come from. Exits 1 when a value is out of tolerance.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import as_plotted
from checks import Check, report

from themis_opt.files.network_file import load_network
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance
from themis_opt.schedulers.registry import get_scheduler
from themis_opt.timing.metrics import bw_utilization, geometric_mean, ideal_ps

DATA = Path(__file__).parent / "data" / "paper_figures.json"
SCHEDULERS = ("baseline", "themis-fifo", "themis-scf")

AXIS_GB = 1000 * 2**20
"""What the paper's axes call 1 GB, in bytes."""

FIGURE_10_BYTES = AXIS_GB // 10

TIME_TOLERANCE_PCT = 4.5
UTILIZATION_TOLERANCE_POINTS = 1.0
SPEEDUP_TOLERANCE = 0.03
FIGURE_10_TOLERANCE_POINTS = 11.0

READING_ERROR_US = 0.1
"""Within it two times are the same; 0.01 points of Figure 10 are 0.03 to 0.15 us."""

NUM_NOT_AS_PLOTTED = 2
"""The two points of one run, in Figures 8 and 10, that the paper's simulator had 2.8 us faster."""

SHOWN_GB = (0.1, 0.5, 1.0)


@dataclass(frozen=True)
class Point:
    """One run of Figures 8 and 11."""

    network: str
    scheduler: str
    size_GB: float
    time_us: float
    paper_time_us: float
    utilization_pct: float
    paper_utilization_pct: float
    as_plotted_us: float

    @property
    def offset_us(self) -> float:
        """What the paper's time has more than the one with its simulator's stage times and queues."""
        return self.paper_time_us - self.as_plotted_us

    @property
    def deviation_pct(self) -> float:
        """How much longer it takes here than in the paper."""
        return 100 * (self.time_us / self.paper_time_us - 1)


@dataclass(frozen=True)
class ChunkPoint:
    """One run of Figure 10."""

    network: str
    scheduler: str
    num_chunks: int
    utilization_pct: float
    paper_utilization_pct: float
    paper_time_us: float
    as_plotted_us: float

    @property
    def offset_us(self) -> float:
        """What the paper's time has more than the one with its simulator's stage times and queues."""
        return self.paper_time_us - self.as_plotted_us

    @property
    def deviation_points(self) -> float:
        """How much higher the utilisation is here than in the paper."""
        return self.utilization_pct - self.paper_utilization_pct


@cache
def paper() -> dict[str, Any]:
    """Return the paper's numbers."""
    figures: dict[str, Any] = json.loads(DATA.read_text())
    return figures


def all_reduce(network: str, size_bytes: int, num_chunks: int) -> Instance:
    """Return the All-Reduce on a network as the artifact simulated it."""
    return Instance(load_network(f"{network}-artifact"), Collective.ALL_REDUCE, size_bytes, num_chunks)


def makespan_ps(instance: Instance, scheduler: str) -> int:
    """Return the makespan of a scheduler's schedule."""
    schedule = get_scheduler(scheduler)(instance)
    assert schedule.makespan_ps is not None
    return schedule.makespan_ps


def point(network: str, scheduler: str, size_GB: float) -> Point:
    """Return one point of Figures 8 and 11."""
    times, utilizations = paper()["figure_8"], paper()["figure_11"]
    place = times["collective_size_GB"].index(size_GB)
    instance = all_reduce(network, round(size_GB * AXIS_GB), num_chunks=64)
    time_ps = makespan_ps(instance, scheduler)
    return Point(
        network,
        scheduler,
        size_GB,
        time_ps / 1e6,
        times["time_us"][network][scheduler][place],
        100 * bw_utilization(instance, time_ps),
        utilizations["utilization_pct"][network][scheduler][place],
        as_plotted.time_us(instance, scheduler),
    )


def chunk_point(network: str, scheduler: str, num_chunks: int) -> ChunkPoint:
    """Return one point of Figure 10."""
    figure = paper()["figure_10"]
    paper_pct = figure["utilization_pct"][network][scheduler][figure["chunks"].index(num_chunks)]
    instance = all_reduce(network, FIGURE_10_BYTES, num_chunks)
    return ChunkPoint(
        network,
        scheduler,
        num_chunks,
        100 * bw_utilization(instance, makespan_ps(instance, scheduler)),
        paper_pct,
        ideal_ps(instance) / 1e6 / (paper_pct / 100),
        as_plotted.time_us(instance, scheduler),
    )


def figures_8_and_11() -> list[Point]:
    """Return all points of Figures 8 and 11: networks × schedulers × sizes."""
    figure = paper()["figure_8"]
    return [
        point(network, scheduler, size_GB)
        for network in figure["time_us"]
        for scheduler in SCHEDULERS
        for size_GB in figure["collective_size_GB"]
    ]


def figure_10() -> list[ChunkPoint]:
    """Return all points of Figure 10: networks × schedulers × numbers of chunks."""
    figure = paper()["figure_10"]
    return [
        chunk_point(network, scheduler, num_chunks)
        for network in figure["utilization_pct"]
        for scheduler in SCHEDULERS
        for num_chunks in figure["chunks"]
    ]


def offsets_us(points: Sequence[Point] | Sequence[ChunkPoint]) -> dict[str, list[float]]:
    """Return the points' offsets by network."""
    offsets = defaultdict(list)
    for point in points:
        offsets[point.network].append(point.offset_us)
    return offsets


def num_off(offsets: Sequence[float]) -> int:
    """Return how many of a network's offsets are not the same constant."""
    return sum(abs(offset - median(offsets)) > READING_ERROR_US for offset in offsets)


def speedups(points: Sequence[Point], scheduler: str) -> list[float]:
    """Return the baseline's time over the scheduler's, for every network and size."""
    times = {(point.network, point.scheduler, point.size_GB): point.time_us for point in points}
    return [
        times[point.network, "baseline", point.size_GB] / point.time_us
        for point in points
        if point.scheduler == scheduler
    ]


def checks(points: Sequence[Point], chunk_points: Sequence[ChunkPoint]) -> list[Check]:
    """Return what must hold of Figures 8 and 11 (`points`) and of Figure 10 (`chunk_points`)."""
    averages = paper()["averages"]
    worst = max((point.deviation_pct for point in points), key=abs)
    result = [
        Check(f"Figure 8: worst of {len(points)} times", worst, -TIME_TOLERANCE_PCT, TIME_TOLERANCE_PCT, "%"),
    ]
    for scheduler in SCHEDULERS:
        values = [point.utilization_pct for point in points if point.scheduler == scheduler]
        what = f"Figure 11: mean utilisation, {scheduler}"
        target = averages["utilization_pct"][scheduler]
        result.append(_near(what, sum(values) / len(values), target, UTILIZATION_TOLERANCE_POINTS, "%", 2))
    for scheduler in SCHEDULERS[1:]:
        what = f"Figure 8: speedup, geom. mean, {scheduler}"
        mean = geometric_mean(speedups(points, scheduler))
        result.append(_near(what, mean, averages["speedup"][scheduler], SPEEDUP_TOLERANCE, "x", 3))
    largest = max(speedup for scheduler in SCHEDULERS[1:] for speedup in speedups(points, scheduler))
    what = "Figure 8: largest speedup"
    result.append(_near(what, largest, averages["largest_speedup"], SPEEDUP_TOLERANCE, "x", 3))
    scf = [point.deviation_points for point in chunk_points if point.scheduler == "themis-scf"]
    what = f"Figure 10: worst of {len(scf)} themis-scf values"
    limit = FIGURE_10_TOLERANCE_POINTS
    result.append(Check(what, max(scf, key=abs), -limit, limit, "points"))
    off = sum(num_off(offsets) for figure in (points, chunk_points) for offsets in offsets_us(figure).values())
    what = f"not as plotted, of {len(points) + len(chunk_points)} points"
    result.append(Check(what, off, high=NUM_NOT_AS_PLOTTED, digits=0))
    return result


def _near(what: str, value: float, target: float, tolerance: float, unit: str, digits: int) -> Check:
    return Check(what, value, target - tolerance, target + tolerance, unit, digits)


def print_figures_8_and_11(points: Sequence[Point], full: bool) -> None:
    """Print the points, a few sizes of each network and scheduler or all of them."""
    print("Figures 8 and 11: All-Reduce time and mean bandwidth utilisation, 64 chunks")
    print(f"{'':<39} {'Figure 8: time [us]':^26} {'Fig. 11 [%]':>13}")
    columns = f"{'paper':>9} {'here':>9} {'dev.':>7} {'paper':>6} {'here':>6}"
    for network in paper()["figure_8"]["time_us"]:
        print(f"\n{network:<19} {'scheduler':<12} {'GB':>5} {columns}")
        own = [point for point in points if point.network == network]
        for point in own:
            if full or point.size_GB in SHOWN_GB:
                print(
                    f"{'':<19} {point.scheduler:<12} {point.size_GB:>5.2f} "
                    f"{point.paper_time_us:>9.2f} {point.time_us:>9.2f} {point.deviation_pct:>+6.2f}% "
                    f"{point.paper_utilization_pct:>6.2f} {point.utilization_pct:>6.2f}"
                )
        worst = max(own, key=lambda point: abs(point.deviation_pct))
        where = f"{worst.scheduler}, {worst.size_GB:.2f} GB"
        print(f"{'':<19} worst of {len(own)}: {worst.deviation_pct:+.2f}% ({where})")


def print_figure_10(points: Sequence[ChunkPoint]) -> None:
    """Print Figure 10, paper and here side by side."""
    print("\nFigure 10: mean bandwidth utilisation [%] of a 100 MB All-Reduce by chunks")
    print("It does not agree with Figure 11: of the run that both show, 64 chunks, 0.1 GB,")
    print("it has 1.6 to 3.5 % less, since a larger constant is added to its times (below).")
    for network in paper()["figure_10"]["utilization_pct"]:
        print(f"\n{network:<20} {'baseline':>14} {'themis-fifo':>14} {'themis-scf':>14} {'dev. of scf':>13}")
        print(f"{'chunks':>20} {' paper   here' * 3:>41} {'points':>15}")
        for chunks in paper()["figure_10"]["chunks"]:
            row = {point.scheduler: point for point in points if (point.network, point.num_chunks) == (network, chunks)}
            pairs = [f"{row[name].paper_utilization_pct:>7.2f}{row[name].utilization_pct:>7.2f}" for name in SCHEDULERS]
            print(f"{chunks:>20} {' '.join(pairs)} {row['themis-scf'].deviation_points:>+13.2f}")


def print_offsets(points: Sequence[Point], chunk_points: Sequence[ChunkPoint]) -> None:
    """Print what is left between paper and here with the stage times and queues of the paper's simulator."""
    print("\nWith the stage times and queues of its simulator the paper's times, whatever the")
    print("size, chunks and scheduler, have one constant more [us] that we cannot explain:")
    print(f"{'':<19} {'figure':>6} {'constant':>9} {'least':>9} {'most':>9} {'points':>7} {'not as plotted':>15}")
    for figure, plotted in ((8, points), (10, chunk_points)):
        for network, offsets in offsets_us(plotted).items():
            print(
                f"{network:<19} {figure:>6} {median(offsets):>9.2f} {min(offsets):>9.2f} {max(offsets):>9.2f} "
                f"{len(offsets):>7} {num_off(offsets):>15}"
            )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="print all 342 points of Figures 8 and 11")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every point to this file")
    options = parser.parse_args(arguments)
    points, chunk_points = figures_8_and_11(), figure_10()
    print_figures_8_and_11(points, options.full)
    print_figure_10(chunk_points)
    print_offsets(points, chunk_points)
    if options.json is not None:
        data = {"figures_8_and_11": list(map(asdict, points)), "figure_10": list(map(asdict, chunk_points))}
        options.json.write_text(json.dumps(data, indent=2) + "\n")
    return report(checks(points, chunk_points))


if __name__ == "__main__":
    raise SystemExit(main())
