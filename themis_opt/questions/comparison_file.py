"""Reading a comparison file (``themis-opt compare --json``): its schedules are judged anew, its figures worked out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from themis_opt.files.documents import format_line
from themis_opt.files.plain import parse_json, read_text
from themis_opt.files.schedule_file import schedule_from_data
from themis_opt.files.strict import show
from themis_opt.judging.validator import validate
from themis_opt.problem.bound import Bound, BoundScope, Sizing
from themis_opt.problem.checks import real
from themis_opt.problem.errors import InputError, InvalidScheduleError
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.questions.comparison import Row, Run, baseline_makespan_ps
from themis_opt.questions.comparison_document import FORMAT
from themis_opt.solving.bounds import best_bound, equal_chunks_scope, quick_bounds, scope_of

_FAMILY = "themis-opt/comparison/"


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


def is_comparison(data: object) -> bool:
    """Return whether plain data says of itself that it is a comparison, of whatever version."""
    return isinstance(data, dict) and str(data.get("format")).startswith(_FAMILY)


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
    name = os.fspath(path)
    try:
        data = parse_json(read_text(path), decimals=True)
    except InputError as error:
        raise error if str(error).startswith(name) else error.at(name) from None
    try:
        return _comparison(data, name)
    except InputError as error:
        raise error if str(error).startswith(name) else error.at(name) from None


def _comparison(data: object, name: str) -> ComparisonFile:
    if not isinstance(data, dict):
        raise InputError("holds no comparison; 'themis-opt compare ... --json FILE' writes one")
    found = data.get("format")
    if found != FORMAT:
        if is_comparison(data):
            raise InputError(f"format: is {show(found)}; this version reads {FORMAT!r}: run 'themis-opt compare' again")
        raise InputError(f"format: is {show(found)}, no comparison; 'themis-opt compare ... --json FILE' writes one")
    runs = tuple(
        _run(run, f"runs[{index}]", name) for index, run in enumerate(_expect(data, "runs", list, "a list of runs"))
    )
    if not runs:
        raise InputError("runs: is empty; there is nothing to see")
    return ComparisonFile(
        runs,
        _plain(_expect(data, "options", dict, "a mapping")),
        _expect(data, "seed", int, "a whole number"),
        _plain(_expect(data, "versions", dict, "a mapping")),
        _plain(_expect(data, "machine", dict, "a mapping")),
    )


def _run(data: object, path: str, name: str) -> Run:
    with _At(path):
        results = _expect(data, "results", list, "a list of results")
        instance_data = _expect(data, "instance", dict, "an instance")
        if not results:
            raise InputError("results: is empty; there is nothing to see")
        judged = [
            _judged(result, instance_data, f"results[{place}]", name, path) for place, result in enumerate(results)
        ]
        instance = judged[0].instance
        bounds = _best_bounds(instance, judged)
        reference_ps = baseline_makespan_ps(instance)
        rows = []
        for place, (result, schedule) in enumerate(zip(results, judged, strict=True)):
            with _At(f"results[{place}]"):
                rows.append(_row(result, schedule, bounds, reference_ps))
        return Run(instance, bounds[equal_chunks_scope(instance)], tuple(rows))


def _judged(result: object, instance: dict[str, Any], path: str, name: str, run_path: str) -> Schedule:
    with _At(path):
        parts = _expect(result, "schedule", dict, "a schedule")
        told = {"format": format_line("schedule"), "instance": instance, **parts}
        try:
            schedule = schedule_from_data(told, "schedule")
        except InputError as error:
            raise InputError(str(error).replace("schedule: ", "schedule.", 1)) from None
    violations = validate(schedule.instance, schedule)
    if violations:
        where = f"{name}: {run_path}.{path}"
        raise InvalidScheduleError([replace(violation, message=f"{where}: {violation}") for violation in violations])
    return schedule


def _best_bounds(instance: Instance, schedules: Sequence[Schedule]) -> dict[BoundScope, Bound]:
    """Return the best bound for each scope: what costs milliseconds is worked out, what costs more was claimed."""
    scopes = [equal_chunks_scope(instance), *(scope_of(schedule) for schedule in schedules)]
    bounds = {scope: best_bound(quick_bounds(instance, scope)) for scope in dict.fromkeys(scopes)}
    for bound in (schedule.bound for schedule in schedules if schedule.bound is not None):
        bounds[bound.scope] = best_bound([bound, bounds.get(bound.scope, bound)])
    return bounds


def _row(result: dict[str, Any], schedule: Schedule, bounds: Mapping[BoundScope, Bound], reference_ps: int) -> Row:
    bound = bounds[scope_of(schedule)]
    note = result.get("note", "")
    row = Row(
        _expect(result, "scheduler", str, "a name"),
        replace(schedule, bound=bound),
        reference_ps,
        real("wall_s", result.get("wall_s", 0)),
        note if isinstance(note, str) else "",
        _bound_any(result, schedule.sizing),
    )
    if row.makespan_ps < bound.value_ps:
        raise InputError(
            f"ends after {row.makespan_ps} ps, before the bound of {bound.value_ps} ps ({bound.kind}) "
            f"that another result claims for {bound.scope}"
        )
    if row.bound_any is not None and row.makespan_ps < row.bound_any.value_ps:
        raise InputError(f"ends after {row.makespan_ps} ps, before bound_any_ps {row.bound_any.value_ps}")
    return row


def _bound_any(result: dict[str, Any], sizing: Sizing) -> Bound | None:
    """Return the bound for every number of chunks that was allowed, where that number was free."""
    if "bound_any_ps" not in result:
        return None
    value_ps = _expect(result, "bound_any_ps", int, "a whole number of picoseconds")
    counts = _expect(result, "bound_any_chunks", list, "the lowest and highest number of chunks")
    if len(counts) != 2 or not all(type(count) is int for count in counts):
        raise InputError(f"bound_any_chunks: {show(counts)} is not the lowest and highest number of chunks")
    return Bound(value_ps, _expect(result, "bound_any_kind", str, "a kind"), BoundScope(sizing, counts[0], counts[1]))


def _expect(data: object, key: str, kind: type, wanted: str) -> Any:
    if not isinstance(data, dict):
        raise InputError(f"{show(data)} is not a mapping of keys to values")
    if key not in data:
        raise InputError(f"{key}: is missing")
    value = data[key]
    if type(value) is not kind:
        raise InputError(f"{key}: {show(value)} is not allowed; expected {wanted}")
    return value


def _plain(data: Any) -> Any:
    """Return JSON's data with its decimals as floats."""
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_plain(value) for value in data]
    return data if isinstance(data, str | int | None) else real("number", data)


class _At:
    """Puts the path of a key before the message of an `InputError` raised inside."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, InputError):
            raise InputError(f"{self._path}.{error}") from None
