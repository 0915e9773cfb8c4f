"""What ended a solver's run, and so whether another run would find the same."""

from __future__ import annotations

from enum import StrEnum

CLOSE_S = 0.05
"""A package keeps a time limit by a clock of its own: where less is left, the limit may be what stopped it."""


class Ending(StrEnum):
    """What stopped a run.

    `PROOF`: no schedule that was allowed is shorter. `GAP`: a schedule as near the bound as was asked for, or nothing
    that was allowed promised more. `EVALUATIONS`: the evaluation limit. `TIME`: the time limit; where evaluations are
    limited, also when it stopped any part of the run. `INTERRUPTED`: Ctrl-C or a termination signal. `UNKNOWN`: the
    solver did not say, gave up, or failed.
    """

    PROOF = "proof"
    GAP = "gap"
    EVALUATIONS = "evaluations"
    TIME = "time"
    INTERRUPTED = "interrupted"
    UNKNOWN = "unknown"
