"""Reading a study's table from its file, all rows or those that meet some conditions."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from fractions import Fraction

from themis_opt.files.documents import NetworkDocument
from themis_opt.files.network_file import network_from_document
from themis_opt.files.strict import decode, show
from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.errors import InputError
from themis_opt.studies.constraints import OPERATORS, PARSERS, split_comparison
from themis_opt.studies.fields import field_named
from themis_opt.studies.store import PlannedRow, read_rows, undamaged
from themis_opt.studies.study_metrics import metric_named
from themis_opt.studies.table import Column, PointStatus, Role, StudyRow, StudyTable, Value

RATIOS = ("gap", "gap_any", "bw_utilization")
_UNIT = re.compile(r"_(?:bytes|Bps|ps)$")


def read_table(path: str | os.PathLike[str], where: Sequence[str] = ()) -> StudyTable:
    """Return the table in a study's file; it may be read while a sweep writes to it.

    Parameters
    ----------
    path
        The file that ``themis-opt sweep`` wrote.
    where
        Conditions such as ``size = 100 MB``, ``gap > 0.05`` or ``status = failed`` that every row has to meet.

    Raises
    ------
    InputError
        When there is no such file, it is no study's, or a condition makes no sense there.
    """
    meta, planned = read_rows(path)
    with undamaged(os.fspath(path)):
        axes = [_axis_column(name) for name in _names(meta, "axes")]
        metrics = [_metric_column(name) for name in _names(meta, "metrics")]
        columns = (*axes, *metrics)
        rows = [_row(axes, metrics, row) for row in planned]
        for row in rows:
            _require_kinds(columns, row)
        documents = json.loads(meta.get("networks", "[]"))
        networks = tuple(network_from_document(decode(document, NetworkDocument)) for document in documents)
    for condition in where:
        left, operator, right = split_comparison(condition, "'size = 100 MB' or 'gap > 0.05'")
        rows = _chosen(columns, rows, left, operator, right)
    return StudyTable(meta["name"], meta["text"], columns, tuple(rows), meta["version"], networks)


def _names(meta: dict[str, str], key: str) -> list[str]:
    names = json.loads(meta.get(key, ""))
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{key} are no names")
    return names


def _require_kinds(columns: Sequence[Column], row: StudyRow) -> None:
    """Raise when a word stands where a number belongs, or the other way round."""
    for column in columns:
        value = row.values[column.name]
        if value is not None and isinstance(value, str) is column.is_number:
            raise ValueError(f"{column.name} is {show(value)}")


def _axis_column(name: str) -> Column:
    field = field_named(name)
    return Column(field.column_name, name, field.unit, Role.AXIS, field.parameter.is_number)


def _metric_column(name: str) -> Column:
    metric = metric_named(name)
    return Column(name, name, metric.unit, Role.METRIC, metric.is_number)


def _row(axes: Sequence[Column], metrics: Sequence[Column], planned: PlannedRow) -> StudyRow:
    values: dict[str, Value] = {column.name: value for column, value in zip(axes, planned.axis_values, strict=True)}
    finding = planned.finding
    figures = {} if finding is None else finding.figures
    values |= {column.name: figures.get(column.name) for column in metrics}
    if planned.reason:
        return StudyRow(values, PointStatus.FAILED, 0.0, planned.reason)
    if finding is None:
        return StudyRow(values, PointStatus.MISSING, None)
    return StudyRow(values, finding.status, finding.seconds, finding.reason)


def _chosen(columns: Sequence[Column], rows: list[StudyRow], left: str, operator: str, right: str) -> list[StudyRow]:
    compare = OPERATORS[operator]
    if left == "status":
        words = [status.value for status in PointStatus]
        if right not in words:
            raise InputError(
                f"--where: status {show(right)} is none; there are: {', '.join(words)}{did_you_mean(right, words)}"
            )
        return [row for row in rows if compare(row.status, right)]
    found = _column(columns, left)
    if found is None:
        known = [*(column.field for column in columns), "status"]
        raise InputError(f"--where: no column {show(left)}; there are: {', '.join(known)}{did_you_mean(left, known)}")
    if not found.is_number:
        if operator not in ("=", "==", "!="):
            raise InputError(f"--where: {found.field} is a text; compare it with = or !=")
        return [row for row in rows if compare(str(row.values[found.name]), right)]
    wanted = _wanted(found, right, is_told=left == found.name)
    values = ((row, row.values[found.name]) for row in rows)
    return [
        row
        for row, value in values
        if isinstance(value, int | float) and compare(value if isinstance(value, int) else Fraction(value), wanted)
    ]


def _column(columns: Sequence[Column], word: str) -> Column | None:
    """Return the column with this name or field, or the only one with this name apart from its unit."""
    exact = [column for column in columns if word in (column.name, column.field)]
    meant = exact or [column for column in columns if _UNIT.sub("", column.name) == word]
    return meant[0] if len(meant) == 1 else None


def _wanted(column: Column, text: str, is_told: bool) -> Fraction:
    """Return the number a row's value is compared with; a plain one needs its unit, unless the name tells it."""
    number = _number(text)
    parser = PARSERS.get(column.unit)
    if number is not None and (parser is None or (is_told and column.unit)):
        if column.name in RATIOS and number >= 1 and "%" not in text:
            raise InputError(f"--where: {column.field} is a ratio; write {text}% or {float(100 * number):g}%")
        return number
    if parser is None:
        raise InputError(f"--where: {show(text)} is not a number; {column.field} has no unit")
    try:
        return Fraction(parser(text))
    except InputError as error:
        raise error.at("--where") from None


def _number(text: str) -> Fraction | None:
    """Return a plain number, or a percentage, if a text is one."""
    try:
        return Fraction(text.removesuffix("%") if len(text) < 40 else "") / (100 if text.endswith("%") else 1)
    except (ValueError, ZeroDivisionError):
        return None
