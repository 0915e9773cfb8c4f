"""Computing what a point asks for: a schedule, its bound, and every figure that is measured."""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache

from themis_opt.problem.bound import Bound
from themis_opt.problem.chunking import make_chunking
from themis_opt.problem.errors import ThemisError
from themis_opt.problem.instance import Instance
from themis_opt.problem.ratios import finite, gap
from themis_opt.problem.schedule import Schedule
from themis_opt.questions.comparison import THEMIS_BEST, themis_best
from themis_opt.questions.row import Row, baseline_makespan_ps
from themis_opt.solving.any_count import bound_for_any_count
from themis_opt.solving.api import schedule as make_schedule
from themis_opt.solving.bounds import best_bound, equal_chunks_scope, quick_bounds, scope_of
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import SolverParams
from themis_opt.solving.result import Result
from themis_opt.solving.run import run_solver
from themis_opt.studies.choice import Method
from themis_opt.studies.finding import NOT_REPEATABLE, Finding, failure
from themis_opt.studies.study_metrics import METRICS
from themis_opt.studies.table import Value
from themis_opt.studies.tasks import Task
from themis_opt.timing import metrics

ANY_CHUNKS = 512
"""So many chunks, of any size, `bound_any_ps` speaks of at least: more than anybody would launch to gain something."""


class Evaluator:
    """Evaluates tasks one after the other, and keeps what they can share: solvers' processes, baselines, bounds.

    Parameters
    ----------
    wanted
        The names of the metrics that are wanted; those that cost extra are left out otherwise.
    """

    def __init__(self, wanted: Collection[str]) -> None:
        self._of_dimensions = tuple(name for name in wanted if name not in METRICS)
        self._processes: dict[str, SolverProcess] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Evaluator:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def evaluate(self, task: Task) -> Finding:
        """Return what a task found; whatever goes wrong is the reason of a failure, not an exception."""
        started = time.perf_counter()
        try:
            status, figures = self._found(task)
            reason = ""
        except MemoryError:
            reason = "out of memory"
        except ThemisError as error:
            reason = str(error)
        except Exception as error:  # another author's scheduler may raise anything
            reason = f"{type(error).__name__}: {error}"
        seconds = round(time.perf_counter() - started, 6)
        return failure(task.key, reason, seconds) if reason else Finding(task.key, status, figures, seconds)

    def _found(self, task: Task) -> tuple[str, dict[str, Value]]:
        instance = task.instance
        if task.method is Method.BOUND:
            figures = _bound_figures(instance, _quick_bound(instance))
            return Method.BOUND.value, {**dict.fromkeys(self._of_dimensions), **figures}
        if task.method is Method.HEURISTIC:
            is_best = task.runs == THEMIS_BEST
            made = themis_best(instance) if is_best else make_schedule(instance, task.runs, seed=task.seed)
            bound = _remembered_bound(instance, made)
            status = "optimal" if made.makespan_ps == bound.value_ps else Method.HEURISTIC.value
            return status, self._figures(made.replace(bound=bound))
        outcome = self._solve(task)
        if outcome.has_failed:
            raise ThemisError(outcome.note)
        figures = self._figures(outcome.schedule)
        return (str(outcome.schedule.status) if outcome.is_reproducible else NOT_REPEATABLE), figures

    def _solve(self, task: Task) -> Result:
        limits = task.limits
        assert limits is not None
        chunking = make_chunking(
            task.instance, limits.sizing, limits.max_chunks, limits.granule_bytes, limits.min_chunk_bytes
        )
        params = SolverParams(
            limits.time_limit_s,
            num_workers=1,
            seed=task.seed,
            chunking=chunking,
            gap=limits.gap,
            max_evaluations=limits.max_evaluations,
        )
        process = self._processes.get(task.runs)
        if process is None:
            process = self._processes[task.runs] = self._stack.enter_context(SolverProcess(task.runs))
        outcome = run_solver(task.instance, process, task.runs, params)
        if outcome.interruption is not None:
            raise outcome.interruption
        return outcome

    def _figures(self, schedule: Schedule) -> dict[str, Value]:
        instance = schedule.instance
        row = Row("", schedule, _baseline_ps(instance), 0.0)
        makespan_ps = schedule.makespan_ps
        assert makespan_ps is not None
        figures = _bound_figures(instance, row.bound)
        bound_any_ps = _bound_any_ps(replace(instance, num_chunks=1), max(ANY_CHUNKS, schedule.num_chunks))
        figures |= {
            "makespan_ps": makespan_ps,
            "gap": finite(row.gap),
            "percent_of_optimum": 100 * row.bound.value_ps / makespan_ps if makespan_ps else 100.0,
            "bw_utilization": metrics.bw_utilization(instance, makespan_ps),
            "algbw_Bps": metrics.algbw_Bps(instance, makespan_ps),
            "busbw_Bps": metrics.busbw_Bps(instance, makespan_ps),
            "speedup": finite(row.speedup),
            "num_chunks": schedule.num_chunks,
            "sizing": str(schedule.sizing),
            "bound_any_ps": bound_any_ps,
            "gap_any": finite(gap(makespan_ps, bound_any_ps)),
        }
        if self._of_dimensions:
            known = _dimension_figures(row)
            figures |= {name: known.get(name) for name in self._of_dimensions}
        return figures


def _bound_figures(instance: Instance, bound: Bound) -> dict[str, Value]:
    return {
        "bound_ps": bound.value_ps,
        "bound_kind": str(bound.kind),
        "ideal_ps": metrics.ideal_ps(instance),
        "num_npus": instance.num_npus,
        "total_bandwidth_Bps": float(metrics.total_bandwidth_Bps(instance)),
    }


def _dimension_figures(row: Row) -> dict[str, Value]:
    figures: dict[str, Value] = {}
    for k, use in enumerate(row.timeline.dimensions):
        utilization = metrics.dimension_utilization(row.schedule.instance, k, use.sent_bytes, row.makespan_ps)
        figures[f"dimensions[{k}].bytes"] = float(use.sent_bytes)
        figures[f"dimensions[{k}].busy_ps"] = use.busy_ps
        figures[f"dimensions[{k}].utilization"] = utilization
    return figures


def _remembered_bound(instance: Instance, schedule: Schedule) -> Bound:
    return best_bound(quick_bounds(instance, scope_of(schedule)))


def _quick_bound(instance: Instance) -> Bound:
    return best_bound(quick_bounds(instance, equal_chunks_scope(instance)))


@lru_cache(maxsize=64)
def _bound_any_ps(instance: Instance, max_chunks: int) -> int:
    return bound_for_any_count(instance, max_chunks).value_ps


@lru_cache(maxsize=64)
def _baseline_ps(instance: Instance) -> int:
    return baseline_makespan_ps(instance)
