"""What a network is: its dimensions, their topologies and the collective algorithm each one runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import prod

from themis_opt.problem.checks import choose, exact, shown, whole, whole_or_none
from themis_opt.problem.errors import InputError

MAX_DIMENSIONS = 12
"""The order lattice has ``2^D`` vertices; past twelve dimensions exact certificates stop being cheap."""
MAX_SIZE = 10**9
"""More NPUs in a group than anybody joins; a limit that turns a slip of the keyboard into a message."""


class Topology(StrEnum):
    """How the NPUs of one group of a dimension are wired (Sec. 2)."""

    RING = "ring"
    FULLY_CONNECTED = "fully-connected"
    SWITCH = "switch"


class Algorithm(StrEnum):
    """How one Reduce-Scatter or All-Gather stage runs inside a dimension (Table 1; Bruck added)."""

    RING = "ring"
    DIRECT = "direct"
    HALVING_DOUBLING = "halving-doubling"
    BRUCK = "bruck"

    def num_steps(self, size: int) -> int:
        """Return the message exchanges of one stage among `size` NPUs (T1 in docs/formulation.md).

        Raises
        ------
        InputError
            For halving-doubling among a number of NPUs that is no power of two.
        """
        if size == 1:
            return 0
        # log2 P for halving-doubling; Bruck's algorithm needs its ceiling, and takes any P.
        if self is Algorithm.RING:
            return size - 1
        if self is Algorithm.DIRECT:
            return 1
        if self is Algorithm.HALVING_DOUBLING and size & (size - 1):
            raise InputError(
                f"algorithm halving-doubling needs a power of two, and this dimension has size {size}; "
                "set algorithm to bruck, direct or ring"
            )
        return (size - 1).bit_length()


DEFAULT_ALGORITHM = {
    Topology.RING: Algorithm.RING,
    Topology.FULLY_CONNECTED: Algorithm.DIRECT,
    Topology.SWITCH: Algorithm.HALVING_DOUBLING,
}
"""Table 1: the contention-free algorithm of each topology."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One level of the network, joining groups of `size` NPUs.

    Parameters
    ----------
    topology
        How each group is wired.
    size
        NPUs in a group, at least 1. A dimension of size 1 is never involved in a collective.
    bandwidth_Bps
        Bytes per second one NPU sends into this dimension, one way, over all its links together.
    latency_ps
        Picoseconds from NPU to NPU of one step with a minimum-size message.
    algorithm
        Defaults to the topology's (`DEFAULT_ALGORITHM`).
    links
        Links per NPU, for the record: `bandwidth_Bps` already covers them all.
    reduction_bandwidth_Bps
        Bytes per second at which received data is reduced (the inverse of γ); ``None`` means free.
    note
        Where the figures come from.

    Raises
    ------
    InputError
        When a value is out of its range, or no number where one is meant.
    """

    topology: Topology
    size: int
    bandwidth_Bps: Fraction
    latency_ps: Fraction = Fraction(0)
    algorithm: Algorithm | None = None
    links: int | None = None
    reduction_bandwidth_Bps: Fraction | None = None
    note: str = ""

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "topology", choose(Topology, self.topology, "topology"))
        chosen = self.algorithm or DEFAULT_ALGORITHM[self.topology]
        set_field(self, "algorithm", choose(Algorithm, chosen, "algorithm"))
        set_field(self, "size", whole("size", self.size))
        set_field(self, "links", whole_or_none("links", self.links))
        if not 1 <= self.size <= MAX_SIZE:
            raise InputError(f"size is {shown(self.size)}; a dimension joins at least 1 NPU and at most {MAX_SIZE}")
        if self.links is not None and not 1 <= self.links <= MAX_SIZE:
            raise InputError(f"links is {shown(self.links)}; an NPU has at least 1 link and at most {MAX_SIZE}")
        set_field(self, "bandwidth_Bps", exact("bandwidth", self.bandwidth_Bps))
        set_field(self, "latency_ps", exact("latency", self.latency_ps))
        if self.reduction_bandwidth_Bps is not None:
            set_field(self, "reduction_bandwidth_Bps", exact("reduction_bandwidth", self.reduction_bandwidth_Bps))
        if not isinstance(self.note, str):
            raise InputError(f"note is {shown(self.note)}; it must be a text")
        if self.bandwidth_Bps <= 0:
            raise InputError(f"bandwidth is {float(self.bandwidth_Bps):g} B/s; it must be above zero")
        if self.latency_ps < 0:
            raise InputError(f"latency is {float(self.latency_ps):g} ps; it must not be negative")
        if self.reduction_bandwidth_Bps is not None and self.reduction_bandwidth_Bps <= 0:
            raise InputError("reduction_bandwidth must be above zero; leave it out when reduction is free")
        # Refuses halving-doubling on six NPUs here, where the file is read, and not in the middle of a run.
        self.num_steps()

    def num_steps(self) -> int:
        """Return the steps of one Reduce-Scatter or All-Gather stage on this dimension."""
        assert self.algorithm is not None  # set by __post_init__
        return self.algorithm.num_steps(self.size)


@dataclass(frozen=True, slots=True)
class Network:
    """NPUs joined by one or more dimensions; dimension index 0 is ``dim1``, the innermost.

    Raises
    ------
    InputError
        When its name is empty or not printable, or it has no dimension or more than `MAX_DIMENSIONS`.
    """

    name: str
    dimensions: tuple[Dimension, ...]
    source: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        given: object = self.dimensions
        dimensions = tuple(given) if isinstance(given, Iterable) else (given,)
        if not all(isinstance(entry, Dimension) for entry in dimensions):
            raise InputError(f"dimensions is {shown(given)}; it must be a sequence of Dimension")
        object.__setattr__(self, "dimensions", dimensions)
        for field in ("name", "source", "note"):
            if not isinstance(getattr(self, field), str):
                raise InputError(f"{field} is {shown(getattr(self, field))}; it must be a text")
        if not self.name or not self.name.isprintable():
            raise InputError(f"name is {self.name!r}; a network needs a name of printable characters")
        if not 1 <= len(self.dimensions) <= MAX_DIMENSIONS:
            raise InputError(
                f"network {self.name!r} has {len(self.dimensions)} dimensions; allowed are 1 to {MAX_DIMENSIONS}"
            )

    @property
    def num_dimensions(self) -> int:
        """The number of dimensions, ``D``."""
        return len(self.dimensions)

    @property
    def num_npus(self) -> int:
        """The number of NPUs, ``P = P_1·…·P_D``."""
        return prod(dimension.size for dimension in self.dimensions)
