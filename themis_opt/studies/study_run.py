"""Running a study: plan it, leave out what is done, let an engine do the rest, and keep every result as it comes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from themis_opt.problem.errors import SolverError
from themis_opt.studies.planning import Point, batches_of, plan
from themis_opt.studies.store import StudyStore, read_findings
from themis_opt.studies.study import Study
from themis_opt.studies.study_engine import Engine, Finding
from themis_opt.studies.study_metrics import Metric
from themis_opt.studies.table import Value

MAX_BATCH = 16
"""Tasks of one problem that a process takes at a time."""


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """How far a study is.

    Attributes
    ----------
    num_points
        Of the study.
    num_before
        Points whose result was there already.
    num_done
        Points done now, failed ones included.
    num_failed
        Points that failed, now or before; of them
    num_impossible
        so many make no instance, and were never tried.
    seconds
        Since the engine started to work.
    metric, best
        The first metric that has better and worse values, and its best value so far.
    best_values
        The axes' values of that point, by column order.
    """

    num_points: int
    num_before: int = 0
    num_done: int = 0
    num_failed: int = 0
    seconds: float = 0.0
    metric: Metric | None = None
    best: Value = None
    best_values: tuple[Value, ...] = ()
    num_impossible: int = 0

    @property
    def num_left(self) -> int:
        """Points still to do."""
        return self.num_points - self.num_before - self.num_done - self.num_impossible

    def is_improved_by(self, value: int | float) -> bool:
        """Return whether a value of the metric is better than the best so far."""
        if not isinstance(self.best, int | float) or self.metric is None:
            return True
        return value > self.best if self.metric.more_is_better else value < self.best

    @property
    def rate(self) -> float:
        """Points per second so far."""
        return self.num_done / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes at this rate, if there is one yet."""
        return self.num_left / self.rate if self.rate else None


def run_study(
    study: Study,
    path: str | os.PathLike[str],
    make_engine: Callable[[tuple[str, ...]], Engine],
    *,
    points: tuple[Point, ...] | None = None,
    retry_failed: bool = False,
    on_progress: Callable[[SweepProgress], None] | None = None,
) -> SweepProgress:
    """Run what is missing of a study, and write every result to its file as it arrives.

    Parameters
    ----------
    study
        The study.
    path
        Its file, made if there is none.
    make_engine
        Makes the engine, told the names of the metrics that are wanted; it is not made when nothing is missing.
    points
        Its points, if they are planned already.
    retry_failed
        Whether points that failed before are tried again.
    on_progress
        Called after every result.

    Returns
    -------
    SweepProgress
        How it ended.

    Raises
    ------
    InputError
        When the study makes no point or the file cannot be used; nothing has run then, unless a disk became full.
    SolverError
        When processes do not start, or the engine has lost points, which is a defect of it.
    """
    points = plan(study) if points is None else points
    wanted = tuple(metric.name for metric in study.metrics)
    with StudyStore(path) as store:
        store.plan(study, points)
        tally = _Tally(study, points)
        missing = tally.take_earlier(store.findings(), wanted, retry_failed)
        if missing:
            with make_engine(wanted) as engine:
                tally.started = time.monotonic()
                for finding in engine.run(batches_of(points, missing, MAX_BATCH)):
                    store.add(finding)
                    tally.take(finding)
                    if on_progress is not None:
                        on_progress(tally.progress)
    if tally.progress.num_left:
        raise SolverError(f"{tally.progress.num_left} points came back from no process; run the study again")
    return tally.progress


def preview(study: Study, path: str | os.PathLike[str], points: tuple[Point, ...]) -> SweepProgress:
    """Return how far a study is, without running or writing anything.

    Parameters
    ----------
    study, path
        As for `run_study`; there may be no file yet.
    points
        Its points (`plan`).

    Raises
    ------
    InputError
        When the file is no study's.
    """
    if not os.path.exists(path):
        # Without results there is nothing to look up, and no need for keys, which take most of the time.
        num_impossible = sum(point.task is None for point in points)
        return SweepProgress(len(points), num_failed=num_impossible, num_impossible=num_impossible)
    tally = _Tally(study, points)
    tally.take_earlier(read_findings(path), tuple(metric.name for metric in study.metrics), retry_failed=False)
    return tally.progress


class _Tally:
    """Counts points, of which several may share a result, and remembers the best."""

    def __init__(self, study: Study, points: tuple[Point, ...]) -> None:
        self._points_by_key: dict[str, list[Point]] = {}
        for point in points:
            if point.task is not None:
                self._points_by_key.setdefault(point.task.key, []).append(point)
        impossible = sum(point.task is None for point in points)
        metric = next((metric for metric in study.metrics if metric.more_is_better is not None), None)
        self.progress = SweepProgress(len(points), num_failed=impossible, num_impossible=impossible, metric=metric)
        self.started = time.monotonic()

    def take_earlier(self, findings: Iterable[Finding], wanted: tuple[str, ...], retry_failed: bool) -> set[str]:
        """Count what was found before, and return the keys of what is missing."""
        missing = set(self._points_by_key)
        for finding in findings:
            if finding.key in missing and not finding.lacks(wanted) and not (finding.has_failed and retry_failed):
                missing.discard(finding.key)
                num_before = self.progress.num_before + self._take(finding)
                self.progress = replace(self.progress, num_before=num_before)
        return missing

    def take(self, finding: Finding) -> None:
        """Count what was found now."""
        num_done = self.progress.num_done + self._take(finding)
        self.progress = replace(self.progress, num_done=num_done, seconds=time.monotonic() - self.started)

    def _take(self, finding: Finding) -> int:
        points = self._points_by_key[finding.key]
        now = self.progress
        if finding.has_failed:
            self.progress = replace(now, num_failed=now.num_failed + len(points))
        elif now.metric is not None:
            value = finding.figures.get(now.metric.name)
            if isinstance(value, int | float) and now.is_improved_by(value):
                self.progress = replace(now, best=value, best_values=points[0].values)
        return len(points)
