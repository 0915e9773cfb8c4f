"""Chunks as arrays: for each chunk and each of its stages the dimension, the hold and the duration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from themis_opt.collective import Phase
from themis_opt.cost import CostModel, StageCost
from themis_opt.errors import InputError
from themis_opt.instance import Instance
from themis_opt.schedule import Chunk, Order

IntArray = NDArray[np.int64]

Path = tuple[tuple[Phase, int], ...]
"""The stages of a chunk, in the order it goes through them: phase and dimension."""

INT64_HEADROOM = 2**62
"""Sums of durations up to this fit the compiled kernel's integers with room for one more addition."""


@dataclass(frozen=True)
class StageTable:
    """The stages of a list of chunks, in the order each chunk goes through them.

    A row is a chunk, a column the position of a stage in the chunk's path (``phases × involved dimensions``).
    Values are Python integers in nested tuples; the arrays are views for the compiled kernel.
    """

    instance: Instance
    chunks: tuple[Chunk, ...]
    paths: tuple[Path, ...]
    costs: tuple[tuple[StageCost, ...], ...]
    holds: tuple[tuple[int, ...], ...]

    @property
    def num_stages(self) -> int:
        """Stages of one chunk."""
        return len(self.paths[0])

    @cached_property
    def total_ps(self) -> int:
        """All durations added up: no schedule that never idles everywhere can take longer."""
        return sum(cost.duration_ps for row in self.costs for cost in row)

    @property
    def fits_int64(self) -> bool:
        """Whether the compiled kernel can add these durations without overflow."""
        return self.total_ps < INT64_HEADROOM

    @cached_property
    def dimension_array(self) -> IntArray:
        """Dimension of each stage, shape (chunks, stages)."""
        rows = {path: [k for _, k in path] for path in set(self.paths)}
        return np.array([rows[path] for path in self.paths], dtype=np.int64)

    @cached_property
    def hold_array(self) -> IntArray:
        """How long each stage holds its dimension [ps], shape (chunks, stages)."""
        return np.array(self.holds, dtype=np.int64)

    @cached_property
    def duration_array(self) -> IntArray:
        """How long each stage takes the chunk [ps], shape (chunks, stages)."""
        rows = {id(row): [cost.duration_ps for cost in row] for row in self.costs}
        return np.array([rows[id(row)] for row in self.costs], dtype=np.int64)

    def resident_units(self, after: bool = False, nominal_size: int | None = None) -> list[list[int]]:
        """Return the bytes before (or after) each stage times the number of NPUs: whole numbers, so they compare exactly.

        With `nominal_size` every chunk counts as that large.
        """
        model = CostModel(self.instance)

        @cache
        def units_of_a_byte(phase: Phase, visited: frozenset[int]) -> int:
            return int(model.resident_fraction(phase, visited) * model.num_npus)

        @cache
        def row(size: int, path: Path) -> list[int]:
            visits = _visits(path)
            return [size * units_of_a_byte(phase, seen | {k} if after else seen) for phase, k, seen in visits]

        sizes = [nominal_size or chunk.size_bytes for chunk in self.chunks]
        return [row(size, path) for size, path in zip(sizes, self.paths, strict=True)]


def _visits(path: Path) -> list[tuple[Phase, int, frozenset[int]]]:
    """Return each stage with the dimensions its chunk visited before it in the same phase."""
    visits = []
    seen: frozenset[int] = frozenset()
    for position, (phase, k) in enumerate(path):
        if position and path[position - 1][0] is not phase:
            seen = frozenset()
        visits.append((phase, k, seen))
        seen |= {k}
    return visits


def build_stage_table(instance: Instance, chunks: Sequence[Chunk], model: CostModel | None = None) -> StageTable:
    """Return the stages of these chunks with their costs.

    Raises
    ------
    InputError
        When there are no chunks, a size is not positive, or an order is no permutation of the involved dimensions.
    """
    if not chunks:
        raise InputError("a schedule needs at least one chunk")
    model = model or CostModel(instance)
    rows: dict[Chunk, tuple[Path, tuple[StageCost, ...], tuple[int, ...]]] = {}
    for index, chunk in enumerate(chunks):
        if chunk not in rows:
            path = _path(instance, chunk, index)
            costs = tuple(model.stage(chunk.size_bytes, phase, seen, k) for phase, k, seen in _visits(path))
            rows[chunk] = (path, costs, tuple(model.hold_ps(cost) for cost in costs))
    paths, costs_of, holds = zip(*(rows[chunk] for chunk in chunks), strict=True)
    return StageTable(instance, tuple(chunks), paths, costs_of, holds)


def _path(instance: Instance, chunk: Chunk, index: int) -> Path:
    if chunk.size_bytes < 1:
        raise InputError(f"chunk {index} has {chunk.size_bytes} bytes; every chunk needs at least one")
    orders: dict[Phase, Order | None] = {
        Phase.REDUCE_SCATTER: chunk.rs_order,
        Phase.ALL_GATHER: chunk.ag_order,
        Phase.ALL_TO_ALL: instance.involved,
    }
    path: list[tuple[Phase, int]] = []
    for phase in instance.phases:
        order = orders[phase]
        if order is None or tuple(sorted(order)) != instance.involved:
            shown = None if order is None else list(order)
            raise InputError(
                f"chunk {index}: {phase.value}_order is {shown}; "
                f"it must be a permutation of the involved dimensions {list(instance.involved)}"
            )
        path.extend((phase, k) for k in order)
    return tuple(path)
