"""What a study found, as one table: a column for every axis and metric, then status and seconds; as CSV and Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from themis_opt.problem.errors import InputError
from themis_opt.problem.network import Network

Value = int | float | str | None

MORE_COLUMNS = ("status", "seconds", "reason")
"""What follows the axes and metrics in a file."""


class Role(StrEnum):
    """What a column is for."""

    AXIS = "axis"
    METRIC = "metric"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a study's table.

    Attributes
    ----------
    name
        Its heading, unit included: ``size_bytes``, ``dim1.bandwidth_Bps``, ``makespan_ps``.
    field
        What the study calls it: ``size``, ``dim1.bandwidth``, ``makespan_ps``.
    unit
        ``B``, ``B/s``, ``ps``, or nothing for counts, ratios and words.
    role
        Whether the study varied it or measured it.
    is_number
        Whether its values are numbers (``None`` where a row has none).
    """

    name: str
    field: str
    unit: str
    role: Role
    is_number: bool


class PointStatus(StrEnum):
    """How a point of a study stands.

    `PREDICTED` is a time by a formula, without a schedule. `FEASIBLE` is a solver's result that anybody finds again; in
    a `NOT_REPEATABLE` one its clock had a say, so that another run may find another. `MISSING` points have not been
    computed.
    """

    HEURISTIC = "heuristic"
    PREDICTED = "predicted"
    BOUND = "bound"
    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    NOT_REPEATABLE = "not-repeatable"
    FAILED = "failed"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class StudyRow:
    """One point of a study, done, failed or still to do.

    Attributes
    ----------
    values
        By the columns' names.
    status
        How it stands.
    seconds
        How long it took; ``None`` when it is missing.
    reason
        Why it failed, or nothing.
    """

    values: Mapping[str, Value]
    status: PointStatus
    seconds: float | None
    reason: str = ""


@dataclass(frozen=True)
class StudyTable:
    """A study's table.

    Attributes
    ----------
    name
        The study's name.
    study_text
        The study itself, as YAML.
    columns
        Axes first, then metrics.
    rows
        In the study's order: the last axis changes fastest.
    version
        The version of themis-opt whose results these are.
    networks
        The networks of the base and of the axes, in that order.
    """

    name: str
    study_text: str
    columns: tuple[Column, ...]
    rows: tuple[StudyRow, ...]
    version: str = ""
    networks: tuple[Network, ...] = ()

    @property
    def axes(self) -> tuple[Column, ...]:
        """The columns that the study varied."""
        return tuple(column for column in self.columns if column.role is Role.AXIS)

    @property
    def metrics(self) -> tuple[Column, ...]:
        """The columns that it measured."""
        return tuple(column for column in self.columns if column.role is Role.METRIC)

    def column(self, name: str) -> Column | None:
        """Return the column with this name or field, if there is one."""
        return next((column for column in self.columns if name in (column.name, column.field)), None)

    def to_csv(self) -> str:
        """Return the text of a CSV file: numbers exactly as they were kept, what is not there empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*(column.name for column in self.columns), *MORE_COLUMNS])
        for row in self.rows:
            values = [row.values[column.name] for column in self.columns]
            writer.writerow([*values, row.status, row.seconds, row.reason])
        return text.getvalue()

    def to_parquet(self) -> bytes:
        """Return the bytes of a Parquet file: whole numbers as integers, others as doubles, texts as strings.

        Raises
        ------
        InputError
            When pyarrow is not installed.
        """
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            raise InputError("Parquet needs pyarrow: pip install 'themis-opt[parquet]'") from None
        arrays: dict[str, Any] = {}
        for column in self.columns:
            values = [row.values[column.name] for row in self.rows]
            if not column.is_number:
                arrays[column.name] = pyarrow.array([None if v is None else str(v) for v in values], pyarrow.string())
            elif any(v is not None for v in values) and all(
                v is None or (isinstance(v, int) and abs(v) < 2**63) for v in values
            ):
                arrays[column.name] = pyarrow.array(values, pyarrow.int64())
            else:
                doubles = [None if v is None else float(v) for v in values]
                arrays[column.name] = pyarrow.array(doubles, pyarrow.float64())
        kinds = (pyarrow.string(), pyarrow.float64(), pyarrow.string())
        for name, kind in zip(MORE_COLUMNS, kinds, strict=True):
            arrays[name] = pyarrow.array([getattr(row, name) for row in self.rows], kind)
        data = io.BytesIO()
        parquet.write_table(pyarrow.table(arrays), data)
        return data.getvalue()
