"""One scheduling problem: a network, a collective, its size, the number of chunks and the occupancy rule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import prod

from themis_opt.problem.checks import MAX_MAGNITUDE, choose, shown, whole, whole_or_none, wholes
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.derived import Deriving
from themis_opt.problem.errors import InputError
from themis_opt.problem.network import Network

MAX_CHUNKS = 65_536
"""More chunks than anybody launches; a limit that turns a slip of the keyboard into a message."""


class Occupancy(StrEnum):
    """How long a stage holds its dimension.

    `EXCLUSIVE`: for its whole duration, latency included (one active chunk per dimension, as in the paper's
    artifact). `PIPELINED`: for the transfer only; the chunk moves on one latency later (Sec. 4.4).
    """

    EXCLUSIVE = "exclusive"
    PIPELINED = "pipelined"


@dataclass(frozen=True, slots=True)
class Known:
    """What is already known of an instance, and who proved it: recorded beside it, never trusted."""

    makespan_ps: int | None = None
    bound_ps: int | None = None
    proved_by: str = ""

    def __post_init__(self) -> None:
        for field in ("makespan_ps", "bound_ps"):
            time_ps = whole_or_none(f"known.{field}", getattr(self, field))
            object.__setattr__(self, field, time_ps)
            if time_ps is not None and not 0 <= time_ps < MAX_MAGNITUDE:
                raise InputError(f"known.{field} is {shown(time_ps)}; a time is at least 0 ps, and below 10^60 ps")


@dataclass(frozen=True)
class Instance(Deriving):
    """A collective to schedule on a network.

    Parameters
    ----------
    network
        The network.
    collective
        The collective operation, or its name.
    size_bytes
        Bytes per NPU (see `Collective`), at least one per chunk.
    num_chunks
        How many pieces of equal size (to the byte) the collective is cut into.
    occupancy
        How long a stage holds its dimension, or the rule's name.
    dimensions
        Indices of the dimensions that take part; ``None`` means all.
    known
        Best known makespan and bound, if somebody recorded them.
    chunk_overhead_ps
        What launching a chunk costs [ps]: added to its first stage, during which it holds that dimension.

    Raises
    ------
    InputError
        When a value is out of range, no whole number where one is meant, or the instance has nothing to communicate.
    """

    network: Network
    collective: Collective = Collective.ALL_REDUCE
    size_bytes: int = 100_000_000
    num_chunks: int = 64
    occupancy: Occupancy = Occupancy.EXCLUSIVE
    dimensions: tuple[int, ...] | None = None
    known: Known | None = None
    chunk_overhead_ps: int = 0

    def __post_init__(self) -> None:
        set_field = object.__setattr__  # the class is frozen
        if not isinstance(self.network, Network):
            raise InputError(f"network is {shown(self.network)}; it must be a Network, such as load_network gives")
        if self.known is not None and not isinstance(self.known, Known):
            raise InputError(f"known is {shown(self.known)}; it must be a Known or None")
        set_field(self, "collective", choose(Collective, self.collective, "collective"))
        set_field(self, "occupancy", choose(Occupancy, self.occupancy, "occupancy"))
        set_field(self, "size_bytes", whole("size_bytes", self.size_bytes))
        set_field(self, "num_chunks", whole("num_chunks", self.num_chunks))
        set_field(self, "chunk_overhead_ps", whole("chunk_overhead_ps", self.chunk_overhead_ps))
        if not 1 <= self.size_bytes < MAX_MAGNITUDE:
            raise InputError(
                f"size is {shown(self.size_bytes)} bytes; a collective moves at least one byte, and below 10^60"
            )
        if not 0 <= self.chunk_overhead_ps < MAX_MAGNITUDE:
            raise InputError(
                f"chunk_overhead is {shown(self.chunk_overhead_ps)} ps; it must not be negative, and below 10^60 ps"
            )
        if not 1 <= self.num_chunks <= MAX_CHUNKS:
            raise InputError(f"chunks is {shown(self.num_chunks)}; allowed are 1 to {MAX_CHUNKS}")
        if self.num_chunks > self.size_bytes:
            raise InputError(
                f"chunks is {self.num_chunks}, but the size is only {self.size_bytes} bytes; "
                "every chunk needs at least one byte"
            )
        if self.dimensions is not None:
            set_field(self, "dimensions", self._checked_subset(wholes("dimensions", self.dimensions)))
        if not self.involved:
            raise InputError(
                f"network {self.network.name!r} has no involved dimension with more than one NPU; "
                "there is nothing to communicate"
            )

    def _checked_subset(self, subset: tuple[int, ...]) -> tuple[int, ...]:
        allowed = self.network.num_dimensions
        for k in subset:
            if not 0 <= k < allowed:
                raise InputError(
                    f"dimensions names index {shown(k)}, but network {self.network.name!r} "
                    f"has indices 0 to {allowed - 1}"
                )
        if len(set(subset)) != len(subset):
            raise InputError(f"dimensions is {list(subset)}; each index may stand in it once")
        # Sorted, so that two instances that name the same dimensions are equal.
        return tuple(sorted(subset))

    @cached_property
    def involved(self) -> tuple[int, ...]:
        """Indices of the dimensions with stages: those chosen that have more than one NPU, ascending."""
        chosen = range(self.network.num_dimensions) if self.dimensions is None else self.dimensions
        return tuple(k for k in chosen if self.network.dimensions[k].size > 1)

    @property
    def num_npus(self) -> int:
        """NPUs that take part together: the product of the involved dimensions' sizes."""
        return prod(self.network.dimensions[k].size for k in self.involved)

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The phases every chunk goes through."""
        return self.collective.phases

    @property
    def baseline_order(self) -> dict[Phase, tuple[int, ...]]:
        """The order of each phase that everybody else uses: ascending, in All-Gather descending."""
        return {phase: self.involved[::-1] if phase is Phase.ALL_GATHER else self.involved for phase in self.phases}

    def equal_chunk_sizes(self, num_chunks: int | None = None) -> tuple[int, ...]:
        """Return the bytes of each of `num_chunks` equal chunks (default: the instance's number).

        ``floor(S/C)`` each, the first ``S mod C`` one more, so that they add up to the size exactly.
        """
        count = num_chunks or self.num_chunks
        floor, remainder = divmod(self.size_bytes, count)
        return (floor + 1,) * remainder + (floor,) * (count - remainder)
