"""How near the optimum the solver `auto` comes, and how soon, against the limits the project sets itself.

Parts, each with a table and verdicts; chosen with --part:

free     sizes free, 1 to 16 chunks chosen: Table 2's networks, artifact and Table 2 latencies, two sizes
fixed    sizes free, fixed numbers of chunks
equal    equal chunks on the artifact networks, median over seeds
speedup  beside Themis, and the share of the possible utilisation
scale    512 equal chunks on four dimensions; six and eight dimensions

All are All-Reduces under exclusive occupancy. `gap` is to the bound for the number of chunks used, `any` to the bound
for all numbers allowed. Seconds are of solving, start-up of the solver's process excluded; no other program should run
meanwhile. Exits 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from checks import Check, report
from solves import AutoSolver, Solved

from themis_opt.files.network_file import load_network
from themis_opt.problem.bound import BoundScope, Sizing
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Dimension, Network, Topology
from themis_opt.questions.comparison import compare
from themis_opt.solving.api import lower_bound
from themis_opt.timing.metrics import geometric_mean

ARTIFACT, TABLE_2 = "artifact latencies", "latencies of Table 2"
HARDEST = "4d-ring-sw-sw-sw"
TARGETS = {
    "2d-sw-sw": 4,
    "3d-sw-sw-sw-homo": 6,
    "3d-sw-sw-sw-hetero": 6,
    "3d-fc-ring-sw": 6,
    HARDEST: 10,
    "4d-ring-fc-ring-sw": 10,
}
"""The networks of Table 2, and with how many chunks of free size they should come to their bound."""

MAX_CHUNKS = 16
MIB_100, MB_100, GB = 104_857_600, 10**8, 10**9
FREE_LIMITS_PCT = {
    (ARTIFACT, MIB_100): (0.01, 0.03),
    (ARTIFACT, GB): (0.01, 0.005),
    (TABLE_2, MB_100): (0.1, 7.0),
    (TABLE_2, GB): (0.1, 1.0),
}
"""The greatest `gap` and `any`."""

FIXED_COUNTS = (10, 12, 16, 24, 32)
FIXED_LIMIT_PCT = 0.1
EQUAL_LIMITS_PCT = {8: 2.5, 16: 0.5, 32: 0.1, 64: 0.1, 128: 0.1, 256: 0.1}
EQUAL_HARDEST_PCT = 0.2
"""What the hardest instance of 32 chunks or more may have instead."""
EQUAL_FEW, EQUAL_FEW_FACTOR = 8, 6
"""With so few chunks the solver has this many times as long."""
MIN_SPEEDUP = {"themis-scf": 2.4, "themis-best": 1.28}
MIN_UTILIZATION_PCT = 99.9
SCALE_LIMIT_PCT = 0.5
SCALE_FACTOR = 6
SCALE_MEMORY_MB = 2000


@dataclass(frozen=True, slots=True)
class Options:
    """What to run: the networks, the numbers of chunks (parts fixed and equal), the seeds (equal) and the limit [s]."""

    networks: tuple[str, ...]
    counts: tuple[int, ...] | None
    num_seeds: int
    time_limit_s: float

    def chosen(self, counts: Sequence[int]) -> list[int]:
        """Return those of some numbers of chunks that are to be run."""
        return [count for count in counts if self.counts is None or count in self.counts]


def all_reduce(network: str, latencies: str, size_bytes: int, num_chunks: int = 64) -> Instance:
    """Return an All-Reduce on a network of Table 2, exclusive occupancy."""
    name = f"{network}-artifact" if latencies == ARTIFACT else network
    return Instance(load_network(name), Collective.ALL_REDUCE, size_bytes, num_chunks)


def size_text(size_bytes: int) -> str:
    """Return a size for people."""
    return "100 MiB" if size_bytes == MIB_100 else f"{size_bytes / 1e9:g} GB" if size_bytes >= GB else "100 MB"


def print_heading(title: str) -> None:
    print(f"\n{title}")
    print(f"{'':<19} {'size':>7} {'chunks':>7} {'makespan us':>11} {'gap %':>8} {'any %':>8} {'s':>4}", flush=True)


def print_row(network: str, size_bytes: int, chunks: str, solved: Solved, verdict: bool, words: str = "") -> None:
    gap_any = "" if solved.gap_any_pct is None else f"{solved.gap_any_pct:.4f}"
    print(
        f"{network:<19} {size_text(size_bytes):>7} {chunks:>7} {solved.makespan_ps / 1e6:>11,.3f} "
        f"{solved.gap_pct:>8.4f} {gap_any:>8} {solved.wall_s:>4.1f} {words}{'' if verdict else 'MISSED'}".rstrip(),
        flush=True,
    )
    if solved.note:
        print(f"  {solved.note}")


def free_solve(solver: AutoSolver, options: Options, network: str, latencies: str, size_bytes: int) -> Solved:
    """Solve with sizes and number of chunks free."""
    instance = all_reduce(network, latencies, size_bytes)
    return solver.free(instance, options.time_limit_s, max_chunks=MAX_CHUNKS)


def print_longer_counts(instance: Instance, solved: Solved) -> None:
    """Say which larger numbers of chunks cannot do better: a wide gap may be the price of a short schedule."""
    bounds_ps = {
        count: lower_bound(instance, BoundScope(Sizing.FREE, count, count)).value_ps
        for count in range(solved.schedule.num_chunks + 1, MAX_CHUNKS + 1)
    }
    possible = [count for count in bounds_ps if bounds_ps[count] < solved.makespan_ps]
    least = max(possible, default=solved.schedule.num_chunks) + 1
    if least <= MAX_CHUNKS:
        least_us = min(bounds_ps[count] for count in bounds_ps if count >= least) / 1e6
        print(f"  {least} to {MAX_CHUNKS} chunks take at least {least_us:,.3f} us")


def free_part(solver: AutoSolver, options: Options) -> Iterator[Check]:
    """Sizes and number of chunks free: two gaps, and the number chosen (with its target where that is missed)."""
    for (latencies, size_bytes), (gap_limit, any_limit) in FREE_LIMITS_PCT.items():
        print_heading(f"free sizes, 1 to {MAX_CHUNKS} chunks, {latencies}; in brackets the number aimed at")
        gaps, gaps_any, times = [], [], []
        for network in options.networks:
            solved = free_solve(solver, options, network, latencies, size_bytes)
            target = 16 if (network, latencies) == (HARDEST, TABLE_2) else TARGETS[network]
            chunks = str(solved.schedule.num_chunks)
            if solved.schedule.num_chunks > target:
                chunks += f" ({target})"
            gap_any = solved.gap_any_pct or 0.0
            print_row(network, size_bytes, chunks, solved, solved.gap_pct <= gap_limit and gap_any <= any_limit)
            if solved.gap_pct > gap_limit:
                print_longer_counts(all_reduce(network, latencies, size_bytes), solved)
            gaps.append(solved.gap_pct)
            gaps_any.append(gap_any)
            times.append(solved.wall_s)
        what = f"{size_text(size_bytes)}, {latencies}"
        yield Check(f"{what}: gap", max(gaps), high=gap_limit, unit="%", digits=4)
        yield Check(f"{what}: any", max(gaps_any), high=any_limit, unit="%", digits=4)
        yield Check("  longest solve", max(times), high=options.time_limit_s + 1, unit="s", digits=1)


def fixed_part(solver: AutoSolver, options: Options) -> Iterator[Check]:
    """Sizes free, fixed numbers of chunks; the solver stops when it is within the limit."""
    for latencies, size_bytes in ((ARTIFACT, MIB_100), (TABLE_2, MB_100)):
        print_heading(f"free sizes, fixed number of chunks, {latencies}, until within {FIXED_LIMIT_PCT} %")
        gaps = []
        for network in options.networks:
            for count in options.chosen(FIXED_COUNTS):
                if network == HARDEST and count < 16:
                    continue
                instance = all_reduce(network, latencies, size_bytes, count)
                solved = solver.free(instance, options.time_limit_s, gap=FIXED_LIMIT_PCT / 100)
                print_row(network, size_bytes, str(count), solved, solved.gap_pct <= FIXED_LIMIT_PCT)
                gaps.append(solved.gap_pct)
        if gaps:
            yield Check(f"fixed numbers, {latencies}", max(gaps), high=FIXED_LIMIT_PCT, unit="%", digits=4)


def equal_part(solver: AutoSolver, options: Options) -> Iterator[Check]:
    """Equal chunks, artifact latencies: the seed with the median gap; the solver stops at a tenth of the limit."""
    print_heading(f"equal chunks, {ARTIFACT}, until within a tenth of the limit; median of {options.num_seeds} seeds")
    many: list[float] = []
    for count in options.chosen(tuple(EQUAL_LIMITS_PCT)):
        limit = EQUAL_LIMITS_PCT[count]
        time_limit_s = options.time_limit_s * (EQUAL_FEW_FACTOR if count == EQUAL_FEW else 1)
        gaps = []
        for network in options.networks:
            instance = all_reduce(network, ARTIFACT, MIB_100, count)
            solves = [
                solver.equal(instance, time_limit_s, seed=seed, gap=limit / 1000) for seed in range(options.num_seeds)
            ]
            solved = sorted(solves, key=lambda one: one.gap_pct)[len(solves) // 2]
            assert solved.schedule.bound is not None
            kind = solved.schedule.bound.kind
            print_row(network, MIB_100, str(count), solved, solved.gap_pct <= limit, f"{kind} ")
            gaps.append(solved.gap_pct)
        if count in (8, 16):
            yield Check(f"{count} equal chunks", max(gaps), high=limit, unit="%", digits=4)
        else:
            many += gaps
    if many:
        *others, hardest = sorted(many)
        yield Check("32 or more equal chunks, the hardest", hardest, high=EQUAL_HARDEST_PCT, unit="%", digits=4)
        if others:
            yield Check("  all but the hardest", others[-1], high=EQUAL_LIMITS_PCT[32], unit="%", digits=4)


def speedup_part(solver: AutoSolver, options: Options) -> Iterator[Check]:
    """Sizes and number of chunks free beside Themis, and beside what the bound allows."""
    print(f"\n100 MB, {TABLE_2}; Themis at 64 chunks and at its own best number")
    print(f"{'':<19} {'themis-scf us':>14} {'themis-best us':>16} {'auto us':>10} {'speedups':>15}")
    ratios: dict[str, list[float]] = {name: [] for name in MIN_SPEEDUP}
    for network in options.networks:
        (run,) = compare([all_reduce(network, TABLE_2, MB_100)], schedulers=tuple(MIN_SPEEDUP))
        ours_ps = free_solve(solver, options, network, TABLE_2, MB_100).makespan_ps
        rows = {row.name: row for row in run.rows}
        for name, found in ratios.items():
            found.append(rows[name].makespan_ps / ours_ps)
        scf, best = (rows[name] for name in MIN_SPEEDUP)
        print(
            f"{network:<19} {scf.makespan_ps / 1e6:>14,.2f} {best.makespan_ps / 1e6:>10,.2f} "
            f"({best.schedule.num_chunks:>3}) {ours_ps / 1e6:>10,.2f} "
            f"{ratios['themis-scf'][-1]:>7.3f} {ratios['themis-best'][-1]:>7.3f}",
            flush=True,
        )
    for name, found in ratios.items():
        yield Check(f"speedup over {name}", geometric_mean(found), low=MIN_SPEEDUP[name], unit="x", digits=3)
    solves = [free_solve(solver, options, network, ARTIFACT, MIB_100) for network in options.networks]
    share_pct = 100 * sum(solved.bound_ps / solved.makespan_ps for solved in solves) / len(solves)
    what = "mean utilisation of what the bound allows"
    yield Check(what, share_pct, low=MIN_UTILIZATION_PCT, unit="%", digits=3)


def deep_networks() -> tuple[Network, ...]:
    """Return a network of six dimensions (1,728 NPUs) and one of eight (256), rings of falling bandwidth."""

    def rings(sizes: Sequence[int], bandwidths_GBps: Sequence[int]) -> Network:
        dimensions = (
            Dimension(Topology.RING, size, Fraction(bandwidth * 10**9), Fraction(500_000))
            for size, bandwidth in zip(sizes, bandwidths_GBps, strict=True)
        )
        return Network(f"{len(sizes)} dimensions", tuple(dimensions))

    return (
        rings((4, 3, 4, 3, 4, 3), (300, 200, 150, 100, 50, 25)),
        rings((2,) * 8, (400, 300, 200, 150, 100, 75, 50, 25)),
    )


def scale_part(solver: AutoSolver, options: Options) -> Iterator[Check]:
    """Many equal chunks and many dimensions; the solver stops at a fifth of the limit."""
    print_heading(f"equal chunks, 100 MB, until within {SCALE_LIMIT_PCT / 5:g} %")
    four = tuple(network for network in options.networks if network.startswith("4d"))
    instances = [all_reduce(network, ARTIFACT, MB_100, 512) for network in four]
    instances += [Instance(network, Collective.ALL_REDUCE, MB_100, 64) for network in deep_networks()]
    gaps, times = [], []
    for instance in instances:
        solved = solver.equal(instance, options.time_limit_s * SCALE_FACTOR, gap=SCALE_LIMIT_PCT / 500)
        name = instance.network.name.removesuffix("-artifact")
        print_row(name, MB_100, str(instance.num_chunks), solved, solved.gap_pct <= SCALE_LIMIT_PCT)
        gaps.append(solved.gap_pct)
        times.append(solved.wall_s)
    yield Check("scale: gap", max(gaps), high=SCALE_LIMIT_PCT, unit="%", digits=4)
    yield Check("  longest solve", max(times), high=options.time_limit_s * SCALE_FACTOR + 1, unit="s", digits=1)


PARTS: dict[str, Callable[[AutoSolver, Options], Iterator[Check]]] = {
    "free": free_part,
    "fixed": fixed_part,
    "equal": equal_part,
    "speedup": speedup_part,
    "scale": scale_part,
}


def memory_check() -> Check:
    """Return the peak memory of this process and of the largest it started and waited for, added up."""
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    peaks = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return Check(
        "peak memory, both processes", sum(peaks) * unit_bytes / 1e6, high=SCALE_MEMORY_MB, unit="MB", digits=0
    )


def parse(arguments: Sequence[str] | None) -> tuple[list[str], Options]:
    """Return the parts to run and the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", nargs="+", choices=list(PARTS), default=list(PARTS), help="default: all")
    parser.add_argument("--networks", nargs="+", choices=list(TARGETS), default=list(TARGETS), help="default: all six")
    parser.add_argument("--counts", nargs="+", type=int, metavar="N", help="of parts fixed and equal (default: all)")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="of part equal (default: 3)")
    parser.add_argument(
        "--time-limit",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="per solve (default: 10); six times as long with 8 equal chunks and in part scale",
    )
    given = parser.parse_args(arguments)
    counts = None if given.counts is None else tuple(given.counts)
    return given.part, Options(tuple(given.networks), counts, given.seeds, given.time_limit)


def main(arguments: Sequence[str] | None = None) -> int:
    parts, options = parse(arguments)
    print(f"{os.cpu_count()} processors, {os.getloadavg()[0]:.1f} programs running or waiting on average")
    checks: list[Check] = []
    with AutoSolver() as solver:
        for part in parts:
            checks += PARTS[part](solver, options)
    return report([*checks, memory_check()])


if __name__ == "__main__":
    raise SystemExit(main())
