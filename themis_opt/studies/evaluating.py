"""Computing what a point asks for: a schedule, its bound, and every figure that is measured."""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache

from themis_opt.problem.bound import Bound
from themis_opt.problem.errors import ThemisError
from themis_opt.problem.instance import Instance
from themis_opt.problem.ratios import finite, gap, ratio
from themis_opt.problem.schedule import Schedule
from themis_opt.questions.row import PredictedRow, Row, Timed, baseline_makespan_ps
from themis_opt.questions.speedup_reference import reference_of
from themis_opt.schedulers.prediction import predict
from themis_opt.schedulers.registry import COUNT_CHOOSERS
from themis_opt.solving.api import schedule as make_schedule
from themis_opt.solving.bounds import best_bound, bound_for_any_count, equal_chunks_scope, quick_bounds, scope_of
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.result import Result
from themis_opt.solving.run import run_solver
from themis_opt.studies.study_engine import Finding, failure
from themis_opt.studies.study_metrics import metric_named
from themis_opt.studies.table import PointStatus, Value
from themis_opt.studies.tasks import Method, Task
from themis_opt.timing import metrics

ANY_CHUNKS = 512
"""So many chunks, of any size, `bound_any_ps` speaks of at least: more than anybody would launch to gain something."""


_OVER_OTHERS = "speedup_over_others"


class Evaluator:
    """Evaluates tasks one after the other, and keeps what they can share: solvers' processes, baselines, bounds.

    Parameters
    ----------
    wanted
        The names of the metrics that are wanted; those that cost extra are left out otherwise.
    """

    def __init__(self, wanted: Collection[str]) -> None:
        self._extra = tuple(name for name in wanted if metric_named(name).costs_extra)
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

    def _found(self, task: Task) -> tuple[PointStatus, dict[str, Value]]:
        instance = task.instance
        if task.method is Method.BOUND:
            bound = best_bound(quick_bounds(instance, equal_chunks_scope(instance)))
            figures = {**_instance_figures(instance), **_bound_figures(bound)}
            return PointStatus.BOUND, {**dict.fromkeys(self._extra), **figures}
        if task.method is Method.PREDICTION:
            row = PredictedRow(task.runs, instance, predict(instance, task.runs), _baseline_ps(instance))
            return PointStatus.PREDICTED, {**dict.fromkeys(self._extra), **self._timed_figures(row)}
        if task.method is Method.HEURISTIC:
            made = make_schedule(instance, task.runs, seed=task.seed)
            bound = best_bound(quick_bounds(instance, scope_of(made)))
            is_met = made.makespan_ps == bound.value_ps
            status = PointStatus.OPTIMAL if is_met else PointStatus.HEURISTIC
            if task.runs in COUNT_CHOOSERS:
                made = made.replace(instance=replace(instance, num_chunks=made.num_chunks))
            return status, self._figures(made.replace(bound=bound))
        result = self._solve(task)
        if result.has_failed:
            raise ThemisError(result.note)
        status = PointStatus(result.status) if result.is_reproducible else PointStatus.NOT_REPEATABLE
        return status, self._figures(result.schedule)

    def _solve(self, task: Task) -> Result:
        assert task.limits is not None
        process = self._processes.get(task.runs)
        if process is None:
            process = self._processes[task.runs] = self._stack.enter_context(SolverProcess(task.runs))
        result = run_solver(task.instance, process, task.runs, task.limits.params(task.instance, task.seed))
        if result.interruption is not None:
            raise result.interruption
        return result

    def _figures(self, schedule: Schedule) -> dict[str, Value]:
        instance = schedule.instance
        row = Row("", schedule, _baseline_ps(instance))
        makespan_ps = row.makespan_ps
        any_ps = _bound_any_ps(replace(instance, num_chunks=1), max(ANY_CHUNKS, schedule.num_chunks))
        figures: dict[str, Value] = {
            **dict.fromkeys(self._extra),
            **self._timed_figures(row),
            **_bound_figures(row.bound),
            "gap": finite(row.gap),
            "percent_of_optimum": 100 * row.bound.value_ps / makespan_ps if makespan_ps else 100.0,
            "num_chunks": schedule.num_chunks,
            "sizing": str(schedule.sizing),
            "bound_any_ps": any_ps,
            "gap_any": finite(gap(makespan_ps, any_ps)),
        }
        if self._extra:
            known = {
                f"dimensions[{k}].{name}": getattr(use, name)
                for k, use in enumerate(row.dimension_uses)
                for name in ("bytes", "busy_ps", "utilization")
            }
            figures |= {name: known[name] for name in self._extra if name in known}
        return figures

    def _timed_figures(self, row: Timed) -> dict[str, Value]:
        figures: dict[str, Value] = {
            **_instance_figures(row.instance),
            "makespan_ps": row.makespan_ps,
            "bw_utilization": row.bw_utilization,
            "algbw_Bps": row.algbw_Bps,
            "busbw_Bps": row.busbw_Bps,
            "speedup": finite(row.speedup),
        }
        if _OVER_OTHERS in self._extra:
            figures[_OVER_OTHERS] = finite(ratio(reference_of(row.instance).makespan_ps, row.makespan_ps))
        return figures


def _bound_figures(bound: Bound) -> dict[str, Value]:
    return {"bound_ps": bound.value_ps, "bound_kind": str(bound.kind)}


def _instance_figures(instance: Instance) -> dict[str, Value]:
    return {
        "ideal_ps": metrics.ideal_ps(instance),
        "num_npus": instance.num_npus,
        "total_bandwidth_Bps": float(metrics.total_bandwidth_Bps(instance)),
    }


@lru_cache(maxsize=64)
def _bound_any_ps(instance: Instance, max_chunks: int) -> int:
    return bound_for_any_count(instance, max_chunks).value_ps


@lru_cache(maxsize=64)
def _baseline_ps(instance: Instance) -> int:
    return baseline_makespan_ps(instance)
