"""What one gets without solving: every scheduler with a fixed number of chunks, the best number of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.schedulers.best_counts import fitting_counts
from themis_opt.solving.api import schedule as make_schedule


def best_fixed_choices(instance: Instance, schedulers: Sequence[str], seed: int = 0) -> dict[str, Schedule]:
    """Return for each scheduler its shortest schedule over `fitting_counts`, the one with fewest chunks among equals.

    Every schedule is simulated and validated (`themis_opt.schedule`); a scheduler that chooses its own number of chunks
    is given these numbers all the same.

    Parameters
    ----------
    instance
        The problem; its own number of chunks does not matter.
    schedulers
        Names of schedulers, the simplest first.
    seed
        For schedulers that draw lots.

    Raises
    ------
    InputError
        When there is no such scheduler.
    SchedulerError
        When one fails.
    """
    # What is known of the instance was known of its own number of chunks.
    counted = [replace(instance, known=None, num_chunks=count) for count in fitting_counts(instance)]
    return {name: shortest([make_schedule(one, name, seed=seed) for one in counted], schedulers) for name in schedulers}


def shortest(schedules: Iterable[Schedule], schedulers: Sequence[str]) -> Schedule:
    """Return the shortest schedule; among equals that with fewest chunks, then the simplest scheduler's.

    The schedulers are given with the simplest first (`themis_opt.schedulers.scheduler_names` has them so); what none of
    them has made, a solver's schedule say, comes last.
    """
    rank = {name: position for position, name in enumerate(schedulers)}

    def key(schedule: Schedule) -> tuple[int, int, int]:
        return schedule.timed_ps, schedule.num_chunks, rank.get(schedule.scheduler, len(rank))

    return min(schedules, key=key)
