"""A metric against an axis of a study, a line per scheduler: Figures 8, 10 and 11 of the Themis paper."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from themis_opt.problem.errors import InputError
from themis_opt.show.pictures.across import is_wide, number_axis, set_across, spread_over
from themis_opt.show.pictures.bound_lines import limits
from themis_opt.show.pictures.canvas import label_beside, new_axes
from themis_opt.show.pictures.points import (
    distinct,
    find_column,
    nothing_to_draw,
    number_in,
    select,
    stem,
    texts_of,
    title_of,
    values_of,
)
from themis_opt.show.pictures.scales import MAX_TITLE, plain_label
from themis_opt.studies.table import Column, StudyRow, StudyTable, Value
from themis_opt.studies.tasks import BOUND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, which the colour-blind can tell apart; yellow, which white paper swallows, is left out."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
STYLES = ("-", "--", "-.", ":")
MAX_LINES = 24
_LEFT_BY_LEGEND = 0.7
"""The part of the width that a legend beside them leaves to some axes, which is known only when they are laid out."""
_LIMIT_COLOR = "#b2182b"
_LIMIT_LOOKS: dict[str, Any] = {"color": _LIMIT_COLOR, "marker": "_", "linestyle": (0, (1, 1)), "linewidth": 1.4}


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
    x_values: Sequence[Value] | None = None,
) -> Axes:
    """Draw a metric against an axis of a study, a line for every value of another one; return the axes.

    Axes are logarithmic where values span more than a decade; words stand at equal distances, in the study's order.
    Where the study measured the bound (or the gap), what it rules out is shaded: below it for the makespan, above it
    for bandwidths, utilisation and speedup.

    Parameters
    ----------
    table
        The study's table.
    x, y
        Columns; default: the first axis of numbers that varies, or else the first of words, and the makespan or else
        the first metric.
    by
        The column whose values are the lines; default: ``scheduler``, where the study varies it. The rows of the
        scheduler ``bound`` are the limit; they are a line, in its colour, where they have a value of `y`.
    only
        Values by columns: other rows are left out.
    ax
        Where to; default: the axes of a new figure. Values are in the units of the columns, whatever the labels show.
    title
        Of the axes; default: the study's name.
    legend
        Whether to explain the lines, to the right of the axes.
    x_values
        What the horizontal axis has room for, for several sweeps that are compared; default: the values there are.

    Raises
    ------
    InputError
        When there is no such column, it has no numbers, other axes vary besides, there are too many lines, or
        matplotlib is not installed.
    """
    kept = {find_column(table, name, "only").name: value for name, value in (only or {}).items()}
    across, up, lines = _columns(table, x, y, by, kept)
    chosen = select(table, kept, [across, *([] if lines is None else [lines])], up)
    groups = [None] if lines is None else distinct(chosen.rows, lines)
    if len(groups) > MAX_LINES:
        raise InputError(f"{len(groups)} lines do not fit one picture; at most {MAX_LINES}: choose another --by")
    ax = new_axes(7.5, 4.2) if ax is None else ax
    names = [title_of(up)] if lines is None else texts_of(lines, groups)
    places = values_of(table, chosen.rows, across) if x_values is None else x_values
    if not any(row.values.get(across.name) == BOUND and number_in(row, up) is not None for row in chosen.rows):
        places = [value for value in places if value != BOUND]  # the limit is a line, whatever it is drawn over
    spread = spread_over(across, places)
    # A line has the colour of its value's place in the study.
    palette: list[Value] = (
        [None] if lines is None else [value for value in distinct(table.rows, lines) if value != BOUND]
    )
    values: list[float] = []
    for group, name in zip(groups, names, strict=True):
        rows = [row for row in chosen.rows if lines is None or row.values.get(lines.name) == group]
        looks = _LIMIT_LOOKS if group == BOUND else _looks(palette.index(group))
        values += _draw_line(ax, _points(rows, spread.place_of, up), name, looks)
    if not values:
        raise nothing_to_draw(chosen.rows, up, table)
    reach, below = limits(table, chosen.rows, spread.place_of, up)
    values += reach.values()
    set_across(ax, spread, chosen.remark, _share(ax, legend))
    _set_up(ax, up, values)
    _shade(ax, reach, below)
    ax.grid(True, color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_title(title or plain_label(table.name, MAX_TITLE), loc="left", parse_math=False)
    if legend:
        draw_lines_legend(ax)
    return ax


def _draw_line(ax: Axes, points: Sequence[tuple[float, float]], name: str, looks: Mapping[str, Any]) -> list[float]:
    """Draw one line with a gap at each point that has no value; return the values there are."""
    known = [value for _, value in points if not isnan(value)]
    if known:
        ax.plot(*zip(*points, strict=True), **looks, markersize=5, label=plain_label(name, 28).lstrip("_"), zorder=3)
    return known


def draw_lines_legend(ax: Axes) -> None:
    """Explain the lines of a sweep, to the right of its axes."""
    box = ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, borderaxespad=0, handlelength=3)
    for text in box.get_texts():
        text.set_parse_math(False)


def common_values(table: StudyTable, kept: str, *, x: str | None = None, by: str | None = None) -> list[Value]:
    """Return the values that the horizontal axes of several sweeps share, which differ in the column `kept`.

    Parameters
    ----------
    table
        The study.
    kept
        The column in which the sweeps differ.
    x, by
        As in `sweep`.

    Raises
    ------
    InputError
        When there is no such column, or no axis varies.
    """
    across, _ = _across_and_lines(table, x, by, [find_column(table, kept, "only").name])
    return distinct(table.rows, across)


def _columns(
    table: StudyTable, x: str | None, y: str | None, by: str | None, kept: Collection[str]
) -> tuple[Column, Column, Column | None]:
    """Return the columns across, up and of the lines."""
    across, lines = _across_and_lines(table, x, by, kept)
    up = find_column(table, y, "--y") if y is not None else _usual_metric(table)
    if not up.is_number:
        raise InputError(f"--y: column {up.field} has words, not numbers")
    return across, up, lines


def _across_and_lines(
    table: StudyTable, x: str | None, by: str | None, kept: Collection[str]
) -> tuple[Column, Column | None]:
    """Return the columns across and of the lines; those that are `kept` at one value are nobody's choice."""
    varying = [column for column in table.axes if column.name not in kept and len(distinct(table.rows, column)) > 1]
    lines = find_column(table, by, "--by") if by is not None else None
    if by is None:
        lines = next((column for column in varying if column.field == "scheduler" and column.field != x), None)
    if x is not None:
        across = find_column(table, x, "--x")
    else:
        free = [column for column in varying if column is not lines]
        usual = [column for column in free if column.is_number] or free
        if not usual and by is None and lines is not None:
            usual, lines = [lines], None
        if not usual:
            raise InputError("--x: no axis of the study takes several values; there is nothing to draw a line over")
        across = usual[0]
    return across, lines


def _usual_metric(table: StudyTable) -> Column:
    numbers = [column for column in table.metrics if column.is_number]
    if not numbers:
        raise InputError("--y: the study has no metric with numbers")
    return next((column for column in numbers if stem(column.name) == "makespan"), numbers[0])


def _points(
    rows: Sequence[StudyRow], place_of: Callable[[StudyRow], float | None], up: Column
) -> list[tuple[float, float]]:
    """Return the points of a line, ascending; where a result is missing, NaN interrupts it."""
    pairs = ((place_of(row), number_in(row, up)) for row in rows)
    return sorted((place, nan if value is None else value) for place, value in pairs if place is not None)


def _looks(place: int) -> dict[str, Any]:
    """Return how the line of the study's `place`-th value looks, whatever else is drawn beside it."""
    style = STYLES[place // len(COLORS) % len(STYLES)] if place >= len(COLORS) else STYLES[place % len(STYLES)]
    return {
        "color": COLORS[place % len(COLORS)],
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": style,
        "linewidth": 1.6,
    }


def _share(ax: Axes, legend: bool) -> float:
    """Return the part of the axes' width that their labels have: panels side by side all make room for one legend."""
    place = ax.get_subplotspec()
    num_columns = 1 if place is None else place.get_gridspec().ncols
    if num_columns > 1:
        return 1 - (1 - _LEFT_BY_LEGEND) / num_columns
    return _LEFT_BY_LEGEND if legend else 1.0


def _set_up(ax: Axes, column: Column, values: Sequence[float]) -> None:
    if is_wide(values):
        from matplotlib.ticker import LogLocator, NullFormatter

        ax.set_yscale("log")
        subs = (1.0,) if max(values) / min(values) > 1000 else (1.0, 2.0, 5.0)
        ax.yaxis.set_major_locator(LogLocator(base=10, subs=subs))
        ax.yaxis.set_minor_formatter(NullFormatter())
    else:
        # From zero, so that heights compare; negative values have their own lowest.
        ax.set_ylim(min(0.0, 1.05 * min(values)), 1.05 * max(values) or 1.0)
    number_axis(ax.yaxis, column, max(values))
    ax.set_ylabel(label_beside(ax, ax.get_ylabel()), parse_math=False)


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
