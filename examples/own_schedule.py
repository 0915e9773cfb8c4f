"""Write a schedule by hand: the example of the Themis paper's Figure 5 in 7 ms, where queues take 8.

Shows what a schedule is (orders of each chunk, sequence of each dimension), how to time, check, execute and save it.
The second dimension carries 7 ms of work whatever the sequence, so it must never wait: chunk 1 starts and ends there,
and the six short stages of the others come in between.
"""

from __future__ import annotations

from themis_opt import Chunk, Phase, Schedule, Slot, check, execute, load_instance, save_schedule, schedule, simulate
from themis_opt.problem.units import format_time

RS, AG = Phase.REDUCE_SCATTER, Phase.ALL_GATHER

ORDERS = [(0, 1), (1, 0), (0, 1), (0, 1)]
"""Themis's Reduce-Scatter orders (Figure 7): chunk 1 visits the second dimension first. All-Gather mirrors them."""

SEQUENCES = [
    [(0, RS), (2, RS), (1, RS), (1, AG), (3, RS), (0, AG), (2, AG), (3, AG)],  # dim1
    [(1, RS), (0, RS), (0, AG), (2, RS), (2, AG), (3, RS), (3, AG), (1, AG)],  # dim2
]


def main() -> None:
    """Build the schedule, print when every stage runs, and save it."""
    instance = load_instance("figure-5")
    chunks = [
        Chunk(size, rs_order=order, ag_order=order[::-1])
        for size, order in zip(instance.equal_chunk_sizes(), ORDERS, strict=True)
    ]
    sequences = tuple(tuple(Slot(*slot) for slot in sequence) for sequence in SEQUENCES)
    by_hand = Schedule(instance, tuple(chunks), sequences, scheduler="by hand")

    timeline = simulate(instance, by_hand)
    for k, use in enumerate(timeline.dimensions):
        print(f"dim{k + 1}: busy for {format_time(use.busy_ps)}")
        for stage in sorted(timeline.stages, key=lambda stage: stage.start_ps):
            if stage.dimension == k:
                start, end = format_time(stage.start_ps), format_time(stage.end_ps)
                print(f"  {start:>9} to {end:>9}: chunk {stage.chunk} {stage.phase}")

    finished = by_hand.replace(makespan_ps=timeline.makespan_ps, stages=timeline.stages)
    check(instance, finished)  # raises InvalidScheduleError if any statement in it is false
    print(f"valid; {execute(instance, finished)}")
    save_schedule(finished, "by-hand.json")

    by_queue_ps = min(schedule(instance, name).makespan_ps or 0 for name in ("themis-fifo", "themis-scf"))
    print(f"by hand {format_time(timeline.makespan_ps)}, Themis's queues {format_time(by_queue_ps)}")
    print("saved; try: themis-opt compare figure-5 by-hand.json")


if __name__ == "__main__":
    main()
