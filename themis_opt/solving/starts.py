"""The schedules that solving starts from: heuristics, with chunks as asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from themis_opt.problem.bound import Sizing
from themis_opt.problem.chunking import Chunking
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Schedule
from themis_opt.schedulers.registry import get_scheduler

HINT_SCHEDULERS = ("themis-scf", "themis-fifo", "themis-astra-scf", "themis-astra-fifo", "round-robin", "baseline")
"""Heuristics that make the instance's number of equal chunks."""

MOST_TELLING = ("themis-scf", "baseline", "themis-fifo", "round-robin", "themis-astra-fifo", "themis-astra-scf")
"""The same in the order in which they are left out when there are too many stages for all: the last one first."""

MAX_STAGES = 100_000
"""Stages of all the starting schedules together, about a second of dispatching and judging; the first has no limit."""


def starting_schedules(instance: Instance, chunking: Chunking, seed: int) -> Iterator[tuple[str, Schedule]]:
    """Yield heuristic schedules whose chunks are as asked for, each with the name of its scheduler.

    Where the number of chunks is free, those of 1, 2, 4 … chunks and of the most allowed. With many thousands of stages
    not every scheduler has its turn: time limits are for solving.

    Parameters
    ----------
    instance
        The problem.
    chunking
        Sizing and numbers of chunks allowed.
    seed
        For schedulers that draw lots.
    """
    counts = _counts(chunking)
    affordable = _affordable(instance, counts)
    for num_chunks in counts:
        counted = replace(instance, num_chunks=num_chunks)
        for name in affordable:
            schedule = get_scheduler(name)(counted, seed=seed)
            if chunking.sizing is Sizing.FREE:
                schedule = _in_granules(schedule, chunking)
            yield name, schedule.replace(instance=instance)


def _affordable(instance: Instance, counts: list[int]) -> list[str]:
    """Return the schedulers to try, by the number of stages and not by the clock: the result must not depend on it."""
    num_stages = sum(counts) * len(instance.involved) * len(instance.phases)
    num_affordable = max(1, MAX_STAGES // num_stages)
    return [name for name in HINT_SCHEDULERS if name in MOST_TELLING[:num_affordable]]


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
    return schedule.replace(chunks=chunks, makespan_ps=None)
