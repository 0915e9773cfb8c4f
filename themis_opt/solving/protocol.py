"""What a solver and a bound provider are: the contract between this package and the plug-ins that bring them.

A package adds a solver with an entry point, and a bound with one in the group ``themis_opt.bounds``; both are loaded
when they are asked for::

    [project.entry-points."themis_opt.solvers"]
    my-solver = "my_package.my_module:my_solver"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from themis_opt.problem.bound import Bound, BoundScope
from themis_opt.problem.checks import real, whole
from themis_opt.problem.chunking import Chunking
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.parameters import (
    DEFAULT_TIME_LIMIT_S,
    EVALUATIONS,
    GAP,
    MAX_TIME_LIMIT_S,
    SEED,
    TIME_LIMIT,
    WORKERS,
)
from themis_opt.problem.plugins import Registry
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.solving.result import Ending

DEFAULT_SOLVER = "auto"


@dataclass(frozen=True, slots=True)
class Progress:
    """What a solver knows while it works: send it whenever something improves.

    Attributes
    ----------
    phase
        A word or two on what it is doing.
    incumbent
        A schedule better than those before, or ``None`` when only the bound moved.
    bound
        The best bound so far, or ``None``.
    """

    phase: str
    incumbent: Schedule | None = None
    bound: Bound | None = None


def ignore_progress(progress: Progress) -> None:
    """Drop a progress report."""


@dataclass(frozen=True, slots=True)
class SolverParams:
    """What every solver is told.

    Attributes
    ----------
    time_limit_s
        Wall seconds it may take, model building included.
    num_workers
        Threads or processes it may use.
    seed
        Its source of randomness. The same inputs, seed and `max_evaluations` give the same schedule with one worker.
    hints
        Schedules already known, best first, equal chunks; a solver starts from them.
    bound
        The best bound already proven for the instance, if any.
    chunking
        Which sizes and numbers of chunks may be chosen; ``None`` means exactly the instance's number of equal chunks.
    gap
        It may stop at a schedule whose makespan is at most ``1 + gap`` times a proven bound.
    on_progress
        Called with every improvement; may be called from another thread.
    max_evaluations
        How much it may search, whatever the clock says; ``None`` for no limit but the time. An evaluation is one
        candidate schedule timed; a solver that counts something else takes what costs about as much. Nothing but
        `time_limit_s` itself may depend on the clock then, and a result that it had a part in ends by `Ending.TIME`.
    """

    time_limit_s: float = DEFAULT_TIME_LIMIT_S
    num_workers: int = 1
    seed: int = 0
    hints: tuple[Schedule, ...] = ()
    bound: Bound | None = None
    chunking: Chunking | None = None
    gap: float = 0.0
    on_progress: Callable[[Progress], None] = field(default=ignore_progress, compare=False)
    max_evaluations: int | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "time_limit_s", real("time_limit_s", self.time_limit_s))
        if not 0 < self.time_limit_s < MAX_TIME_LIMIT_S:
            raise InputError(f"time limit is {self.time_limit_s:g} s; {TIME_LIMIT.range_words}")
        set_field(self, "num_workers", WORKERS.check(whole("num_workers", self.num_workers)))
        set_field(self, "seed", SEED.check(self.seed))
        set_field(self, "gap", GAP.check(self.gap))
        if self.max_evaluations is not None:
            set_field(self, "max_evaluations", EVALUATIONS.check(whole("max_evaluations", self.max_evaluations)))

    def require_plain_chunks(self, solver: str) -> None:
        """Raise unless a fixed number of equal chunks is asked for: what solvers for that alone call first.

        Raises
        ------
        InputError
            Naming a solver that can choose.
        """
        if self.chunking is not None and not self.chunking.is_plain:
            raise InputError(
                f"solver {solver!r} schedules a fixed number of equal chunks; "
                "for free sizes or a free number of chunks use the solver 'auto'"
            )


@dataclass(frozen=True, slots=True)
class SolverResult:
    """What a solver gives back.

    Attributes
    ----------
    status
        `OPTIMAL` when the schedule is proven best, `FEASIBLE` when not; meaningless without a schedule.
    schedule
        The best schedule found, or ``None``.
    bound
        What the solver itself proved, or ``None``.
    note
        A sentence for the user, such as why the problem was left to the heuristics.
    ending
        What stopped it. With an evaluation limit and one worker, `Ending.GAP` and `Ending.EVALUATIONS` promise that
        no clock had a part in the result.
    num_evaluations
        How many candidate schedules it timed, if it counts them.
    """

    status: Status
    schedule: Schedule | None
    bound: Bound | None
    note: str = ""
    ending: Ending = Ending.UNKNOWN
    num_evaluations: int | None = None


class Solver(Protocol):
    """A scheduler that also proves a lower bound.

    It may keep whatever schedule it likes: the caller simulates and validates it before anybody sees it, and compares
    the bound with the others'.
    """

    def __call__(self, instance: Instance, params: SolverParams) -> SolverResult:
        """Return the best schedule found for `instance` and a bound, within the time limit.

        Without `SolverParams.chunking` it has exactly `instance.num_chunks` equal chunks; a solver that cannot choose
        calls `SolverParams.require_plain_chunks` first.
        """
        ...


class BoundProvider(Protocol):
    """Computes one kind of lower bound."""

    def __call__(self, instance: Instance, scope: BoundScope, params: SolverParams) -> Bound | None:
        """Return a bound for all schedules of `instance` in `scope`, or ``None`` if there is none in time."""
        ...


SOLVERS: Registry[Solver] = Registry("solver", "themis_opt.solvers")
BOUNDS: Registry[BoundProvider] = Registry("bound", "themis_opt.bounds")
