"""Schedulers side by side on the same instances: what ``themis-opt compare`` prints, as data."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Unpack

from themis_opt.problem.bound import Bound, BoundScope
from themis_opt.problem.chunking import ChunkingChoice
from themis_opt.problem.differences import same_problem
from themis_opt.problem.instance import Instance
from themis_opt.problem.interruption import INTERRUPTION
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.problem.units import format_time
from themis_opt.questions.row import PredictedRow, Row
from themis_opt.questions.speedup_reference import BEST_OF_OTHERS, Reference, reference_of
from themis_opt.schedulers.prediction import predicted_ps
from themis_opt.schedulers.registry import predictor_names
from themis_opt.solving.api import schedule as make_schedule
from themis_opt.solving.bounds import best_bound, equal_chunks_scope, full_bounds, quick_bounds, scope_of
from themis_opt.solving.keywords import Limits, params_of
from themis_opt.solving.process import SolverProcess, process_of
from themis_opt.solving.protocol import SolverParams
from themis_opt.solving.result import Result
from themis_opt.solving.run import run_solver
from themis_opt.timing import metrics
from themis_opt.timing.sequencing import timeline_of

DEFAULT_SCHEDULERS = ("baseline", "themis-fifo", "themis-scf", "themis-best")


@dataclass(frozen=True)
class Run:
    """One instance with everything that was tried on it.

    Attributes
    ----------
    instance
        The instance.
    bound
        The best bound for exactly its number of equal chunks.
    rows
        The schedulers asked for, in that order, then schedules from files, then the solver.
    reference
        What all speedups are over.
    interruption
        The exception of Ctrl-C or a termination signal that cut the solver short, or ``None``.
    predictions
        The algorithms asked for of which there is a formula alone.
    left_out
        Names of those asked for that do not have the instance's collective.
    """

    instance: Instance
    bound: Bound
    rows: tuple[Row, ...]
    reference: Reference
    interruption: KeyboardInterrupt | None = None
    predictions: tuple[PredictedRow, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def ideal_ps(self) -> float:
        """The time at full use of every dimension, without latency [ps]."""
        return metrics.ideal_ps(self.instance)


def compare(
    instances: Sequence[Instance],
    *,
    schedulers: Sequence[str] = DEFAULT_SCHEDULERS,
    solver: str | None = None,
    params: SolverParams | None = None,
    choices: Mapping[str, ChunkingChoice] | None = None,
    own_schedules: Mapping[str, Schedule] | None = None,
    reference: str = BEST_OF_OTHERS,
    process: SolverProcess | None = None,
    **limits: Unpack[Limits],
) -> Iterator[Run]:
    """Yield a run for every instance: the schedulers, matching schedules of one's own, and the solver.

    Parameters
    ----------
    instances
        The instances.
    schedulers
        Names of schedulers and predictions (`row_names`), in the order wanted.
    solver
        The name of a solver, or ``None`` for heuristics and quick bounds alone.
    params, limits
        The solver's limits, as `SolverParams`, as keywords (see `Limits`), or both; the seed also goes to the
        schedulers.
    choices
        What the solver may choose about the chunks, by the name of its row; default: nothing, one row named after it.
    own_schedules
        Valid schedules by the name of their row; one joins the runs of the same problem, whatever its chunks.
    reference
        What speedups are over: the name of a scheduler or prediction, or `BEST_OF_OTHERS`.
    process
        A process of this solver that was started before, while something else was done; its starter ends it.

    Raises
    ------
    InputError
        When there is no such scheduler, reference or solver, or it cannot choose what it is asked to.
    """
    params = params_of(params, limits)
    with nullcontext() if solver is None else process_of(solver, process) as running:
        for instance in instances:
            # Whoever saves the run before may have let signals wait.
            INTERRUPTION.release()
            outcomes: dict[str, Result] = {}
            if solver is not None and running is not None:
                outcomes = _outcomes(instance, running, solver, params, choices or {solver: ChunkingChoice()})
            over = reference_of(instance, reference)
            run = _run(instance, schedulers, own_schedules or {}, params, outcomes, over)
            yield run
            if run.interruption is not None:
                return


def _outcomes(
    instance: Instance,
    process: SolverProcess,
    solver: str,
    params: SolverParams,
    choices: Mapping[str, ChunkingChoice],
) -> dict[str, Result]:
    """Return what the solver finds with each of the choices; those after an interruption are left out."""
    outcomes: dict[str, Result] = {}
    for row, choice in choices.items():
        outcomes[row] = run_solver(instance, process, solver, replace(params, chunking=choice.on(instance)))
        if outcomes[row].interruption is not None:
            break
    return outcomes


def _run(
    instance: Instance,
    schedulers: Sequence[str],
    own_schedules: Mapping[str, Schedule],
    params: SolverParams,
    outcomes: Mapping[str, Result],
    reference: Reference,
) -> Run:
    scope = equal_chunks_scope(instance)
    # Beside a solver the time limit is its own; without one there is time to wait for the best bound.
    known = quick_bounds(instance, scope) if outcomes else full_bounds(instance, scope, params.time_limit_s)
    bounds = {scope: best_bound(known)}
    # What a solver has proved holds for the heuristics with the same chunks, too.
    for outcome in outcomes.values():
        bound = outcome.schedule.bound
        if bound is not None:
            bounds[bound.scope] = best_bound([bound, bounds.get(bound.scope, bound)])
    reference_ps = reference.makespan_ps
    rows = []
    predicted = [name for name in schedulers if name in predictor_names()]
    for name in schedulers:
        if name in predicted:
            continue
        started = time.perf_counter()
        made = make_schedule(instance, name, seed=params.seed)
        wall_s = time.perf_counter() - started
        rows.append(Row(name, _with_bound(instance, made, bounds), reference_ps, wall_s))
    for name, own in own_schedules.items():
        if same_problem(own.instance, instance):
            judged = _with_bound(instance, own, bounds)
            if judged.status is Status.HEURISTIC and own.status is not Status.HEURISTIC:
                judged = judged.replace(status=Status.FEASIBLE)  # a solver's, though not proved to be the best
            rows.append(Row(name, judged, reference_ps, 0.0, _claim_note(own, judged)))
    for name, outcome in outcomes.items():
        rows.append(Row(name, outcome.schedule, reference_ps, outcome.wall_s, outcome.note, outcome.bound_any))
    interruptions = [outcome.interruption for outcome in outcomes.values() if outcome.interruption is not None]
    predictions = predictions_of(instance, predicted, reference_ps)
    return Run(
        instance,
        bounds[scope],
        tuple(rows),
        reference,
        interruptions[0] if interruptions else None,
        predictions,
        tuple(name for name in predicted if name not in {row.name for row in predictions}),
    )


def predictions_of(instance: Instance, names: Iterable[str], reference_ps: int) -> tuple[PredictedRow, ...]:
    """Return the rows of predictions.

    Parameters
    ----------
    instance
        The problem.
    names
        Names of predictions; those that do not have the instance's collective are left out.
    reference_ps
        What their speedups refer to [ps].
    """
    times = {name: predicted_ps(instance, name) for name in names}
    return tuple(
        PredictedRow(name, instance, time_ps, reference_ps) for name, time_ps in times.items() if time_ps is not None
    )


def _claim_note(own: Schedule, judged: Schedule) -> str:
    """Return what a file claims beyond what is proven here: its bound may rest on a solver's word."""
    if own.bound is None or judged.bound is None or own.bound.value_ps <= judged.bound.value_ps:
        return ""
    return (
        f"its file claims {own.status}, on the word of {own.bound.kind}: a bound of {format_time(own.bound.value_ps)}"
    )


def _with_bound(instance: Instance, schedule: Schedule, bounds: dict[BoundScope, Bound]) -> Schedule:
    """Return the schedule with the best bound for its own sizing and number of chunks."""
    # A file has its own names and notes; all rows of a run share one instance.
    timed = schedule.replace(instance=instance)
    scope = scope_of(timed)
    if scope not in bounds:
        bounds[scope] = best_bound(quick_bounds(instance, scope))
    makespan_ps = timed.derived(timeline_of).makespan_ps
    proven = makespan_ps == bounds[scope].value_ps
    status = Status.OPTIMAL if proven else Status.HEURISTIC
    # The times of all stages would make up most of a comparison file, and follow from the rest.
    return timed.replace(bound=bounds[scope], makespan_ps=makespan_ps, status=status, stages=None)
