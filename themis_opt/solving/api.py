"""The library's three verbs beside simulating and validating: schedule, bound, solve."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

from themis_opt.judging.validator import check
from themis_opt.problem.bound import Bound, BoundScope, Sizing
from themis_opt.problem.checks import shown, whole_or_none
from themis_opt.problem.choices import choose
from themis_opt.problem.chunking import make_chunking
from themis_opt.problem.errors import InputError, SchedulerError, SolverError
from themis_opt.problem.instance import Instance
from themis_opt.problem.parameters import DEFAULT_GAP, DEFAULT_TIME_LIMIT_S, SEED
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.version import VERSION
from themis_opt.schedulers.registry import get_scheduler
from themis_opt.solving.bounds import best_bound, equal_chunks_scope, full_bounds
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.processors import default_workers
from themis_opt.solving.protocol import (
    DEFAULT_SOLVER,
    Progress,
    SolverParams,
)
from themis_opt.solving.run import run_solver
from themis_opt.solving.solvers import SOLVERS
from themis_opt.timing.sequencing import simulate


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
        timed = replace(made, makespan_ps=simulate(instance, made).makespan_ps, version=VERSION)
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
    time_limit_s: float = DEFAULT_TIME_LIMIT_S,
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
    time_limit_s
        Wall seconds for the assignment MILP, and for the fluid bound of ten dimensions and more.

    Raises
    ------
    InputError
        When no bound provider is installed, or the time limit is none.

    Warns
    -----
    SolverWarning
        When the assignment MILP or its process failed; the bound returned is the best of the others.
    """
    _require_instance(instance)
    scope = scope or equal_chunks_scope(instance)
    params = SolverParams(time_limit_s)
    bounds = full_bounds(instance, scope, params.time_limit_s)
    if with_assignment:
        try:
            with SolverProcess(DEFAULT_SOLVER) as process:
                found = process.bound("assignment", instance, scope, params)
        except SolverError as error:
            warnings.warn(f"no assignment bound: {error}", SolverWarning, stacklevel=2)
        else:
            bounds += [] if found is None else [found]
    return best_bound(bounds)


def solve(
    instance: Instance,
    solver: str = DEFAULT_SOLVER,
    *,
    time_limit_s: float = DEFAULT_TIME_LIMIT_S,
    max_evaluations: int | None = None,
    num_workers: int | None = None,
    seed: int = 0,
    gap: float = DEFAULT_GAP,
    sizes: Sizing = Sizing.EQUAL,
    max_chunks: int | None = None,
    granularity_bytes: int | None = None,
    min_chunk_bytes: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Schedule:
    """Return the best schedule found in the time limit, with its proven lower bound.

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
    time_limit_s
        Wall seconds, model building included, start-up of the solver's process excluded.
    max_evaluations
        How much the solver may search: with one worker, the same inputs and seed then give the same schedule, provided
        that the time limit does not end it before. An evaluation is one candidate schedule timed, and takes 15 to 35 ns
        for each of its stages.
    num_workers
        Threads of the solver; default: the processors this process may use, with `max_evaluations` one. With several
        threads the result depends on which of them is faster.
    seed
        The solver's source of randomness.
    gap
        Stop at a makespan of at most ``1 + gap`` times the bound.
    sizes
        ``"free"`` lets the solver choose the chunks' sizes.
    max_chunks
        Let the solver choose the number of chunks, from 1 to this.
    granularity_bytes
        Free sizes are whole multiples of it; default: four bytes for every NPU.
    min_chunk_bytes
        Least free size; default: the granularity.
    on_progress
        Called with every better schedule and bound.

    Raises
    ------
    InputError
        When there is no such solver, a parameter is out of range, or the solver cannot choose what it is asked to.
    """
    _require_instance(instance)
    SOLVERS.require(solver)
    workers = default_workers(max_evaluations) if num_workers is None else num_workers
    max_chunks = whole_or_none("max_chunks", max_chunks)
    granularity_bytes = whole_or_none("granularity_bytes", granularity_bytes)
    min_chunk_bytes = whole_or_none("min_chunk_bytes", min_chunk_bytes)
    sizing = choose(Sizing, sizes, "sizes")
    chunking = make_chunking(instance, sizing, max_chunks, granularity_bytes, min_chunk_bytes)
    params = SolverParams(time_limit_s, workers, seed, chunking=chunking, gap=gap, max_evaluations=max_evaluations)
    if on_progress is not None:
        params = replace(params, on_progress=on_progress)
    with SolverProcess(solver) as process:
        outcome = run_solver(instance, process, solver, params)
    if outcome.has_failed:
        warnings.warn(outcome.note, SolverWarning, stacklevel=2)
    return outcome.schedule


def _require_instance(instance: object) -> None:
    if not isinstance(instance, Instance):
        raise InputError(f"instance is {shown(instance)}; it must be an Instance, such as load_instance gives")
