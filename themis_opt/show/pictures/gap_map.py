"""A metric, such as the gap of a scheduler, over two parameters of a study: a heat map."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from themis_opt.problem.errors import InputError
from themis_opt.show.pictures.canvas import figure_of, hatch_boxes, label_beside, new_axes
from themis_opt.show.pictures.categories import label_categories
from themis_opt.show.pictures.points import (
    axis_scale,
    distinct,
    find_column,
    nothing_to_draw,
    number_in,
    select,
    stem,
    title_of,
    values_of,
)
from themis_opt.show.pictures.scales import MAX_TITLE, Floats, are_dark, plain_label
from themis_opt.studies.table import Column, StudyTable, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

MAX_CELLS = 250_000
WIDE = 50.0
"""Where positive values span more than this factor their colours are logarithmic."""
_FONT_SIZE = 8.0
_CHARACTER_PT = 5.2


def gap_map(
    table: StudyTable,
    *,
    x: str | None = None,
    y: str | None = None,
    metric: str = "gap",
    scheduler: str | None = None,
    only: Mapping[str, Value] | None = None,
    value_range: tuple[float, float] | None = None,
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """Draw a metric over two axes of a study, a cell for each pair of values, all cells of the same size.

    Lighter is more. Values are written into the cells where they fit; a crossed cell has no result. Numbers grow
    upwards; words stand in the order of the study, the first at the top.

    A ``gap`` refers to the bound for each row's own chunks, so over numbers of chunks the smallest may be a slow
    schedule's; ``gap_any`` measures all rows by one bound, for any number of chunks.

    Parameters
    ----------
    table
        The study's table.
    x, y
        Columns; default: the first two axes that vary (the scheduler aside).
    metric
        The column shown.
    scheduler
        Whose rows; needed where the study has several.
    only
        Values by columns: other rows are left out.
    value_range
        The values of the darkest and the lightest colour, for several maps that are compared; default: those there are.
    ax
        Where to; default: the axes of a new figure. Cells are 1 wide and high, the first one around (0, 0).
    title
        Of the axes; default: the study's name, and the scheduler.

    Returns
    -------
    The axes.

    Raises
    ------
    InputError
        When there is no such column or scheduler, other axes vary besides, or matplotlib is not installed.
    """
    kept = {find_column(table, name, "only").name: value for name, value in (only or {}).items()}
    if scheduler is not None:
        kept.update(_kept_scheduler(table, scheduler))
    shown = find_column(table, metric, "--metric")
    if not shown.is_number:
        raise InputError(f"--metric: column {shown.field} has words, not numbers")
    across, up = _axes_of(table, x, y, kept)
    chosen = select(table, kept, [across, up], shown)
    columns, lines = (values_of(table, chosen.rows, column) for column in (across, up))
    if len(columns) * len(lines) > MAX_CELLS:
        raise InputError(f"{len(columns)} x {len(lines)} cells do not fit one picture; at most {MAX_CELLS}")
    cells = np.full((len(lines), len(columns)), np.nan)
    for row in chosen.rows:
        value = number_in(row, shown)
        where = row.values.get(across.name), row.values.get(up.name)
        if value is not None and None not in where:
            cells[lines.index(where[1]), columns.index(where[0])] = value
    if np.isnan(cells).all():
        raise nothing_to_draw(chosen.rows, shown, table)
    ax = new_axes(*_figure_size(len(columns), len(lines))) if ax is None else ax
    _draw_cells(ax, cells, shown, value_range or _range_of(shown, cells[~np.isnan(cells)]))
    label_categories(ax, "x", across, columns, chosen.remark)
    label_categories(ax, "y", up, lines)
    ax.tick_params(axis="both", length=2)
    if not up.is_number:
        ax.set_ylim(len(lines) - 0.5, -0.5)
    name = plain_label(table.name, MAX_TITLE) + (f": {plain_label(scheduler)}" if scheduler else "")
    ax.set_title(title or name, loc="left", parse_math=False)
    return ax


def _kept_scheduler(table: StudyTable, scheduler: str) -> dict[str, Value]:
    """Return the restriction to one scheduler.

    Raises
    ------
    InputError
        When the study has no such scheduler, or no column of schedulers.
    """
    from themis_opt.problem.checks import did_you_mean

    column = find_column(table, "scheduler", "--scheduler")
    known = [str(value) for value in distinct(table.rows, column)]
    if scheduler not in known:
        raise InputError(
            f"--scheduler: the study has no {scheduler!r}; it has: {', '.join(known)}{did_you_mean(scheduler, known)}"
        )
    return {column.name: scheduler}


def _axes_of(table: StudyTable, x: str | None, y: str | None, kept: Collection[str]) -> tuple[Column, Column]:
    free = [column for column in table.axes if column.name not in kept and column.field != "scheduler"]
    varying = [column for column in free if len(distinct(table.rows, column)) > 1]
    across = None if x is None else find_column(table, x, "--x")
    up = None if y is None else find_column(table, y, "--y")
    across = across or next((column for column in varying if column is not up), None)
    up = up or next((column for column in varying if column is not across), None)
    if across is None or up is None:
        raise InputError("a map needs two axes that vary, and the study has not so many; 'plot sweep' needs one")
    if across is up:
        raise InputError(f"--x and --y are both {across.field}; a map needs two different columns")
    return across, up


def _figure_size(num_columns: int, num_lines: int) -> tuple[float, float]:
    return min(max(2.6 + 0.62 * num_columns, 5.0), 11.0), min(max(1.5 + 0.4 * num_lines, 3.2), 9.0)


def common_range(table: StudyTable, metric: str, scheduler: str | None = None) -> tuple[float, float] | None:
    """Return the range of colours for several maps of one study; ``None`` when it has no result.

    Parameters
    ----------
    table
        The study.
    metric
        What the colours show.
    scheduler
        Whose results; default: everybody's.

    Raises
    ------
    InputError
        When there is no such metric or scheduler.
    """
    shown = find_column(table, metric, "--metric")
    kept = {} if scheduler is None else _kept_scheduler(table, scheduler)
    rows = [row for row in table.rows if all(row.values.get(name) == value for name, value in kept.items())]
    values = [value for row in rows if (value := number_in(row, shown)) is not None]
    return _range_of(shown, np.array(values)) if values else None


def share_color_bar(figure: Figure, axes: Sequence[Axes]) -> None:
    """Put one colour bar in the place of those of several maps, where one and the same explains them all."""
    maps = [_mesh_of(ax) for ax in axes]
    meshes = [mesh for mesh in maps if mesh is not None and mesh.colorbar is not None]
    bars = [mesh.colorbar for mesh in meshes if mesh.colorbar is not None]
    told = {(mesh.norm.vmin, mesh.norm.vmax, bar.ax.get_ylabel()) for mesh, bar in zip(meshes, bars, strict=True)}
    if len(meshes) < max(len(axes), 2) or len(told) > 1:
        return
    label, formatter = bars[0].ax.get_ylabel().replace("\n", " "), bars[0].formatter
    for bar in bars:
        bar.remove()
    figure.colorbar(meshes[0], ax=list(axes), pad=0.02, aspect=30, format=formatter).set_label(label, parse_math=False)


def _mesh_of(ax: Axes) -> QuadMesh | None:
    from matplotlib.collections import QuadMesh

    return next((found for found in ax.collections if isinstance(found, QuadMesh)), None)


def _range_of(shown: Column, values: Floats) -> tuple[float, float]:
    """Return the range of colours for some values: a gap's starts at 0, unless its colours are logarithmic."""
    low, high = float(values.min()), float(values.max())
    if low > 0 and high > WIDE * low:
        return low, high
    if stem(shown.name) in ("gap", "gap_any"):
        low = min(low, 0.0)
    return low, high if high > low else low + (abs(low) or 1.0)


def _draw_cells(ax: Axes, cells: Floats, shown: Column, value_range: tuple[float, float]) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm, Normalize
    from matplotlib.ticker import FuncFormatter

    low, high = value_range
    norm = LogNorm(low, high, clip=True) if low > 0 and high > WIDE * low else Normalize(low, high)
    edges = np.arange(cells.shape[1] + 1) - 0.5, np.arange(cells.shape[0] + 1) - 0.5
    ax.set_facecolor("white")
    colors = colormaps["cividis"]
    mesh = ax.pcolormesh(*edges, np.ma.masked_invalid(cells), cmap=colors, norm=norm, rasterized=cells.size > 10_000)
    _cross(ax, np.isnan(cells))
    scale = axis_scale(shown, value_range[1])
    figure = ax.get_figure(root=False)
    assert figure is not None
    bar = figure.colorbar(mesh, ax=ax, pad=0.02, format=FuncFormatter(lambda value, _: scale.text(value)))
    bar.set_label(label_beside(ax, scale.of(title_of(shown))), parse_math=False)
    texts = _short_texts(cells, scale.factor)
    if not _fit(ax, cells.shape, max(len(text) for text in texts.flat)):
        return
    dark = are_dark(colors(norm(np.nan_to_num(cells))), 0.5)
    for (line, column), text in np.ndenumerate(texts):
        if text:
            color = "white" if dark[line, column] else "black"
            ax.text(column, line, text, ha="center", va="center", fontsize=_FONT_SIZE, color=color, clip_on=True)


def _short_texts(cells: Floats, factor: float) -> np.ndarray:
    """Return the cells' values in the unit of the colour bar, three digits, nothing where there is no result."""
    texts = np.full(cells.shape, "", dtype=object)
    for place, value in np.ndenumerate(cells):
        if not np.isnan(value):
            number = value / factor
            texts[place] = f"{number:.0f}" if abs(number) >= 100 else f"{number:.3g}"
    return texts


def _cross(ax: Axes, missing: np.ndarray) -> None:
    """Hatch the cells without a result."""
    lines, columns = np.nonzero(missing)
    left, low = columns - 0.5, lines - 0.5
    corners = np.stack([left, low, left + 1, low, left + 1, low + 1, left, low + 1], axis=1).reshape(-1, 4, 2)
    hatch_boxes(ax, corners, "xx", facecolor="0.93", edgecolor="0.6", zorder=1)


def _fit(ax: Axes, shape: tuple[int, ...], num_characters: int) -> bool:
    """Return whether a text of so many characters fits into every cell."""
    width, height = figure_of(ax).get_size_inches() * 72
    place = ax.get_position()
    wide = width * place.width * 0.85 / shape[1] >= num_characters * _CHARACTER_PT + 3
    return bool(wide and height * place.height * 0.9 / shape[0] >= _FONT_SIZE + 3)
