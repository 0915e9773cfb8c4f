"""Times beside each other: how many times one is another, with one convention where a time is zero."""

from __future__ import annotations

from math import inf, isfinite


def ratio(longer_ps: int, shorter_ps: int) -> float:
    """Return how many times one time is another: 1 where they are equal, both 0 included; infinite over 0.

    A speedup is the ratio of the other's makespan to one's own.
    """
    # Times of 0 ps exist: one byte on a fast dimension without latency rounds to nothing.
    if longer_ps == shorter_ps:
        return 1.0
    return longer_ps / shorter_ps if shorter_ps else inf


def gap(makespan_ps: int, bound_ps: int) -> float:
    """Return ``makespan / bound - 1``: 0 where they are equal, both 0 included; infinite above a bound of 0."""
    return ratio(makespan_ps, bound_ps) - 1


def finite(value: float) -> float | None:
    """Return a number that JSON and tables can hold: infinity is ``None``."""
    return value if isfinite(value) else None
