"""Counting the candidate schedules timed, which limits a search that must not look at the clock."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil


class Evaluations:
    """What is left of an evaluation limit; several threads may spend it.

    Parameters
    ----------
    limit
        So many evaluations in all, at least one.

    Attributes
    ----------
    limit
        The limit.
    spent
        Evaluations so far.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.spent = 0
        self._end = limit
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        """Evaluations left, in the part of the search that is going on."""
        return max(0, self._end - self.spent)

    def spend(self, number: int) -> None:
        """Count so many evaluations, at least one: what goes on must come to an end."""
        with self._lock:
            self.spent += max(1, number)

    @contextmanager
    def narrowed(self, number: int) -> Iterator[None]:
        """Let no more than so many be left for a while."""
        end = self._end
        self._end = min(end, self.spent + max(1, number))
        try:
            yield
        finally:
            self._end = end

    def part(self, part: float) -> int:
        """Return this part of what is left, rounded up."""
        return ceil(part * self.left)
