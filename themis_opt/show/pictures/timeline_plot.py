"""When every stage runs: a Gantt chart with a row per dimension, as in Figures 5 and 7 of the Themis paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from themis_opt.show.pictures.boxes import draw_boxes, draw_chunk_bar, phase_handles
from themis_opt.show.pictures.dimension_rows import IDLE_COLOR, LINE_COLOR, draw_rows
from themis_opt.show.pictures.scales import times_beside
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
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    subjects = subjects_of(schedules)
    bounds_ps = [float(subject.bound.value_ps) for subject in subjects]
    end_ps = max(*bounds_ps, *(float(subject.makespan_ps) for subject in subjects))
    rows = draw_rows(subjects, headings(subjects), ax, end_ps=end_ps * _MARGIN)
    for idx, (bound_ps, text) in enumerate(zip(bounds_ps, times_beside(bounds_ps, end_ps), strict=True)):
        rows.draw_background(idx)
        draw_boxes(rows, idx, subjects[idx].stages.start_ps, subjects[idx].stages.hold_ps, [bound_ps])
        rows.draw_line(idx, bound_ps, f"bound {text}")
    told = "bound: no schedule with such chunks ends earlier"
    bound = Line2D([], [], color=LINE_COLOR, linestyle="--", linewidth=1.5, label=told)
    rows.draw_head(title, [*phase_handles(subjects), Patch(facecolor=IDLE_COLOR, label="idle"), bound])
    draw_chunk_bar(rows.ax, subjects)
    return rows.ax
