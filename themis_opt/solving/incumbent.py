"""The best schedule and the bounds so far, while heuristics and a solver work on an instance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from themis_opt.judging.claims import bound_violations, status_violations
from themis_opt.judging.form import form_violations
from themis_opt.judging.validator import check
from themis_opt.problem.bound import Bound, BoundScope, Sizing
from themis_opt.problem.chunking import Chunking
from themis_opt.problem.errors import InvalidScheduleError, SolverError, ThemisError
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.problem.version import VERSION
from themis_opt.solving.bounds import best_bound, quick_bounds
from themis_opt.solving.protocol import Progress
from themis_opt.timing.sequencing import timeline_of


class Incumbent:
    """Keeps the best schedule; every candidate is simulated, and validated before it counts.

    Parameters
    ----------
    instance
        The problem.
    chunking
        Which sizes and numbers of chunks a schedule may have.
    listener
        Told of every improvement.
    """

    def __init__(self, instance: Instance, chunking: Chunking, listener: Callable[[Progress], None]) -> None:
        self.instance = instance
        self.chunking = chunking
        self.schedule: Schedule | None = None
        self._listener = listener
        self._bounds: dict[BoundScope, Bound] = {}

    @property
    def makespan_ps(self) -> float:
        """The best makespan, or infinity."""
        schedule = self.schedule
        return float("inf") if schedule is None or schedule.makespan_ps is None else schedule.makespan_ps

    def bound_for(self, num_chunks: int) -> Bound:
        """Return the best bound for exactly this number of chunks."""
        scope = self.chunking.scope(num_chunks)
        if scope not in self._bounds:
            self._bounds[scope] = best_bound(quick_bounds(self.instance, scope))
        return self._bounds[scope]

    @property
    def bound(self) -> Bound | None:
        """The best bound for the number of chunks of the best schedule."""
        return None if self.schedule is None else self.bound_for(self.schedule.num_chunks)

    def offer(self, schedule: Schedule, phase: str) -> None:
        """Take a schedule if it is better; it counts with its simulated makespan.

        Raises
        ------
        SolverError
            When it is no schedule of the instance with chunks as asked for, or a better one that breaks a rule or ends
            before a claimed lower bound.
        """
        # What the solver claims of its schedule is dropped here; it counts with what the simulator finds.
        claimless = schedule.replace(
            instance=self.instance, makespan_ps=None, bound=None, stages=None, status=Status.FEASIBLE
        )
        try:
            makespan_ps = claimless.derived(timeline_of).makespan_ps
            timed = claimless.replace(makespan_ps=makespan_ps)
            if makespan_ps < self.makespan_ps:
                check(self.instance, timed)
        except ThemisError as error:
            raise SolverError(f"{phase} brought a schedule that is none: {str(error).splitlines()[0]}") from error
        if not self.chunking.allows(self.instance, [chunk.size_bytes for chunk in schedule.chunks]):
            raise SolverError(f"{phase} brought a schedule whose chunks are not as asked for")
        if makespan_ps < self.makespan_ps:
            _require_consistent(makespan_ps, self.bound_for(schedule.num_chunks), phase)
            self.schedule = timed
        self.report(phase)

    def tighten(self, bound: Bound | None, phase: str) -> None:
        """Take a bound if it speaks of one allowed number of chunks of allowed sizes and is higher than what is known.

        Raises
        ------
        SolverError
            When it speaks of other schedules, or one that ends before it is already known.
        """
        if bound is None:
            return
        scope = bound.scope
        speaks_of_equal_only = scope.sizes is Sizing.EQUAL and self.chunking.sizing is Sizing.FREE
        is_allowed = self.chunking.min_chunks <= scope.min_chunks == scope.max_chunks <= self.chunking.max_chunks
        if speaks_of_equal_only or not is_allowed:
            raise SolverError(f"the solver's bound is for {scope}, not for this instance")
        known = self.bound_for(scope.min_chunks)
        if bound.value_ps <= known.value_ps:
            return
        if self.schedule is not None and self.schedule.num_chunks == scope.min_chunks:
            _require_consistent(int(self.makespan_ps), bound, phase)
        # A bound for chunks of any size holds for equal ones as well, so it may be filed under our own sizing.
        own_scope = self.chunking.scope(scope.min_chunks)
        self._bounds[own_scope] = best_bound([known, replace(bound, scope=own_scope)])
        self.report(phase)

    def report(self, phase: str) -> None:
        """Tell the listener what is known, and what is being done."""
        self._listener(Progress(phase, self.schedule, self.bound))

    @property
    def is_proven(self) -> bool:
        """Whether no schedule with as many chunks can be better."""
        return self.bound is not None and self.makespan_ps == self.bound.value_ps

    def result(self, solver: str, seed: int) -> Schedule:
        """Return the best schedule with its bound and status, checked by the validator.

        The schedule itself and its makespan have been since it was offered; what is new is claimed about the bound.

        Raises
        ------
        InvalidScheduleError
            When a claim is false, which is a defect of whoever claimed the bound.
        """
        assert self.schedule is not None
        schedule = self.schedule.replace(
            bound=self.bound,
            status=Status.OPTIMAL if self.is_proven else Status.FEASIBLE,
            scheduler=solver,
            seed=seed,
            version=VERSION,
        )
        violations = [
            *form_violations(schedule),
            *bound_violations(self.instance, schedule, schedule.makespan_ps),
            *status_violations(schedule, schedule.makespan_ps),
        ]
        if violations:
            raise InvalidScheduleError(violations)
        return schedule


def _require_consistent(makespan_ps: int, bound: Bound, phase: str) -> None:
    if makespan_ps < bound.value_ps:
        raise SolverError(
            f"{phase}: a bound of {bound.value_ps} ps ({bound.kind}) contradicts a schedule of {makespan_ps} ps; "
            "this is a defect of whoever claimed the bound"
        )
