"""An axis of categories, equally spaced: the cells of a map, or the words that a sweep is drawn over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from themis_opt.show.pictures.canvas import num_fitting
from themis_opt.show.pictures.points import texts_of, title_of
from themis_opt.studies.table import Column, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_TICKS = 16


def label_categories(
    ax: Axes, which: str, column: Column, values: Sequence[Value], remark: str = "", share: float = 1.0
) -> None:
    """Write values at 0, 1, 2 … of an axis, every second, third … one where there are too many.

    Parameters
    ----------
    ax
        Where.
    which
        ``x`` or ``y``; labels below the axes are turned where they do not fit side by side.
    column, values
        What is spread out, and its values in order.
    remark
        A line below the label of the axis.
    share
        The part of the axes' width that labels have.
    """
    step = -(-len(values) // _MAX_TICKS)
    places = list(range(0, len(values), step))
    texts = [text for idx, text in enumerate(texts_of(column, values)) if idx % step == 0]
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_ticks(places, texts, parse_math=False)
    axis.set_label_text(f"{title_of(column)}\n{remark}".rstrip(), parse_math=False)
    if which == "x" and share * num_fitting(ax, texts) < len(texts):
        for label in ax.get_xticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")
