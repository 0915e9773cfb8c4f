"""Several pictures of one study side by side, one for each value of an axis, such as the network."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Protocol

from themis_opt.problem.errors import InputError
from themis_opt.show.pictures.canvas import new_figure
from themis_opt.show.pictures.gap_map import share_color_bar
from themis_opt.show.pictures.points import distinct, find_column, texts_of, title_of
from themis_opt.show.pictures.scales import MAX_TITLE, plain_label
from themis_opt.studies.table import StudyTable, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_PANELS = 24
_COLUMNS = 3
_WIDTH_IN, _HEIGHT_IN = 4.6, 3.5


class DrawPanel(Protocol):
    """Draws one of them: `only` are its values by columns; `is_corner` is true of the upper right one."""

    def __call__(self, *, only: dict[str, Value], ax: Axes, title: str, is_corner: bool) -> object:
        """Draw into `ax`."""


def panels(
    table: StudyTable, field: str, draw: DrawPanel, *, size_in: tuple[float, float] | None = None, title: str = ""
) -> Figure:
    """Return a figure with a panel for every value of an axis; maps with the same colours share one colour bar.

    Parameters
    ----------
    table
        The study.
    field
        The axis.
    draw
        Draws a panel.
    size_in
        Width and height [inches]; default: what the panels need.
    title
        Of the figure; default: the study's name.

    Raises
    ------
    InputError
        When there is no such column, it has too many values, or matplotlib is not installed.
    """
    column = find_column(table, field, "--panels")
    values = distinct(table.rows, column)
    if not values:
        raise InputError(f"--panels: no row of the study has a value of {column.field}; there is nothing to draw")
    if len(values) > MAX_PANELS:
        raise InputError(f"--panels: {column.field} has {len(values)} values; at most {MAX_PANELS} fit one picture")
    num_columns = 2 if len(values) == 4 else min(len(values), _COLUMNS)
    num_lines = ceil(len(values) / num_columns)
    figure = new_figure(*(size_in or (_WIDTH_IN * num_columns + 1.4, _HEIGHT_IN * num_lines + 0.5)))
    axes: list[Axes] = []
    for place, (value, text) in enumerate(zip(values, texts_of(column, values), strict=True)):
        heading = plain_label(str(value)) if not column.is_number else f"{title_of(column)} {text}"
        ax = figure.add_subplot(num_lines, num_columns, place + 1)
        axes.append(ax)
        draw(only={column.name: value}, ax=ax, title=heading, is_corner=place == num_columns - 1)
    share_color_bar(figure, axes)
    figure.suptitle(title or plain_label(table.name, MAX_TITLE), parse_math=False)
    return figure
