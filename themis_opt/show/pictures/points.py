"""The points of a study that a picture shows: its columns, its rows, and that no two compete for a place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.errors import InputError
from themis_opt.problem.units import bandwidth_column, format_size, size_column, time_column
from themis_opt.show.pictures.scales import Scale, plain_label, scale_for
from themis_opt.studies.table import Column, PointStatus, StudyRow, StudyTable, Value

_SUFFIXES = {"_ps": "ps", "_bytes": "B", "_Bps": "B/s"}
_RATIOS = ("gap", "gap_any", "bw_utilization", "utilization")
"""Columns whose values are parts of one, shown as percentages."""
_WORDS = {
    "bw_utilization": "bandwidth used",
    "busbw": "bus bandwidth",
    "algbw": "algorithm bandwidth",
    "gap": "gap to the bound for these chunks",
    "gap_any": "gap to the bound for any chunks",
    "size": "size per NPU",
    "chunks": "number of chunks",
    "percent_of_optimum": "bound / makespan [%]",
    "num_chunks": "number of chunks",
    "speedup": "speedup over the baseline",
    "speedup_over_others": "speedup over the best of others",
}
_MAX_NAMED = 4
DECADE = 10.0
_DIMENSION = re.compile(r"dimensions\[(\d+)\]\.")


def _times(times_ps: Sequence[float]) -> list[str]:
    return time_column(times_ps, trim=True)


def _sizes(sizes_bytes: Sequence[float]) -> list[str]:
    """Return sizes in one unit: a binary one where they are whole in that (``300 MiB``) and not in round decimals."""
    if len(sizes_bytes) == 1:
        return [format_size(sizes_bytes[0])]
    is_binary = all(size % 2**20 == 0 for size in sizes_bytes) and any(size % 10**5 for size in sizes_bytes)
    return [f"{size / 2**20:.6g} MiB" for size in sizes_bytes] if is_binary else size_column(sizes_bytes)


_IN_ONE_UNIT: Mapping[str, Callable[[Sequence[float]], list[str]]] = {
    "B": _sizes,
    "B/s": bandwidth_column,
    "ps": _times,
}


def find_column(table: StudyTable, word: str, option: str) -> Column:
    """Return the column that a user calls by its name, its field or its name without the unit.

    Parameters
    ----------
    table
        The study.
    word
        What the user wrote.
    option
        Where, for the message.

    Raises
    ------
    InputError
        When there is none, or the word means several.
    """
    exact = table.column(word)
    if exact is not None:
        return exact
    meant = [column for column in table.columns if stem(column.name) == word]
    if len(meant) == 1:
        return meant[0]
    known = [column.field for column in table.columns]
    raise InputError(
        f"{option}: the study has no column {word!r}; it has: {', '.join(known)}"
        f"{did_you_mean(word, [*known, *(stem(column.name) for column in table.columns)])}"
    )


def stem(name: str) -> str:
    """Return a column's name without the unit at its end."""
    return next((name.removesuffix(suffix) for suffix in _SUFFIXES if name.endswith(suffix)), name)


def title_of(column: Column) -> str:
    """Return what a column is called on an axis, without its unit."""
    short = stem(column.name)
    dimension = _DIMENSION.match(short)
    if dimension is not None:  # people count from 1
        short = f"dim{int(dimension[1]) + 1} {short[dimension.end() :]}"
    return _WORDS.get(short, plain_label(short.replace("_", " ")))


def is_ratio(column: Column) -> bool:
    """Return whether a column's values are shown as percentages."""
    return column.is_number and stem(column.name).rpartition(".")[2] in _RATIOS


def axis_scale(column: Column, largest: float) -> Scale:
    """Return the unit in which an axis shows a column."""
    return Scale("%", 0.01) if is_ratio(column) else scale_for(column.unit, largest)


def texts_of(column: Column, values: Sequence[Value] | Sequence[float]) -> list[str]:
    """Return the values of a column for people: in one unit, or each in its own where they span more than a decade."""
    if not column.is_number:
        return [plain_label(str(value), 24) for value in values]
    numbers = [value for value in values if isinstance(value, int | float)]
    together = _IN_ONE_UNIT.get(column.unit)
    if together is not None:
        known = [number for number in numbers if number]
        wide = bool(known) and max(known) > DECADE * min(known)
        return [together([number])[0] for number in numbers] if wide else together(numbers)
    return [f"{value:.6g}" if not is_ratio(column) else f"{100 * value:.6g} %" for value in numbers]


def distinct(rows: Sequence[StudyRow], column: Column) -> list[Value]:
    """Return the values a column takes in some rows: numbers ascending, words in the order of the study."""
    found = list(dict.fromkeys(row.values.get(column.name) for row in rows))
    known = [value for value in found if value is not None]
    return sorted(known, key=_as_number) if column.is_number else list(known)


def values_of(table: StudyTable, rows: Sequence[StudyRow], column: Column) -> list[Value]:
    """Return the values a column takes in some rows of a study, in the order they have in the whole study.

    Parameters
    ----------
    table
        The study.
    rows
        Some of its rows.
    column
        The column.
    """
    here = set(distinct(rows, column))
    return [value for value in distinct(table.rows, column) if value in here]


def number_in(row: StudyRow, column: Column) -> float | None:
    """Return a row's finite number in a column, or ``None``."""
    value = row.values.get(column.name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return float(value)


@dataclass(frozen=True)
class Selection:
    """The rows of a study that a picture shows.

    Attributes
    ----------
    rows
        The rows, in the study's order.
    num_lost
        How many of them have no result: failed, or not computed yet.
    """

    rows: tuple[StudyRow, ...]
    num_lost: int

    @property
    def remark(self) -> str:
        """A line on the rows that have no result, or nothing."""
        if not self.num_lost:
            return ""
        return f"({self.num_lost} of {len(self.rows)} points failed or not computed yet)"


def select(table: StudyTable, only: Mapping[str, Value], places: Sequence[Column], metric: Column) -> Selection:
    """Return the rows with these values, such that the columns `places` tell them apart.

    Parameters
    ----------
    table
        The study.
    only
        Values by the names of columns.
    places
        What the picture spreads out: its axes and its lines.
    metric
        What it shows.

    Raises
    ------
    InputError
        When no row is left, or other axes of the study still vary.
    """
    rows = tuple(row for row in table.rows if all(row.values.get(name) == value for name, value in only.items()))
    if not rows:
        wanted = ", ".join(f"{name} = {value}" for name, value in only.items())
        raise InputError(f"the study has no row{' with ' + wanted if wanted else ''}; there is nothing to draw")
    taken = {column.name for column in places}
    seen: dict[tuple[Value, ...], StudyRow] = {}
    for row in rows:
        place = tuple(row.values.get(column.name) for column in places)
        other = seen.setdefault(place, row)
        if other is not row:
            varying = [
                column
                for column in table.axes
                if column.name not in taken and row.values.get(column.name) != other.values.get(column.name)
            ]
            if not varying:
                continue
            named = ", ".join(column.field for column in varying)
            choices = ", ".join(texts_of(varying[0], distinct(rows, varying[0])[:_MAX_NAMED]))
            raise InputError(
                f"{named}: varies too, and a picture has one value for each place; keep one value "
                f"(such as --where {varying[0].field}=..., with one of: {choices}), or spread it with --panels "
                f"{varying[0].field}"
            )
    return Selection(rows, sum(number_in(row, metric) is None and row.status != "bound" for row in rows))


def nothing_to_draw(rows: Sequence[StudyRow], metric: Column, table: StudyTable) -> InputError:
    """Return the error for a metric of which none of these rows has a value: why, and which have one.

    Parameters
    ----------
    rows
        The rows chosen.
    metric
        The metric.
    table
        The study.
    """
    statuses = [row.status for row in rows]
    num_failed, num_missing = statuses.count(PointStatus.FAILED), statuses.count(PointStatus.MISSING)
    told = [f"{num} of {len(rows)} {what}" for num, what in ((num_failed, "failed"), (num_missing, "to do")) if num]
    known = [
        column.field
        for column in table.metrics
        if column.is_number and any(number_in(row, column) is not None for row in rows)
    ]
    return InputError(
        f"none of the {len(rows)} rows chosen has a value of {metric.field}{' yet' if num_missing else ''}"
        f"{' (' + ', '.join(told) + ')' if told else ''}; there is nothing to draw"
        f"{': draw another metric (' + ', '.join(known) + ')' if known else ''}"
    )


def _as_number(value: Value) -> float:
    assert isinstance(value, int | float)
    return float(value)
