"""Thousands of boxes, each a stage: coloured by chunk, All-Gather hatched, numbered where the number fits.

What is drawn over a box is white or black, whichever its lightness calls for. A number stands where no line crosses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from themis_opt.problem.collective import Phase
from themis_opt.show.pictures.canvas import hatch_boxes
from themis_opt.show.pictures.dimension_rows import DimensionRows, corners_of
from themis_opt.show.pictures.scales import Floats, are_dark, chunk_colors, round_ticks
from themis_opt.show.pictures.subject import Subject

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

HATCH = "//////"
PHASE_NAMES = {
    Phase.REDUCE_SCATTER: "Reduce-Scatter",
    Phase.ALL_GATHER: "All-Gather",
    Phase.ALL_TO_ALL: "All-to-All",
}
_DARK_BELOW = 0.42
_MIN_EDGED_PT = 3.0
"""Boxes narrower than this have no edge, which would be all there is to see of them."""
_SEAM_PT = 1.0
_DIGIT_PT, _PADDING_PT = 4.6, 2.0
_NUMBER_SIZE = 7.0
_FEW = 16
"""Up to so many chunks the colour bar has a field for each."""


def draw_boxes(rows: DimensionRows, idx: int, start: Floats, width: Floats, lines: Sequence[float] = ()) -> None:
    """Draw one box per stage of schedule `idx`, and the number of its chunk where it fits.

    Parameters
    ----------
    rows
        Where to.
    idx
        Of the schedule.
    start, width
        Of each box, in the order of `Subject.stages`, in the axes' data.
    lines
        Where vertical lines cross the boxes, in the axes' data.
    """
    ax, subject = rows.ax, rows.subjects[idx]
    stages, middle, end = subject.stages, rows.middles(idx), start + width
    corners = corners_of(middle, start, end)
    colors = chunk_colors(subject.num_chunks)[stages.chunk]
    dark = are_dark(colors, _DARK_BELOW)
    width_pt = width * rows.points_per_unit
    narrow = width_pt < _MIN_EDGED_PT
    if not narrow.all():
        edges = np.where(dark[:, None], (1.0, 1.0, 1.0), (0.1, 0.1, 0.1))
        _fill(ax, corners[~narrow], colors[~narrow], edges[~narrow])
    if narrow.any():
        _close_seams(rows, middle[narrow], start[narrow], end[narrow], colors[narrow])
        _fill(ax, corners[narrow], colors[narrow])
    for tone, ink in ((~dark, "black"), (dark, "white")):
        hatch_boxes(ax, corners[stages.gathers & tone], HATCH, facecolor="none", edgecolor=ink, zorder=2.5)
    needed = _PADDING_PT + _DIGIT_PT * np.char.str_len(stages.chunk.astype(str))
    fits = width_pt >= needed
    for line in lines:
        fits &= np.abs(start + width / 2 - line) * rows.points_per_unit > needed / 2 + 1
    _write_numbers(ax, np.stack([start + width / 2, middle], axis=1)[fits], stages.chunk[fits], dark[fits])


def _fill(ax: Axes, corners: Floats, colors: Floats, edges: Floats | None = None, zorder: float = 2) -> None:
    """Draw boxes with corners of shape (boxes, 4, 2), with or without edges."""
    from matplotlib.collections import PolyCollection

    boxes = PolyCollection(list(corners), facecolors=colors, zorder=zorder)
    if edges is None:
        # What is narrower than a pixel would be snapped onto its edge, and be gone.
        boxes.set(linewidth=0, snap=False)
    else:
        boxes.set(edgecolor=edges, linewidth=0.5)
    ax.add_collection(boxes, autolim=False)


def _close_seams(rows: DimensionRows, middle: Floats, start: Floats, end: Floats, colors: Floats) -> None:
    """Draw narrow boxes once more below, a little longer, but no longer than they follow each other without a pause.

    Where two boxes share a pixel, each covers a part of what is below them, and never all of it: a dimension that is
    always busy would look half idle.
    """
    order = np.lexsort((end, start, middle))
    middle, start, end = middle[order], start[order], end[order]
    pauses = (middle[1:] != middle[:-1]) | (start[1:] > end[:-1])
    last_of_run = np.append(np.flatnonzero(pauses), len(order) - 1)
    run_end = end[last_of_run[np.searchsorted(last_of_run, np.arange(len(order)))]]
    longer = np.minimum(run_end, end + _SEAM_PT / rows.points_per_unit)
    touching = longer > end
    if touching.any():
        _fill(rows.ax, corners_of(middle, start, longer)[touching], colors[order][touching], zorder=1.5)


def _write_numbers(ax: Axes, places: Floats, chunks: NDArray[np.int64], dark: NDArray[np.bool_]) -> None:
    from matplotlib.patheffects import withStroke

    halos = {tone: [withStroke(linewidth=2.0, foreground=tone)] for tone in ("black", "white")}
    for (x, y), chunk, on_dark in zip(places, chunks, dark, strict=True):
        ink, halo = ("white", "black") if on_dark else ("black", "white")
        text = ax.text(x, y, str(chunk), ha="center", va="center", fontsize=_NUMBER_SIZE, color=ink)
        text.set(clip_on=True, zorder=6, path_effects=halos[halo])
        text.set_in_layout(False)


def phase_handles(subjects: Sequence[Subject]) -> list[Artist]:
    """Return what the legend shows of the boxes: the phases there are."""
    from matplotlib.patches import Patch

    phases = dict.fromkeys(phase for subject in subjects for phase in subject.instance.phases)
    hatches = {phase: HATCH if phase is Phase.ALL_GATHER else None for phase in phases}
    return [
        Patch(facecolor="0.8", edgecolor="0.15", hatch=hatch, linewidth=0.6, label=PHASE_NAMES[phase])
        for phase, hatch in hatches.items()
    ]


def draw_chunk_bar(ax: Axes, subjects: Sequence[Subject]) -> None:
    """Draw a colour bar that says which colour is which chunk; with one chunk there is nothing to say."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap, Normalize

    counts = {subject.num_chunks for subject in subjects}
    largest = max(counts)
    if largest == 1:
        return
    few = len(counts) == 1 and largest <= _FEW
    norm = BoundaryNorm(np.arange(largest + 1) - 0.5, largest) if few else Normalize(0, largest - 1)
    # Schedules with different numbers of chunks share the ramp, each from its first to its last one.
    ticks = [0, largest - 1] if len(counts) > 1 else list(range(largest)) if few else round_ticks(largest)
    colors = ListedColormap(chunk_colors(largest if few else 256))
    bar = ax.figure.colorbar(ScalarMappable(norm, colors), ax=ax, pad=0.01, aspect=30, fraction=0.03, ticks=ticks)
    bar.set_label("chunk" if len(counts) == 1 else "chunk, from the first to the last of its schedule")
    bar.ax.invert_yaxis()
    bar.ax.tick_params(length=2)
    if len(counts) > 1:
        bar.ax.set_yticks(ticks, ["first", "last"])
    bar.ax.minorticks_off()
