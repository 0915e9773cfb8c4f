"""The library's three verbs beside simulating and validating: schedule, bound, solve."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Unpack

from themis_opt.judging.validator import check
from themis_opt.problem.bound import Bound, BoundScope
from themis_opt.problem.checks import shown
from themis_opt.problem.chunking import ChunkingChoice
from themis_opt.problem.errors import InputError, SchedulerError, SolverError
from themis_opt.problem.instance import Instance
from themis_opt.problem.parameters import SEED
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.version import VERSION
from themis_opt.schedulers.registry import get_scheduler
from themis_opt.solving.bounds import best_bound, equal_chunks_scope, full_bounds
from themis_opt.solving.keywords import ChunkLimits, Limits, choice_of, params_of
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import DEFAULT_SOLVER, SOLVERS, SolverParams
from themis_opt.solving.result import Result
from themis_opt.solving.run import run_solver
from themis_opt.timing.sequencing import timeline_of


class SolverWarning(UserWarning):
    """The solver or its process failed; what is returned was found by the heuristics, or by it before that."""


def schedule(instance: Instance, scheduler: str = "themis-scf", *, seed: int = 0) -> Schedule:
    """Return a heuristic's schedule, simulated and validated.

    Parameters
    ----------
    instance
        The problem.
    scheduler
        The name of a scheduler (`scheduler_names`).
    seed
        For schedulers that draw lots.

    Raises
    ------
    InputError
        When there is no such scheduler, or the seed is none.
    SchedulerError
        When the scheduler fails or brings a schedule that breaks a rule, which is a defect of it.
    """
    _require_instance(instance)
    seed = SEED.check(seed)
    make = get_scheduler(scheduler)
    try:
        made = make(instance, seed=seed)
        timed = made.replace(makespan_ps=made.derived(timeline_of).makespan_ps, version=VERSION)
        check(instance, timed)
    except MemoryError:
        raise  # the machine's doing, not the scheduler's
    except Exception as error:
        # Another author's code may raise anything; what matters to the user is whose it is.
        raise SchedulerError(f"scheduler {scheduler!r} failed: {type(error).__name__}: {error}") from error
    return timed


def lower_bound(
    instance: Instance,
    scope: BoundScope | None = None,
    *,
    with_assignment: bool = False,
    params: SolverParams | None = None,
    **limits: Unpack[Limits],
) -> Bound:
    """Return the best proven lower bound on the makespan.

    Parameters
    ----------
    instance
        The problem.
    scope
        For which schedules it must hold; default: exactly `instance.num_chunks` equal chunks.
    with_assignment
        Also solve the assignment MILP (seconds, in a process of its own); without it only the fluid bound, which comes
        with a certificate, and the critical path are computed (milliseconds; seconds with ten dimensions and more).
    params, limits
        `SolverParams` or their fields as keywords, such as `time_limit_s`: wall seconds for the assignment MILP, and
        for the fluid bound of ten dimensions and more.

    Raises
    ------
    InputError
        When no bound provider is installed, or a limit is out of range.

    Warns
    -----
    SolverWarning
        When the assignment MILP or its process failed; the bound returned is the best of the others.
    """
    _require_instance(instance)
    scope = scope or equal_chunks_scope(instance)
    told = params_of(params or SolverParams(), limits)
    bounds = full_bounds(instance, scope, told.time_limit_s)
    if with_assignment:
        try:
            with SolverProcess(DEFAULT_SOLVER) as process:
                found = process.bound("assignment", instance, scope, told)
        except SolverError as error:
            warnings.warn(f"no assignment bound: {error}", SolverWarning, stacklevel=2)
        else:
            bounds += [] if found is None else [found]
    return best_bound(bounds)


def solve(
    instance: Instance,
    solver: str = DEFAULT_SOLVER,
    *,
    params: SolverParams | None = None,
    choice: ChunkingChoice | None = None,
    **limits: Unpack[ChunkLimits],
) -> Result:
    """Return the best schedule found in the time limit, with its proven lower bound and how the run ended.

    Unless told otherwise the schedule has exactly `instance.num_chunks` equal chunks. It is simulated and validated,
    and never worse than the heuristics it starts from: all of them, but with many thousands of chunks only the most
    telling. Its status is ``optimal`` only if its makespan equals the bound. The solver runs in a process of its own
    and is stopped at its limit; Ctrl-C stops it too and returns the best schedule so far.

    Parameters
    ----------
    instance
        The problem.
    solver
        The name of a solver (``themis-opt list solvers``).
    params, limits
        `SolverParams`, or their fields as keywords: `time_limit_s`, `max_evaluations`, `num_workers`, `seed`, `gap`,
        `on_progress`; see `Limits` for what each means and its default.
    choice
        What the solver may choose about the chunks: a `ChunkingChoice`, or as keywords `sizes` (``"free"``),
        `max_chunks` (the number is free up to it), `granularity_bytes` and `min_chunk_bytes`; see `ChunkLimits`.

    Raises
    ------
    InputError
        When there is no such solver, a parameter is out of range, or the solver cannot choose what it is asked to.

    Warns
    -----
    SolverWarning
        When the solver or its process failed; the result says so, too (`Result.has_failed`).
    """
    _require_instance(instance)
    SOLVERS.require(solver)
    choice, others = choice_of(choice, limits)
    told = replace(params_of(params, others), chunking=choice.on(instance))
    with SolverProcess(solver) as process:
        result = run_solver(instance, process, solver, told)
    if result.has_failed:
        warnings.warn(result.note, SolverWarning, stacklevel=2)
    return result


def _require_instance(instance: object) -> None:
    if not isinstance(instance, Instance):
        raise InputError(f"instance is {shown(instance)}; it must be an Instance, such as load_instance gives")
