r"""A bandwidth budget and the splits of it: what they cost, what no split can do without, and splits worth trying.

Let dimension :math:`k` cost :math:`c_k` per unit of bandwidth. With exactly :math:`C` chunks, :math:`b_k(f)` the bytes
one NPU sends into :math:`k` under a flow :math:`f` in the order lattice, and :math:`L_k` the latency that holds
:math:`k` whatever the orders, every schedule of makespan :math:`T` has

.. math::

    B_k ≥ b_k(f) / (T - L_k) \quad\text{for some flow } f, \qquad L_k = C·Σ_{phase} λ_k \text{ (exclusive)}, \;
    \min_{phase} λ_k \text{ (pipelined)}                                                                      (P1)

so that a budget :math:`W ≥ Σ_k c_k·B_k` allows it only if

.. math::

    Σ_{phase} \min_{order} Σ_{(V,k)} c_k·bytes(V,k) / (T - L_k) ≤ W                                           (P2)

a shortest path in each phase's lattice, whose length falls with :math:`T`. The least such :math:`T` is a lower bound
for *every* split. Reduction time and launch overhead only make :math:`T` larger; (P2) leaves them out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import factorial, sqrt

from themis_opt.problem.bound import Sizing
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.units import PS_PER_S
from themis_opt.proof.order_lattice import Arc, Number, OrderLattice
from themis_opt.timing.cost import CostModel

MARGIN = 1e-9
"""What is taken off a bound worked out in floating point: a million times what its errors come to."""

FLOAT_ERROR = 1e-13
"""How near a bisection in floating point comes."""

FINEST_BPS = 10**6
LEAST_UNITS = 1000
"""Bandwidths are whole MB/s, or whole thousandths of that, and so on, where one has less than a thousand of them."""

Bandwidths = Mapping[int, Fraction]
"""Bytes per second of each involved dimension."""


@dataclass(frozen=True)
class Budget:
    """What bandwidth costs on an instance's involved dimensions, and how much may be spent.

    Attributes
    ----------
    instance
        The collective; bandwidths of its involved dimensions are up for choice.
    costs
        What a unit of bandwidth costs on each involved dimension; above zero.
    total_Bps
        The budget: ``Σ cost · bandwidth`` [bytes/s at cost 1] may not be above it.
    """

    instance: Instance
    costs: Mapping[int, Fraction]
    total_Bps: Fraction

    @property
    def model(self) -> CostModel:
        """The stage costs; of these, bytes and latencies do not depend on the split."""
        return self.instance.derived(CostModel)

    @property
    def lattice(self) -> OrderLattice:
        """The orders."""
        return self.instance.derived(OrderLattice)

    @cached_property
    def sent(self) -> Mapping[Arc, Fraction]:
        """The bytes one NPU sends for the whole collective if all chunks use an arc."""
        arcs = [arc for phase in self.instance.phases for arc in self.lattice.arcs[phase]]
        return {arc: self.instance.size_bytes * self.model.sent_fraction(*arc) for arc in arcs}

    @property
    def shipped(self) -> Bandwidths:
        """The bandwidths as the instance's network has them."""
        return {k: self.instance.network.dimensions[k].bandwidth_Bps for k in self.instance.involved}

    def price_Bps(self, split: Bandwidths) -> Fraction:
        """Return what a split costs [bytes/s at cost 1]."""
        return sum((self.costs[k] * bandwidth for k, bandwidth in split.items()), Fraction(0))

    def scaled(self, split: Bandwidths) -> Bandwidths:
        """Return a split in the same proportions that uses the budget up."""
        factor = self.total_Bps / self.price_Bps(split)
        return {k: factor * bandwidth for k, bandwidth in split.items()}

    def rounded(self, split: Bandwidths) -> Bandwidths:
        """Return a split with round bandwidths that are nowhere higher: whole MB/s, or finer where one is small."""
        unit = Fraction(FINEST_BPS)
        # Rounding down must not take away more than a thousandth of any bandwidth.
        while min(split.values()) < LEAST_UNITS * unit:
            unit /= 1000
        return {k: unit * (bandwidth // unit) for k, bandwidth in split.items()}

    def on(self, split: Bandwidths) -> Instance:
        """Return the instance with these bandwidths; how many links make them is left open."""
        dimensions = list(self.instance.network.dimensions)
        for k, bandwidth in split.items():
            dimensions[k] = replace(dimensions[k], bandwidth_Bps=bandwidth, links=None)
        network = replace(self.instance.network, dimensions=tuple(dimensions))
        return replace(self.instance, network=network, known=None)

    def latency_loads_ps(self, num_chunks: int) -> Mapping[int, int]:
        """Return :math:`L_k` of (P1): how long latency holds each dimension whatever the orders [ps]."""
        loads = {}
        for k in self.instance.involved:
            latencies = [self.model.latency_ps(phase, k) for phase in self.instance.phases]
            exclusive = self.instance.occupancy is Occupancy.EXCLUSIVE
            loads[k] = num_chunks * sum(latencies) if exclusive else min(latencies)
        return loads

    def least_time_ps(self, num_chunks: int, sizing: Sizing = Sizing.FREE) -> int:
        """Return what no split of the budget can be faster than with exactly so many chunks: the least T of (P2) [ps].

        Calculated in exact arithmetic, less half a picosecond for each stage on a dimension, which rounding can take
        away. Equal chunks count with ``floor(S/C)`` bytes each.
        """
        used = 1 if sizing is Sizing.FREE else Fraction(self._equal_bytes(num_chunks), self.instance.size_bytes)
        least = self._least_whole_ps(num_chunks, Fraction(used))
        slack = Fraction(num_chunks * len(self.instance.phases), 2)
        # One picosecond less is too little, so the real threshold is above that, and a makespan is whole.
        return max(0, (least - 1 - slack).__floor__() + 1)

    def _equal_bytes(self, num_chunks: int) -> int:
        return num_chunks * (self.instance.size_bytes // num_chunks)

    def _least_whole_ps(self, num_chunks: int, used: Fraction) -> int:
        """Return the least whole T for which (P2) holds for a part of the bytes.

        Floating point finds it to within a few picoseconds, exact arithmetic the rest.
        """
        loads = self.latency_loads_ps(num_chunks)
        sent = {arc: float(used * bytes_) * PS_PER_S for arc, bytes_ in self.sent.items()}
        costs = {k: float(cost) for k, cost in self.costs.items()}

        def price(time_ps: float) -> float:
            weights = {k: cost / (time_ps - loads[k]) for k, cost in costs.items()}
            return float(self._cheapest(lambda arc: weights[arc.dimension] * sent[arc]))

        time_ps = least_above(float(max(loads.values())), price, float(self.total_Bps))
        impossible = max(loads.values())
        # The float may be off to either side: steps that double bracket the threshold, bisection finds it.
        low = high = max(impossible + 1, int(time_ps))
        step = 1
        while not self._allows(high, num_chunks, used):
            low, high, step = high, high + step, 2 * step
        step = 1
        while low > impossible and self._allows(low, num_chunks, used):
            low, high, step = max(impossible, low - step), low, 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            if self._allows(middle, num_chunks, used):
                high = middle
            else:
                low = middle
        return high

    def _allows(self, time_ps: int, num_chunks: int, used: Fraction) -> bool:
        """Return whether (P2) holds, exactly."""
        weights = self._weights(time_ps, num_chunks)
        return used * self._cheapest(lambda arc: weights[arc.dimension] * self.sent[arc]) * PS_PER_S <= self.total_Bps

    def _cheapest(self, weight: Callable[[Arc], Number]) -> Number:
        """Return what the cheapest orders of all phases weigh together."""
        first, *others = (self.lattice.cheapest_order(phase, weight)[0] for phase in self.instance.phases)
        for other in others:
            first = first + other
        return first

    def _weights(self, time_ps: int, num_chunks: int) -> Mapping[int, Fraction]:
        """Return ``c_k/(T - L_k)``: what a byte on each dimension costs."""
        loads = self.latency_loads_ps(num_chunks)
        return {k: self.costs[k] / (time_ps - loads[k]) for k in self.instance.involved}

    def shortest_chunk_ps(self, num_chunks: int) -> int:
        r"""Return what no split can be faster than because the largest of so many chunks takes all its stages [ps].

        By the Cauchy-Schwarz inequality ``Σ b_k/B_k ≥ (Σ √(c_k·b_k))²/W``, with `b` the bytes of all phases, and
        ``√(a + b) ≥ (√a + √b)/√2`` for those of two:

        .. math::

            T ≥ \frac{1}{W·phases} \Big(Σ_{phase} \min_{order} Σ_{(V,k)} \sqrt{c_k·bytes(V,k)}\Big)^2
                + Σ_{phase} Σ_k λ_k                                                                           (P3)

        In floating point, less `MARGIN`.
        """
        largest = -(-self.instance.size_bytes // num_chunks) / self.instance.size_bytes
        roots = sum(
            self.lattice.cheapest_order(phase, lambda arc: sqrt(self.costs[arc.dimension] * self.sent[arc]))[0]
            for phase in self.instance.phases
        )
        transfer_ps = largest * roots**2 * PS_PER_S / float(self.total_Bps) / len(self.instance.phases)
        phases, dimensions = self.instance.phases, self.instance.involved
        latency_ps = sum(self.model.latency_ps(phase, k) for phase in phases for k in dimensions)
        rounding_ps = len(phases) * len(dimensions) / 2
        return max(0, int(transfer_ps * (1 - MARGIN) + latency_ps - rounding_ps))

    def least_time_over_ps(self, counts: range, sizing: Sizing) -> int:
        """Return what no split can be faster than with any of these numbers of chunks [ps]."""
        return min(max(self.least_time_ps(count, sizing), self.shortest_chunk_ps(count)) for count in counts)

    def leanest_split(self, num_chunks: int) -> Bandwidths:
        """Return the split that (P2) asks for: all chunks take the cheapest order, and all dimensions are always busy.

        No split has a lower fluid bound (without reduction time and launch overhead). But few chunks cannot keep all
        dimensions busy in one order.
        """
        time_ps = self._least_whole_ps(num_chunks, Fraction(1))
        weights = self._weights(time_ps, num_chunks)
        used: dict[Arc, Fraction] = {}
        for phase in self.instance.phases:
            _, order = self.lattice.cheapest_order(phase, lambda arc: weights[arc.dimension] * self.sent[arc])
            used.update(dict.fromkeys(self.lattice.path(phase, order), Fraction(1)))
        return self._busy_split(used, num_chunks)

    def evenest_split(self, num_chunks: int) -> Bandwidths:
        """Return the split in which all orders are taken equally often, and all dimensions are always busy.

        Of all splits that can be kept busy it has most room to choose orders, so that few chunks suffice.
        """
        used = {}
        for phase in self.instance.phases:
            for arc in self.lattice.arcs[phase]:
                before, size = len(arc.visited), len(self.instance.involved)
                share = Fraction(factorial(before) * factorial(size - before - 1), factorial(size))
                used[arc] = share if self.instance.collective.has_free_orders else Fraction(1)
        return self._busy_split(used, num_chunks)

    def _busy_split(self, used: Mapping[Arc, Fraction], num_chunks: int) -> Bandwidths:
        """Return the split that lets dimensions with these shares of arcs end at the same time, as early as possible.

        With γ and launches on the right-hand side of (P1), ``B_k = b_k/(T - L_k - γ_k·b_k^{RS} - O·n_k)``, and the cost
        of that falls with T: bisection, in floating point.
        """
        held = {k: float(load) for k, load in self.latency_loads_ps(num_chunks).items()}
        sent = dict.fromkeys(self.instance.involved, 0.0)
        for arc, share in used.items():
            k = arc.dimension
            bytes_ = float(share * self.sent[arc])
            bandwidth_Bps = self.instance.network.dimensions[k].bandwidth_Bps
            reduction = self.model.transfer_rate(arc.phase, k) - PS_PER_S / bandwidth_Bps
            sent[k] += bytes_
            held[k] += bytes_ * float(reduction)
            if arc.phase is self.instance.phases[0] and not arc.visited:
                held[k] += float(share * num_chunks * self.instance.chunk_overhead_ps)

        def split_for(time_ps: float) -> dict[int, float]:
            return {k: sent[k] * PS_PER_S / (time_ps - held[k]) for k in sent}

        def price(time_ps: float) -> float:
            return sum(float(self.costs[k]) * bandwidth for k, bandwidth in split_for(time_ps).items())

        time_ps = least_above(max(held.values()), price, float(self.total_Bps))
        return self.scaled({k: Fraction(bandwidth) for k, bandwidth in split_for(time_ps).items()})


def least_above(start: float, falling: Callable[[float], float], limit: float) -> float:
    """Return the least argument above `start` at which a falling function is at most `limit`, by bisection.

    Parameters
    ----------
    start
        Where the function has its pole.
    falling
        The function.
    limit
        What it has to fall to.
    """
    # The function may have its pole at `start`: go right until it is low enough, then halve.
    step = 1.0
    while falling(start + step) > limit:
        step *= 2
    low, high = start, start + step
    while low < (middle := (low + high) / 2) < high and high - low > FLOAT_ERROR * high:
        if falling(middle) > limit:
            low = middle
        else:
            high = middle
    return high
