r"""Which stage waits for which, and the earliest times that follow: longest paths in the precedence graph.

A vertex is a stage. An arc leads to it from the stage its chunk was in before, and from the stage its dimension serves
before it, and weighs what it has to wait for after that stage's start:

.. math::

    start(j) ≥ start(i) + duration(i) \quad(same chunk), \qquad start(j) ≥ start(i) + hold(i) \quad(same dimension) (V1)

Every NPU follows the same schedule, so a graph without a cycle means that no NPU ever deadlocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from themis_opt.collective import Phase
from themis_opt.cost import CostModel
from themis_opt.errors import DeadlockError
from themis_opt.instance import Instance
from themis_opt.schedules import Chunk, Order, Slot

if TYPE_CHECKING:
    import networkx as nx


class Work(NamedTuple):
    """One stage: whose it is, where it runs, and how long it takes its chunk and holds its dimension [ps]."""

    chunk: int
    phase: Phase
    dimension: int
    duration_ps: int
    hold_ps: int

    @property
    def key(self) -> tuple[int, Phase, int]:
        """What tells it from the other stages."""
        return self.chunk, self.phase, self.dimension

    def __str__(self) -> str:
        return f"chunk {self.chunk} {self.phase} on dim{self.dimension + 1}"


def list_works(instance: Instance, chunks: Sequence[Chunk], model: CostModel) -> list[Work]:
    """Return all stages, chunk by chunk in the order each chunk goes through them; sizes and orders must be valid."""
    costs: dict[Chunk, list[tuple[Phase, int, int, int]]] = {}
    works = []
    for index, chunk in enumerate(chunks):
        shape = Chunk(chunk.size_bytes, _tuple(chunk.rs_order), _tuple(chunk.ag_order))
        if shape not in costs:
            costs[shape] = _stage_times(instance, shape, model)
        works += [Work(index, *times) for times in costs[shape]]
    return works


def _tuple(order: Order | None) -> Order | None:
    return None if order is None else tuple(order)


def _stage_times(instance: Instance, chunk: Chunk, model: CostModel) -> list[tuple[Phase, int, int, int]]:
    """Return phase, dimension, duration and hold of a chunk's stages."""
    orders = {
        Phase.REDUCE_SCATTER: chunk.rs_order,
        Phase.ALL_GATHER: chunk.ag_order,
        Phase.ALL_TO_ALL: instance.involved,
    }
    times = []
    for phase in instance.phases:
        order = orders[phase] or ()
        for position, k in enumerate(order):
            cost = model.stage(chunk.size_bytes, phase, order[:position], k)
            times.append((phase, k, cost.duration_ps, model.hold_ps(cost)))
    return times


class Precedence:
    """The precedence graph of a schedule whose sequences name every stage exactly once.

    Attributes
    ----------
    works
        The stages; their positions are the graph's vertices.
    sequences
        For each dimension, the vertices in the order it serves them.
    """

    def __init__(self, works: Sequence[Work], sequences: Sequence[Sequence[Slot]]) -> None:
        self.works = works
        vertex_of = {work.key: vertex for vertex, work in enumerate(works)}
        self.sequences = [
            [vertex_of[chunk, phase, k] for chunk, phase in sequence] for k, sequence in enumerate(sequences)
        ]
        self.graph = self._build()

    def _build(self) -> nx.DiGraph[int]:
        import networkx as nx

        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(len(self.works)))
        for sequence in self.sequences:
            graph.add_weighted_edges_from(
                (before, after, self.works[before].hold_ps) for before, after in pairwise(sequence)
            )
        # A stage may follow another both in its chunk and in its dimension: the duration is the longer wait.
        graph.add_weighted_edges_from(
            (vertex - 1, vertex, self.works[vertex - 1].duration_ps)
            for vertex in range(1, len(self.works))
            if self.works[vertex].chunk == self.works[vertex - 1].chunk
        )
        return graph

    def topological_order(self) -> list[int]:
        """Return the vertices so that every stage comes after those it waits for.

        Raises
        ------
        DeadlockError
            When there is no such order; it names a circle.
        """
        import networkx as nx

        try:
            return list(nx.topological_sort(self.graph))
        except nx.NetworkXUnfeasible:
            raise DeadlockError([self.works[vertex].key for vertex in self._circle()]) from None

    def _circle(self) -> list[int]:
        """Return vertices each of which waits for the next, and the last for the first, with shortcuts taken."""
        import networkx as nx

        place_of = {vertex: place for sequence in self.sequences for place, vertex in enumerate(sequence)}

        def waits(vertex: int, other: int) -> bool:
            work, other_work = self.works[vertex], self.works[other]
            return (work.chunk == other_work.chunk and vertex > other) or (
                work.dimension == other_work.dimension and place_of[vertex] > place_of[other]
            )

        circle: list[int] = []
        for _, vertex in reversed(nx.find_cycle(self.graph)):
            while len(circle) > 1 and waits(circle[-2], vertex):
                circle.pop()
            circle.append(vertex)
        return circle

    def earliest_end_ps(self) -> int:
        """Return when the last stage ends if every stage starts at the least time that satisfies (V1) [ps].

        Raises
        ------
        DeadlockError
            When no times satisfy (V1).
        """
        starts = [0] * len(self.works)
        end_ps = 0
        for vertex in self.topological_order():
            start_ps = starts[vertex]
            end_ps = max(end_ps, start_ps + self.works[vertex].duration_ps)
            for after, arc in self.graph.adj[vertex].items():
                starts[after] = max(starts[after], start_ps + arc["weight"])
        return end_ps
