"""Chunks as arrays: for each chunk and each of its stages the dimension, the hold and the duration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from themis_opt.problem.collective import Phase
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Order, Path
from themis_opt.timing.cost import CostModel, StageCost, visits

Value = TypeVar("Value")

IntArray = NDArray[np.int64]

INT64_HEADROOM = 2**62
"""Sums of durations up to this fit the compiled kernel's integers with room for one more addition."""


class ChunkKind(NamedTuple):
    """Chunks of the same size and orders: their stages, in the order they go through them.

    Attributes
    ----------
    size_bytes
        Bytes of the whole chunk.
    path
        Phase and dimension of each stage.
    costs
        What each stage costs.
    holds
        How long each stage holds its dimension [ps].
    """

    size_bytes: int
    path: Path
    costs: tuple[StageCost, ...]
    holds: tuple[int, ...]


@dataclass(frozen=True)
class StageTable:
    """The stages of a list of chunks, in the order each chunk goes through them.

    A row is a chunk, a column the position of a stage in the chunk's path (``phases × involved dimensions``).
    Values are Python integers in nested tuples; the arrays are views for the compiled kernel. Everything is worked out
    once per kind of chunk, since most schedules have many chunks and few kinds.

    Attributes
    ----------
    instance
        The problem.
    chunks
        The chunks.
    kinds
        The different kinds of chunk there are.
    kind_of
        For each chunk, its place in `kinds`.
    """

    instance: Instance
    chunks: tuple[Chunk, ...]
    kinds: tuple[ChunkKind, ...]
    kind_of: tuple[int, ...]

    def by_chunk(self, by_kind: Sequence[Value]) -> list[Value]:
        """Return, for each chunk, the value of its kind."""
        return [by_kind[kind] for kind in self.kind_of]

    @property
    def num_stages(self) -> int:
        """Stages of one chunk."""
        return len(self.kinds[0].path)

    @cached_property
    def paths(self) -> list[Path]:
        """Phase and dimension of each stage, by chunk and stage."""
        return self.by_chunk([kind.path for kind in self.kinds])

    @cached_property
    def costs(self) -> list[tuple[StageCost, ...]]:
        """What each stage costs, by chunk and stage."""
        return self.by_chunk([kind.costs for kind in self.kinds])

    @cached_property
    def holds(self) -> list[tuple[int, ...]]:
        """How long each stage holds its dimension [ps], by chunk and stage."""
        return self.by_chunk([kind.holds for kind in self.kinds])

    @cached_property
    def total_ps(self) -> int:
        """All durations added up: no schedule that never idles everywhere can take longer."""
        return sum(self.by_chunk([sum(cost.duration_ps for cost in kind.costs) for kind in self.kinds]))

    @property
    def fits_int64(self) -> bool:
        """Whether the compiled kernel can add these durations without overflow."""
        return self.total_ps < INT64_HEADROOM

    @cached_property
    def stage_array(self) -> IntArray:
        """Dimension, hold [ps] and duration [ps] of each stage, shape (chunks, stages, 3), for the compiled kernel."""
        rows = [
            [(k, hold, cost.duration_ps) for (_, k), hold, cost in zip(kind.path, kind.holds, kind.costs, strict=True)]
            for kind in self.kinds
        ]
        return np.array(rows, dtype=np.int64)[list(self.kind_of)]

    def array(self, by_kind: Sequence[Sequence[int]]) -> IntArray:
        """Return the integers of each chunk's kind, shape (chunks, stages)."""
        return np.array(by_kind, dtype=np.int64)[list(self.kind_of)]

    def resident_units(self, after: bool = False, nominal_size: int | None = None) -> list[list[int]]:
        """Return the bytes before (or after) each stage times the number of NPUs, by kind and stage.

        These are whole numbers, so they compare exactly. With `nominal_size` every chunk counts as that large.
        """
        model = self.instance.derived(CostModel)

        @cache
        def units_of_a_byte(phase: Phase, visited: frozenset[int]) -> int:
            return int(model.resident_fraction(phase, visited) * model.num_npus)

        return [
            [
                (nominal_size or kind.size_bytes) * units_of_a_byte(phase, seen | {k} if after else seen)
                for phase, seen, k in visits(kind.path)
            ]
            for kind in self.kinds
        ]


def build_stage_table(costs: CostModel, chunks: Sequence[Chunk]) -> StageTable:
    """Return the stages of these chunks of an instance with their costs.

    Raises
    ------
    InputError
        When there are no chunks, a size is not positive, or an order is no permutation of the involved dimensions.
    """
    if not chunks:
        raise InputError("a schedule needs at least one chunk")
    instance = costs.instance
    # 512 chunks have a handful of sizes and orders: exact arithmetic is paid once for each of these.
    kinds: list[ChunkKind] = []
    places: dict[tuple[int, Order | None, Order | None], int] = {}
    kind_of = []
    for index, chunk in enumerate(chunks):
        place = places.setdefault((chunk.size_bytes, chunk.rs_order, chunk.ag_order), len(kinds))
        if place == len(kinds):
            path = _checked_path(instance, chunk, index)
            stages = costs.along(chunk.size_bytes, path)
            kinds.append(ChunkKind(chunk.size_bytes, path, stages, tuple(costs.hold_ps(stage) for stage in stages)))
        kind_of.append(place)
    return StageTable(instance, tuple(chunks), tuple(kinds), tuple(kind_of))


def _checked_path(instance: Instance, chunk: Chunk, index: int) -> Path:
    if chunk.size_bytes < 1:
        raise InputError(f"chunk {index} has {chunk.size_bytes} bytes; every chunk needs at least one")
    for phase in instance.phases:
        order = chunk.order(instance, phase)
        if tuple(sorted(order)) != instance.involved:
            raise InputError(
                f"chunk {index}: {phase.value}_order is {list(order) or None}; "
                f"it must be a permutation of the involved dimensions {list(instance.involved)}"
            )
    return chunk.path(instance)
