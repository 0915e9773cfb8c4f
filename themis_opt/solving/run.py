"""Solving an instance whatever happens: heuristics first, then bounds, then the solver, and the best of all of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import ceil

from themis_opt.problem.bound import Bound
from themis_opt.problem.chunking import Chunking, make_chunking
from themis_opt.problem.errors import SolverError
from themis_opt.problem.instance import Instance
from themis_opt.problem.interruption import INTERRUPTION
from themis_opt.problem.schedule import Schedule, Status
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
from themis_opt.solving.result import CLOSE_S, Ending, Result
from themis_opt.solving.starts import starting_schedules
from themis_opt.timing.sequencing import timeline_of

ASSIGNMENT_SHARE = 0.2
"""The part of the time limit that the assignment bound may take from the solver, and at most two seconds."""

MAX_ASSIGNMENT_EVALUATIONS = 2_000_000
"""And where evaluations are limited, that part of these and at most so many: two seconds again."""

FLUID_SHARE = 0.5
"""The part of the time limit that the fluid program may take where it is not quick; with less it is left out."""

MAX_HINTS = 8
"""How many of the best heuristic schedules a solver is given."""

MAX_HINT_STAGES = 30_000
"""And how many stages they may have together, the best one apart: each takes the solver some microseconds to read."""

SETTLING_S_PER_STAGE = 4e-5
"""What is kept of the time limit for each stage of a schedule, to read and judge what the solver brings."""


@dataclass(frozen=True, slots=True)
class _End:
    """How the part that the solver has in a run ended."""

    ending: Ending
    note: str = ""
    num_evaluations: int | None = None
    has_failed: bool = False
    interruption: KeyboardInterrupt | None = None


def run_solver(instance: Instance, process: SolverProcess, solver: str, params: SolverParams) -> Result:
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
    started = time.monotonic()
    # Until there is a schedule a signal just ends the run; from then on it ends the search, and the best is returned.
    INTERRUPTION.release()
    try:
        hints = _offer_heuristics(incumbent, params.seed)
        incumbent.report("starting the solver")
        process.wait_until_ready()
        # Heuristics run while the solver's process starts; from here the time limit counts.
        started = time.monotonic()
        end = _improve(incumbent, process, replace(params, chunking=chunking), hints)
        INTERRUPTION.hold()
    except (KeyboardInterrupt, SolverError) as error:
        if incumbent.schedule is None:
            raise
        INTERRUPTION.hold()
        if isinstance(error, SolverError):
            end = _End(Ending.UNKNOWN, str(error), has_failed=True)
        else:
            end = _End(Ending.INTERRUPTED, interruption=error)
    # From here on signals wait: the best schedule is checked, and whoever called saves it.
    wall_s = time.monotonic() - started
    bound_any = None if chunking.has_fixed_count else bound_over_counts(instance, chunking, incumbent.bound_for)
    schedule = incumbent.result(solver, params.seed)
    ending, note = end.ending, end.note
    if end.interruption is None:
        ending = _checked_ending(ending, schedule, chunking, bound_any)
    if ending is Ending.TIME and params.max_evaluations is not None:
        note = "; ".join(filter(None, (note, "the time limit came before the evaluation limit: not reproducible")))
    is_repeatable = params.max_evaluations is not None and params.num_workers == 1
    return Result(
        schedule,
        bound_any,
        ending,
        wall_s,
        end.num_evaluations,
        ending is Ending.PROOF or (is_repeatable and ending in (Ending.GAP, Ending.EVALUATIONS)),
        note,
        end.has_failed,
        end.interruption,
    )


def _checked_ending(claimed: Ending, schedule: Schedule, chunking: Chunking, bound_any: Bound | None) -> Ending:
    """Return what ended a run that nobody interrupted; a proof is believed only where the bound is met.

    With a free number of chunks the bound that is met is for one number. That the others allow nothing shorter follows
    from the bound for all of them, or the solver says so.
    """
    is_met = schedule.status is Status.OPTIMAL
    is_met_by_all = bound_any is not None and bound_any.value_ps == schedule.makespan_ps
    if is_met and (chunking.has_fixed_count or is_met_by_all):
        return Ending.PROOF
    return Ending.UNKNOWN if claimed is Ending.PROOF and not is_met else claimed


def _offer_heuristics(incumbent: Incumbent, seed: int) -> list[Schedule]:
    """Offer all heuristic schedules, the best one first so that only that has to be judged; return them all."""
    instance = incumbent.instance
    made = list(starting_schedules(instance, incumbent.chunking, seed))
    # The first one offered is validated, and so is whatever beats it: best first means one validation instead of six.
    by_makespan = sorted(made, key=lambda start: start[1].derived(timeline_of).makespan_ps)
    for name, schedule in by_makespan:
        incumbent.offer(schedule, name)
    return [schedule for _, schedule in made]


def _improve(incumbent: Incumbent, process: SolverProcess, params: SolverParams, hints: list[Schedule]) -> _End:
    """Let the assignment bound and the solver work on the incumbent, and return how that ended."""
    instance = incumbent.instance
    chunking = incumbent.chunking
    deadline = time.monotonic() + _solving_s(incumbent, params.time_limit_s)
    if incumbent.is_proven and chunking.is_plain:
        return _End(Ending.PROOF)
    if has_quick_fluid_bound(instance):
        if chunking.is_plain:
            _add_assignment_bound(incumbent, process, params, chunking, deadline)
    elif chunking.has_fixed_count:
        _add_fluid_bound(incumbent, process, params)
    if incumbent.is_proven and chunking.is_plain:
        return _End(Ending.PROOF)
    left_s = deadline - time.monotonic()
    is_bound_in_time = left_s > CLOSE_S
    if left_s <= 0:
        return _End(Ending.TIME, "the time limit left no time for the solver")
    solver_params = replace(params, time_limit_s=left_s, hints=_best_hints(hints, incumbent), bound=incumbent.bound)

    def listen(progress: Progress) -> None:
        if progress.incumbent is not None:
            incumbent.offer(progress.incumbent, progress.phase)
        incumbent.tighten(progress.bound, progress.phase)

    incumbent.report("solver")
    result = process.solve(instance, solver_params, listen)
    if result is None:
        return _End(Ending.TIME, "the solver did not answer in time and was stopped")
    if result.schedule is not None:
        incumbent.offer(result.schedule, "solver")
    incumbent.tighten(result.bound, "solver")
    ending = result.ending if is_bound_in_time or params.max_evaluations is None else Ending.TIME
    return _End(ending, result.note, result.num_evaluations)


def _add_assignment_bound(
    incumbent: Incumbent, process: SolverProcess, params: SolverParams, chunking: Chunking, deadline: float
) -> None:
    share_s = min(2.0, ASSIGNMENT_SHARE * params.time_limit_s)
    bound_params = replace(params, time_limit_s=share_s, chunking=None)
    if params.max_evaluations is not None:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            return
        share = min(MAX_ASSIGNMENT_EVALUATIONS, ceil(ASSIGNMENT_SHARE * params.max_evaluations))
        bound_params = replace(bound_params, time_limit_s=left_s, max_evaluations=share)
    incumbent.report("assignment bound")
    scope = replace(equal_chunks_scope(incumbent.instance), sizes=chunking.sizing)
    incumbent.tighten(process.bound("assignment", incumbent.instance, scope, bound_params), "assignment")


def _add_fluid_bound(incumbent: Incumbent, process: SolverProcess, params: SolverParams) -> None:
    """Let the solver's process, which can be stopped, work out a fluid bound that is not quick, if it can in time."""
    share_s = FLUID_SHARE * params.time_limit_s
    if share_s < FLUID_S_PER_ARC * num_lattice_arcs(incumbent.instance):
        return
    if params.max_evaluations is not None:  # a linear program comes to an end: only all of the time may stop it
        share_s = params.time_limit_s
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
