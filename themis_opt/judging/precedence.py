r"""Which stage waits for which, and the earliest times that follow: longest paths in the precedence graph.

A vertex is a stage. An arc leads to it from the stage its chunk was in before, and from the stage its dimension serves
before it, and weighs what it has to wait for after that stage's start:

.. math::

    start(j) ≥ start(i) + duration(i) \quad(same chunk), \qquad start(j) ≥ start(i) + hold(i) \quad(same dimension) (V1)

Every NPU follows the same schedule, so a graph without a cycle means that no NPU ever deadlocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from themis_opt.problem.collective import Phase
from themis_opt.problem.errors import DeadlockError
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Path, Slot
from themis_opt.timing.cost import CostModel


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


def list_works(instance: Instance, chunks: Sequence[Chunk]) -> list[Work]:
    """Return all stages, chunk by chunk in the order each chunk goes through them; sizes and orders must be valid."""
    model = instance.derived(CostModel)
    times: dict[tuple[int, Path], list[tuple[Phase, int, int, int]]] = {}
    works = []
    for index, chunk in enumerate(chunks):
        path = chunk.path(instance)
        key = chunk.size_bytes, path
        if key not in times:
            costs = zip(path, model.along(*key), strict=True)
            times[key] = [(*stage, cost.duration_ps, model.hold_ps(cost)) for stage, cost in costs]
        works += [Work(index, *stage_times) for stage_times in times[key]]
    return works


class Precedence:
    """The precedence graph of a schedule whose sequences name every stage exactly once.

    Into a vertex lead at most two arcs and out of it at most two: those of its chunk and those of its dimension.

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
        links = [(before, after) for sequence in self.sequences for before, after in pairwise(sequence)]
        chunk_links = [
            (vertex, vertex + 1) for vertex, (work, other) in enumerate(pairwise(works)) if work.chunk == other.chunk
        ]
        self._before_in_dimension = _by_vertex(len(works), ((after, before) for before, after in links))
        self._before_in_chunk = _by_vertex(len(works), ((after, before) for before, after in chunk_links))
        self._after_in_dimension = _by_vertex(len(works), links)
        self._after_in_chunk = _by_vertex(len(works), chunk_links)

    def topological_order(self) -> list[int]:
        """Return the vertices so that every stage comes after those it waits for.

        Source: A. B. Kahn, Topological sorting of large networks, CACM 5(11), 1962.

        Raises
        ------
        DeadlockError
            When there is no such order; it names a circle.
        """
        num_waits = [
            (chunk_mate is not None) + (dimension_mate is not None)
            for chunk_mate, dimension_mate in zip(self._before_in_chunk, self._before_in_dimension, strict=True)
        ]
        order = [vertex for vertex, waits in enumerate(num_waits) if not waits]
        for vertex in order:  # it grows meanwhile
            for after in (self._after_in_chunk[vertex], self._after_in_dimension[vertex]):
                if after is not None:
                    num_waits[after] -= 1
                    if not num_waits[after]:
                        order.append(after)
        if len(order) < len(self.works):
            stuck = {vertex for vertex, waits in enumerate(num_waits) if waits}
            raise DeadlockError([self.works[vertex].key for vertex in self._circle(stuck)])
        return order

    def _circle(self, stuck: set[int]) -> list[int]:
        """Return vertices each of which waits for the next, and the last for the first, with shortcuts taken.

        Every one of the `stuck` vertices waits for another of them, so going from one to the next comes back somewhere.
        """
        walk: dict[int, None] = {}
        vertex = min(stuck)
        while vertex not in walk:
            walk[vertex] = None
            waits_for = (self._before_in_dimension[vertex], self._before_in_chunk[vertex])
            vertex = next(before for before in waits_for if before is not None and before in stuck)
        round_trip = list(walk)
        place_of = {vertex: place for sequence in self.sequences for place, vertex in enumerate(sequence)}

        def waits(vertex: int, other: int) -> bool:
            work, other_work = self.works[vertex], self.works[other]
            return (work.chunk == other_work.chunk and vertex > other) or (
                work.dimension == other_work.dimension and place_of[vertex] > place_of[other]
            )

        circle: list[int] = []
        for visited in round_trip[round_trip.index(vertex) :]:
            while len(circle) > 1 and waits(circle[-2], visited):
                circle.pop()
            circle.append(visited)
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
            work, start_ps = self.works[vertex], starts[vertex]
            arrival_ps, free_ps = start_ps + work.duration_ps, start_ps + work.hold_ps
            end_ps = max(end_ps, arrival_ps)
            for after, ready_ps in (
                (self._after_in_chunk[vertex], arrival_ps),
                (self._after_in_dimension[vertex], free_ps),
            ):
                if after is not None and starts[after] < ready_ps:
                    starts[after] = ready_ps
        return end_ps


def _by_vertex(num_vertices: int, links: Iterable[tuple[int, int]]) -> list[int | None]:
    """Return, for every vertex, the other one of its link, or ``None``."""
    linked: list[int | None] = [None] * num_vertices
    for vertex, other in links:
        linked[vertex] = other
    return linked
