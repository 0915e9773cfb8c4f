"""How thoroughly, and how long, candidates are solved while the best split of a budget is looked for.

A pilot is one solver call with few evaluations and one thread, so that it gives the same schedule each time. Its size
does not depend on the time limit; that says how many pilots there may be, and how large the largest are. So a search
with more time begins like one with less.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from themis_opt.solving.protocol import SolverParams

FIRST_EVALUATIONS = 200_000
"""Evaluations of the smallest pilots: a third of a second with 16 chunks on three dimensions."""

GROWTH = 3
"""How many times as many those of the next size have."""

PILOT_SHARE = 0.15
"""The largest part of the evaluation limit that a pilot has: smaller limits have smaller pilots, too."""

TOTAL_SHARE = 4
"""All pilots together have so many times the evaluation limit."""

NOMINAL_EVALUATIONS_PER_S = 500_000
"""Where only time is limited, so many evaluations stand for a second. They mostly take less than that."""

PILOT_TIME_SHARE = 0.3
"""The part of the time limit after which the clock ends a pilot: a network of many dimensions, a slow machine."""

TOTAL_TIME_SHARE = 6
"""After so many time limits the clock ends the looking."""


@dataclass
class Pilots:
    """What pilots may cost, and what they have cost.

    Attributes
    ----------
    params
        The limits of a thorough solver call.
    """

    params: SolverParams
    _spent: int = field(default=0, init=False)
    _started: float = field(default_factory=time.monotonic, init=False)

    @property
    def _evaluation_limit(self) -> int:
        return self.params.max_evaluations or max(1, int(NOMINAL_EVALUATIONS_PER_S * self.params.time_limit_s))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The evaluations of the smallest pilots, of the next larger ones, and so on; at least one size."""
        largest = max(1, int(PILOT_SHARE * self._evaluation_limit))
        sizes = [min(FIRST_EVALUATIONS, largest)]
        while sizes[-1] * GROWTH <= largest:
            sizes.append(sizes[-1] * GROWTH)
        return tuple(sizes)

    def have_room_for(self, evaluations: int) -> bool:
        """Return whether there may be one more pilot of this size."""
        if time.monotonic() - self._started >= TOTAL_TIME_SHARE * self.params.time_limit_s:
            return False
        return self._spent + evaluations <= TOTAL_SHARE * self._evaluation_limit

    def take(self, evaluations: int) -> SolverParams:
        """Return the limits of one more pilot of this size."""
        self._spent += evaluations
        return replace(
            self.params,
            time_limit_s=PILOT_TIME_SHARE * self.params.time_limit_s,
            max_evaluations=evaluations,
            num_workers=1,
        )
