"""What every stage of a timed schedule waits for: the stage of its chunk before it, and that of its dimension."""

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
