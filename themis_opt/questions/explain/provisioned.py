r"""Which dimensions of a network are over-, just or under-provisioned (Sec. 6.3).

Under the baseline order dimension :math:`k` sends :math:`n_k` bytes. It keeps pace with the first involved dimension
:math:`j` exactly when it takes as long, so what it needs is

.. math::

    B^{need}_k = B_j · n_k / n_j                                                                              (E1)

For large :math:`P_k` that is the paper's rule :math:`B_j = P_j ⋯ P_{k-1}·B_k`. A dimension with more has bandwidth that
the baseline leaves unused and other orders can use; a dimension with less is the baseline's bottleneck.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from themis_opt.problem.instance import Instance
from themis_opt.problem.units import PS_PER_S
from themis_opt.proof.order_lattice import OrderLattice
from themis_opt.timing.cost import CostModel


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
    model, lattice = CostModel(instance), OrderLattice(instance)
    sent = dict.fromkeys(instance.involved, Fraction(0))
    for phase, order in instance.baseline_order.items():
        for arc in lattice.path(phase, order):
            sent[arc.dimension] += instance.size_bytes * model.sent_fraction(*arc)
    bandwidths = {k: instance.network.dimensions[k].bandwidth_Bps for k in instance.involved}
    first = instance.involved[0]
    return tuple(
        Provision(k, sent[k], bandwidths[k], bandwidths[first] * sent[k] / sent[first]) for k in instance.involved
    )
