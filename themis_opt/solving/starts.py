"""The schedules that solving starts from: heuristics, with chunks as asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from themis_opt.bound import Sizing
from themis_opt.chunking import Chunking
from themis_opt.instance import Instance
from themis_opt.schedulers import get_scheduler
from themis_opt.schedules import Chunk, Schedule

HINT_SCHEDULERS = ("themis-scf", "themis-fifo", "themis-astra-scf", "themis-astra-fifo", "round-robin", "baseline")
"""Heuristics that make the instance's number of equal chunks."""


def starting_schedules(instance: Instance, chunking: Chunking, seed: int) -> Iterator[tuple[str, Schedule]]:
    """Yield heuristic schedules whose chunks are as asked for, each with the name of its scheduler.

    Where the number of chunks is free, those of 1, 2, 4 … chunks and of the most allowed.
    """
    for num_chunks in _counts(chunking):
        counted = replace(instance, num_chunks=num_chunks)
        for name in HINT_SCHEDULERS:
            schedule = get_scheduler(name)(counted, seed=seed)
            if chunking.sizing is Sizing.FREE:
                schedule = _in_granules(schedule, chunking)
            yield name, replace(schedule, instance=instance)


def _counts(chunking: Chunking) -> list[int]:
    counts = {chunking.min_chunks, chunking.max_chunks}
    power = 1
    while power < chunking.max_chunks:
        if power >= chunking.min_chunks:
            counts.add(power)
        power *= 2
    return sorted(counts)


def _in_granules(schedule: Schedule, chunking: Chunking) -> Schedule:
    """Return the schedule with sizes in whole granules, as equal as they get, in the same sequences."""
    num_granules, remainder = divmod(schedule.instance.size_bytes, chunking.granule_bytes)
    each, left_over = divmod(num_granules, schedule.num_chunks)
    sizes = [(each + (c < left_over)) * chunking.granule_bytes for c in range(schedule.num_chunks)]
    sizes[-1] += remainder
    chunks = tuple(
        Chunk(size, chunk.rs_order, chunk.ag_order) for size, chunk in zip(sizes, schedule.chunks, strict=True)
    )
    return replace(schedule, chunks=chunks, makespan_ps=None)
