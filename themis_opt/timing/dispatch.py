"""Letting a queue discipline choose each dimension's sequence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from themis_opt.problem.instance import Instance
from themis_opt.problem.interruption import interruptibly
from themis_opt.problem.schedule import Chunk, Slot
from themis_opt.timing.cost import CostModel
from themis_opt.timing.engine import Engine
from themis_opt.timing.policy import DispatchPolicy
from themis_opt.timing.reference import ReferenceDispatcher
from themis_opt.timing.stage_table import INT64_HEADROOM, StageTable, build_stage_table
from themis_opt.timing.timeline import Timeline

LONG_QUEUE = 4096
"""From so many chunks on the list dispatch, whose time grows with their square, runs where signals interrupt it."""


@dataclass(frozen=True, slots=True)
class Dispatched:
    """The sequences a policy chose, one per network dimension, and their timeline."""

    sequences: tuple[tuple[Slot, ...], ...]
    timeline: Timeline


def dispatch(
    instance: Instance,
    chunks: Sequence[Chunk],
    policy: DispatchPolicy = DispatchPolicy.FIFO,
    *,
    engine: Engine = Engine.AUTO,
) -> Dispatched:
    """Run chunks with given orders through the network under a queue discipline.

    Parameters
    ----------
    instance
        The problem.
    chunks
        Sizes and orders; chunk indices break ties.
    policy
        Which waiting chunk a free dimension serves next.
    engine
        Compiled kernel or plain-Python reference.

    Raises
    ------
    InputError
        When an order is no permutation of the involved dimensions or a size is not positive.
    """
    return dispatch_table(build_stage_table(instance.derived(CostModel), chunks), policy, engine=engine)


def dispatch_table(table: StageTable, policy: DispatchPolicy, *, engine: Engine = Engine.AUTO) -> Dispatched:
    """Do what `dispatch` does with the stages and costs of a table.

    Parameters
    ----------
    table
        The chunks and what their stages cost.
    policy, engine
        As of `dispatch`.
    """
    instance, policy = table.instance, DispatchPolicy(policy)
    keys = _keys(table, policy)
    num_dims = instance.network.num_dimensions
    if Engine(engine).compiles(table):
        makespan_ps, starts, served = _run_kernel(table, policy, keys, num_dims)
    else:
        dispatcher = ReferenceDispatcher(table, policy, table.by_chunk(keys), num_dims)
        makespan_ps, starts, served = dispatcher.run(), dispatcher.starts, dispatcher.served
    # Made once and shared: a schedule of 512 chunks has thousands of slots, each in one sequence.
    slots = {phase: [Slot(chunk, phase) for chunk in range(len(table.chunks))] for phase in instance.phases}
    slots_at = [slots[phase] for phase, _ in table.kinds[0].path]
    sequences = tuple(tuple(slots_at[stage][chunk] for chunk, stage in sequence) for sequence in served)
    return Dispatched(sequences, Timeline(makespan_ps, table, starts))


def _keys(table: StageTable, policy: DispatchPolicy) -> list[list[int]]:
    """Return, by kind of chunk and stage, the number by which `policy` compares; zeros where arrival alone counts."""
    if policy is DispatchPolicy.SCF:
        return table.resident_units()
    if policy is DispatchPolicy.ASTRA_SCF:
        # ASTRA-sim gives every chunk floor(S/C) bytes, so equal chunks tie there.
        sizes = [kind.size_bytes for kind in table.kinds]
        nominal = min(sizes) if max(sizes) - min(sizes) <= 1 else None
        before = table.resident_units(nominal_size=nominal)
        after = table.resident_units(after=True, nominal_size=nominal)
        return [[max(pair) for pair in zip(*rows, strict=True)] for rows in zip(before, after, strict=True)]
    return [[0] * table.num_stages for _ in table.kinds]


def _run_kernel(
    table: StageTable, policy: DispatchPolicy, keys: list[list[int]], num_dims: int
) -> tuple[int, Sequence[Sequence[int]], list[list[tuple[int, int]]]]:
    from themis_opt.timing import kernel

    start = np.empty((len(table.chunks), table.num_stages), np.int64)
    served = np.full((num_dims, len(table.chunks) * len(table.instance.phases), 2), -1, np.int64)
    if policy.is_astra:
        key = table.array(_list_keys(policy, _fitting(keys)))

        def run() -> int:
            return kernel.dispatch_by_list(table.stage_array, key, start, served)

        makespan_ps = run() if len(table.chunks) < LONG_QUEUE else interruptibly(run)
    else:
        by_arrival, fused = policy is not DispatchPolicy.SCF, policy is DispatchPolicy.FUSED_FIFO
        key = table.array(_fitting(keys))
        makespan_ps = kernel.dispatch_by_key(table.stage_array, key, by_arrival, fused, start, served)
    counts = (served[:, :, 0] >= 0).sum(axis=1)
    pairs = [
        [(chunk, stage) for chunk, stage in rows[:count]] for rows, count in zip(served.tolist(), counts, strict=True)
    ]
    return int(makespan_ps), start.tolist(), pairs


def _list_keys(policy: DispatchPolicy, keys: list[list[int]]) -> list[list[int]]:
    """Return the kernel's keys: negative where ASTRA-sim appends to the tail."""
    if policy is DispatchPolicy.ASTRA_FIFO:
        return [[-1] * len(row) for row in keys]
    return [[-key - 1 if stage == len(row) - 2 else key for stage, key in enumerate(row)] for row in keys]


def _fitting(keys: list[list[int]]) -> list[list[int]]:
    """Return keys that fit into 64-bit integers: themselves, or their ranks where they would not."""
    if max(map(max, keys)) < INT64_HEADROOM:
        return keys
    # Only comparisons matter to a queue, so ranks serve as well as the numbers.
    ranks = {key: rank for rank, key in enumerate(sorted(set(chain.from_iterable(keys))))}
    return [[ranks[key] for key in row] for row in keys]
