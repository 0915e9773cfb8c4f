"""Solving an instance whatever happens: heuristics first, then bounds, then the solver, and the best of all of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from themis_opt.bound import Bound
from themis_opt.chunking import Chunking, make_chunking
from themis_opt.errors import SolverError
from themis_opt.instance import Instance
from themis_opt.interruption import INTERRUPTION
from themis_opt.schedules import Schedule
from themis_opt.solving.bounds import bound_over_counts, equal_chunks_scope
from themis_opt.solving.incumbent import Incumbent
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import Progress, SolverParams
from themis_opt.solving.starts import starting_schedules

ASSIGNMENT_SHARE = 0.2
"""The part of the time limit that the assignment bound may take from the solver, and at most two seconds."""

MAX_HINTS = 8
"""How many of the best heuristic schedules a solver is given."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of solving.

    Attributes
    ----------
    schedule
        The best schedule, simulated and validated, with the best bound for its number of chunks.
    bound_any
        Where the number of chunks was free: a bound for all numbers allowed.
    interruption
        The exception of Ctrl-C or a termination signal that cut the solver short, or ``None``.
    note
        A sentence for the user, or nothing.
    wall_s
        Seconds of solving, start-up of the solver process excluded.
    """

    schedule: Schedule
    bound_any: Bound | None = None
    interruption: KeyboardInterrupt | None = None
    note: str = ""
    wall_s: float = 0.0


def run_solver(instance: Instance, process: SolverProcess, solver: str, params: SolverParams) -> Outcome:
    """Return the best schedule that heuristics and the solver find in time.

    Parameters
    ----------
    instance
        The problem.
    process
        A process of this solver, started earlier so that its packages load meanwhile.
    solver
        The solver's name, which the schedule will carry.
    params
        Limits, seed, what may be chosen about the chunks, and a listener for progress; hints and bound are added here.

    Raises
    ------
    InputError
        When the solver cannot choose what it is asked to choose.
    """
    chunking = params.chunking or make_chunking(instance)
    incumbent = Incumbent(instance, chunking, params.on_progress)
    interruption: KeyboardInterrupt | None = None
    note = ""
    started = time.monotonic()
    INTERRUPTION.release()
    try:
        hints = []
        for name, schedule in starting_schedules(instance, chunking, params.seed):
            hints.append(schedule)
            incumbent.offer(schedule, name)
        process.wait_until_ready()
        started = time.monotonic()
        note = _improve(incumbent, process, replace(params, chunking=chunking), hints)
        INTERRUPTION.hold()
    except KeyboardInterrupt as error:
        if incumbent.schedule is None:
            raise
        INTERRUPTION.hold()
        interruption = error
    except SolverError as error:
        if incumbent.schedule is None:
            raise
        INTERRUPTION.hold()
        note = str(error)
    # From here on signals wait: the best schedule is checked, and whoever called saves it.
    wall_s = time.monotonic() - started
    bound_any = None if chunking.has_fixed_count else bound_over_counts(instance, chunking, incumbent.bound_for)
    return Outcome(incumbent.result(solver, params.seed), bound_any, interruption, note, wall_s)


def _improve(incumbent: Incumbent, process: SolverProcess, params: SolverParams, hints: list[Schedule]) -> str:
    """Let the assignment bound and the solver work on the incumbent; return a note for the user."""
    instance = incumbent.instance
    chunking = incumbent.chunking
    deadline = time.monotonic() + params.time_limit_s
    if chunking.is_plain:
        if incumbent.is_proven:
            return ""
        _add_assignment_bound(incumbent, process, params, chunking)
        if incumbent.is_proven:
            return ""
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        return "the time limit left no time for the solver"
    solver_params = replace(params, time_limit_s=left_s, hints=_best_hints(hints, incumbent), bound=incumbent.bound)

    def listen(progress: Progress) -> None:
        if progress.incumbent is not None:
            incumbent.offer(progress.incumbent, progress.phase)
        incumbent.tighten(progress.bound, progress.phase)

    result = process.solve(instance, solver_params, listen)
    if result is None:
        return "the solver did not answer in time and was stopped"
    if result.schedule is not None:
        incumbent.offer(result.schedule, "solver")
    incumbent.tighten(result.bound, "solver")
    return result.note


def _add_assignment_bound(
    incumbent: Incumbent, process: SolverProcess, params: SolverParams, chunking: Chunking
) -> None:
    share_s = min(2.0, ASSIGNMENT_SHARE * params.time_limit_s)
    bound_params = replace(params, time_limit_s=share_s, chunking=None)
    scope = replace(equal_chunks_scope(incumbent.instance), sizes=chunking.sizing)
    incumbent.tighten(process.bound("assignment", incumbent.instance, scope, bound_params), "assignment")


def _best_hints(hints: list[Schedule], incumbent: Incumbent) -> tuple[Schedule, ...]:
    """Return the incumbent and the first heuristics of its number of chunks."""
    best = incumbent.schedule
    assert best is not None
    alike = [hint for hint in hints if hint.num_chunks == best.num_chunks]
    return (best, *alike)[:MAX_HINTS]
