"""A metric against a size or a number of chunks, a line per scheduler: Figures 8, 10 and 11 of the Themis paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan, log, nan
from typing import TYPE_CHECKING

from themis_opt.errors import InputError
from themis_opt.pictures.canvas import new_axes, num_fitting
from themis_opt.pictures.labels import MAX_TITLE, plain_label
from themis_opt.pictures.limits import limits
from themis_opt.pictures.points import (
    DECADE,
    axis_scale,
    distinct,
    find_column,
    number_in,
    select,
    stem,
    texts_of,
    title_of,
)
from themis_opt.studies.table import Column, StudyRow, StudyTable, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, which the colour-blind can tell apart; yellow, which white paper swallows, is left out."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
STYLES = ("-", "--", "-.", ":")
MAX_LINES = 24
_MAX_TICKS = 10
_LEFT_BY_LEGEND = 0.7
"""The part of the axes' width that a legend beside them leaves, which is known only when they are laid out."""
_LIMIT_COLOR = "#b2182b"


def sweep(
    table: StudyTable,
    *,
    x: str | None = None,
    y: str | None = None,
    by: str | None = None,
    only: Mapping[str, Value] | None = None,
    ax: Axes | None = None,
    title: str = "",
    legend: bool = True,
) -> Axes:
    """Draw a metric against an axis of a study, with a line for every value of another one.

    Axes are logarithmic where values span more than a decade. Where the study measured the bound (or the gap), what it
    rules out is shaded: below it for the makespan, above it for bandwidths, utilisation and speedup.

    Parameters
    ----------
    table
        The study's table.
    x, y
        Columns of numbers; default: the first axis that varies, and the makespan or else the first metric.
    by
        The column whose values are the lines; default: ``scheduler``, where the study varies it.
    only
        Values by columns: other rows are left out.
    ax
        Where to; default: the axes of a new figure. Values are in the units of the columns, whatever the labels show.
    title
        Of the axes; default: the study's name.
    legend
        Whether to explain the lines, to the right of the axes.

    Returns
    -------
    The axes.

    Raises
    ------
    InputError
        When there is no such column, it has no numbers, other axes vary besides, there are too many lines, or
        matplotlib is not installed.
    """
    across, up, lines = _columns(table, x, y, by)
    kept = {find_column(table, name, "only").name: value for name, value in (only or {}).items()}
    chosen = select(table, kept, [across, *([] if lines is None else [lines])], up)
    groups: list[Value] = [None] if lines is None else distinct(chosen.rows, lines)
    if len(groups) > MAX_LINES:
        raise InputError(f"{len(groups)} lines do not fit one picture; at most {MAX_LINES}: choose another --by")
    ax = new_axes(7.5, 4.2) if ax is None else ax
    names = [title_of(up)] if lines is None else texts_of(lines, groups)
    values: list[float] = []
    for place, (group, name) in enumerate(zip(groups, names, strict=True)):
        points = _points(
            [row for row in chosen.rows if lines is None or row.values.get(lines.name) == group], across, up
        )
        known = [value for _, value in points if not isnan(value)]
        values += known
        if known:
            style = STYLES[place // len(COLORS) % len(STYLES)] if place >= len(COLORS) else STYLES[place % len(STYLES)]
            ax.plot(
                *zip(*points, strict=True),
                color=COLORS[place % len(COLORS)],
                marker=MARKERS[place % len(MARKERS)],
                linestyle=style,
                linewidth=1.6,
                markersize=5,
                label=plain_label(name, 28).lstrip("_"),
                zorder=3,
            )
    if not values:
        raise InputError(f"the study has no result for {up.field} yet; there is nothing to draw")
    reach, below = limits(table, chosen.rows, across, up)
    values += reach.values()
    places = [number for row in chosen.rows if (number := number_in(row, across)) is not None]
    _set_across(ax, across, places, chosen.remark, _LEFT_BY_LEGEND if legend else 1.0)
    _set_up(ax, up, values)
    _shade(ax, reach, below)
    ax.grid(True, color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_title(title or plain_label(table.name, MAX_TITLE), loc="left", parse_math=False)
    if legend:
        draw_lines_legend(ax)
    return ax


def draw_lines_legend(ax: Axes) -> None:
    """Explain the lines of a sweep, to the right of its axes."""
    box = ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, borderaxespad=0, handlelength=3)
    for text in box.get_texts():
        text.set_parse_math(False)


def _columns(table: StudyTable, x: str | None, y: str | None, by: str | None) -> tuple[Column, Column, Column | None]:
    """Return the columns across, up and of the lines."""
    varying = [column for column in table.axes if len(distinct(table.rows, column)) > 1]
    lines = find_column(table, by, "--by") if by is not None else None
    if by is None:
        lines = next((column for column in varying if column.field == "scheduler" and column.field != x), None)
    if x is not None:
        across = find_column(table, x, "--x")
    else:
        numbers = [column for column in varying if column.is_number and column is not lines]
        if not numbers:
            raise InputError("--x: no axis of the study takes several numbers; there is nothing to draw a line over")
        across = numbers[0]
    up = find_column(table, y, "--y") if y is not None else _usual_metric(table)
    for column, option in ((across, "--x"), (up, "--y")):
        if not column.is_number:
            raise InputError(f"{option}: column {column.field} has words, not numbers")
    return across, up, lines


def _usual_metric(table: StudyTable) -> Column:
    numbers = [column for column in table.metrics if column.is_number]
    if not numbers:
        raise InputError("--y: the study has no metric with numbers")
    return next((column for column in numbers if stem(column.name) == "makespan"), numbers[0])


def _points(rows: Sequence[StudyRow], across: Column, up: Column) -> list[tuple[float, float]]:
    """Return the points of a line, ascending; where a result is missing, NaN interrupts it."""
    pairs = ((number_in(row, across), number_in(row, up)) for row in rows)
    return sorted((place, nan if value is None else value) for place, value in pairs if place is not None)


def _is_wide(values: Sequence[float]) -> bool:
    return min(values) > 0 and max(values) / min(values) > DECADE


def _set_across(ax: Axes, column: Column, values: Sequence[float], remark: str, share: float) -> None:
    """Label the horizontal axis at the study's own values, as many of them as fit into a share of the axes' width."""
    from matplotlib.ticker import NullLocator

    places = sorted(set(values))
    texts = texts_of(column, places)
    wide = _is_wide(values)
    if wide:
        ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    if wide or len(places) <= _MAX_TICKS:
        shown = _spaced(places, wide, min(_MAX_TICKS, max(2, int(share * num_fitting(ax, texts)))))
        ax.set_xticks([places[idx] for idx in shown], [texts[idx] for idx in shown], parse_math=False)
        ax.set_xlabel(f"{title_of(column)}\n{remark}".rstrip(), parse_math=False)
    else:
        _number_axis(ax.xaxis, column, max(values), remark)


def _spaced(places: Sequence[float], wide: bool, most: int) -> list[int]:
    """Return which of ascending places are far enough from each other for a label each; the last one is among them."""
    at = [log(place) if wide else place for place in places]
    least = (at[-1] - at[0]) / most
    shown = [len(at) - 1]
    for idx in range(len(at) - 2, -1, -1):
        if at[shown[-1]] - at[idx] >= least:
            shown.append(idx)
    return shown[::-1]


def _set_up(ax: Axes, column: Column, values: Sequence[float]) -> None:
    if _is_wide(values):
        from matplotlib.ticker import LogLocator, NullFormatter

        ax.set_yscale("log")
        subs = (1.0,) if max(values) / min(values) > 1000 else (1.0, 2.0, 5.0)
        ax.yaxis.set_major_locator(LogLocator(base=10, subs=subs))
        ax.yaxis.set_minor_formatter(NullFormatter())
    else:
        # From zero, so that heights compare; negative values have their own lowest.
        ax.set_ylim(min(0.0, 1.05 * min(values)), 1.05 * max(values) or 1.0)
    _number_axis(ax.yaxis, column, max(values))


def _number_axis(axis: Axis, column: Column, largest: float, remark: str = "") -> None:
    from matplotlib.ticker import FuncFormatter

    scale = axis_scale(column, largest)
    axis.set_major_formatter(FuncFormatter(lambda value, _: scale.text(value)))
    axis.set_label_text(f"{scale.of(title_of(column))}\n{remark}".rstrip(), parse_math=False)


def _shade(ax: Axes, reach: Mapping[float, float], below: bool) -> None:
    """Shade what the bound rules out."""
    if not reach:
        return
    places = sorted(reach)
    limit = [reach[place] for place in places]
    bottom, top = ax.get_ylim()
    if below and ax.get_yscale() == "log":
        bottom = min(bottom, 0.8 * min(limit))
    if not below:
        top = max(top, 1.1 * max(limit))
    ax.set_ylim(bottom, top)
    ax.plot(places, limit, color=_LIMIT_COLOR, linewidth=1.4, linestyle=(0, (1, 1)), zorder=2, label="bound")
    ax.fill_between(
        places,
        limit,
        bottom if below else top,
        facecolor="#f4d6d2",
        edgecolor="#dba8a1",
        hatch="..",
        linewidth=0,
        zorder=1,
        label="ruled out by the bound",
    )
    ax.set_ylim(bottom, top)
