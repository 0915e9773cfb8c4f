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

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, lcm

from themis_opt.bound import BoundScope, Sizing
from themis_opt.cost import CostModel
from themis_opt.errors import InputError
from themis_opt.instance import Instance, Occupancy
from themis_opt.lattice import Arc, OrderLattice

MAX_EQUAL_COUNTS = 64
"""Over a wider range of numbers of equal chunks the bound is that for any sizes, which costs the same for all."""


def certified_bound_ps(
    instance: Instance, weights: Sequence[Fraction], scope: BoundScope, model: CostModel | None = None
) -> int:
    """Return the lower bound in picoseconds that these weights prove for every schedule in `scope`.

    Parameters
    ----------
    instance
        The problem; its own number of chunks does not matter, the scope's does.
    weights
        One per network dimension, non-negative, adding up to 1, zero where a dimension is not involved.
    scope
        Sizing and numbers of chunks; for a range the bound is the least over its numbers.
    model
        A cost model of the instance to share remembered costs with.

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
    model = model or CostModel(instance)
    if scope.sizes is Sizing.FREE or scope.max_chunks - scope.min_chunks >= MAX_EQUAL_COUNTS:
        # What holds for any sizes holds for equal ones; it is affine in the number, so least at an end of the range.
        counts = {scope.min_chunks, scope.max_chunks}
        return max(0, min(ceil(_free_sizes_bound(instance, weights, count, model)) for count in counts))
    counts_in_range = range(scope.min_chunks, scope.max_chunks + 1)
    return max(0, min(ceil(_equal_chunks_bound(instance, weights, count, model)) for count in counts_in_range))


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


def _equal_chunks_bound(instance: Instance, weights: Sequence[Fraction], num_chunks: int, model: CostModel) -> Fraction:
    """Return (B1) for chunks of ``floor(S/C)`` bytes: a chunk of one byte more never takes less."""
    scale = lcm(*(weight.denominator for weight in weights))
    integers = [int(weight * scale) for weight in weights]
    size = instance.size_bytes // num_chunks

    def weighted_hold(arc: Arc) -> int:
        return integers[arc.dimension] * model.hold_ps(model.stage(size, *arc))

    lattice = OrderLattice(instance)
    total = num_chunks * sum(lattice.cheapest_order(phase, weighted_hold)[0] for phase in instance.phases)
    return Fraction(total, scale) + _latency_paid_once(instance, weights, model)


def _free_sizes_bound(instance: Instance, weights: Sequence[Fraction], num_chunks: int, model: CostModel) -> Fraction:
    """Return (B2)."""

    def weighted_rate(arc: Arc) -> Fraction:
        phase, visited, k = arc
        return weights[k] * model.sent_fraction(phase, visited, k) * model.transfer_rate(phase, k)

    lattice = OrderLattice(instance)
    per_byte = sum((lattice.cheapest_order(phase, weighted_rate)[0] for phase in instance.phases), Fraction(0))
    per_chunk = Fraction(-len(instance.phases), 2)
    if instance.occupancy is Occupancy.EXCLUSIVE:
        per_chunk += sum(
            weights[k] * model.latency_ps(phase, k) for phase in instance.phases for k in instance.involved
        )
    firsts = [arc for arc in lattice.arcs[instance.phases[0]] if not arc.visited]
    per_chunk += instance.chunk_overhead_ps * min(weights[arc.dimension] for arc in firsts)
    return instance.size_bytes * per_byte + num_chunks * per_chunk + _latency_paid_once(instance, weights, model)


def _latency_paid_once(instance: Instance, weights: Sequence[Fraction], model: CostModel) -> Fraction:
    """Return the latency after each dimension's last hold, weighted; exclusive holds contain it already."""
    if instance.occupancy is Occupancy.EXCLUSIVE:
        return Fraction(0)
    return sum(
        (weights[k] * min(model.latency_ps(phase, k) for phase in instance.phases) for k in instance.involved),
        Fraction(0),
    )
