"""What a study found, as one table: a column for every axis and metric, then status and seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from themis_opt.problem.network import Network

Value = int | float | str | None


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


@dataclass(frozen=True, slots=True)
class StudyRow:
    """One point of a study, done, failed or still to do.

    Attributes
    ----------
    values
        By the columns' names.
    status
        ``heuristic``, ``bound``, ``optimal``, ``feasible`` (a solver's, which anybody finds again), ``not-repeatable``
        (a solver's in which its clock had a say: another run may find another), ``failed`` or ``missing``.
    seconds
        How long it took; ``None`` when it is missing.
    reason
        Why it failed, or nothing.
    """

    values: Mapping[str, Value]
    status: str
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
