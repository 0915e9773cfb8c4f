r"""Re-checkable proofs of lower bounds: one weight per dimension and a shortest path, in exact arithmetic.

Let :math:`y_k ≥ 0` with :math:`Σ_k y_k = 1`. On every dimension the stages' holds follow each other, so the makespan
:math:`T` is at least each dimension's load, hence at least their mean weighted by :math:`y`. Whatever orders the chunks
take, each is a path in the order lattice and cannot weigh less than the shortest one:

.. math::

    T ≥ Σ_k y_k·load_k ≥ C · Σ_{phase} \min_{order} Σ_{(V,k) ∈ order} y_k·hold(V,k)          (B1: equal chunks)

With pipelined occupancy a dimension's last stage ends one latency :math:`λ_k` after its hold, which adds
:math:`Σ_k y_k·λ_k` once. For chunks of any size the holds are affine in the size up to rounding, so with exactly
:math:`C` chunks of :math:`S` bytes together

.. math::

    T ≥ S · Σ_{phase} \min_{order} Σ y_k·rate(V,k) + [exclusive]\,C·Σ_{phase} Σ_k y_k·λ_k - C·phases/2   (B2: any sizes)

plus :math:`C·O·\min_k y_k` where launching a chunk costs the overhead :math:`O` on the dimension of its first stage;
the last term is the most that rounding each transfer to whole picoseconds can take away. Both hold for *every*
such y: a certificate needs no trust in whoever found it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm

from themis_opt.problem.bound import BoundScope, Sizing
from themis_opt.problem.collective import Phase
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.schedule import Order
from themis_opt.proof.order_lattice import Arc, Number, OrderLattice
from themis_opt.timing.cost import CostModel

MAX_EQUAL_COUNTS = 64
"""Over a wider range of numbers of equal chunks the bound is that for any sizes, which costs the same for all."""


@dataclass(frozen=True, slots=True)
class CheapestOrder:
    """An order of a phase that no other order beats under a certificate's weights.

    Attributes
    ----------
    phase
        The phase.
    order
        The dimensions in the order visited.
    stage_costs
        The weighted time of each of its stages [ps], in that order: of a whole chunk in (B1), per byte of it in (B2).
    """

    phase: Phase
    order: Order
    stage_costs: tuple[Fraction, ...]

    @property
    def cost(self) -> Fraction:
        """What the whole order costs: the shortest path in the phase's lattice."""
        return sum(self.stage_costs, Fraction(0))


@dataclass(frozen=True, slots=True)
class LoadArgument:
    """Why no schedule with exactly `num_chunks` chunks ends earlier: the weighted mean of the loads is too high.

    Attributes
    ----------
    num_chunks
        The number of chunks it speaks of.
    sizing
        `EQUAL` for (B1), which counts chunks; `FREE` for (B2), which counts bytes.
    units
        How many times the cheapest orders have to be paid: the chunks in (B1), the bytes in (B2).
    unit_bytes
        Bytes of the chunk counted in (B1), the smallest of them; 1 in (B2).
    cheapest
        One per phase.
    latency_ps, launch_ps, rounding_ps
        What every chunk adds in (B2), weighted: its stages' latencies (exclusive occupancy), its launch, and less the
        most that rounding can take away. Zero in (B1), where the stages contain them.
    paid_once_ps
        The weighted latency after each dimension's last hold (pipelined occupancy).
    """

    num_chunks: int
    sizing: Sizing
    units: int
    unit_bytes: int
    cheapest: tuple[CheapestOrder, ...]
    latency_ps: Fraction
    launch_ps: Fraction
    rounding_ps: Fraction
    paid_once_ps: Fraction

    @property
    def unit_cost(self) -> Fraction:
        """The least weighted time of one unit over all phases [ps]."""
        return sum((order.cost for order in self.cheapest), Fraction(0))

    @property
    def carried_ps(self) -> Fraction:
        """What all units carry together [ps]."""
        return self.units * self.unit_cost

    @property
    def load_ps(self) -> Fraction:
        """The least weighted mean of the loads of any such schedule [ps]: (B1) or (B2)."""
        per_chunk = self.latency_ps + self.launch_ps - self.rounding_ps
        return self.carried_ps + self.num_chunks * per_chunk + self.paid_once_ps


def certified_bound_ps(instance: Instance, weights: Sequence[Fraction], scope: BoundScope) -> int:
    """Return the lower bound in picoseconds that these weights prove for every schedule in `scope`.

    Parameters
    ----------
    instance
        The problem; its own number of chunks does not matter, the scope's does.
    weights
        One per network dimension, non-negative, adding up to 1, zero where a dimension is not involved.
    scope
        Sizing and numbers of chunks; for a range the bound is the least over its numbers.

    Raises
    ------
    InputError
        When the weights are no certificate or the scope has no schedule.
    """
    return max(0, ceil(weakest_argument(instance, weights, scope).load_ps))


def weakest_argument(instance: Instance, weights: Sequence[Fraction], scope: BoundScope) -> LoadArgument:
    """Return what `certified_bound_ps` rests on: the argument for the number of chunks in `scope` that allows least.

    Parameters
    ----------
    instance, weights, scope
        As of `certified_bound_ps`.

    Raises
    ------
    InputError
        When the weights are no certificate or the scope has no schedule.
    """
    check_weights(instance, weights)
    if not 1 <= scope.min_chunks <= scope.max_chunks <= instance.size_bytes:
        raise InputError(
            f"bound_scope.num_chunks is [{scope.min_chunks}, {scope.max_chunks}]; "
            f"it must be a range within 1 to {instance.size_bytes} (one byte per chunk)"
        )
    if scope.sizes is Sizing.FREE or scope.max_chunks - scope.min_chunks >= MAX_EQUAL_COUNTS:
        # What holds for any sizes holds for equal ones; it is affine in the number, so least at an end of the range.
        ends = sorted({scope.min_chunks, scope.max_chunks})
        arguments = [_free_sizes_argument(instance, weights, count) for count in ends]
    else:
        counts = range(scope.min_chunks, scope.max_chunks + 1)
        arguments = [_best_for_equal_chunks(instance, weights, count) for count in counts]
    return min(arguments, key=lambda argument: argument.load_ps)


def check_weights(instance: Instance, weights: Sequence[Fraction]) -> None:
    """Raise unless the weights are non-negative, add up to 1 and leave dimensions without stages alone.

    Raises
    ------
    InputError
        Naming the first rule broken.
    """
    num_dims = instance.network.num_dimensions
    if len(weights) != num_dims:
        raise InputError(f"certificate has {len(weights)} weights; the network has {num_dims} dimensions")
    for k, weight in enumerate(weights):
        if weight < 0:
            raise InputError(f"certificate[{k}] is {weight}; weights must not be negative")
        if weight and k not in instance.involved:
            raise InputError(f"certificate[{k}] is {weight}, but dim{k + 1} is not involved; its weight must be 0")
    total = sum(weights, Fraction(0))
    if total != 1:
        raise InputError(f"certificate adds up to {total}; the weights must add up to exactly 1")


def _best_for_equal_chunks(instance: Instance, weights: Sequence[Fraction], num_chunks: int) -> LoadArgument:
    """Return the stronger one of (B1) and (B2) for exactly so many equal chunks."""
    counted = _equal_chunks_argument(instance, weights, num_chunks)
    if instance.size_bytes % num_chunks == 0:
        return counted
    # (B1) drops the remainder of S/C: 26 bytes in 16 chunks count as 16. (B2) counts them all, and holds for any sizes.
    every_byte = _free_sizes_argument(instance, weights, num_chunks)
    return max(counted, every_byte, key=lambda argument: argument.load_ps)


def _equal_chunks_argument(instance: Instance, weights: Sequence[Fraction], num_chunks: int) -> LoadArgument:
    """Return (B1) for chunks of ``floor(S/C)`` bytes: a chunk of one byte more never takes less."""
    # Whole numbers instead of fractions: the shortest path visits thousands of arcs.
    scale = lcm(*(weight.denominator for weight in weights))
    integers = [int(weight * scale) for weight in weights]
    size = instance.size_bytes // num_chunks
    model = instance.derived(CostModel)

    def weighted_hold(arc: Arc) -> int:
        return integers[arc.dimension] * model.hold_ps(model.stage(size, *arc))

    nothing = Fraction(0)
    return LoadArgument(
        num_chunks,
        Sizing.EQUAL,
        units=num_chunks,
        unit_bytes=size,
        cheapest=_cheapest_orders(instance.derived(OrderLattice), weighted_hold, scale),
        latency_ps=nothing,
        launch_ps=nothing,
        rounding_ps=nothing,
        paid_once_ps=_latency_paid_once(instance, weights),
    )


def _free_sizes_argument(instance: Instance, weights: Sequence[Fraction], num_chunks: int) -> LoadArgument:
    """Return (B2)."""
    model, lattice = instance.derived(CostModel), instance.derived(OrderLattice)

    def weighted_rate(arc: Arc) -> Fraction:
        phase, visited, k = arc
        return weights[k] * model.sent_fraction(phase, visited, k) * model.transfer_rate(phase, k)

    latency = Fraction(0)
    if instance.occupancy is Occupancy.EXCLUSIVE:
        latency += sum(weights[k] * model.latency_ps(phase, k) for phase in instance.phases for k in instance.involved)
    # A launch holds the dimension of a chunk's first stage, whichever that is: only the least weight is sure.
    firsts = [arc for arc in lattice.arcs[instance.phases[0]] if not arc.visited]
    return LoadArgument(
        num_chunks,
        Sizing.FREE,
        units=instance.size_bytes,
        unit_bytes=1,
        cheapest=_cheapest_orders(lattice, weighted_rate),
        latency_ps=latency,
        launch_ps=instance.chunk_overhead_ps * min(weights[arc.dimension] for arc in firsts),
        rounding_ps=Fraction(len(instance.phases), 2),
        paid_once_ps=_latency_paid_once(instance, weights),
    )


def _cheapest_orders(
    lattice: OrderLattice, weight: Callable[[Arc], Number], scale: int = 1
) -> tuple[CheapestOrder, ...]:
    """Return each phase's cheapest order under `weight`, its costs divided by `scale`."""
    cheapest = []
    for phase in lattice.instance.phases:
        _, order = lattice.cheapest_order(phase, weight)
        stage_costs = tuple(Fraction(weight(arc)) / scale for arc in lattice.path(phase, order))
        cheapest.append(CheapestOrder(phase, order, stage_costs))
    return tuple(cheapest)


def _latency_paid_once(instance: Instance, weights: Sequence[Fraction]) -> Fraction:
    """Return the latency after each dimension's last hold, weighted; exclusive holds contain it already."""
    if instance.occupancy is Occupancy.EXCLUSIVE:
        return Fraction(0)
    model = instance.derived(CostModel)
    return sum(
        (weights[k] * min(model.latency_ps(phase, k) for phase in instance.phases) for k in instance.involved),
        Fraction(0),
    )
