"""Makespans beside each other."""

from __future__ import annotations

from math import isinf

from themis_opt.problem.schedule import Schedule


def makespan_of(schedule: Schedule) -> int:
    """Return the makespan of a schedule that has been timed."""
    assert schedule.makespan_ps is not None
    return schedule.makespan_ps


def ratio(longer_ps: int, shorter_ps: int) -> float:
    """Return how many times one time is another: 1 where both are 0."""
    if longer_ps == shorter_ps:
        return 1.0
    return longer_ps / shorter_ps if shorter_ps else float("inf")


def finite(value: float) -> float | None:
    """Return a number that JSON has: infinity is ``null``."""
    return None if isinf(value) else value
