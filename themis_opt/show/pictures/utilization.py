"""How well bandwidth is used over time, dimension by dimension, as in Figure 9 of the Themis paper."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from themis_opt.problem.errors import InputError
from themis_opt.problem.units import PS_PER_S, format_time, time_column
from themis_opt.show.pictures.dimension_rows import IDLE_COLOR, ROW_HEIGHT, draw_rows
from themis_opt.show.pictures.scales import Floats
from themis_opt.show.pictures.subject import Schedules, Subject, headings, subjects_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NUM_WINDOWS = 120
"""Up to the longest makespan, where nobody says how long they are."""
MAX_WINDOWS = 20_000
_DIMENSION_COLOR = "#0072B2"
_TOTAL_COLOR = "#333333"
_MARGIN = 1.01


def utilization(
    schedules: Schedules, *, window_ps: float | None = None, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw which part of its bandwidth every dimension uses over time, and all dimensions together.

    Time is cut into windows, the last of a schedule ending with it. In each, the height of a row's area is ``bytes sent
    / (B · window)``: the full height of the row is 100 %. A stage's bytes are spread evenly over the time it holds its
    dimension. On the right stands the mean up to the makespan.

    Parameters
    ----------
    schedules
        Schedules by name, or subjects.
    window_ps
        How long a window is [ps]; default: the longest makespan over `NUM_WINDOWS`.
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
        When there is nothing to draw or too much, windows are too short, or matplotlib is not installed.
    """
    from matplotlib.patches import Patch

    subjects = subjects_of(schedules)
    end_ps = float(max(subject.makespan_ps for subject in subjects))
    if window_ps is None:
        window_ps = max(end_ps / NUM_WINDOWS, 1.0)
    if not window_ps > 0:
        raise InputError(f"window is {window_ps} ps; it must be above zero")
    if end_ps / window_ps > MAX_WINDOWS:
        raise InputError(
            f"window is {format_time(window_ps)}: {format_time(end_ps)} has more than {MAX_WINDOWS} of them; choose a "
            "longer one"
        )
    rows = draw_rows(subjects, headings(subjects), ax, end_ps=end_ps * _MARGIN, num_lines=0, with_total=True)
    limits = rows.ax.axis()
    for idx, subject in enumerate(subjects):
        rows.draw_background(idx)
        if not subject.makespan_ps:
            continue
        edges = window_edges(subject, window_ps)
        used = window_utilization(subject, edges)
        means = (used * np.diff(edges)).sum(axis=1) / subject.makespan_ps
        for (k, y), parts, mean in zip(rows.dimensions[idx], used, means, strict=True):
            bottom = y + ROW_HEIGHT / 2
            color = _DIMENSION_COLOR if k >= 0 else _TOTAL_COLOR
            rows.ax.stairs(bottom - parts * ROW_HEIGHT, edges, baseline=bottom, fill=True, color=color, zorder=2)
            rows.note((limits[1], y), f"mean {mean:.1%}")
    rows.ax.axis(limits)  # `stairs` widens the axes to what it draws
    rows.ax.set_ylabel("bandwidth used [full row = 100 %]")
    unused = f"unused (in windows of {time_column([window_ps], trim=True)[0]})"
    colors = {
        "a dimension": _DIMENSION_COLOR,
        "all dimensions, weighted by bandwidth": _TOTAL_COLOR,
        unused: IDLE_COLOR,
    }
    rows.draw_head(title, [Patch(facecolor=color, label=label) for label, color in colors.items()])
    return rows.ax


def window_edges(subject: Subject, window_ps: float) -> Floats:
    """Return where the windows of a schedule begin and end [ps]; the last one ends with the schedule."""
    count = max(ceil(subject.makespan_ps / window_ps), 1)
    return np.append(np.arange(count) * window_ps, float(subject.makespan_ps))


def window_utilization(subject: Subject, edges: Floats) -> Floats:
    """Return the used part of the bandwidth in each window.

    Parameters
    ----------
    subject
        The schedule.
    edges
        Where the windows begin and end [ps], shape (windows + 1,).

    Returns
    -------
    From 0 to 1, shape (involved dimensions + 1, windows); the last row is all dimensions together.
    """
    stages, instance = subject.stages, subject.instance
    capacities = [
        float(instance.network.dimensions[k].bandwidth_Bps / PS_PER_S) * np.diff(edges) for k in instance.involved
    ]
    sent = []
    for k in instance.involved:
        here = np.flatnonzero(stages.dimension == k)
        here = here[np.lexsort((stages.hold_ps[here], stages.start_ps[here]))]
        start, end = stages.start_ps[here], stages.start_ps[here] + stages.hold_ps[here]
        total = np.cumsum(stages.sent_bytes[here])
        times = np.stack([start, end], axis=1).ravel()
        bytes_by_then = np.stack([total - stages.sent_bytes[here], total], axis=1).ravel()
        sent.append(np.diff(np.interp(edges, times, bytes_by_then, left=0.0)))
    return np.vstack(
        [*(row / capacity for row, capacity in zip(sent, capacities, strict=True)), sum(sent) / sum(capacities)]
    )
