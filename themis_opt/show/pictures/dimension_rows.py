"""One row for every dimension, schedules under each other, all on one time axis: what three of the pictures share.

Above the rows of a schedule stands who made it and how good it is; below them there is room for the labels of its
vertical lines, such as the bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from themis_opt.show.pictures.canvas import figure_of, new_axes
from themis_opt.show.pictures.labels import describe_instances, scale_for
from themis_opt.show.pictures.subject import Floats, Subject

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

ROW_HEIGHT = 0.82
"""Of what is drawn in a row; rows are 1 apart."""
IDLE_COLOR = "#e6e6e6"
LINE_COLOR = "#b2182b"
BALANCE_COLOR = "#2166ac"
_WIDTH_IN = 10.0
_ROW_IN = 0.27
_HEADER = 0.95
_FOOTER = 0.85
_MARGINS_IN = 1.15
_LABEL_SIZE = 8.0
_CHARACTER_EM, _BOLD_EM = 0.58, 0.66
"""Width of a character of this typeface in the mean, in parts of its size."""
_HANDLE_PT = 38.0
"""What stands beside a label in the legend."""
_BESIDE_PT = 4.0
_LINE_PT = 2.0
"""Between the end of a bar and its label; the width of a vertical line with its halo, to either side."""
_LABEL_PT = 110.0
"""Room that the label of a vertical line needs to its left."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Where everything stands, downwards from 0.

    Attributes
    ----------
    dimensions
        For every schedule, its rows: network dimension (or -1, all together) and the middle of its row.
    headers
        The line of every schedule's heading.
    height
        Of all of it.
    """

    dimensions: tuple[tuple[tuple[int, float], ...], ...]
    headers: tuple[float, ...]
    height: float

    def middles(self, idx: int, dimension: np.ndarray) -> Floats:
        """Return the middle of the row of each dimension in an array, for schedule `idx`."""
        at = dict(self.dimensions[idx])
        lookup = np.array([at.get(k, np.nan) for k in range(max(at) + 1)])
        middles: Floats = lookup[dimension]
        return middles

    def extent(self, idx: int) -> tuple[float, float]:
        """Return the upper and lower edge of a schedule's rows."""
        rows = self.dimensions[idx]
        return rows[0][1] - 0.5, rows[-1][1] + 0.5


def lay_out(subjects: Sequence[Subject], *, num_lines: int = 1, with_total: bool = False) -> Rows:
    """Return the places of the rows; with `with_total` each schedule has one more, for all dimensions together.

    Below the rows of each there is room for the labels of `num_lines` vertical lines.
    """
    y = 0.0
    dimensions, headers = [], []
    for subject in subjects:
        headers.append(y + _HEADER / 2)
        y += _HEADER
        keys = [*subject.instance.involved, *([-1] if with_total else [])]
        dimensions.append(tuple((k, y + place + 0.5) for place, k in enumerate(keys)))
        y += len(keys) + _FOOTER * num_lines + 0.15
    return Rows(tuple(dimensions), tuple(headers), y)


def axes_for(rows: Rows) -> Axes:
    """Return the axes of a new figure as high as these rows need."""
    return new_axes(_WIDTH_IN, _MARGINS_IN + _ROW_IN * rows.height)


def frame(
    ax: Axes, subjects: Sequence[Subject], rows: Rows, headers: Sequence[str], *, end_ps: float, xlabel: str
) -> None:
    """Draw everything around the rows: their names, the headings, the time axis up to `end_ps` and its unit."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    scale = scale_for("ps", end_ps)
    ax.set_xlim(0, end_ps or 1)
    ax.set_ylim(rows.height, 0)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=9, steps=[1, 2, 2.5, 5, 10]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: scale.text(value)))
    ax.set_xlabel(scale.of(xlabel))
    places = [(k, y) for placed in rows.dimensions for k, y in placed]
    ax.set_yticks([y for _, y in places], [f"dim{k + 1}" if k >= 0 else "all" for k, _ in places])
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    for y, header in zip(rows.headers, headers, strict=True):
        size = _fitting_size(ax, header, 9, _BOLD_EM)
        ax.text(0, y, header, va="center", ha="left", fontsize=size, fontweight="bold", parse_math=False)
    for idx in range(1, len(subjects)):
        ax.axhline(rows.headers[idx] - _HEADER / 2, color="0.75", linewidth=0.6)


def points_per_unit(ax: Axes) -> float:
    """Return about how many points (1/72 inch) a unit of the horizontal axis takes, rather fewer than more."""
    left, right = ax.get_xlim()
    # Before the layout is known: labels and a colour bar will take a little more.
    return float(figure_of(ax).get_figwidth() * 72 * ax.get_position().width * 0.93 / (right - left))


def draw_background(ax: Axes, rows: Rows, idx: int, end_ps: float) -> Artist:
    """Shade every row of schedule `idx` from 0 to `end_ps`; what is drawn over it leaves idle time to be seen."""
    from matplotlib.collections import PolyCollection

    verts = [_rectangle(0, end_ps, y) for _, y in rows.dimensions[idx]]
    return ax.add_collection(PolyCollection(verts, facecolors=IDLE_COLOR, linewidths=0, zorder=0.5), autolim=False)


def draw_line(
    ax: Axes,
    rows: Rows,
    idx: int,
    time_ps: float,
    text: str,
    *,
    color: str = LINE_COLOR,
    style: str = "--",
    line: int = 0,
) -> None:
    """Draw a vertical line through the rows of schedule `idx`, its label in the given line below them."""
    top, bottom = rows.extent(idx)
    y = bottom + _FOOTER * (line + 0.5)
    ax.plot([time_ps, time_ps], [top, y + 0.3], color="white", linewidth=3.2, zorder=4, solid_capstyle="butt")
    ax.plot([time_ps, time_ps], [top, y + 0.3], color=color, linestyle=style, linewidth=1.5, zorder=5)
    left = time_ps * points_per_unit(ax) > _LABEL_PT
    ax.annotate(
        text,
        (time_ps, y),
        xytext=(-4 if left else 4, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        va="center",
        color=color,
        fontsize=_LABEL_SIZE,
        annotation_clip=False,
    )


def note_beyond(ax: Axes, rows: Rows, idx: int, text: str, *, color: str = LINE_COLOR, line: int = 0) -> None:
    """Name a vertical line of schedule `idx` that lies beyond the end of the axis."""
    y = rows.extent(idx)[1] + _FOOTER * (line + 0.5)
    place = ("axes fraction", "data")
    ax.annotate(
        f"{text} \N{RIGHTWARDS ARROW}", (1, y), xycoords=place, ha="right", va="center", color=color, fontsize=8
    )


def write_beside(ax: Axes, x: float, y: float, text: str, lines: Sequence[float] = ()) -> None:
    """Write a text to the right of where a bar ends, or of the vertical lines that would cross it there."""
    from matplotlib.patheffects import withStroke

    needed = (_BESIDE_PT + _CHARACTER_EM * _LABEL_SIZE * len(text)) / points_per_unit(ax)
    for line in sorted(lines):
        if x - _LINE_PT / points_per_unit(ax) < line < x + needed:
            x = line
    note = ax.annotate(
        text, (x, y), xytext=(_BESIDE_PT, 0), textcoords="offset points", va="center", fontsize=_LABEL_SIZE
    )
    note.set(zorder=6, annotation_clip=False)
    note.set_path_effects([withStroke(linewidth=2.5, foreground="white")])


def draw_head(ax: Axes, subjects: Sequence[Subject], title: str, handles: Sequence[Artist]) -> None:
    """Write above the axes what the schedules are of, and explain what is drawn, in as many lines as that takes."""
    widths = [len(str(handle.get_label())) * _CHARACTER_EM * _LABEL_SIZE + _HANDLE_PT for handle in handles]
    num_columns = _fitting_columns(widths, _width_pt(ax))
    num_lines = -(-len(handles) // num_columns)
    ax.legend(
        handles=list(handles),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=num_columns,
        frameon=False,
        borderaxespad=0.2,
        handlelength=2.2,
        columnspacing=1.6,
    )
    text = title or describe_instances([subject.instance for subject in subjects])
    pad = 12 + 13 * num_lines
    ax.set_title(text, loc="left", pad=pad, fontsize=_fitting_size(ax, text, 10), parse_math=False)


def _fitting_columns(widths: Sequence[float], room: float) -> int:
    """Return how many columns of a legend, filled one after the other, fit side by side."""
    for num_columns in range(len(widths), 1, -1):
        num_lines = -(-len(widths) // num_columns)
        if sum(max(widths[first : first + num_lines]) for first in range(0, len(widths), num_lines)) <= room:
            return num_columns
    return 1


def _width_pt(ax: Axes) -> float:
    left, right = ax.get_xlim()
    return points_per_unit(ax) * (right - left)


def _fitting_size(ax: Axes, text: str, size: float, em: float = _CHARACTER_EM) -> float:
    """Return the size at which a text of one line is as wide as the axes, at most the one given."""
    return float(min(size, max(_width_pt(ax) / (em * max(len(text), 1)), 5.0)))


def _rectangle(start: float, end: float, middle: float) -> list[tuple[float, float]]:
    top, bottom = middle - ROW_HEIGHT / 2, middle + ROW_HEIGHT / 2
    return [(start, top), (end, top), (end, bottom), (start, bottom)]
