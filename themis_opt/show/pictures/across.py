"""The horizontal axis of a sweep: the study's own numbers, to scale, or its words, equally spaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from themis_opt.show.pictures.canvas import num_fitting
from themis_opt.show.pictures.categories import label_categories
from themis_opt.show.pictures.points import DECADE, axis_scale, number_in, texts_of, title_of
from themis_opt.studies.table import Column, StudyRow, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_MAX_TICKS = 10


@dataclass(frozen=True)
class Spread:
    """The values of the horizontal axis.

    Attributes
    ----------
    column, values
        What is spread out.
    place_of
        Where a row stands, if it does.
    """

    column: Column
    values: Sequence[Value]
    place_of: Callable[[StudyRow], float | None]

    @property
    def places(self) -> list[float]:
        """The places of the values, ascending."""
        if not self.column.is_number:
            return [float(idx) for idx in range(len(self.values))]
        return sorted({float(value) for value in self.values if isinstance(value, int | float)})


def spread_over(column: Column, values: Sequence[Value]) -> Spread:
    """Return where these values of a column stand: numbers where they are, words at 0, 1, 2 …."""
    if column.is_number:
        return Spread(column, values, lambda row: number_in(row, column))
    place_by_word = {word: float(idx) for idx, word in enumerate(values)}
    return Spread(column, values, lambda row: place_by_word.get(row.values.get(column.name)))


def set_across(ax: Axes, spread: Spread, remark: str, share: float) -> None:
    """Label the horizontal axis at the study's own values, as many of them as fit into a share of the axes' width.

    Parameters
    ----------
    ax
        The axes.
    spread
        The values and their places.
    remark
        What to add below the label.
    share
        The part of the axes' width that labels may take.
    """
    from matplotlib.ticker import NullLocator

    column, places = spread.column, spread.places
    if not column.is_number:
        label_categories(ax, "x", column, spread.values, remark, share)
        ax.set_xlim(-0.5, len(places) - 0.5)
        return
    texts = texts_of(column, places)
    wide = is_wide(places)
    if wide:
        ax.set_xscale("log")
    ax.update_datalim([(place, 0.0) for place in places], updatey=False)
    ax.xaxis.set_minor_locator(NullLocator())
    if wide or len(places) <= _MAX_TICKS:
        shown = _spaced(places, wide, min(_MAX_TICKS, max(2, int(share * num_fitting(ax, texts)))))
        ax.set_xticks([places[idx] for idx in shown], [texts[idx] for idx in shown], parse_math=False)
        ax.set_xlabel(f"{title_of(column)}\n{remark}".rstrip(), parse_math=False)
    else:
        number_axis(ax.xaxis, column, max(places), remark)


def _spaced(places: Sequence[float], wide: bool, most: int) -> list[int]:
    """Return which of ascending places are far enough from each other for a label each; the last one is among them."""
    at = [log(place) if wide else place for place in places]
    least = (at[-1] - at[0]) / most
    shown = [len(at) - 1]
    for idx in range(len(at) - 2, -1, -1):
        if at[shown[-1]] - at[idx] >= least:
            shown.append(idx)
    return shown[::-1]


def is_wide(values: Sequence[float]) -> bool:
    """Return whether values take a logarithmic axis."""
    return min(values) > 0 and max(values) / min(values) > DECADE


def number_axis(axis: Axis, column: Column, largest: float, remark: str = "") -> None:
    """Label an axis of numbers in the unit that suits the largest.

    Parameters
    ----------
    axis
        The axis.
    column
        What it shows.
    largest
        The largest value.
    remark
        What to add below the label.
    """
    from matplotlib.ticker import FuncFormatter

    scale = axis_scale(column, largest)
    axis.set_major_formatter(FuncFormatter(lambda value, _: scale.text(value)))
    axis.set_label_text(f"{scale.of(title_of(column))}\n{remark}".rstrip(), parse_math=False)
