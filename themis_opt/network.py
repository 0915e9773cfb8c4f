"""What a network is: its dimensions, their topologies and the collective algorithm each one runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import prod

from themis_opt.choices import choose
from themis_opt.errors import InputError

MAX_DIMENSIONS = 12
"""The order lattice has ``2^D`` vertices; past twelve dimensions exact certificates stop being cheap."""


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
        When a value is out of its range.
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
        set_field(self, "bandwidth_Bps", Fraction(self.bandwidth_Bps))
        set_field(self, "latency_ps", Fraction(self.latency_ps))
        if self.reduction_bandwidth_Bps is not None:
            set_field(self, "reduction_bandwidth_Bps", Fraction(self.reduction_bandwidth_Bps))
        if not isinstance(self.size, int) or self.size < 1:
            raise InputError(f"size is {self.size!r}; a dimension joins a whole number of NPUs, at least 1")
        if self.bandwidth_Bps <= 0:
            raise InputError(f"bandwidth is {float(self.bandwidth_Bps):g} B/s; it must be above zero")
        if self.latency_ps < 0:
            raise InputError(f"latency is {float(self.latency_ps):g} ps; it must not be negative")
        if self.links is not None and self.links < 1:
            raise InputError(f"links is {self.links}; an NPU has at least one link")
        if self.reduction_bandwidth_Bps is not None and self.reduction_bandwidth_Bps <= 0:
            raise InputError("reduction_bandwidth must be above zero; leave it out when reduction is free")
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
        object.__setattr__(self, "dimensions", tuple(self.dimensions))
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
