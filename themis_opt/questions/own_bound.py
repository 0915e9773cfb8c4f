"""A schedule beside the best quick bound for its own chunks."""

from __future__ import annotations

from dataclasses import replace

from themis_opt.problem.schedule import Schedule, Status
from themis_opt.solving.bounds import best_bound, quick_bounds, scope_of


def with_own_bound(schedule: Schedule) -> Schedule:
    """Return a schedule with the best quick bound for its own sizing and number of chunks, unless it has a better one.

    Its status is ``optimal`` where it meets that bound.
    """
    known = [] if schedule.bound is None else [schedule.bound]
    bound = best_bound([*quick_bounds(schedule.instance, scope_of(schedule)), *known])
    status = Status.OPTIMAL if bound.value_ps == schedule.makespan_ps else schedule.status
    return replace(schedule, bound=bound, status=status)
