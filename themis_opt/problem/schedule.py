"""What an answer is: every chunk's size and orders, every dimension's sequence, and what is claimed of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import itemgetter
from typing import Any, NamedTuple

from themis_opt.problem.bound import Bound, Sizing
from themis_opt.problem.checks import shown, whole, whole_or_none, wholes
from themis_opt.problem.collective import Phase
from themis_opt.problem.derived import Deriving
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.ratios import gap

Order = tuple[int, ...]
"""A permutation of the involved dimensions: network dimension indices in the order a chunk visits them."""

_INTEGERS = {int}


class Status(StrEnum):
    """What is known of a schedule's quality."""

    HEURISTIC = "heuristic"
    FEASIBLE = "feasible"
    OPTIMAL = "optimal"


class Stage(NamedTuple):
    """A stage of a chunk: its kind, which is the phase it belongs to, and its dimension."""

    phase: Phase
    dimension: int


Path = tuple[Stage, ...]
"""The stages of a chunk, in the order it goes through them: what timing, judging and searching walk along."""


class Slot(NamedTuple):
    """A place in a dimension's sequence: the stage of this chunk in this phase."""

    chunk: int
    phase: Phase


class StageTime(NamedTuple):
    """When one stage runs, in picoseconds; `end_ps` is when the chunk has arrived, latency included."""

    chunk: int
    phase: Phase
    dimension: int
    start_ps: int
    end_ps: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """An independent piece of the collective.

    Attributes
    ----------
    size_bytes
        Bytes per NPU of the whole chunk, in the sense of `Collective`.
    rs_order, ag_order
        The order of each phase; ``None`` where the collective has no such phase. An All-to-All chunk has neither:
        it visits the involved dimensions in ascending order.

    Raises
    ------
    InputError
        When a size or an index is no whole number.
    """

    size_bytes: int
    rs_order: Order | None = None
    ag_order: Order | None = None

    def __post_init__(self) -> None:
        # Chunks are made by the thousand: what is plain already is left alone.
        if type(self.size_bytes) is not int:
            object.__setattr__(self, "size_bytes", whole("size_bytes", self.size_bytes))
        rs_order, ag_order = self.rs_order, self.ag_order
        if rs_order is not None and not _is_plain_order(rs_order):
            object.__setattr__(self, "rs_order", wholes("rs_order", rs_order))
        if ag_order is not None and not _is_plain_order(ag_order):
            object.__setattr__(self, "ag_order", wholes("ag_order", ag_order))

    @classmethod
    def along(cls, size_bytes: int, path: Iterable[tuple[Phase, int]]) -> Chunk:
        """Return the chunk of this size that takes a path, given as phase and dimension of each stage."""
        orders: dict[Phase, Order] = {}
        for phase, k in path:
            orders[phase] = (*orders.get(phase, ()), k)
        return cls(size_bytes, orders.get(Phase.REDUCE_SCATTER), orders.get(Phase.ALL_GATHER))

    def order(self, instance: Instance, phase: Phase) -> Order:
        """Return the dimensions the chunk visits in a phase; none where it says nothing of it."""
        if phase is Phase.ALL_TO_ALL:
            return instance.involved
        return tuple((self.rs_order if phase is Phase.REDUCE_SCATTER else self.ag_order) or ())

    def path(self, instance: Instance) -> Path:
        """Return the stages the chunk goes through; whether these are all it needs is not asked."""
        return tuple(Stage(phase, k) for phase in instance.phases for k in self.order(instance, phase))


@dataclass(frozen=True)
class Schedule(Deriving):
    """A complete schedule of an instance; every NPU follows the same one.

    It may be wrong: it only *states* things. `validation.validate` judges it and `simulator.simulate` times it.

    Attributes
    ----------
    instance
        The problem it answers.
    chunks
        The chunks, by index.
    sequences
        For each network dimension, the order in which it serves stages; empty where it is not involved.
    makespan_ps
        The claimed finish time.
    scheduler
        Who made it.
    status
        Claimed quality.
    bound
        The claimed lower bound.
    stages
        Claimed times of all stages, or ``None`` to leave them to the timing rule.
    seed
        The seed its maker used.
    version
        The version of the program that made it.

    Raises
    ------
    InputError
        When a time, a seed or an index is no whole number, or a name no text.
        Everything else that may be wrong is the judge's matter.
    """

    instance: Instance
    chunks: tuple[Chunk, ...]
    sequences: tuple[tuple[Slot, ...], ...]
    makespan_ps: int | None = None
    scheduler: str = ""
    status: Status = Status.HEURISTIC
    bound: Bound | None = None
    stages: tuple[StageTime, ...] | None = None
    seed: int | None = None
    version: str | None = None

    def __post_init__(self) -> None:
        for field in ("makespan_ps", "seed"):
            object.__setattr__(self, field, whole_or_none(field, getattr(self, field)))
        if not isinstance(self.scheduler, str):
            raise InputError(f"scheduler is {shown(self.scheduler)}; it must be a text")
        if not isinstance(self.version, str | None):
            raise InputError(f"version is {shown(self.version)}; it must be a text or None")
        sequences: object = self.sequences
        if isinstance(sequences, tuple | list):
            plain = tuple(_plain_rows(f"sequences[{k}]", rows, Slot, (0,)) for k, rows in enumerate(sequences))
            object.__setattr__(self, "sequences", plain)
        object.__setattr__(self, "stages", _plain_rows("stages", self.stages, StageTime, (0, 2, 3, 4)))

    @property
    def num_chunks(self) -> int:
        """How many chunks it really has; a scheduler may choose another number than the instance's."""
        return len(self.chunks)

    @property
    def sizing(self) -> Sizing:
        """`EQUAL` when the sizes are those of `Instance.equal_chunk_sizes` in any arrangement, else `FREE`."""
        sizes = [chunk.size_bytes for chunk in self.chunks]
        equal = bool(sizes) and sorted(sizes, reverse=True) == list(self.instance.equal_chunk_sizes(len(sizes)))
        return Sizing.EQUAL if equal else Sizing.FREE

    @property
    def gap(self) -> float | None:
        """``makespan / bound - 1`` (`ratios.gap`), or ``None`` when either is not known."""
        if self.makespan_ps is None or self.bound is None:
            return None
        return gap(self.makespan_ps, self.bound.value_ps)

    @property
    def timed_ps(self) -> int:
        """The makespan of a schedule that has been timed."""
        assert self.makespan_ps is not None, "the schedule has not been timed"
        return self.makespan_ps

    def order(self, chunk_idx: int, phase: Phase) -> Order:
        """Return the order of dimensions that a chunk visits in a phase."""
        return self.chunks[chunk_idx].order(self.instance, phase)

    def path(self, chunk_idx: int) -> Path:
        """Return the stages that a chunk goes through."""
        return self.chunks[chunk_idx].path(self.instance)

    def replace(self, **changes: object) -> Schedule:
        """Return a copy with these fields changed; it keeps its times, unless they follow from one of these fields."""
        copy: Schedule = replace(self, **changes)  # type: ignore[arg-type]
        # Times follow from instance, chunks and sequences alone; claims about them change nothing.
        if copy.instance is self.instance and not changes.keys() & {"chunks", "sequences"}:
            copy._derived.update(self._derived)
        return copy


def _is_plain_order(order: object) -> bool:
    return type(order) is tuple and set(map(type, order)) <= _INTEGERS


def _plain_rows(field: str, rows: Any, kind: type[Slot] | type[StageTime], places: tuple[int, ...]) -> Any:
    """Return rows whose values at `places` are plain integers; what are no rows of this kind is left to the judge."""
    if not isinstance(rows, tuple | list) or _are_plain(rows, places):
        return rows
    plain: list[Any] = []
    for position, row in enumerate(rows):
        if not isinstance(row, tuple | list) or len(row) != len(kind._fields):
            plain.append(row)
            continue
        values = list(row)
        for place in places:
            values[place] = whole(f"{field}[{position}]: {kind._fields[place]}", row[place])
        plain.append(kind(*values))
    return tuple(plain)


def _are_plain(rows: tuple[Any, ...] | list[Any], places: tuple[int, ...]) -> bool:
    """Return whether all rows have plain integers at `places`, at the speed that a million stages need."""
    try:
        return all(set(map(type, map(itemgetter(place), rows))) <= _INTEGERS for place in places)
    except (TypeError, IndexError, KeyError):
        return False
