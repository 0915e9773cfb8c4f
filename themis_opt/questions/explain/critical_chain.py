"""The critical path of a schedule: the chain of stages, each waiting for the one before, that makes it that long.

From the stage that ends last back to time 0, a stage waits either for its dimension to be free or for its chunk to
arrive. Stages of one dimension that follow each other without a pause are told as one leg.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from themis_opt.problem.collective import Phase
from themis_opt.problem.schedule import Schedule
from themis_opt.timing.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Visit:
    """One stage of a timed schedule.

    Attributes
    ----------
    chunk, stage
        The chunk, and the stage's place on its path.
    phase, dimension
        What the stage is.
    start_ps, free_ps, end_ps
        When it starts, when it no longer holds its dimension and when its chunk is there.
    """

    chunk: int
    stage: int
    phase: Phase
    dimension: int
    start_ps: int
    free_ps: int
    end_ps: int


class Visits:
    """All stages of a timed schedule, by chunk and by dimension.

    Parameters
    ----------
    schedule
        The schedule.
    timeline
        What the simulator says of it.
    """

    def __init__(self, schedule: Schedule, timeline: Timeline) -> None:
        num_stages = timeline.table.num_stages
        holds = [hold for row in timeline.table.holds for hold in row]
        visits = [
            Visit(chunk, place % num_stages, phase, k, start, start + holds[place], end)
            for place, (chunk, phase, k, start, end) in enumerate(timeline.stages)
        ]
        # The timeline has the stages chunk by chunk, each chunk's in the order of its path.
        self.by_chunk = [visits[first : first + num_stages] for first in range(0, len(visits), num_stages)]
        by_name = {(visit.chunk, visit.phase, visit.dimension): visit for visit in visits}
        self.by_dimension = [
            [by_name[chunk, phase, k] for chunk, phase in sequence] for k, sequence in enumerate(schedule.sequences)
        ]
        self._served_before = {
            (visit.chunk, visit.stage): earlier for served in self.by_dimension for earlier, visit in pairwise(served)
        }

    def of_chunk_before(self, visit: Visit) -> Visit | None:
        """Return the stage after which the visit's chunk arrives, ``None`` for a chunk's first stage."""
        return self.by_chunk[visit.chunk][visit.stage - 1] if visit.stage else None

    def of_dimension_before(self, visit: Visit) -> Visit | None:
        """Return the stage its dimension serves before it, ``None`` for the first."""
        return self._served_before.get((visit.chunk, visit.stage))


@dataclass(frozen=True, slots=True)
class Leg:
    """A part of the critical path on one dimension, which waits for no chunk in it.

    Attributes
    ----------
    dimension
        The dimension.
    visits
        The stages it serves back to back; the last one's chunk is what the next leg waits for.
    """

    dimension: int
    visits: tuple[Visit, ...]

    @property
    def start_ps(self) -> int:
        """When its first stage starts; the leg before ends then."""
        return self.visits[0].start_ps

    @property
    def end_ps(self) -> int:
        """When its last stage's chunk is there."""
        return self.visits[-1].end_ps


def critical_chain(visits: Visits) -> tuple[Leg, ...]:
    """Return the critical path from time 0 to the makespan; each leg starts when the one before ends.

    Where a stage has waited for its dimension and for its chunk alike, the path stays on the dimension.
    """
    visit = max((path[-1] for path in visits.by_chunk), key=lambda last: last.end_ps)
    legs: list[list[Visit]] = [[visit]]
    while visit.start_ps > 0:
        # Where both were waited for the dimension is taken: that makes the fewest, longest legs.
        served = visits.of_dimension_before(visit)
        if served is not None and served.free_ps == visit.start_ps:
            visit = served
            legs[-1].append(visit)
            continue
        arrived = visits.of_chunk_before(visit)
        assert arrived is not None  # a chunk's first stage waits for nothing but its dimension
        visit = arrived
        legs.append([visit])
    return tuple(Leg(leg[0].dimension, tuple(reversed(leg))) for leg in reversed(legs))


def critical_ps_by_chunk(legs: tuple[Leg, ...]) -> dict[int, int]:
    """Return how much of the critical path each chunk on it takes up [ps]; together they are the makespan."""
    taken: dict[int, int] = {}
    for leg in legs:
        for position, visit in enumerate(leg.visits):
            is_last = position == len(leg.visits) - 1
            until_ps = leg.end_ps if is_last else leg.visits[position + 1].start_ps
            taken[visit.chunk] = taken.get(visit.chunk, 0) + until_ps - visit.start_ps
    return taken
