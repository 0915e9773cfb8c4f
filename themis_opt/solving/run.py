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
from themis_opt.simulator import simulate
from themis_opt.solving.bounds import (
    FLUID_S_PER_ARC,
    bound_over_counts,
    equal_chunks_scope,
    has_quick_fluid_bound,
    num_lattice_arcs,
)
from themis_opt.solving.incumbent import Incumbent
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import Progress, SolverParams
from themis_opt.solving.starts import starting_schedules

ASSIGNMENT_SHARE = 0.2
"""The part of the time limit that the assignment bound may take from the solver, and at most two seconds."""

FLUID_SHARE = 0.5
"""The part of the time limit that the fluid program may take where it is not quick; with less it is left out."""

MAX_HINTS = 8
"""How many of the best heuristic schedules a solver is given."""

MAX_HINT_STAGES = 30_000
"""And how many stages they may have together, the best one apart: each takes the solver some microseconds to read."""

SETTLING_S_PER_STAGE = 4e-5
"""What is kept of the time limit for each stage of a schedule, to read and judge what the solver brings."""


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
    has_failed
        Whether the solver or its process failed, so that all there is was found before; `note` says how.
    """

    schedule: Schedule
    bound_any: Bound | None = None
    interruption: KeyboardInterrupt | None = None
    note: str = ""
    wall_s: float = 0.0
    has_failed: bool = False


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
    has_failed = False
    started = time.monotonic()
    INTERRUPTION.release()
    try:
        hints = _offer_heuristics(incumbent, params.seed)
        incumbent.report("starting the solver")
        process.wait_until_ready()
        # Heuristics run while the solver's process starts; from here the time limit counts.
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
        note, has_failed = str(error), True
    # From here on signals wait: the best schedule is checked, and whoever called saves it.
    wall_s = time.monotonic() - started
    bound_any = None if chunking.has_fixed_count else bound_over_counts(instance, chunking, incumbent.bound_for)
    return Outcome(incumbent.result(solver, params.seed), bound_any, interruption, note, wall_s, has_failed)


def _offer_heuristics(incumbent: Incumbent, seed: int) -> list[Schedule]:
    """Offer all heuristic schedules, the best one first so that only that has to be judged; return them all."""
    instance = incumbent.instance
    made = list(starting_schedules(instance, incumbent.chunking, seed))
    by_makespan = sorted(made, key=lambda start: simulate(instance, start[1]).makespan_ps)
    for name, schedule in by_makespan:
        incumbent.offer(schedule, name)
    return [schedule for _, schedule in made]


def _improve(incumbent: Incumbent, process: SolverProcess, params: SolverParams, hints: list[Schedule]) -> str:
    """Let the assignment bound and the solver work on the incumbent; return a note for the user."""
    instance = incumbent.instance
    chunking = incumbent.chunking
    deadline = time.monotonic() + _solving_s(incumbent, params.time_limit_s)
    if incumbent.is_proven and chunking.is_plain:
        return ""
    if has_quick_fluid_bound(instance):
        if chunking.is_plain:
            _add_assignment_bound(incumbent, process, params, chunking)
    elif chunking.has_fixed_count:
        _add_fluid_bound(incumbent, process, params)
    if incumbent.is_proven and chunking.is_plain:
        return ""
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        return "the time limit left no time for the solver"
    solver_params = replace(params, time_limit_s=left_s, hints=_best_hints(hints, incumbent), bound=incumbent.bound)

    def listen(progress: Progress) -> None:
        if progress.incumbent is not None:
            incumbent.offer(progress.incumbent, progress.phase)
        incumbent.tighten(progress.bound, progress.phase)

    incumbent.report("solver")
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
    incumbent.report("assignment bound")
    scope = replace(equal_chunks_scope(incumbent.instance), sizes=chunking.sizing)
    incumbent.tighten(process.bound("assignment", incumbent.instance, scope, bound_params), "assignment")


def _add_fluid_bound(incumbent: Incumbent, process: SolverProcess, params: SolverParams) -> None:
    """Let the solver's process, which can be stopped, work out a fluid bound that is not quick, if it can in time."""
    share_s = FLUID_SHARE * params.time_limit_s
    if share_s < FLUID_S_PER_ARC * num_lattice_arcs(incumbent.instance):
        return
    scope = incumbent.chunking.scope(incumbent.chunking.min_chunks)
    bound_params = replace(params, time_limit_s=share_s, chunking=None)
    incumbent.report("fluid bound")
    incumbent.tighten(process.bound("fluid", incumbent.instance, scope, bound_params), "fluid")


def _solving_s(incumbent: Incumbent, time_limit_s: float) -> float:
    """Return the time limit less what judging the solver's schedule of thousands of chunks will take."""
    best = incumbent.schedule
    assert best is not None
    num_stages = sum(map(len, best.sequences))
    return time_limit_s - SETTLING_S_PER_STAGE * num_stages


def _best_hints(hints: list[Schedule], incumbent: Incumbent) -> tuple[Schedule, ...]:
    """Return the incumbent and the first heuristics of its number of chunks."""
    best = incumbent.schedule
    assert best is not None
    alike = [hint for hint in hints if hint.num_chunks == best.num_chunks]
    num_affordable = MAX_HINT_STAGES // sum(map(len, best.sequences))
    return (best, *alike[:num_affordable])[:MAX_HINTS]
