"""Comparison files (``themis-opt/comparison/2``): figures for programs, and the schedules behind them.

What is read of one is the instances, the schedules and what solvers claim: every schedule is judged anew, and all
figures are worked out again. They stand in the file for those who have no judge.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from themis_opt.files.documents import format_line
from themis_opt.files.instance_file import instance_document
from themis_opt.files.plain import parse_json, read_text
from themis_opt.files.results import ResultDocument, result_text
from themis_opt.files.schedule_file import schedule_document, schedule_from_data
from themis_opt.files.strict import decode, show
from themis_opt.judging.validator import check
from themis_opt.problem.bound import Bound, BoundScope, Sizing
from themis_opt.problem.errors import InputError, located
from themis_opt.problem.instance import Instance
from themis_opt.problem.ratios import finite
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.version import VERSION
from themis_opt.questions.comparison import Run, predictions_of
from themis_opt.questions.row import DimensionUse, PredictedRow, Row, baseline_makespan_ps
from themis_opt.questions.run_claims import Ending, check_claim, checked_bound_any, ending_of
from themis_opt.questions.speedup_reference import reference_of, require_reference
from themis_opt.schedulers.registry import PREDICTORS
from themis_opt.solving.bounds import best_bound, equal_chunks_scope, quick_bounds, scope_of

Plain = bool | int | float | str | None | list[str]
"""What an option of a comparison may be."""

_FAMILY = "themis-opt/comparison/"
_FORMAT = f"{_FAMILY}2"
_LINE = 120
_TOLD_ABOVE = ("format", "instance", "stages")
"""Of a schedule: what stands once for all results, or follows from the rest."""
_PACKAGES = ("numpy", "numba", "networkx", "ortools", "pulp", "highspy")


class RowDocument(msgspec.Struct, kw_only=True):
    """One schedule with its figures; what has a default is not read."""

    scheduler: str
    status: str = ""
    num_chunks: int = 0
    sizes: str = ""
    bound_ps: int = 0
    bound_kind: str = ""
    makespan_ps: int = 0
    bw_utilization: float = 0.0
    algbw_Bps: float = 0.0
    busbw_Bps: float = 0.0
    speedup: float | None = None
    gap: float | None = None
    bound_any_ps: int | UnsetType = UNSET
    bound_any_kind: str | UnsetType = UNSET
    bound_any_chunks: list[int] | UnsetType = UNSET
    gap_any: float | UnsetType | None = UNSET
    wall_s: float = 0.0
    per_dimension: list[DimensionUse] = []
    note: str | UnsetType = UNSET
    schedule: dict[str, Any]


class PredictionDocument(msgspec.Struct, kw_only=True):
    """A time by a formula with its figures; what has a default is not read."""

    scheduler: str
    makespan_ps: int = 0
    bw_utilization: float = 0.0
    algbw_Bps: float = 0.0
    busbw_Bps: float = 0.0
    speedup: float | None = None


class RunDocument(msgspec.Struct, kw_only=True):
    """One instance with its results; what has a default is not read, but `reference` and `predictions` are.

    Files from before `reference` have speedups over the baseline.
    """

    instance: dict[str, Any]
    network: str = ""
    collective: str = ""
    size_bytes: int = 0
    num_chunks: int = 0
    occupancy: str = ""
    chunk_overhead_ps: int = 0
    dimensions: list[int] = []
    ideal_ps: float = 0.0
    bound_ps: int = 0
    bound_kind: str = ""
    reference: str = "baseline"
    reference_name: str = ""
    reference_chunks: int | None = None
    reference_ps: int = 0
    results: list[RowDocument]
    predictions: list[PredictionDocument] | UnsetType = UNSET


class ComparisonDocument(ResultDocument, kw_only=True, tag=_FORMAT):
    """What was compared, with what, and what came of it."""

    options: dict[str, Plain]
    seed: int
    versions: dict[str, str]
    machine: dict[str, Plain]
    runs: list[RunDocument]


@dataclass(frozen=True, slots=True)
class ComparisonFile:
    """What a comparison file holds.

    Attributes
    ----------
    runs
        One for each instance, every schedule in it judged to be right.
    options
        What the user asked for: instances, schedulers, solver, limits, as plain data.
    seed
        The seed.
    versions, machine
        What it was made with.
    """

    runs: tuple[Run, ...]
    options: Mapping[str, Any]
    seed: int
    versions: Mapping[str, Any]
    machine: Mapping[str, Any]


def comparison_text(runs: Sequence[Run], options: Mapping[str, Any], seed: int) -> str:
    """Return the text of a comparison file.

    Parameters
    ----------
    runs
        One for each instance.
    options
        What the user asked for, as plain data.
    seed
        The seed of solver and schedulers.
    """
    machine: dict[str, Plain] = {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processors": os.cpu_count(),
    }
    document = ComparisonDocument(
        options=dict(options), seed=seed, versions=dict(_versions()), machine=machine, runs=[_run(run) for run in runs]
    )
    return result_text(document, line=_LINE)


def _versions() -> Iterator[tuple[str, str]]:
    yield "themis-opt", VERSION
    yield "python", platform.python_version()
    for package in _PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue


def _run(run: Run) -> RunDocument:
    instance = run.instance
    return RunDocument(
        instance=instance_document(instance),
        network=instance.network.name,
        collective=str(instance.collective),
        size_bytes=instance.size_bytes,
        num_chunks=instance.num_chunks,
        occupancy=str(instance.occupancy),
        chunk_overhead_ps=instance.chunk_overhead_ps,
        dimensions=list(instance.involved),
        ideal_ps=run.ideal_ps,
        bound_ps=run.bound.value_ps,
        bound_kind=str(run.bound.kind),
        reference=run.reference.asked,
        reference_name=run.reference.name,
        reference_chunks=run.reference.num_chunks,
        reference_ps=run.reference.makespan_ps,
        results=[_row(row) for row in run.rows],
        predictions=[_prediction(row) for row in run.predictions] or UNSET,
    )


def _prediction(row: PredictedRow) -> PredictionDocument:
    return PredictionDocument(
        scheduler=row.name,
        makespan_ps=row.makespan_ps,
        bw_utilization=row.bw_utilization,
        algbw_Bps=row.algbw_Bps,
        busbw_Bps=row.busbw_Bps,
        speedup=finite(row.speedup),
    )


def _row(row: Row) -> RowDocument:
    document = RowDocument(
        scheduler=row.name,
        status=str(row.schedule.status),
        num_chunks=row.schedule.num_chunks,
        sizes=str(row.schedule.sizing),
        bound_ps=row.bound.value_ps,
        bound_kind=str(row.bound.kind),
        makespan_ps=row.makespan_ps,
        bw_utilization=row.bw_utilization,
        algbw_Bps=row.algbw_Bps,
        busbw_Bps=row.busbw_Bps,
        speedup=finite(row.speedup),
        gap=finite(row.gap),
        wall_s=round(row.wall_s, 6),
        per_dimension=list(row.dimension_uses),
        note=row.note or UNSET,
        schedule={key: value for key, value in schedule_document(row.schedule).items() if key not in _TOLD_ABOVE},
    )
    if row.bound_any is not None and row.gap_any is not None:
        scope = row.bound_any.scope
        document.bound_any_ps, document.bound_any_kind = row.bound_any.value_ps, str(row.bound_any.kind)
        document.bound_any_chunks = [scope.min_chunks, scope.max_chunks]
        document.gap_any = finite(row.gap_any)
    return document


def load_comparison(path: str | os.PathLike[str]) -> tuple[Run, ...]:
    """Return the runs in a comparison file; see `read_comparison`."""
    return read_comparison(path).runs


def read_comparison(path: str | os.PathLike[str]) -> ComparisonFile:
    """Return what is in a comparison file, with every schedule judged and timed anew.

    Raises
    ------
    InputError
        When there is no such file or it is no comparison of this version.
    InvalidScheduleError
        When a schedule in it breaks a rule or claims what is false.
    """
    text = read_text(path)  # which names the file by itself
    name = os.fspath(path)
    with located(name):
        document = _document(_floats(parse_json(text, decimals=True)))
        if not document.runs:
            raise InputError("runs: is empty; there is nothing to see")
        runs = tuple(_judged_run(run, f"runs[{place}]", name) for place, run in enumerate(document.runs))
    return ComparisonFile(runs, document.options, document.seed, document.versions, document.machine)


def _document(data: object) -> ComparisonDocument:
    if not isinstance(data, dict):
        raise InputError("holds no comparison; 'themis-opt compare ... --json FILE' writes one")
    found = data.get("format")
    if found != _FORMAT:
        is_older = isinstance(found, str) and found.startswith(_FAMILY)
        rest = (
            f"this version reads {_FORMAT!r}: run 'themis-opt compare' again"
            if is_older
            else "no comparison; 'themis-opt compare ... --json FILE' writes one"
        )
        raise InputError(f"format: is {show(found)}{';' if is_older else ','} {rest}")
    return decode(data, ComparisonDocument)


def _floats(data: Any) -> Any:
    """Return JSON's data with its decimals as floats; what is no finite number stays for the reader to refuse."""
    if isinstance(data, dict):
        return {key: _floats(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_floats(value) for value in data]
    return float(data) if isinstance(data, Fraction) else data


def _judged_run(run: RunDocument, path: str, name: str) -> Run:
    with located(path, "."):
        if not run.results:
            raise InputError("results: is empty; there is nothing to see")
        schedules = []
        for place, result in enumerate(run.results):
            with located(f"results[{place}]", "."):
                schedules.append(_judged(result, run.instance, f"{name}: {path}.results[{place}]"))
        instance = schedules[0].instance
        bounds = _best_bounds(instance, schedules)
        with located("reference"):
            require_reference(run.reference)
            reference = reference_of(instance, run.reference)
        rows = [
            Row(
                result.scheduler,
                schedule.replace(bound=bounds[scope_of(schedule)]),
                reference.makespan_ps,
                result.wall_s,
            )
            for result, schedule in zip(run.results, schedules, strict=True)
        ]
        endings = [Ending("the baseline", equal_chunks_scope(instance), baseline_makespan_ps(instance))]
        endings += [ending_of(f"results[{place}]", row.schedule, row.makespan_ps) for place, row in enumerate(rows)]
        judged = []
        for place, (result, row, schedule) in enumerate(zip(run.results, rows, schedules, strict=True)):
            where = f"{path}.results[{place}]"
            check_claim(schedule, endings, f"{name}: {where}")
            with located(f"results[{place}]", "."):
                bound_any = _bound_any(result, schedule.sizing)
            if bound_any is not None:
                bound_any = checked_bound_any(schedule, bound_any, endings, f"{name}: {where}.bound_any_ps")
            judged.append(replace(row, note=result.note or "", bound_any=bound_any))
        predictions = predictions_of(instance, _predicted_names(run), reference.makespan_ps)
        bound = bounds[equal_chunks_scope(instance)]
        return Run(instance, bound, tuple(judged), reference, predictions=predictions)


def _predicted_names(run: RunDocument) -> Iterator[str]:
    """Yield what was predicted; the times are worked out anew, as all figures are."""
    for place, told in enumerate(run.predictions or ()):
        with located(f"predictions[{place}].scheduler"):
            PREDICTORS.require(told.scheduler)
        yield told.scheduler


def _judged(result: RowDocument, instance: dict[str, Any], where: str) -> Schedule:
    # Together again, it is a schedule file, and is read as strictly as one.
    told = {"format": format_line("schedule"), "instance": instance, **result.schedule}
    try:
        schedule = schedule_from_data(told, "schedule")
    except InputError as error:
        raise InputError(str(error).replace("schedule: ", "schedule.", 1)) from None
    check(schedule.instance, schedule, where)
    return schedule


def _best_bounds(instance: Instance, schedules: Sequence[Schedule]) -> dict[BoundScope, Bound]:
    """Return the best bound for each scope: what costs milliseconds is worked out, what costs more was claimed."""
    scopes = [equal_chunks_scope(instance), *(scope_of(schedule) for schedule in schedules)]
    bounds = {scope: best_bound(quick_bounds(instance, scope)) for scope in dict.fromkeys(scopes)}
    # A certificate is checked by the judge; what else a bound rests on is held against all other rows (`run_claims`).
    for bound in (schedule.bound for schedule in schedules if schedule.bound is not None):
        bounds[bound.scope] = best_bound([bound, bounds.get(bound.scope, bound)])
    return bounds


def _bound_any(result: RowDocument, sizing: Sizing) -> Bound | None:
    """Return the bound for every number of chunks that was allowed, where that number was free."""
    value_ps, kind, counts = result.bound_any_ps, result.bound_any_kind, result.bound_any_chunks
    if value_ps is UNSET:
        return None
    if kind is UNSET or counts is UNSET:
        raise InputError(f"{'bound_any_kind' if kind is UNSET else 'bound_any_chunks'}: is missing")
    if len(counts) != 2:
        raise InputError(f"bound_any_chunks: {show(counts)} is not the lowest and highest number of chunks")
    return Bound(value_ps, kind, BoundScope(sizing, counts[0], counts[1]))
