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
from themis_opt.show.pictures.scales import Floats, describe_instances, scale_for
from themis_opt.show.pictures.subject import Subject

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

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


@dataclass(frozen=True)
class DimensionRows:
    """Where everything stands, downwards from 0, and what is drawn there.

    Attributes
    ----------
    ax
        The axes.
    subjects
        The schedules.
    dimensions
        For every schedule, its rows: network dimension (or -1, all together) and the middle of its row.
    """

    ax: Axes
    subjects: Sequence[Subject]
    dimensions: Sequence[Sequence[tuple[int, float]]]

    def middles(self, idx: int) -> Floats:
        """Return the middle of the row of each stage of schedule `idx`."""
        at = dict(self.dimensions[idx])
        lookup = np.array([at.get(k, np.nan) for k in range(max(at) + 1)])
        middles: Floats = lookup[self.subjects[idx].stages.dimension]
        return middles

    @property
    def points_per_unit(self) -> float:
        """About how many points (1/72 inch) a unit of the horizontal axis takes, rather fewer than more."""
        left, right = self.ax.get_xlim()
        return self._width_pt / (right - left)

    @property
    def _width_pt(self) -> float:
        # Before the layout is known: labels and a colour bar will take a little more.
        return float(figure_of(self.ax).get_figwidth() * 72 * self.ax.get_position().width * 0.93)

    def draw_background(self, idx: int) -> None:
        """Shade every row of schedule `idx` until it ends; what is drawn over it leaves idle time to be seen."""
        from matplotlib.collections import PolyCollection

        middle = np.array([y for _, y in self.dimensions[idx]])
        end = np.full_like(middle, self.subjects[idx].makespan_ps)
        corners = list(corners_of(middle, np.zeros_like(middle), end))
        self.ax.add_collection(PolyCollection(corners, facecolors=IDLE_COLOR, linewidths=0, zorder=0.5), autolim=False)

    def draw_line(
        self, idx: int, time_ps: float, text: str, *, color: str = LINE_COLOR, style: str = "--", line: int = 0
    ) -> None:
        """Draw a vertical line through the rows of schedule `idx`, its label below them.

        Parameters
        ----------
        idx
            Of the schedule.
        time_ps
            Where; beyond the end of the axis, only its label is drawn.
        text
            The label.
        color, style
            How it looks.
        line
            Below the rows, in which line the label stands.
        """
        top, bottom = self.dimensions[idx][0][1] - 0.5, self.dimensions[idx][-1][1] + 0.5
        y = bottom + _FOOTER * (line + 0.5)
        if time_ps > self.ax.get_xlim()[1]:
            far = f"{text} \N{RIGHTWARDS ARROW}"
            place = ("axes fraction", "data")
            self.ax.annotate(far, (1, y), xycoords=place, ha="right", va="center", color=color, fontsize=_LABEL_SIZE)
            return
        ends = [time_ps, time_ps], [top, y + 0.3]
        self.ax.plot(*ends, color="white", linewidth=3.2, zorder=4, solid_capstyle="butt")
        self.ax.plot(*ends, color=color, linestyle=style, linewidth=1.5, zorder=5)
        left = time_ps * self.points_per_unit > _LABEL_PT
        self.note((time_ps, y), text, -4 if left else 4).set(ha="right" if left else "left", color=color)

    def write_beside(self, x: float, y: float, text: str, lines: Sequence[float] = ()) -> None:
        """Write a text to the right of where a bar ends, or of the vertical lines that would cross it there.

        Parameters
        ----------
        x, y
            Where the bar ends.
        text
            The text.
        lines
            Where vertical lines stand.
        """
        from matplotlib.patheffects import withStroke

        needed = (_BESIDE_PT + _CHARACTER_EM * _LABEL_SIZE * len(text)) / self.points_per_unit
        for line in sorted(lines):
            if x - _LINE_PT / self.points_per_unit < line < x + needed:
                x = line
        halo = [withStroke(linewidth=2.5, foreground="white")]
        self.note((x, y), text).set(zorder=6, path_effects=halo)

    def note(self, place: tuple[float, float], text: str, right_pt: float = _BESIDE_PT) -> Annotation:
        """Write a text so many points to the right of a place, also where that is outside of the axes.

        Parameters
        ----------
        place
            The place, in the axes' units.
        text
            The text.
        right_pt
            How far to its right [points].
        """
        return self.ax.annotate(
            text,
            place,
            xytext=(right_pt, 0),
            textcoords="offset points",
            va="center",
            fontsize=_LABEL_SIZE,
            annotation_clip=False,
        )

    def draw_head(self, title: str, handles: Sequence[Artist]) -> None:
        """Write above the axes what the schedules are of, and explain what is drawn, in as many lines as that takes."""
        widths = [len(str(handle.get_label())) * _CHARACTER_EM * _LABEL_SIZE + _HANDLE_PT for handle in handles]
        num_columns = _fitting_columns(widths, self._width_pt)
        self.ax.legend(
            handles=list(handles),
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=num_columns,
            frameon=False,
            borderaxespad=0.2,
            handlelength=2.2,
            columnspacing=1.6,
        )
        text = title or describe_instances([subject.instance for subject in self.subjects])
        pad = 12 + 13 * -(-len(handles) // num_columns)
        self.ax.set_title(text, loc="left", pad=pad, fontsize=self.fitting_size(text, 10), parse_math=False)

    def fitting_size(self, text: str, size: float, em: float = _CHARACTER_EM) -> float:
        """Return the size at which a text of one line is as wide as the axes, at most the one given.

        Parameters
        ----------
        text
            The text.
        size
            At most this size [points].
        em
            The mean width of its characters, in parts of the size.
        """
        return float(min(size, max(self._width_pt / (em * max(len(text), 1)), 5.0)))


def draw_rows(
    subjects: Sequence[Subject],
    headings: Sequence[str],
    ax: Axes | None,
    *,
    end_ps: float,
    xlabel: str = "time",
    num_lines: int = 1,
    with_total: bool = False,
) -> DimensionRows:
    """Draw everything around the rows of some schedules: names, headings, and the time axis in its unit.

    Parameters
    ----------
    subjects, headings
        The schedules, and what stands above each.
    ax
        Where to; default: the axes of a new figure, as high as the rows need.
    end_ps
        Where the time axis ends.
    xlabel
        What it shows.
    num_lines
        How many vertical lines have their labels below the rows of each schedule.
    with_total
        Whether each has one more row, for all dimensions together.
    """
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    y = 0.0
    dimensions, tops = [], []
    for subject in subjects:
        tops.append(y)
        y += _HEADER
        keys = [*subject.instance.involved, *([-1] if with_total else [])]
        dimensions.append([(k, y + place + 0.5) for place, k in enumerate(keys)])
        y += len(keys) + _FOOTER * num_lines + 0.15
    ax = new_axes(_WIDTH_IN, _MARGINS_IN + _ROW_IN * y) if ax is None else ax
    rows = DimensionRows(ax, subjects, dimensions)
    scale = scale_for("ps", end_ps)
    ax.set_xlim(0, end_ps or 1)
    ax.set_ylim(y, 0)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=9, steps=[1, 2, 2.5, 5, 10]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: scale.text(value)))
    ax.set_xlabel(scale.of(xlabel))
    places = [place for placed in dimensions for place in placed]
    ax.set_yticks([middle for _, middle in places], [f"dim{k + 1}" if k >= 0 else "all" for k, _ in places])
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    for top, heading in zip(tops, headings, strict=True):
        size = rows.fitting_size(heading, 9, _BOLD_EM)
        ax.text(0, top + _HEADER / 2, heading, va="center", fontsize=size, fontweight="bold", parse_math=False)
        if top:
            ax.axhline(top, color="0.75", linewidth=0.6)
    return rows


def corners_of(middle: Floats, start: Floats, end: Floats) -> Floats:
    """Return the corners of boxes in rows with these middles, shape (boxes, 4, 2).

    Parameters
    ----------
    middle
        Of the rows, shape (boxes,).
    start, end
        Of the boxes, shape (boxes,).
    """
    top, bottom = middle - ROW_HEIGHT / 2, middle + ROW_HEIGHT / 2
    return np.stack([start, top, end, top, end, bottom, start, bottom], axis=1).reshape(-1, 4, 2)


def _fitting_columns(widths: Sequence[float], room: float) -> int:
    """Return how many columns of a legend, filled one after the other, fit side by side."""
    for num_columns in range(len(widths), 1, -1):
        num_lines = -(-len(widths) // num_columns)
        if sum(max(widths[first : first + num_lines]) for first in range(0, len(widths), num_lines)) <= room:
            return num_columns
    return 1
