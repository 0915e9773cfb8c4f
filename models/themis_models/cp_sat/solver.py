"""The solver ``cp-sat``: the joint model, built and solved within a time limit, its incumbents told as they come."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil

from ortools.sat.python import cp_model

from themis_models.cp_sat.model import JointModel
from themis_models.cp_sat.reading import add_hint, read_schedule
from themis_models.hints import best_hint
from themis_opt.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.instance import Instance
from themis_opt.schedules import Schedule, Status
from themis_opt.simulator import simulate
from themis_opt.solving.protocol import Progress, SolverParams, SolverResult

ARCS_PER_S = 500
"""Arcs of a model that can be built, presolved and searched at all, per second of the time limit: presolving 4,096 of
them takes about 8 s on two cores."""

MAX_ARCS = 50_000
"""More than this is not built whatever the time limit."""

LARGEST_TIME_PS = 2**52
"""Sums of times beyond this are left to others: CP-SAT adds them in 64 bits."""


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
    """
    deadline = time.monotonic() + params.time_limit_s
    params.require_plain_chunks("cp-sat")
    best = best_hint(instance, params)
    if simulate(instance, best).table.total_ps > LARGEST_TIME_PS:
        return SolverResult(Status.FEASIBLE, best, None, "times are too long for CP-SAT; returned the best heuristic")
    num_arcs = _num_arcs(instance)
    if num_arcs > min(MAX_ARCS, ARCS_PER_S * params.time_limit_s):
        too_large = f"the joint model of {num_arcs} arcs is too large for {params.time_limit_s:.3g} s"
        note = f"{too_large}; returned the best heuristic"
        return SolverResult(Status.FEASIBLE, best, None, note)
    joint = JointModel(instance, best.makespan_ps or 0, _known_bound_ps(instance, params))
    add_hint(joint, best)
    watch = _Watch(joint, best, params.on_progress)
    solver = _configured(params, deadline - time.monotonic())
    solver.best_bound_callback = watch.on_bound
    code = solver.solve(joint.model, watch)
    bound = _bound(instance, watch.lower_ps(solver.best_objective_bound, code))
    proven = bound is not None and bound.value_ps >= (watch.best.makespan_ps or 0)
    return SolverResult(Status.OPTIMAL if proven else Status.FEASIBLE, watch.best, bound)


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
        RuntimeError
            On a status that a model with a known solution cannot have.
        """
        if code not in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.UNKNOWN):
            raise RuntimeError(f"CP-SAT ended with status {code} on a model that has a solution")
        return max(ceil(best_bound - 1e-6), self._told_ps)


def _configured(params: SolverParams, time_left_s: float) -> cp_model.CpSolver:
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = max(0.01, time_left_s)
    solver.parameters.num_workers = params.num_workers
    solver.parameters.random_seed = params.seed
    # The linear relaxation of loads and levels is what closes four chunks on four dimensions.
    solver.parameters.linearization_level = 2
    # Python handles Ctrl-C; CP-SAT would take it for itself and end as if its time were up.
    solver.parameters.catch_sigint_signal = False
    return solver


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
