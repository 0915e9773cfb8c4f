"""Thousands of boxes, each a stage: coloured by chunk, All-Gather hatched, numbered where the number fits.

What is drawn over a box is white or black, whichever its lightness calls for. A number stands where no line crosses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from themis_opt.problem.collective import Phase
from themis_opt.show.pictures.dimension_rows import ROW_HEIGHT, points_per_unit
from themis_opt.show.pictures.ramp import chunk_colors
from themis_opt.show.pictures.subject import Floats, Subject

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import PathPatch
    from matplotlib.patheffects import AbstractPathEffect

HATCH = "//////"
PHASE_NAMES = {
    Phase.REDUCE_SCATTER: "Reduce-Scatter",
    Phase.ALL_GATHER: "All-Gather",
    Phase.ALL_TO_ALL: "All-to-All",
}
_DARK_BELOW = 0.42
_LUMINANCE = (0.299, 0.587, 0.114)
_MIN_EDGED_PT = 3.0
"""Boxes narrower than this have no edge, which would be all there is to see of them."""
_SEAM_PT = 1.0
_DIGIT_PT, _PADDING_PT = 4.6, 2.0
_NUMBER_SIZE = 7.0


def draw_boxes(
    ax: Axes,
    middle: Floats,
    start: Floats,
    width: Floats,
    chunk: NDArray[np.int64],
    num_chunks: int,
    gathers: NDArray[np.bool_],
    lines: Sequence[float] = (),
) -> tuple[list[PolyCollection], list[PathPatch]]:
    """Draw one box per stage, and the number of its chunk where it fits.

    Parameters
    ----------
    ax
        Where to; its limits must be set.
    middle, start, width
        Of each box, shape (boxes,), in the axes' data.
    chunk, num_chunks
        Whose it is, from 0, of how many.
    gathers
        Whether it is hatched.
    lines
        Where vertical lines cross the boxes, in the axes' data.

    Returns
    -------
    The collections of the boxes (wide ones, narrow ones), and what hatches them: a path for light ones, another for
    dark ones.
    """
    end = start + width
    corners = _corners(middle, start, end)
    colors = chunk_colors(num_chunks)[chunk]
    dark = colors[:, :3] @ _LUMINANCE < _DARK_BELOW
    width_pt = width * points_per_unit(ax)
    narrow = width_pt < _MIN_EDGED_PT
    if narrow.any():
        _close_seams(ax, middle[narrow], start[narrow], end[narrow], colors[narrow])
    edges = np.where(dark[:, None], (1.0, 1.0, 1.0, 1.0), (0.1, 0.1, 0.1, 1.0))
    boxes = [
        _fill(ax, corners[chosen], colors[chosen], edges[chosen] if edged else None)
        for chosen, edged in ((~narrow, True), (narrow, False))
        if chosen.any()
    ]
    hatchings = [
        _hatch(ax, corners[gathers & tone], ink)
        for tone, ink in ((~dark, "black"), (dark, "white"))
        if (gathers & tone).any()
    ]
    _write_numbers(ax, middle, start + width / 2, width_pt, chunk, dark, lines)
    return boxes, hatchings


def _fill(ax: Axes, corners: Floats, colors: Floats, edges: Floats | None) -> PolyCollection:
    """Draw boxes with corners of shape (boxes, 4, 2), with or without edges."""
    from matplotlib.collections import PolyCollection

    # What is narrower than a pixel would be snapped onto its edge, and be gone.
    style: dict[str, Any] = (
        {"linewidths": 0, "snap": False} if edges is None else {"edgecolors": edges, "linewidths": 0.5}
    )
    boxes = PolyCollection(list(corners), facecolors=colors, zorder=2, **style)
    ax.add_collection(boxes, autolim=False)
    return boxes


def phase_handles(subjects: Sequence[Subject]) -> list[Artist]:
    """Return what the legend shows of the boxes: the phases there are."""
    from matplotlib.patches import Patch

    phases = dict.fromkeys(phase for subject in subjects for phase in subject.instance.phases)
    return [
        Patch(
            facecolor="0.8",
            edgecolor="0.15",
            hatch=HATCH if phase is Phase.ALL_GATHER else None,
            linewidth=0.6,
            label=PHASE_NAMES[phase],
        )
        for phase in phases
    ]


def _close_seams(ax: Axes, middle: Floats, start: Floats, end: Floats, colors: Floats) -> None:
    """Draw narrow boxes once more below, a little longer, but no longer than they follow each other without a pause.

    Where two boxes share a pixel, each covers a part of what is below them, and never all of it: a dimension that is
    always busy would look half idle.
    """
    from matplotlib.collections import PolyCollection

    order = np.lexsort((end, start, middle))
    middle, start, end = middle[order], start[order], end[order]
    pauses = (middle[1:] != middle[:-1]) | (start[1:] > end[:-1])
    last_of_run = np.append(np.flatnonzero(pauses), len(order) - 1)
    run_end = end[last_of_run[np.searchsorted(last_of_run, np.arange(len(order)))]]
    longer = np.minimum(run_end, end + _SEAM_PT / points_per_unit(ax))
    touching = longer > end
    if not touching.any():
        return
    corners = _corners(middle, start, longer)[touching]
    seams = PolyCollection(list(corners), facecolors=colors[order][touching], linewidths=0, snap=False, zorder=1.5)
    ax.add_collection(seams, autolim=False)


def _hatch(ax: Axes, corners: Floats, ink: str) -> PathPatch:
    """Hatch boxes with corners of shape (boxes, 4, 2): as one path, since thousands take a hundred times as long."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    path = Path.make_compound_path_from_polys(corners)
    hatching = PathPatch(path, facecolor="none", edgecolor=ink, linewidth=0, hatch=HATCH, zorder=2.5)
    ax.add_artist(hatching)
    return hatching


def _corners(middle: Floats, start: Floats, end: Floats) -> Floats:
    """Return the corners of boxes, shape (boxes, 4, 2)."""
    top, bottom = middle - ROW_HEIGHT / 2, middle + ROW_HEIGHT / 2
    return np.stack([start, top, end, top, end, bottom, start, bottom], axis=1).reshape(-1, 4, 2)


def _write_numbers(
    ax: Axes,
    middle: Floats,
    center: Floats,
    width_pt: Floats,
    chunk: NDArray[np.int64],
    dark: NDArray[np.bool_],
    lines: Sequence[float],
) -> None:
    from matplotlib.patheffects import withStroke

    needed = _PADDING_PT + _DIGIT_PT * np.char.str_len(chunk.astype(str))
    backed: dict[str, list[AbstractPathEffect]] = {
        tone: [withStroke(linewidth=2.0, foreground=tone)] for tone in ("black", "white")
    }
    fits = width_pt >= needed
    for line in lines:
        fits &= np.abs(center - line) * points_per_unit(ax) > needed / 2 + 1
    for box in np.flatnonzero(fits):
        text = ax.text(
            center[box],
            middle[box],
            str(chunk[box]),
            ha="center",
            va="center",
            fontsize=_NUMBER_SIZE,
            color="white" if dark[box] else "black",
            clip_on=True,
            zorder=6,
        )
        text.set_path_effects(backed["black" if dark[box] else "white"])
        text.set_in_layout(False)
