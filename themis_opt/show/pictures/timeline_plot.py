"""When every stage runs: a Gantt chart with a row per dimension, as in Figures 5 and 7 of the Themis paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from themis_opt.show.pictures.boxes import draw_boxes, phase_handles
from themis_opt.show.pictures.dimension_rows import (
    IDLE_COLOR,
    LINE_COLOR,
    axes_for,
    draw_background,
    draw_head,
    draw_line,
    frame,
    lay_out,
)
from themis_opt.show.pictures.labels import times_beside
from themis_opt.show.pictures.ramp import draw_chunk_bar
from themis_opt.show.pictures.subject import Schedules, headings, subjects_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARGIN = 1.01
"""Of the time axis, behind the latest end."""


def timeline(schedules: Schedules, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw when every stage holds its dimension, several schedules under each other on one time axis.

    A box is a stage, from when to when it *holds* its dimension: with pipelined occupancy its transfer, since others
    use the dimension while the chunk's latency passes. Colour tells the chunk, hatching All-Gather, grey idle time; a
    dashed line is the bound.

    Parameters
    ----------
    schedules
        Schedules by name, or subjects.
    ax
        Where to; default: the axes of a new figure. Times on its horizontal axis are picoseconds, whatever unit the
        labels show.
    title
        Of the axes; default: what the schedules' instances are.

    Returns
    -------
    The axes.

    Raises
    ------
    InputError
        When there is nothing to draw or too much, or matplotlib is not installed.
    """
    subjects = subjects_of(schedules)
    rows = lay_out(subjects)
    ax = axes_for(rows) if ax is None else ax
    end_ps = max(float(max(subject.makespan_ps, subject.bound.value_ps)) for subject in subjects)
    frame(ax, subjects, rows, headings(subjects), end_ps=end_ps * _MARGIN, xlabel="time")
    bounds = times_beside([float(subject.bound.value_ps) for subject in subjects], end_ps)
    for idx, subject in enumerate(subjects):
        stages = subject.stages
        draw_background(ax, rows, idx, float(subject.makespan_ps))
        middles = rows.middles(idx, stages.dimension)
        bound_ps = float(subject.bound.value_ps)
        draw_boxes(
            ax, middles, stages.start_ps, stages.hold_ps, stages.chunk, subject.num_chunks, stages.gathers, [bound_ps]
        )
        draw_line(ax, rows, idx, bound_ps, f"bound {bounds[idx]}")
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    idle = Patch(facecolor=IDLE_COLOR, label="idle")
    bound = Line2D(
        [],
        [],
        color=LINE_COLOR,
        linestyle="--",
        linewidth=1.5,
        label="bound: no schedule with such chunks ends earlier",
    )
    draw_head(ax, subjects, title, [*phase_handles(subjects), idle, bound])
    draw_chunk_bar(ax, subjects)
    return ax
