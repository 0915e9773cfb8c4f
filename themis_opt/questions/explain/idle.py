"""When and why a dimension is idle: before the first chunk arrives, between chunks, after the last one."""

from __future__ import annotations

from dataclasses import dataclass

from themis_opt.questions.explain.critical_chain import Visits


@dataclass(frozen=True, slots=True)
class Wait:
    """An idle time of a dimension that ends when a chunk arrives.

    Attributes
    ----------
    start_ps, end_ps
        From when to when.
    chunk
        The chunk it waits for.
    source
        The dimension that serves this chunk in the meantime, or just before.
    """

    start_ps: int
    end_ps: int
    chunk: int
    source: int

    @property
    def length_ps(self) -> int:
        """How long it is."""
        return self.end_ps - self.start_ps


@dataclass(frozen=True, slots=True)
class Idleness:
    """The idle time of one dimension between 0 and the makespan.

    Attributes
    ----------
    dimension
        The dimension.
    start_up
        The wait for its first chunk, if it does not start at 0.
    between
        The waits for later chunks.
    drained_ps
        From its last hold to the makespan; with pipelined occupancy the last chunk's latency is part of it.
    """

    dimension: int
    start_up: Wait | None
    between: tuple[Wait, ...]
    drained_ps: int

    @property
    def start_up_ps(self) -> int:
        """How long it waits for its first chunk."""
        return 0 if self.start_up is None else self.start_up.length_ps

    @property
    def between_ps(self) -> int:
        """How long it waits for later chunks, all together."""
        return sum(wait.length_ps for wait in self.between)

    @property
    def total_ps(self) -> int:
        """All its idle time."""
        return self.start_up_ps + self.between_ps + self.drained_ps

    @property
    def longest(self) -> Wait | None:
        """The longest wait between chunks."""
        return max(self.between, key=lambda wait: wait.length_ps, default=None)


def idleness(visits: Visits, makespan_ps: int) -> tuple[Idleness, ...]:
    """Return the idle time of every dimension that serves a stage, in index order."""
    found = []
    for k, served in enumerate(visits.by_dimension):
        # A dimension that takes no part is not idle: it has nothing to wait for.
        if not served:
            continue
        start_up: Wait | None = None
        between = []
        free_ps = 0
        for position, visit in enumerate(served):
            if visit.start_ps > free_ps:
                arrived = visits.of_chunk_before(visit)
                assert arrived is not None  # a chunk's first stage waits for nothing but its dimension
                wait = Wait(free_ps, visit.start_ps, visit.chunk, arrived.dimension)
                if position == 0:
                    start_up = wait
                else:
                    between.append(wait)
            free_ps = visit.free_ps
        found.append(Idleness(k, start_up, tuple(between), makespan_ps - free_ps))
    return tuple(found)
