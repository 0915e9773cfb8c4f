"""Describe a network in Python and look for the best scheduler and number of chunks on it.

Shows that the number of chunks is part of the problem (few fill the dimensions badly, many pay latency often), and what
the scope of a bound means: the last line's bound holds whatever the number and the sizes of the chunks.
"""

from __future__ import annotations

from themis_opt import Bound, BoundScope, Dimension, Instance, Network, Sizing, Topology, lower_bound, schedule
from themis_opt.problem.units import format_time, parse_bandwidth, parse_time

SIZE_BYTES = 500_000_000
NUMBERS_OF_CHUNKS = (1, 2, 4, 8, 16, 32, 64, 128)
SCHEDULERS = ("baseline", "round-robin", "themis-fifo", "themis-scf")

NETWORK = Network(
    "8 x 4 x 16",
    (
        Dimension(Topology.FULLY_CONNECTED, 8, parse_bandwidth("200 GB/s"), parse_time("500 ns")),
        Dimension(Topology.RING, 4, parse_bandwidth("100 GB/s"), parse_time("700 ns")),
        Dimension(Topology.SWITCH, 16, parse_bandwidth("800 Gb/s"), parse_time("1.7 us")),
    ),
)


def main() -> None:
    """Print the best scheduler for each number of chunks, and how far the best of all is from the bound."""
    best_ps, best_name, best_count = min(print_best(num_chunks) for num_chunks in NUMBERS_OF_CHUNKS)
    scope = BoundScope(Sizing.FREE, 1, max(NUMBERS_OF_CHUNKS))
    bound = lower_bound(Instance(NETWORK, size_bytes=SIZE_BYTES), scope)
    print(f"\nbest: {best_name} with {best_count} chunks, {format_time(best_ps)}")
    print_bound(bound, best_ps)


def print_best(num_chunks: int) -> tuple[int, str, int]:
    """Print the best schedule with this many equal chunks; return its makespan, scheduler and number of chunks."""
    instance = Instance(NETWORK, size_bytes=SIZE_BYTES, num_chunks=num_chunks)  # All-Reduce, the default
    makespan_ps, name = min((schedule(instance, name).makespan_ps or 0, name) for name in SCHEDULERS)
    print(f"{num_chunks:4} chunks: {name:12} {format_time(makespan_ps):>10}", end="; ")
    print_bound(lower_bound(instance), makespan_ps)
    return makespan_ps, name, num_chunks


def print_bound(bound: Bound, makespan_ps: int) -> None:
    """Print a bound, what it speaks of, and the gap of this makespan to it."""
    gap = makespan_ps / bound.value_ps - 1
    print(f"{bound.kind} bound {format_time(bound.value_ps)}, gap {gap:.1%} ({bound.scope})")


if __name__ == "__main__":
    main()
