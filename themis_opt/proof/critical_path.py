r"""The critical-path bound: no schedule ends before its largest chunk could alone.

One of exactly :math:`C` chunks has at least :math:`⌈S/C⌉` bytes, and must go through all its stages one after another:

.. math::

    T ≥ Σ_{phase} \min_{order} Σ_{(V,k) ∈ order} duration_{⌈S/C⌉}(V,k)                        (B3)
"""

from __future__ import annotations

from themis_opt.problem.bound import Bound, BoundKind, BoundScope
from themis_opt.problem.instance import Instance
from themis_opt.proof.order_lattice import Arc, OrderLattice
from themis_opt.timing.cost import CostModel


def critical_path_bound(instance: Instance, scope: BoundScope) -> Bound:
    """Return (B3) for the most chunks in `scope`: more chunks mean a smaller largest one."""
    model, lattice = instance.derived(CostModel), instance.derived(OrderLattice)
    # The mean is a lower bound on the largest; rounding it up costs nothing, since bytes are whole.
    size = -(-instance.size_bytes // scope.max_chunks)

    def duration(arc: Arc) -> int:
        return model.stage(size, *arc).duration_ps

    value_ps = sum(lattice.cheapest_order(phase, duration)[0] for phase in instance.phases)
    return Bound(value_ps, BoundKind.CRITICAL_PATH, scope)
