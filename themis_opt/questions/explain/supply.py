r"""Which dimensions of a network are over-, just or under-provisioned (Sec. 6.3), and what more bandwidth is worth.

Under the baseline order dimension :math:`k` sends :math:`n_k` bytes. It keeps pace with the first involved dimension
:math:`j` exactly when it takes as long, so what it needs is

.. math::

    B^{need}_k = B_j · n_k / n_j                                                                              (E1)

For large :math:`P_k` that is the paper's rule :math:`B_j = P_j ⋯ P_{k-1}·B_k`. A dimension with more has bandwidth that
the baseline leaves unused and other orders can use; a dimension with less is the baseline's bottleneck.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from themis_opt.problem.bound import Bound, BoundKind
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.units import PS_PER_S
from themis_opt.proof.order_lattice import OrderLattice
from themis_opt.solving.bounds import equal_chunks_scope, quick_bounds
from themis_opt.timing.cost import CostModel
from themis_opt.timing.sequencing import timeline_of

ONE_PERCENT_MORE = Fraction(101, 100)
GIGABYTE_PER_S = Fraction(10**9)


class Supply(StrEnum):
    """How a dimension's bandwidth compares with what the baseline order needs."""

    OVER = "over-provisioned"
    JUST = "just enough"
    UNDER = "under-provisioned"


@dataclass(frozen=True, slots=True)
class Provision:
    """One dimension under the baseline order.

    Attributes
    ----------
    dimension
        The dimension.
    sent_bytes
        What one NPU sends into it.
    bandwidth_Bps, needed_Bps
        What it has, and what it needs to keep pace with the first involved dimension (E1).
    """

    dimension: int
    sent_bytes: Fraction
    bandwidth_Bps: Fraction
    needed_Bps: Fraction

    @property
    def transfer_ps(self) -> Fraction:
        """How long its transfers take, all together, without latency and reduction [ps]."""
        return self.sent_bytes * PS_PER_S / self.bandwidth_Bps

    @property
    def ratio(self) -> Fraction:
        """What it has as a multiple of what it needs."""
        return self.bandwidth_Bps / self.needed_Bps

    @property
    def supply(self) -> Supply:
        """Whether that is more than enough, exactly enough or less."""
        if self.ratio == 1:
            return Supply.JUST
        return Supply.OVER if self.ratio > 1 else Supply.UNDER


def provisioning(instance: Instance) -> tuple[Provision, ...]:
    """Return how every involved dimension is provisioned, in index order; the first is the measure of the others."""
    model, lattice = instance.derived(CostModel), instance.derived(OrderLattice)
    sent = dict.fromkeys(instance.involved, Fraction(0))
    for phase, order in instance.baseline_order.items():
        for arc in lattice.path(phase, order):
            sent[arc.dimension] += instance.size_bytes * model.sent_fraction(*arc)
    bandwidths = {k: instance.network.dimensions[k].bandwidth_Bps for k in instance.involved}
    first = instance.involved[0]
    return tuple(
        Provision(k, sent[k], bandwidths[k], bandwidths[first] * sent[k] / sent[first]) for k in instance.involved
    )


def bandwidth_gains(schedule: Schedule, factor: Fraction = ONE_PERCENT_MORE) -> dict[int, int]:
    """Return by how much a schedule ends earlier [ps] when one dimension's bandwidth is `factor` times as high.

    Orders, sizes and sequences stay as they are; the schedule is simulated anew for each involved dimension.
    """
    instance = schedule.instance
    makespan_ps = schedule.derived(timeline_of).makespan_ps
    return {k: makespan_ps - _makespan_ps(schedule, [k], factor) for k in instance.involved}


def gain_everywhere_ps(schedule: Schedule, factor: Fraction = ONE_PERCENT_MORE) -> int:
    """Return by how much a schedule ends earlier [ps] when all dimensions' bandwidths are `factor` times as high."""
    return schedule.derived(timeline_of).makespan_ps - _makespan_ps(schedule, schedule.instance.involved, factor)


def bandwidth_values(instance: Instance, more_Bps: Fraction = GIGABYTE_PER_S) -> tuple[Bound, dict[int, int]]:
    """Return the fluid bound, and by how much it falls [ps] when one dimension has `more_Bps` more bandwidth.

    That is what no schedule can do without and the best ones come near to: the marginal value of bandwidth. The bound
    is for the instance's number of equal chunks. It is computed anew for each involved dimension; a bound's certificate
    weights (the linear program's duals) give the same to first order.
    """
    bound = _fluid(instance)
    values = {}
    for k in instance.involved:
        richer = _with_bandwidth(instance, k, instance.network.dimensions[k].bandwidth_Bps + more_Bps)
        values[k] = bound.value_ps - _fluid(richer).value_ps
    return bound, values


def _makespan_ps(schedule: Schedule, dimensions: Iterable[int], factor: Fraction) -> int:
    faster = schedule.instance
    for k in dimensions:
        faster = _with_bandwidth(faster, k, faster.network.dimensions[k].bandwidth_Bps * factor)
    return schedule.replace(instance=faster).derived(timeline_of).makespan_ps


def _fluid(instance: Instance) -> Bound:
    bounds = quick_bounds(instance, equal_chunks_scope(instance))
    return next(bound for bound in bounds if bound.kind == BoundKind.FLUID)


def _with_bandwidth(instance: Instance, k: int, bandwidth_Bps: Fraction) -> Instance:
    # What is known of the instance was known of its bandwidths as they were.
    dimensions = list(instance.network.dimensions)
    dimensions[k] = replace(dimensions[k], bandwidth_Bps=bandwidth_Bps)
    return replace(instance, network=replace(instance.network, dimensions=tuple(dimensions)), known=None)
