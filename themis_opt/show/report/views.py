"""What a page draws of one schedule: its kinds of chunk once, and the start of every stage as packed numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from themis_opt.export.stage_rows import number_text
from themis_opt.problem.instance import Instance
from themis_opt.problem.units import format_bandwidth, format_size, format_time
from themis_opt.questions.row import Row
from themis_opt.show.report.embedding import packed
from themis_opt.timing import metrics
from themis_opt.timing.stage_table import ChunkKind

MAX_STAGES = 200_000
"""Of one schedule: a browser draws as many in a second or two."""
MAX_ALL_STAGES = 1_000_000
"""Of all schedules in a report, which is a few megabytes."""


def num_stages(row: Row) -> int:
    """Return how many stages a row's schedule has."""
    return sum(len(sequence) for sequence in row.schedule.sequences)


def view_document(row: Row) -> dict[str, Any]:
    """Return a schedule as the page's timeline takes it.

    Times are picoseconds as floats, exact up to 2^53. ``starts`` is a float64 array of shape (chunks, stages of a
    chunk), little-endian, packed as `embedding.packed` does.
    """
    timeline = row.timeline
    table, instance = timeline.table, timeline.table.instance
    lanes = {k: lane for lane, k in enumerate(instance.involved)}
    phases = {phase: place for place, phase in enumerate(instance.phases)}
    starts = np.asarray(timeline.starts, dtype="<f8")
    return {
        "makespan_ps": row.makespan_ps,
        "makespan": format_time(row.makespan_ps),
        "bound_ps": row.bound.value_ps,
        "bound": format_time(row.bound.value_ps),
        "kinds": [
            {
                "size": _bytes_text(kind.size_bytes),
                "path": [[phases[phase], lanes[k]] for phase, k in kind.path],
                "hold": list(kind.holds),
                "duration": [cost.duration_ps for cost in kind.costs],
                "sent": [float(cost.sent_bytes) for cost in kind.costs],
                "bytes": _sent_texts(kind),
            }
            for kind in table.kinds
        ],
        "kind_of": list(table.kind_of),
        "starts": packed(starts.tobytes()),
        "use": [
            f"{metrics.dimension_utilization(instance, k, timeline.dimensions[k].sent_bytes, row.makespan_ps):.1%}"
            for k in instance.involved
        ],
    }


def lanes_document(instance: Instance) -> list[dict[str, Any]]:
    """Return the involved dimensions as the page's timeline takes them."""
    dimensions = instance.network.dimensions
    return [
        {
            "name": f"dim{k + 1}",
            "label": (
                f"dim{k + 1}: {dimensions[k].topology} of {dimensions[k].size}, "
                f"{format_bandwidth(dimensions[k].bandwidth_Bps)}"
            ),
            "bandwidth_Bps": float(dimensions[k].bandwidth_Bps),
        }
        for k in instance.involved
    ]


def _sent_texts(kind: ChunkKind) -> list[str]:
    return [_bytes_text(cost.sent_bytes) for cost in kind.costs]


def _bytes_text(size_bytes: int | Fraction) -> str:
    """Return bytes for people, and the exact number where the first is rounded and a decimal can tell it."""
    text = format_size(size_bytes)
    exact = f"{number_text(Fraction(size_bytes))} B"
    return text if text == exact or "/" in exact or len(exact) > 20 else f"{text} ({exact})"
