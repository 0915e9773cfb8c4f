"""The solver ``cp-sat``: the joint model, built and solved within a time limit, its incumbents told as they come."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil

from ortools.sat.python import cp_model

from themis_models.cp_sat.joint_model import JointModel
from themis_models.cp_sat.joint_values import add_hint, read_schedule
from themis_models.evaluation_limits import deterministic_s
from themis_models.hints import best_hint
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.errors import SolverError
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.solving.protocol import Progress, SolverParams, SolverResult
from themis_opt.solving.result import CLOSE_S, Ending

ARCS_PER_S = 500
"""Arcs of a model that can be built, presolved and searched at all, per second of the time limit: presolving 4,096 of
them takes about 8 s on two cores."""

MAX_ARCS = 50_000
"""More than this is not built whatever the time limit."""

PROBED_ARCS = 800
"""Up to so many arcs presolve probes every literal; beyond, that takes the time the search needs."""

LARGEST_TIME_PS = 2**52
"""Makespans beyond this are left to others: CP-SAT states bounds as floating-point numbers, exact up to here."""

LARGEST_SUM_PS = 2**60
"""So are models in which arcs that all last as long as the makespan would add up to more: CP-SAT adds in 64 bits."""


def solve_cp_sat(instance: Instance, params: SolverParams) -> SolverResult:
    """Joint choice of orders and sequences in CP-SAT, exact in integer picoseconds.

    Parameters
    ----------
    instance
        The problem; its equal chunks are scheduled.
    params
        Limits, workers, seed, known schedules and bound.

    Returns
    -------
    SolverResult
        The best schedule found or hinted, and CP-SAT's own bound. Where the model is too large for the time limit,
        the best hint with a note.

    Raises
    ------
    InputError
        When free sizes or a free number of chunks are asked for.
    SolverError
        When CP-SAT finds no schedule at all, as with a false bound to start from.
    """
    deadline = time.monotonic() + params.time_limit_s
    params.require_plain_chunks("cp-sat")
    best = best_hint(instance, params)
    horizon_ps = best.makespan_ps or 0
    num_arcs = _num_arcs(instance)
    limit_s = params.time_limit_s if params.max_evaluations is None else deterministic_s(params.max_evaluations)
    if num_arcs > min(MAX_ARCS, ARCS_PER_S * limit_s):
        is_timed = params.max_evaluations is None
        limit = f"{limit_s:.3g} s" if is_timed else f"{params.max_evaluations} evaluations"
        too_large = f"the joint model of {num_arcs} arcs is too large for {limit}"
        note = f"{too_large}; returned the best heuristic"
        return SolverResult(Status.FEASIBLE, best, None, note, Ending.UNKNOWN if is_timed else Ending.EVALUATIONS)
    if horizon_ps > min(LARGEST_TIME_PS, LARGEST_SUM_PS // num_arcs):
        return SolverResult(Status.FEASIBLE, best, None, "times are too long for CP-SAT; returned the best heuristic")
    joint = JointModel(instance, horizon_ps, _known_bound_ps(instance, params))
    add_hint(joint, best)
    watch = _Watch(joint, best, params.on_progress)
    solver = _configured(params, num_arcs, deadline - time.monotonic())
    solver.best_bound_callback = watch.on_bound
    with _python_handles_sigint_afterwards():
        code = solver.solve(joint.model, watch)
    lower_ps = watch.lower_ps(solver.best_objective_bound, code)
    bound = _bound(instance, lower_ps)
    if lower_ps >= (watch.best.makespan_ps or 0):
        return SolverResult(Status.OPTIMAL, watch.best, bound, ending=Ending.PROOF)
    is_in_time = params.max_evaluations is not None and time.monotonic() < deadline - CLOSE_S
    ending = Ending.EVALUATIONS if is_in_time else Ending.TIME
    return SolverResult(Status.FEASIBLE, watch.best, bound, ending=ending)


class _Watch(cp_model.CpSolverSolutionCallback):
    """Keeps the best schedule and tells of every better schedule and bound."""

    def __init__(self, joint: JointModel, best: Schedule, on_progress: Callable[[Progress], None]) -> None:
        super().__init__()
        self._joint = joint
        self._on_progress = on_progress
        self._told_ps = 0
        self.best = best

    def on_solution_callback(self) -> None:
        """Take a solution CP-SAT has found."""
        schedule = read_schedule(self._joint, self.value)
        if (schedule.makespan_ps or 0) < (self.best.makespan_ps or 0):
            self.best = schedule
            self._on_progress(Progress("cp-sat", schedule))

    def on_bound(self, bound: float) -> None:
        """Take a bound CP-SAT has proven."""
        value_ps = ceil(bound - 1e-6)
        if value_ps > self._told_ps:
            self._told_ps = value_ps
            self._on_progress(Progress("cp-sat", None, _bound(self._joint.instance, value_ps)))

    def lower_ps(self, best_bound: float, code: cp_model.CpSolverStatus) -> int:
        """Return the proven lower bound after CP-SAT has ended with this status.

        Raises
        ------
        SolverError
            On a status that a model with a known solution cannot have.
        """
        if code not in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.UNKNOWN):
            reason = self._joint.model.validate() or "is the bound it started from true?"
            raise SolverError(f"CP-SAT ended with {code.name} on a model that has a solution: {reason}")
        return max(ceil(best_bound - 1e-6), self._told_ps)


def _configured(params: SolverParams, num_arcs: int, time_left_s: float) -> cp_model.CpSolver:
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = max(0.01, time_left_s)
    if params.max_evaluations is not None:
        solver.parameters.max_deterministic_time = deterministic_s(params.max_evaluations)
    solver.parameters.num_workers = params.num_workers
    solver.parameters.random_seed = params.seed
    # The linear relaxation of loads and levels is what closes four chunks on four dimensions.
    solver.parameters.linearization_level = 2
    if num_arcs > PROBED_ARCS:
        solver.parameters.cp_model_probing_level = 0
    # Python would look at Ctrl-C when the search is over; CP-SAT ends it at once, and the incumbent is returned.
    solver.parameters.catch_sigint_signal = True
    return solver


@contextmanager
def _python_handles_sigint_afterwards() -> Iterator[None]:
    """Put back the handler of SIGINT: CP-SAT leaves the system's, which ends the process."""
    try:
        yield
    finally:
        handler = signal.getsignal(signal.SIGINT)
        if handler is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)


def _known_bound_ps(instance: Instance, params: SolverParams) -> int:
    """Return what the known bound's certificate proves: CP-SAT's own bound may rest on that alone."""
    bound = params.bound
    if bound is None or not bound.scope.min_chunks <= instance.num_chunks <= bound.scope.max_chunks:
        return 0
    return bound.certified_ps or 0


def _bound(instance: Instance, value_ps: int) -> Bound | None:
    if value_ps <= 0:
        return None
    scope = BoundScope(Sizing.EQUAL, instance.num_chunks, instance.num_chunks)
    return Bound(value_ps, BoundKind.JOINT_CP_SAT, scope)


def _num_arcs(instance: Instance) -> int:
    """Return the Booleans of the model: one for each chunk, phase and arc of the lattice."""
    num_dims = len(instance.involved)
    arcs = num_dims * 2 ** (num_dims - 1) if instance.collective.has_free_orders else num_dims
    return instance.num_chunks * len(instance.phases) * arcs
