r"""The orders of chunks as flow in the order lattice: how much of it visits dimension k after exactly V.

Every order is a path, so any mix of orders is a flow from the empty to the full set, and any such flow splits into
paths again. What a dimension is loaded with depends on the flow alone:

.. math::

    load_k = Σ_{phase} Σ_V w(V,k)·f(V,k)                                                                     (F1)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from themis_opt.instance import Instance
from themis_opt.lattice import Arc, OrderLattice, Vertex

if TYPE_CHECKING:
    import pulp


class OrderFlow:
    """Flow variables of an instance in a PuLP problem, one per arc, and the constraints that make them a flow.

    Parameters
    ----------
    problem
        The problem that gets variables and constraints.
    instance
        The instance whose order lattice is meant.
    amount
        The flow from the empty to the full set in each phase.
    integer
        Whether flow is whole chunks.
    """

    def __init__(self, problem: pulp.LpProblem, instance: Instance, amount: int, *, integer: bool) -> None:
        import pulp

        self.lattice = OrderLattice(instance)
        self._problem = problem
        self._amount = amount
        category = pulp.LpInteger if integer else pulp.LpContinuous
        self.variables: dict[Arc, pulp.LpVariable] = {
            arc: problem.add_variable(_name(arc), 0, amount, cat=category)
            for phase in instance.phases
            for arc in self.lattice.arcs[phase]
        }
        self._add_conservation()

    def _add_conservation(self) -> None:
        r"""Require that what enters a vertex leaves it, and that the whole amount leaves the empty set.

        .. math::

            Σ_{k∉V} f(V,k) = Σ_{k∈V} f(V∖k,k) \quad (V ≠ ∅), \qquad Σ_k f(∅,k) = amount                      (F2)
        """
        import pulp

        for arcs in self.lattice.arcs.values():
            leaving: dict[Vertex, list[pulp.LpVariable]] = defaultdict(list)
            entering: dict[Vertex, list[pulp.LpVariable]] = defaultdict(list)
            for arc in arcs:
                leaving[arc.visited].append(self.variables[arc])
                entering[arc.target].append(self.variables[arc])
            for vertex, outgoing in leaving.items():
                supply = pulp.lpSum(entering[vertex]) if vertex else self._amount
                self._problem += pulp.lpSum(outgoing) == supply

    def load(self, dimension: int, weights: Mapping[Arc, float]) -> pulp.LpAffineExpression:
        """Return (F1) for one dimension."""
        import pulp

        terms = [(variable, weights[arc]) for arc, variable in self.variables.items() if arc.dimension == dimension]
        return pulp.LpAffineExpression(terms)


def _name(arc: Arc) -> str:
    visited = "_".join(str(k) for k in sorted(arc.visited))
    return f"flow_{arc.phase}_after_{visited}_to_{arc.dimension}"
