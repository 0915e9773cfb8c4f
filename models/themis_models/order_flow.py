r"""The orders of chunks as flow in the order lattice: how much of it visits dimension k after exactly V.

Every order is a path, so any mix of orders is a flow from the empty to the full set, and any such flow splits into
paths again. What a dimension is loaded with depends on the flow alone:

.. math::

    load_k = Σ_{phase} Σ_V w(V,k)·f(V,k)                                                                     (F1)

*Folding.* Unless reduction takes time, an All-Gather stage weighs what the Reduce-Scatter stage weighs that it mirrors:
after :math:`V` the one, *before* :math:`V` the other. Then an All-Gather order is as good as the same order read
backwards in Reduce-Scatter, and one lattice with twice the flow does for both phases. That is half the variables and,
for integer flow, far fewer equivalent solutions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance
from themis_opt.proof.order_lattice import Arc, OrderLattice, Vertex

if TYPE_CHECKING:
    import pulp


class OrderFlow:
    """Flow variables of an instance in a PuLP problem, one per arc, and the constraints that make them a flow.

    Parameters
    ----------
    problem
        The problem that gets variables and constraints.
    lattice
        The instance's order lattice.
    amount
        The flow from the empty to the full set in each phase.
    weights
        w(V,k) of every arc, per unit of flow.
    integer
        Whether flow is whole chunks.
    """

    def __init__(
        self,
        problem: pulp.LpProblem,
        lattice: OrderLattice,
        amount: int,
        weights: Mapping[Arc, float],
        *,
        integer: bool,
    ) -> None:
        import pulp

        self._problem = problem
        self._instance = lattice.instance
        self._weights = weights
        phases = lattice.instance.phases
        self.is_folded = len(phases) == 2 and all(
            weights[arc] == weights[mirrored(self._instance, arc)] for arc in weights
        )
        self._amount = amount * (2 if self.is_folded else 1)
        category = pulp.LpInteger if integer else pulp.LpContinuous
        self._arcs = {phase: lattice.arcs[phase] for phase in (phases[:1] if self.is_folded else phases)}
        self._flow = {
            arc: problem.add_variable(_name(arc), 0, self._amount, cat=category)
            for arcs in self._arcs.values()
            for arc in arcs
        }
        self._add_conservation()

    def on(self, arc: Arc) -> pulp.LpVariable:
        """Return the flow on an arc: with its mirror image's, if the arc's phase is folded away."""
        return self._flow[arc] if arc in self._flow else self._flow[mirrored(self._instance, arc)]

    def load(self, dimension: int) -> pulp.LpAffineExpression:
        """Return the load of a dimension (F1)."""
        import pulp

        return pulp.LpAffineExpression(
            [(variable, self._weights[arc]) for arc, variable in self._flow.items() if arc.dimension == dimension]
        )

    def _add_conservation(self) -> None:
        r"""Require that what enters a vertex leaves it, and that the whole amount leaves the empty set.

        .. math::

            Σ_{k∉V} f(V,k) = Σ_{k∈V} f(V∖k,k) \quad (V ≠ ∅), \qquad Σ_k f(∅,k) = amount                      (F2)
        """
        import pulp

        for arcs in self._arcs.values():
            leaving: dict[Vertex, list[pulp.LpVariable]] = defaultdict(list)
            entering: dict[Vertex, list[pulp.LpVariable]] = defaultdict(list)
            for arc in arcs:
                leaving[arc.visited].append(self._flow[arc])
                entering[arc.target].append(self._flow[arc])
            for vertex, outgoing in leaving.items():
                supply = pulp.lpSum(entering[vertex]) if vertex else self._amount
                self._problem += pulp.lpSum(outgoing) == supply


def mirrored(instance: Instance, arc: Arc) -> Arc:
    """Return the arc of the other phase that stands at the same place when its order is read backwards."""
    phase = Phase.ALL_GATHER if arc.phase is Phase.REDUCE_SCATTER else Phase.REDUCE_SCATTER
    return Arc(phase, frozenset(instance.involved) - arc.target, arc.dimension)


def _name(arc: Arc) -> str:
    visited = "_".join(str(k) for k in sorted(arc.visited))
    return f"flow_{arc.phase}_after_{visited}_to_{arc.dimension}"
