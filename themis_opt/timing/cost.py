r"""The α-β-γ cost of a stage, in exact arithmetic and with the project's one rounding rule.

For a chunk of :math:`s` bytes and a stage on dimension :math:`k` after the dimensions in :math:`V`, with
:math:`x` the bytes each NPU holds before the stage (Sec. 2 and 4.4):

.. math::

    x = s / \prod_{i∈V} P_i \quad(RS), \qquad x = s / \prod_{i∉V} P_i \quad(AG), \qquad x = s \quad(A2A)    (C1)

    bytes = x (P_k - 1)/P_k \quad(RS, A2A), \qquad bytes = x (P_k - 1) \quad(AG)                             (C2)

    transfer = bytes (1/B_k + [RS]\,γ_k), \qquad latency = steps_k\,α_k, \qquad duration = transfer + latency  (C3)

A chunk's first stage takes the launch overhead of a chunk besides, and holds its dimension for it.

Transfer and latency are each rounded once, half to even, to an integer number of picoseconds (`CostModel.stage`,
`CostModel.latency_ps`). Everybody uses these integers, so equality of times means equality. The local search of
`themis_models` alone guesses with floats, rounded the same way: what it finds counts with the integers from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import NamedTuple

from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.units import PS_PER_S


class StageCost(NamedTuple):
    """What one stage costs: bytes one NPU sends, and integer picoseconds."""

    sent_bytes: Fraction
    transfer_ps: int
    latency_ps: int
    overhead_ps: int = 0

    @property
    def duration_ps(self) -> int:
        """Time from its start until the chunk is there: launch overhead, transfer and latency."""
        return self.overhead_ps + self.transfer_ps + self.latency_ps


class CostModel:
    """The stage costs of one instance; results are remembered, so ask freely: ``instance.derived(CostModel)``.

    Parameters
    ----------
    instance
        The instance; only its network, involved dimensions and occupancy matter.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self._dimensions = instance.network.dimensions
        self._exclusive = instance.occupancy is Occupancy.EXCLUSIVE
        self._stages: dict[tuple[int, Phase, frozenset[int], int], StageCost] = {}

    @cached_property
    def num_npus(self) -> int:
        """The involved NPUs, ``P``."""
        return self.instance.num_npus

    def resident_fraction(self, phase: Phase, visited: Iterable[int]) -> Fraction:
        """Return which part of a chunk each NPU holds before the stage that follows `visited` (C1)."""
        seen = prod(self._dimensions[i].size for i in visited)
        if phase is Phase.REDUCE_SCATTER:
            return Fraction(1, seen)
        return Fraction(seen, self.num_npus) if phase is Phase.ALL_GATHER else Fraction(1)

    def sent_fraction(self, phase: Phase, visited: Iterable[int], dimension: int) -> Fraction:
        """Return the bytes one NPU sends in a stage, per byte of the chunk (C2).

        Parameters
        ----------
        phase
            The stage's phase.
        visited
            The dimensions its chunk visited before in this phase.
        dimension
            The dimension of the stage.
        """
        size = self._dimensions[dimension].size
        factor = Fraction(size - 1) if phase is Phase.ALL_GATHER else Fraction(size - 1, size)
        return self.resident_fraction(phase, visited) * factor

    def transfer_rate(self, phase: Phase, dimension: int) -> Fraction:
        """Return the exact picoseconds per byte sent: ``1/B``, in Reduce-Scatter plus γ (C3)."""
        network_dimension = self._dimensions[dimension]
        rate = PS_PER_S / network_dimension.bandwidth_Bps
        if phase is Phase.REDUCE_SCATTER and network_dimension.reduction_bandwidth_Bps is not None:
            rate += PS_PER_S / network_dimension.reduction_bandwidth_Bps
        return rate

    def latency_ps(self, phase: Phase, dimension: int) -> int:
        """Return the rounded latency of one stage; All-to-All takes a single (direct) step."""
        network_dimension = self._dimensions[dimension]
        num_steps = 1 if phase is Phase.ALL_TO_ALL else network_dimension.num_steps()
        return round(num_steps * network_dimension.latency_ps)

    def stage(self, size_bytes: int, phase: Phase, visited: Iterable[int], dimension: int) -> StageCost:
        """Return the cost of one stage of a chunk.

        Parameters
        ----------
        size_bytes
            Bytes of the whole chunk.
        phase, visited, dimension
            As of `sent_fraction`.
        """
        # By set and not by order: what was visited before matters, its sequence does not.
        key = (size_bytes, phase, frozenset(visited), dimension)
        cost = self._stages.get(key)
        if cost is None:
            sent = size_bytes * self.sent_fraction(phase, key[2], dimension)
            # Transfer and latency are rounded apart: pipelined occupancy holds the dimension for the transfer alone.
            transfer_ps = round(sent * self.transfer_rate(phase, dimension))
            is_first = phase is self.instance.phases[0] and not key[2]
            overhead_ps = self.instance.chunk_overhead_ps if is_first else 0
            cost = StageCost(sent, transfer_ps, self.latency_ps(phase, dimension), overhead_ps)
            self._stages[key] = cost
        return cost

    def along(self, size_bytes: int, path: Iterable[tuple[Phase, int]]) -> tuple[StageCost, ...]:
        """Return the costs of all stages of a chunk of `size_bytes` that takes this path."""
        return tuple(self.stage(size_bytes, *visit) for visit in visits(path))

    def hold_ps(self, cost: StageCost) -> int:
        """Return how long a stage holds its dimension under the instance's occupancy."""
        return cost.duration_ps if self._exclusive else cost.overhead_ps + cost.transfer_ps


def visits(path: Iterable[tuple[Phase, int]]) -> Iterator[tuple[Phase, frozenset[int], int]]:
    """Yield the phase of each stage, the dimensions its chunk visited before it in that phase, and its dimension."""
    current, seen = None, frozenset[int]()
    for phase, k in path:
        if phase is not current:
            current, seen = phase, frozenset()
        yield phase, seen, k
        seen |= {k}
