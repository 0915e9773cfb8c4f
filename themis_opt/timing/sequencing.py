"""Timing a schedule whose sequences are given, and naming the cycle when they deadlock."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from themis_opt.problem.collective import Phase
from themis_opt.problem.errors import DeadlockError, InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.timing.cost import CostModel
from themis_opt.timing.engine import Engine
from themis_opt.timing.reference import Starts, time_sequences
from themis_opt.timing.stage_table import StageTable, build_stage_table
from themis_opt.timing.timeline import Timeline

Sequence_ = list[tuple[int, int]]


def simulate(instance: Instance, schedule: Schedule, *, engine: Engine = Engine.AUTO) -> Timeline:
    """Time a schedule: every stage starts as early as its chunk and its dimension's sequence allow.

    Parameters
    ----------
    instance
        The problem; its chunk count does not matter, the schedule's chunks are what they are.
    schedule
        Chunks and sequences; whatever it claims about times is ignored.
    engine
        Compiled kernel or plain-Python reference.

    Raises
    ------
    InputError
        When orders or sequences are incomplete, or the sequences name stages that do not exist.
    DeadlockError
        When sequences and orders wait for each other in a circle; it names the circle.
    """
    table = build_stage_table(instance.derived(CostModel), schedule.chunks)
    sequences = _stage_sequences(table, schedule)
    if Engine(engine).compiles(table):
        starts, num_done = _run_kernel(table, sequences)
    else:
        starts, num_done = time_sequences(table, sequences)
    if num_done != [len(sequence) for sequence in sequences]:
        raise DeadlockError(find_cycle(table, sequences, num_done))
    # A chunk's last stage ends last; the latest of them is the makespan, its latency included.
    makespan_ps = max(row[-1] + costs[-1].duration_ps for row, costs in zip(starts, table.costs, strict=True))
    return Timeline(makespan_ps, table, starts)


def timeline_of(schedule: Schedule) -> Timeline:
    """Time a schedule on its own instance; ask ``schedule.derived(timeline_of)``, so that it happens once."""
    return simulate(schedule.instance, schedule)


def _stage_sequences(table: StageTable, schedule: Schedule) -> list[Sequence_]:
    """Return the sequences as (chunk, stage index) pairs, checked to name every stage once."""
    num_dims = table.instance.network.num_dimensions
    if len(schedule.sequences) != num_dims:
        raise InputError(
            f"sequences has {len(schedule.sequences)} entries; the network has {num_dims} dimensions, one entry each"
        )
    stage_at: list[dict[tuple[Phase, int], int]] = [
        {step: stage for stage, step in enumerate(kind.path)} for kind in table.kinds
    ]
    missing = {chunk: dict(stages) for chunk, stages in enumerate(table.by_chunk(stage_at))}
    sequences: list[Sequence_] = []
    for k, sequence in enumerate(schedule.sequences):
        stages = []
        for chunk, phase in sequence:
            try:
                stages.append((chunk, missing[chunk].pop((phase, k))))
            except KeyError:
                raise InputError(
                    f"sequences[{k}] names chunk {chunk} {phase}, which has no such stage (left) on dim{k + 1}"
                ) from None
        sequences.append(stages)
    for chunk, left in missing.items():
        if left:
            phase, k = next(iter(left))
            raise InputError(f"sequences[{k}] does not serve chunk {chunk} {phase} on dim{k + 1}")
    return sequences


def _run_kernel(table: StageTable, sequences: Sequence[Sequence_]) -> tuple[Starts, list[int]]:
    from themis_opt.timing import kernel

    served = np.full((len(sequences), max(map(len, sequences)), 2), -1, np.int64)
    for k, sequence in enumerate(sequences):
        served[k, : len(sequence)] = np.fromiter(chain.from_iterable(sequence), np.int64).reshape(-1, 2)
    num_on_dim = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
    num_done = np.zeros(len(sequences), np.int64)
    start = np.full((len(table.chunks), table.num_stages), -1, np.int64)
    kernel.time_sequences(table.stage_array, served, num_on_dim, start, num_done)
    return start.tolist(), num_done.tolist()


def find_cycle(
    table: StageTable, sequences: Sequence[Sequence_], num_done: Sequence[int]
) -> list[tuple[int, str, int]]:
    """Return a circle of stages, each waiting for the next, among those a deadlock left undone.

    A stage waits for its chunk's earlier stage, or else for the stage at the head of its dimension.

    Parameters
    ----------
    table
        The chunks.
    sequences
        ``(chunk, stage)`` pairs per dimension.
    num_done
        How many of each could be timed; fewer than there are on one dimension at least.
    """
    next_stage = [0] * len(table.chunks)
    for k, sequence in enumerate(sequences):
        for chunk, stage in sequence[: num_done[k]]:
            next_stage[chunk] = max(next_stage[chunk], stage + 1)
    k = next(k for k, sequence in enumerate(sequences) if num_done[k] < len(sequence))
    current = sequences[k][num_done[k]]
    # Every stage left undone waits for another one, and there are finitely many: the trail must meet itself.
    trail: list[tuple[int, int]] = []
    while current not in trail:
        trail.append(current)
        chunk, stage = current
        if next_stage[chunk] != stage:
            current = (chunk, next_stage[chunk])
        else:
            k = table.paths[chunk][stage][1]
            current = sequences[k][num_done[k]]
    circle = trail[trail.index(current) :]
    return [(chunk, *_phase_and_dimension(table, chunk, stage)) for chunk, stage in circle]


def _phase_and_dimension(table: StageTable, chunk: int, stage: int) -> tuple[str, int]:
    phase, k = table.paths[chunk][stage]
    return phase.value, k
