"""What comes of solving: the schedule, its bounds, what ended the run, and whether another run would find the same."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from themis_opt.problem.bound import Bound
from themis_opt.problem.ratios import gap
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.problem.units import format_time

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


@dataclass(frozen=True, slots=True)
class Result:
    """What came of solving an instance.

    Attributes
    ----------
    schedule
        The best schedule, simulated and validated, with the best bound for its number of chunks.
    bound_any
        Where the number of chunks was free: a bound for all numbers allowed.
    ending
        What stopped the run.
    wall_s
        Seconds of solving, start-up of the solver process excluded.
    num_evaluations
        Candidate schedules that the solver's search timed, if it counted them: it does where they are limited.
    is_reproducible
        Whether another run can be held against this one, packages and processor being the same. It is true of two
        kinds of runs. One that ended by proof: no schedule allowed is shorter, so every run that ends by proof has the
        same makespan, though maybe another schedule (and where their number is free, other chunks); one that a time
        limit or Ctrl-C ends earlier may not get there. And one with one worker and an evaluation limit that ended
        by that, by the gap or by proof before the time limit stopped any part of it: every such run with the same
        instance, seed, chunking, gap, evaluation limit and time limit has the same schedule, sequence by sequence, with
        the same bound, so that the schedule file is the same byte for byte. What solvers by other authors say of their
        ending is taken from them.
    note
        A sentence for the user, or nothing.
    has_failed
        Whether the solver or its process failed, so that all there is was found before; `note` says how.
    interruption
        The exception of Ctrl-C or a termination signal that cut the solver short, or ``None``.
    """

    schedule: Schedule
    bound_any: Bound | None = None
    ending: Ending = Ending.UNKNOWN
    wall_s: float = 0.0
    num_evaluations: int | None = None
    is_reproducible: bool = False
    note: str = ""
    has_failed: bool = False
    interruption: KeyboardInterrupt | None = None

    @property
    def makespan_ps(self) -> int:
        """The schedule's simulated makespan."""
        return self.schedule.timed_ps

    @property
    def bound(self) -> Bound:
        """The best bound for the schedule's own number of chunks."""
        assert self.schedule.bound is not None
        return self.schedule.bound

    @property
    def gap(self) -> float:
        """``makespan / bound - 1``; see `ratios.gap` for a bound of zero."""
        return gap(self.makespan_ps, self.bound.value_ps)

    @property
    def status(self) -> Status:
        """`Status.OPTIMAL` if the makespan equals the bound, else `Status.FEASIBLE`."""
        return self.schedule.status

    def __str__(self) -> str:
        """Return it in one line: status, makespan, bound, gap, seconds and what ended the run."""
        told = (
            f"{self.status}: {format_time(self.makespan_ps)}, bound {format_time(self.bound.value_ps)} "
            f"(gap {100 * self.gap:.3g} %), in {self.wall_s:.1f} s, ended by {self.ending}"
        )
        return f"{told}; {self.note}" if self.note else told
