"""When every stage runs, and how well bandwidth is used meanwhile, as one plotly figure for each schedule."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from themis_opt.export.stage_rows import number_text
from themis_opt.problem.collective import Phase
from themis_opt.problem.units import format_bandwidth, format_size, format_time
from themis_opt.questions.row import Row
from themis_opt.timing.stage_table import StageTable

MAX_STAGES = 200_000
"""Of one schedule: a browser draws as many in a second or two."""
MAX_ALL_STAGES = 400_000
"""Of all schedules in a report: some megabytes of page."""

NUM_WINDOWS = 120
"""Windows of time over which the use of bandwidth is averaged."""
_MAX_NUMBERED = 200
"""Up to so many stages have their chunk's number written on them."""

_UNITS = (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3), ("ps", 1))
# From the first chunk to the last, dark to light, so that neighbours differ with every kind of colour vision.
_RAMPS = {
    Phase.REDUCE_SCATTER: ("Reduce-Scatter", ["#08306b", "#2171b5", "#9ecae1"]),
    Phase.ALL_GATHER: ("All-Gather", ["#7f2704", "#d94801", "#fdae6b"]),
    Phase.ALL_TO_ALL: ("All-to-All", ["#00441b", "#238b45", "#a1d99b"]),
}
_LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")

Figure = dict[str, Any]


def num_stages(row: Row) -> int:
    """Return how many stages a row's schedule has."""
    return sum(len(sequence) for sequence in row.schedule.sequences)


def time_unit(longest_ps: int) -> tuple[str, int]:
    """Return the largest unit that a time reaches, and its picoseconds."""
    return next((unit for unit in _UNITS if longest_ps >= unit[1]), _UNITS[-1])


def timeline_figure(row: Row, unit: tuple[str, int]) -> Figure:
    """Return a schedule as plotly draws it: a lane for every dimension, and below it the use of bandwidth.

    A block is the time in which a stage *holds* its dimension. A heat map draws thousands of blocks in the time in
    which bars draw a hundred: one for every lane and phase, whose columns are blocks and what lies between them.

    Parameters
    ----------
    row
        The schedule with its times.
    unit
        The name of the axis' unit and its picoseconds (`time_unit`).
    """
    instance, makespan_ps = row.instance, row.makespan_ps
    lanes = {k: lane for lane, k in enumerate(instance.involved)}
    traces: list[Figure] = []
    for phase in instance.phases:
        for k, lane in lanes.items():
            traces.append(_lane(row.timeline.table, row.timeline.starts, phase, k, lane, unit))
            traces[-1]["showlegend"] = lane == 0
    name, scale = unit
    for label, time_ps, dash in (
        (f"bound {format_time(row.bound.value_ps)}", row.bound.value_ps, "dash"),
        (f"makespan {format_time(makespan_ps)}", makespan_ps, "solid"),
    ):
        ends = [-0.5, len(lanes) - 0.5]
        line = {"dash": dash, "width": 2, "color": "#888888"}
        traces.append(_scatter(label, [time_ps / scale] * 2, ends, line) | {"hoverinfo": "name"})
    for lane, k in enumerate(lanes):
        times, use = _use(row, k)
        line = {"shape": "hv", "width": 2, "color": _LINES[lane % len(_LINES)]}
        traces.append(_scatter(f"use of dim{k + 1}", (times / scale).tolist(), use, line) | {"yaxis": "y2"})
    end = max(makespan_ps, 1) / scale * 1.02
    dimensions = instance.network.dimensions
    labels = [
        "<br>".join((f"dim{k + 1}", f"{each.topology} of {each.size}", format_bandwidth(each.bandwidth_Bps)))
        for k in lanes
        for each in [dimensions[k]]
    ]
    return {
        "data": traces,
        "layout": {
            "height": 260 + 64 * len(lanes),
            "xaxis": {"title": {"text": f"time [{name}]"}, "range": [0, end], "anchor": "y2"},
            "yaxis": {
                "domain": [0.4, 1],
                "range": [len(lanes) - 0.5, -0.5],
                "tickvals": list(lanes.values()),
                "ticktext": labels,
                "fixedrange": True,
            },
            "yaxis2": {
                "domain": [0, 0.3],
                "range": [0, 1.05],
                "tickformat": ".0%",
                "title": {"text": "bandwidth use"},
                "fixedrange": True,
            },
        },
    }


def _lane(table: StageTable, starts: Any, phase: Phase, k: int, lane: int, unit: tuple[str, int]) -> Figure:
    """Return the blocks of one phase on one dimension."""
    blocks = sorted(
        (int(starts[chunk][place]), chunk, place)
        for chunk, kind in enumerate(table.kind_of)
        for place, stage in enumerate(table.kinds[kind].path)
        if stage == (phase, k)
    )
    edges: list[float] = []
    values: list[int | None] = []
    told: list[list[int | float | str] | None] = []
    texts: list[str] = []
    is_numbered = len(table.kind_of) * table.num_stages <= _MAX_NUMBERED
    before_ps = 0
    for start_ps, chunk, place in blocks:
        kind = table.kinds[table.kind_of[chunk]]
        cost, hold_ps = kind.costs[place], kind.holds[place]
        if start_ps > before_ps or not edges:
            edges.append(before_ps / unit[1])
            values.append(None)
            told.append(None)
            texts.append("")
        edges.append(start_ps / unit[1])
        values.append(chunk)
        end_ps = start_ps + cost.duration_ps
        told.append(
            [
                chunk,
                _bytes_text(cost.sent_bytes),
                format_time(start_ps),
                format_time(end_ps),
                float(start_ps),
                float(end_ps),
            ]
        )
        texts.append(str(chunk) if is_numbered else "")
        before_ps = start_ps + hold_ps
    edges.append(before_ps / unit[1])
    name, colors = _RAMPS[phase]
    return {
        "type": "heatmap",
        "name": name,
        "legendgroup": name,
        "x": edges,
        "y": [lane - 0.42, lane + 0.42],
        "z": [values],
        "zmin": 0,
        "zmax": max(len(table.kind_of) - 1, 1),
        "colorscale": [[place / (len(colors) - 1), color] for place, color in enumerate(colors)],
        "showscale": False,
        "hoverongaps": False,
        "customdata": [told],
        "text": [texts],
        **({"texttemplate": "%{text}"} if is_numbered else {}),
        "hovertemplate": (
            f"chunk %{{customdata[0]}}, {name} on dim{k + 1}<br>sends %{{customdata[1]}}<br>"
            "from %{customdata[2]} to %{customdata[3]}<br>(%{customdata[4]:d} to %{customdata[5]:d} ps)<extra></extra>"
        ),
    }


def _scatter(name: str, x: list[float], y: list[float], line: Figure) -> Figure:
    return {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "line": line}


def _use(row: Row, k: int) -> tuple[NDArray[np.float64], list[float]]:
    """Return windows of time [ps] and the mean use of a dimension in each, the last one repeated to close the line.

    A stage sends its bytes evenly while it transfers, which is what follows its latency, and overlaps no other one.
    """
    table, starts = row.timeline.table, row.timeline.starts
    sending: list[tuple[int, int, Fraction]] = []
    for chunk, place_of in enumerate(table.kind_of):
        kind = table.kinds[place_of]
        for place, (_, dimension) in enumerate(kind.path):
            if dimension == k:
                cost = kind.costs[place]
                end_ps = int(starts[chunk][place]) + kind.holds[place]
                sending.append((end_ps - cost.transfer_ps, end_ps, cost.sent_bytes))
    sending.sort()
    times = np.array([0.0, *(float(time) for begin, end, _ in sending for time in (begin, end))])
    sent = np.array([0.0, *(part for _, _, size in sending for part in (0.0, float(size)))]).cumsum()
    windows = np.linspace(0.0, float(max(row.makespan_ps, 1)), NUM_WINDOWS + 1)
    in_windows = np.diff(np.interp(windows, times, sent))
    bandwidth = float(row.instance.network.dimensions[k].bandwidth_Bps) / 1e12
    use = in_windows / (bandwidth * np.diff(windows))
    return windows, [*use.tolist(), float(use[-1])]


def _bytes_text(size_bytes: int | Fraction) -> str:
    """Return bytes for people, and the exact number where the first is rounded and a decimal can tell it."""
    text = format_size(size_bytes)
    exact = f"{number_text(Fraction(size_bytes))} B"
    return text if text == exact or "/" in exact or len(exact) > 20 else f"{text} ({exact})"
