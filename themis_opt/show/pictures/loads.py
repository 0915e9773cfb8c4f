"""How evenly orders share the work: every dimension's load, stacked by chunk, as in Figure 7 of the Themis paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from themis_opt.problem.units import PS_PER_S
from themis_opt.show.pictures.boxes import draw_boxes, draw_chunk_bar, phase_handles
from themis_opt.show.pictures.dimension_rows import BALANCE_COLOR, LINE_COLOR, draw_rows
from themis_opt.show.pictures.scales import Floats, plain_label, times_beside
from themis_opt.show.pictures.subject import Schedules, Subject, subjects_of
from themis_opt.show.words import count_chunks
from themis_opt.timing import metrics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARGIN = 1.1
"""Of the axis, behind the longest bar: room for its length in figures."""
_NEAR = 2.0
"""The bound is drawn up to so many times the longest bar."""


def loads(schedules: Schedules, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw how long every dimension needs for its bytes alone, ``bytes / B``, stacked by chunk.

    A box is a stage; boxes stand in the order of the chunks, without latency, launch overhead, reduction and idle time.
    The dash-dotted line is where all dimensions would end if the bytes were spread in proportion to the bandwidths
    (``bytes of all dimensions / sum of B``, which no choice of orders changes), the dashed one the bound.

    Parameters
    ----------
    schedules
        Schedules by name, or subjects.
    ax
        Where to; default: the axes of a new figure. The horizontal axis is in picoseconds, whatever its labels show.
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

    subjects = subjects_of(schedules)
    widths = [load_ps(subject) for subject in subjects]
    totals = [
        np.bincount(subject.stages.dimension, width, subject.instance.network.num_dimensions).astype(np.float64)
        for subject, width in zip(subjects, widths, strict=True)
    ]
    balances = [metrics.ideal_ps(subject.instance) for subject in subjects]
    bounds_ps = [float(subject.bound.value_ps) for subject in subjects]
    end_ps = max(*(float(total.max()) for total in totals), *balances)
    # Where latency is nearly everything, a bound far away would leave no room for the loads.
    end_ps = max(end_ps, *(bound_ps for bound_ps in bounds_ps if bound_ps <= _NEAR * end_ps), 0.0)
    heads = _headings(subjects, totals, balances)
    rows = draw_rows(subjects, heads, ax, end_ps=end_ps * _MARGIN, xlabel="load, bytes / bandwidth", num_lines=2)
    balance_texts, bound_texts = times_beside(balances, end_ps), times_beside(bounds_ps, end_ps)
    for idx, (subject, width, total) in enumerate(zip(subjects, widths, totals, strict=True)):
        lines = [balances[idx], bounds_ps[idx]]
        draw_boxes(rows, idx, _stacked(subject.stages.dimension, width), width, lines)
        texts = times_beside([total[k] for k, _ in rows.dimensions[idx]], end_ps)
        for (k, y), text in zip(rows.dimensions[idx], texts, strict=True):
            rows.write_beside(total[k], y, text, lines)
        rows.draw_line(idx, bounds_ps[idx], f"bound {bound_texts[idx]}", line=1)
        rows.draw_line(idx, balances[idx], f"balance {balance_texts[idx]}", color=BALANCE_COLOR, style="-.")
    balance = Line2D([], [], color=BALANCE_COLOR, linestyle="-.", label="balance: every dimension needs the same time")
    bound = Line2D([], [], color=LINE_COLOR, linestyle="--", label="bound on the makespan, latency included")
    rows.draw_head(title, [*phase_handles(subjects), balance, bound])
    draw_chunk_bar(rows.ax, subjects)
    return rows.ax


def load_ps(subject: Subject) -> Floats:
    """Return ``bytes / B`` of every stage [ps], in the order of `Subject.stages`."""
    rates = [float(PS_PER_S / dimension.bandwidth_Bps) for dimension in subject.instance.network.dimensions]
    load: Floats = subject.stages.sent_bytes * np.array(rates)[subject.stages.dimension]
    return load


def _stacked(dimension: np.ndarray, width: Floats) -> Floats:
    """Return where each box begins when those of a dimension stand end to end."""
    start = np.zeros_like(width)
    for k in np.unique(dimension):
        here = dimension == k
        ends = np.cumsum(width[here])
        start[here] = np.append(0.0, ends[:-1])
    return start


def _headings(subjects: Sequence[Subject], totals: Sequence[Floats], balances: Sequence[float]) -> list[str]:
    heads = []
    for subject, total, balance in zip(subjects, totals, balances, strict=True):
        most = int(total.argmax())
        told = f"most on dim{most + 1}, {total[most] / balance:.2f} times the balance"
        heads.append(f"{plain_label(subject.name)}: {count_chunks(subject.num_chunks)}, {told}")
    return heads
