"""Solving an instance whatever happens: heuristics first, then bounds, then the solver, and the best of all of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import themis_opt
from themis_opt.bound import Bound, Sizing
from themis_opt.errors import SolverError, ThemisError
from themis_opt.instance import Instance
from themis_opt.schedulers import get_scheduler
from themis_opt.schedules import Schedule, Status
from themis_opt.simulator import simulate
from themis_opt.solving.bounds import best_bound, equal_chunks_scope, quick_bounds
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import Progress, SolverParams
from themis_opt.validation import check

HINT_SCHEDULERS = ("themis-scf", "themis-fifo", "themis-astra-scf", "themis-astra-fifo", "round-robin", "baseline")
"""The schedulers whose schedules solvers start from: those with equal chunks."""

ASSIGNMENT_SHARE = 0.2
"""The part of the time limit that the assignment bound may take from the solver, and at most two seconds."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of solving.

    Attributes
    ----------
    schedule
        The best schedule, simulated and validated, with its bound.
    interruption
        The exception of Ctrl-C or a termination signal that cut the solver short, or ``None``.
    note
        A sentence for the user, or nothing.
    wall_s
        Seconds of solving, start-up of the solver process excluded.
    """

    schedule: Schedule
    interruption: KeyboardInterrupt | None = None
    note: str = ""
    wall_s: float = 0.0


class Incumbent:
    """The best schedule and bound so far; every candidate is simulated before it counts."""

    def __init__(self, instance: Instance, bounds: list[Bound], listener: Callable[[Progress], None]) -> None:
        self.instance = instance
        self.bound = best_bound(bounds)
        self.schedule: Schedule | None = None
        self._listener = listener

    def offer(self, schedule: Schedule, phase: str) -> None:
        """Take a schedule if it is better; it counts with its simulated makespan.

        Raises
        ------
        SolverError
            When it is no schedule of the instance, or ends before what was claimed to be a lower bound.
        """
        try:
            timeline = simulate(self.instance, schedule)
            check(self.instance, replace(schedule, makespan_ps=None, bound=None, stages=None, status=Status.FEASIBLE))
        except ThemisError as error:
            raise SolverError(f"{phase} brought a schedule that is none: {str(error).splitlines()[0]}") from error
        self._require_consistent(timeline.makespan_ps, self.bound, phase)
        best = self.schedule
        if best is None or best.makespan_ps is None or timeline.makespan_ps < best.makespan_ps:
            self.schedule = replace(schedule, makespan_ps=timeline.makespan_ps, bound=None, status=Status.FEASIBLE)
        self._listener(Progress(phase, self.schedule, self.bound))

    def tighten(self, bound: Bound | None, phase: str) -> None:
        """Take a bound if it is higher.

        Raises
        ------
        SolverError
            When a schedule that ends before it is already known.
        """
        if bound is not None and bound.value_ps > self.bound.value_ps:
            if self.schedule is not None and self.schedule.makespan_ps is not None:
                self._require_consistent(self.schedule.makespan_ps, bound, phase)
            self.bound = best_bound([self.bound, bound])
            self._listener(Progress(phase, self.schedule, self.bound))

    @staticmethod
    def _require_consistent(makespan_ps: int, bound: Bound, phase: str) -> None:
        if makespan_ps < bound.value_ps:
            raise SolverError(
                f"{phase}: a bound of {bound.value_ps} ps ({bound.kind}) contradicts a schedule of {makespan_ps} ps; "
                "this is a defect of whoever claimed the bound"
            )

    @property
    def is_proven(self) -> bool:
        """Whether no schedule can be better."""
        return self.schedule is not None and self.schedule.makespan_ps == self.bound.value_ps

    def result(self, solver: str, seed: int) -> Schedule:
        """Return the best schedule with its bound and status, checked by the validator.

        Raises
        ------
        InvalidScheduleError
            When it breaks a rule, which is a defect of whoever made it.
        """
        assert self.schedule is not None
        schedule = replace(
            self.schedule,
            bound=self.bound,
            status=Status.OPTIMAL if self.is_proven else Status.FEASIBLE,
            scheduler=solver,
            seed=seed,
            version=themis_opt.__version__,
        )
        check(self.instance, schedule)
        return schedule


def run_solver(
    instance: Instance,
    process: SolverProcess,
    solver: str,
    params: SolverParams,
) -> Outcome:
    """Return the best schedule with `instance.num_chunks` equal chunks that heuristics and the solver find in time.

    Parameters
    ----------
    instance
        The problem.
    process
        A process of this solver, started earlier so that its packages load meanwhile.
    solver
        The solver's name, which the schedule will carry.
    params
        Limits, seed and a listener for progress; hints and bound are added here.

    Raises
    ------
    SolverError
        When the solver brings a schedule that does not fit the instance.
    """
    incumbent = Incumbent(instance, quick_bounds(instance, equal_chunks_scope(instance)), params.on_progress)
    hints: list[Schedule] = []
    interruption: KeyboardInterrupt | None = None
    note = ""
    started = time.monotonic()
    try:
        for name in HINT_SCHEDULERS:
            hints.append(get_scheduler(name)(instance, seed=params.seed))
            incumbent.offer(hints[-1], name)
        process.wait_until_ready()
        started = time.monotonic()
        note = _improve(incumbent, process, params, hints)
    except KeyboardInterrupt as error:
        if incumbent.schedule is None:
            raise
        interruption = error
    except SolverError as error:
        note = str(error)
    return Outcome(incumbent.result(solver, params.seed), interruption, note, time.monotonic() - started)


def _improve(incumbent: Incumbent, process: SolverProcess, params: SolverParams, hints: list[Schedule]) -> str:
    """Let the assignment bound and the solver work on the incumbent; return a note for the user."""
    instance = incumbent.instance
    if incumbent.is_proven:
        return ""
    deadline = time.monotonic() + params.time_limit_s
    share_s = min(2.0, ASSIGNMENT_SHARE * params.time_limit_s)
    bound_params = replace(params, time_limit_s=share_s)
    incumbent.tighten(process.bound("assignment", instance, equal_chunks_scope(instance), bound_params), "assignment")
    left_s = deadline - time.monotonic()
    if incumbent.is_proven:
        return ""
    if left_s <= 0:
        return "the time limit left no time for the solver"
    best_first = sorted(hints, key=lambda hint: hint.makespan_ps or 0)
    solver_params = replace(params, time_limit_s=left_s, hints=tuple(best_first[:3]), bound=incumbent.bound)

    def listen(progress: Progress) -> None:
        if progress.incumbent is not None:
            incumbent.offer(progress.incumbent, progress.phase)
        incumbent.tighten(_covering(progress.bound, instance), progress.phase)

    result = process.solve(instance, solver_params, listen)
    if result is None:
        return "the solver did not answer in time and was stopped"
    if result.schedule is not None:
        incumbent.offer(result.schedule, "solver")
    incumbent.tighten(_covering(result.bound, instance), "solver")
    return result.note


def _covering(bound: Bound | None, instance: Instance) -> Bound | None:
    """Return a solver's bound only if it speaks of every schedule with the instance's number of equal chunks."""
    if bound is None:
        return None
    covers = bound.scope.min_chunks <= instance.num_chunks <= bound.scope.max_chunks
    if not covers or bound.scope.sizes not in (Sizing.EQUAL, Sizing.FREE):
        raise SolverError(f"the solver's bound is for {bound.scope}, not for this instance")
    return replace(bound, scope=equal_chunks_scope(instance))
