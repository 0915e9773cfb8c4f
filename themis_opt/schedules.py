"""What an answer is: every chunk's size and orders, every dimension's sequence, and what is claimed of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from themis_opt.bound import Bound, Sizing
from themis_opt.collective import Phase
from themis_opt.instance import Instance

Order = tuple[int, ...]
"""A permutation of the involved dimensions: network dimension indices in the order a chunk visits them."""


class Status(StrEnum):
    """What is known of a schedule's quality."""

    HEURISTIC = "heuristic"
    FEASIBLE = "feasible"
    OPTIMAL = "optimal"


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
    """

    size_bytes: int
    rs_order: Order | None = None
    ag_order: Order | None = None


@dataclass(frozen=True)
class Schedule:
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
        """``makespan / bound - 1``, or ``None`` when either is not known."""
        if self.makespan_ps is None or self.bound is None or self.bound.value_ps <= 0:
            return None
        return self.makespan_ps / self.bound.value_ps - 1

    def order(self, chunk_idx: int, phase: Phase) -> Order:
        """Return the order of dimensions that a chunk visits in a phase."""
        chunk = self.chunks[chunk_idx]
        order = {
            Phase.REDUCE_SCATTER: chunk.rs_order,
            Phase.ALL_GATHER: chunk.ag_order,
            Phase.ALL_TO_ALL: self.instance.involved,
        }[phase]
        return () if order is None else order

    def replace(self, **changes: object) -> Schedule:
        """Return a copy with these fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]
