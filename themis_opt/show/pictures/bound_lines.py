"""What no schedule can reach: the bound as a limit of whatever a picture shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from themis_opt.show.pictures.points import number_in, stem
from themis_opt.studies.table import Column, StudyRow, StudyTable

_FALLS_WITH_TIME = ("busbw", "algbw", "bw_utilization", "speedup", "speedup_over_others")
"""Figures that are a constant of the instance over the makespan."""


def limits(
    table: StudyTable, rows: Sequence[StudyRow], place_of: Callable[[StudyRow], float | None], y: Column
) -> tuple[dict[float, float], bool]:
    """Return the limit of `y` at each place, and whether it is a lower one; nothing where the study does not know it.

    Of several rows at one place, such as schedulers with other chunks, the weakest bound counts: no row passes it. The
    study must have measured the bound, or the gap and, for anything but the makespan, the makespan or the gap.

    Parameters
    ----------
    table
        The study.
    rows
        Those that the picture shows.
    place_of
        Where a row stands on the horizontal axis, if it does.
    y
        The column of the vertical axis.
    """
    shown = stem(y.name)
    below = shown == "makespan"
    if not below and shown not in _FALLS_WITH_TIME:
        return {}, below
    found: dict[float, float] = {}
    for row in rows:
        place = place_of(row)
        limit = _limit(table, row, y, below)
        if place is not None and limit is not None:
            found[place] = limit if place not in found else (min if below else max)(found[place], limit)
    return found, below


def _limit(table: StudyTable, row: StudyRow, y: Column, below: bool) -> float | None:
    value = number_in(row, y)
    bound = _number(table, row, "bound_ps")
    if below and bound is not None:
        return bound
    if value is None:
        return None
    makespan = _number(table, row, "makespan_ps")
    gap = _number(table, row, "gap")
    ratio = makespan / bound if makespan is not None and bound else None if gap is None else 1 + gap
    if ratio is None:
        return None
    return value / ratio if below else value * ratio


def _number(table: StudyTable, row: StudyRow, name: str) -> float | None:
    column = table.column(name)
    return None if column is None else number_in(row, column)
