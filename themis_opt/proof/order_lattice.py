r"""The order lattice: every order of dimensions is a path, so ``D!`` orders become ``D·2^(D-1)`` arcs.

A vertex is the set of dimensions a chunk has visited in a phase, an arc ``V → V∪{k}`` means "visit k after exactly the
dimensions in V". The stage's cost depends on nothing else, so each arc has one weight, and the cheapest order is a
shortest path from the empty to the full set. All-to-All has one order, hence a lattice that is a single path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Order

if TYPE_CHECKING:
    import networkx as nx

Number = TypeVar("Number", int, float, Fraction)

Vertex = frozenset[int]
"""The network dimension indices visited so far."""


class Arc(NamedTuple):
    """Visiting `dimension` after exactly the dimensions in `visited`, in this phase."""

    phase: Phase
    visited: Vertex
    dimension: int

    @property
    def target(self) -> Vertex:
        """The vertex it leads to."""
        return self.visited | {self.dimension}


class OrderLattice:
    """The order lattice of an instance, one copy per phase.

    Parameters
    ----------
    instance
        Only its involved dimensions and phases matter.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    @cached_property
    def arcs(self) -> Mapping[Phase, tuple[Arc, ...]]:
        """All arcs of each phase, smaller visited sets first."""
        involved = self.instance.involved
        if not self.instance.collective.has_free_orders:
            return {phase: tuple(self.path(phase, involved)) for phase in self.instance.phases}
        vertices = [frozenset(chosen) for size in range(len(involved)) for chosen in combinations(involved, size)]
        return {
            phase: tuple(Arc(phase, vertex, k) for vertex in vertices for k in involved if k not in vertex)
            for phase in self.instance.phases
        }

    def path(self, phase: Phase, order: Order) -> list[Arc]:
        """Return the arcs an order uses."""
        return [Arc(phase, frozenset(order[:position]), k) for position, k in enumerate(order)]

    def order(self, arcs: Iterable[Arc]) -> Order:
        """Return the order that a path's arcs (in any sequence) stand for."""
        return tuple(arc.dimension for arc in sorted(arcs, key=lambda arc: len(arc.visited)))

    def cheapest_order(self, phase: Phase, weight: Callable[[Arc], Number]) -> tuple[Number, Order]:
        """Return the least total weight of an order, and the first order that has it.

        Exact when the weights are: integers and fractions stay what they are.
        """
        arcs = self.arcs[phase]
        # Arcs come by the size of the set they start from, so every vertex is final before it is left: no queue.
        best: dict[Vertex, tuple[Number, Order]] = {}
        for arc in arcs:
            total = weight(arc)
            order: Order = (arc.dimension,)
            if arc.visited:
                before, prefix = best[arc.visited]
                total, order = before + total, prefix + order
            known = best.get(arc.target)
            if known is None or total < known[0]:
                best[arc.target] = (total, order)
        return best[frozenset(self.instance.involved)]

    def graph(self, phase: Phase, weight: Callable[[Arc], float] | None = None) -> nx.DiGraph[Vertex]:
        """Return one phase's lattice as a networkx graph; edges carry ``dimension`` and, if asked for, ``weight``."""
        import networkx as nx

        graph: nx.DiGraph[Vertex] = nx.DiGraph()
        for arc in self.arcs[phase]:
            graph.add_edge(arc.visited, arc.target, dimension=arc.dimension)
            if weight is not None:
                graph.edges[arc.visited, arc.target]["weight"] = weight(arc)
        return graph
