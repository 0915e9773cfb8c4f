"""A right schedule, small enough to check by hand, and ways to spoil it: for the tests of the validator.

Two chunks of 8 bytes, All-Reduce on 2 × 2 NPUs, 1 byte per picosecond on both dimensions, no latency. Reduce-Scatter
sends half of what is there, All-Gather as much as is there: 8/2 = 4 ps on dim1, 4/2 = 2 ps on dim2, then 2 ps on dim2
and 4 ps on dim1. Both chunks in the order 1 2, 2 1, first come first served::

    dim1  | 0 rs | 1 rs | 0 ag | 1 ag |           0-4, 4-8, 8-12, 12-16
    dim2  .      |0 rs|0 ag|1 rs|1 ag|            4-6, 6-8, 8-10, 10-12

Weights (1/2, 1/2) prove 12 ps: in whatever order, each phase of a chunk takes 4 + 2 ps, half of which is 3 ps, twice
per chunk.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any

from random_instances import AG, RS, dimension, network

from themis_opt.problem.bound import Bound, BoundScope, Sizing
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Schedule, Slot, StageTime

HALF = Fraction(1, 2)
TWO_EQUAL = BoundScope(Sizing.EQUAL, 2, 2)
TWO_FREE = BoundScope(Sizing.FREE, 2, 2)
INSTANCE = Instance(network(dimension(2), dimension(2)), size_bytes=16, num_chunks=2)
STAGES = (
    StageTime(0, RS, 0, 0, 4),
    StageTime(0, RS, 1, 4, 6),
    StageTime(0, AG, 1, 6, 8),
    StageTime(0, AG, 0, 8, 12),
    StageTime(1, RS, 0, 4, 8),
    StageTime(1, RS, 1, 8, 10),
    StageTime(1, AG, 1, 10, 12),
    StageTime(1, AG, 0, 12, 16),
)
SCHEDULE = Schedule(
    INSTANCE,
    chunks=(Chunk(8, (0, 1), (1, 0)), Chunk(8, (0, 1), (1, 0))),
    sequences=(
        (Slot(0, RS), Slot(1, RS), Slot(0, AG), Slot(1, AG)),
        (Slot(0, RS), Slot(0, AG), Slot(1, RS), Slot(1, AG)),
    ),
    makespan_ps=16,
    stages=STAGES,
    bound=Bound(12, "fluid", TWO_EQUAL, (HALF, HALF), 12),
)


def with_chunk(index: int, **changes: object) -> Schedule:
    chunks = list(SCHEDULE.chunks)
    chunks[index] = replace(chunks[index], **changes)  # type: ignore[arg-type]
    return SCHEDULE.replace(chunks=tuple(chunks))


def with_sequences(*sequences: tuple[Slot, ...]) -> Schedule:
    return SCHEDULE.replace(sequences=sequences)


def with_stage(index: int, **changes: int) -> Schedule:
    stages = list(STAGES)
    stages[index] = stages[index]._replace(**changes)  # type: ignore[arg-type]
    return SCHEDULE.replace(stages=tuple(stages))


def with_bound(**changes: object) -> Schedule:
    assert SCHEDULE.bound is not None
    return SCHEDULE.replace(bound=replace(SCHEDULE.bound, **changes))  # type: ignore[arg-type]


def forced(thing: Any, **fields: object) -> Any:
    """Return a copy with values that its own constructor refuses; code that circumvents it is judged all the same."""
    changed = copy(thing)
    for field, value in fields.items():
        object.__setattr__(changed, field, value)
    return changed


def with_forced_chunk(**fields: object) -> Schedule:
    return SCHEDULE.replace(chunks=(forced(SCHEDULE.chunks[0], **fields), SCHEDULE.chunks[1]))


def with_forced_bound(**fields: object) -> Schedule:
    return SCHEDULE.replace(bound=forced(SCHEDULE.bound, **fields))


DIM1, DIM2 = SCHEDULE.sequences
