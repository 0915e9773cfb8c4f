"""The JSON of a comparison (``themis-opt/comparison/2``): figures for programs, and the schedules behind them."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from math import isinf
from typing import Any

from themis_opt.files.instance_file import instance_document
from themis_opt.files.schedule_file import schedule_document
from themis_opt.problem.bound import Bound
from themis_opt.problem.version import VERSION
from themis_opt.questions.comparison import Row, Run
from themis_opt.timing import metrics

FORMAT = "themis-opt/comparison/2"
_LINE = 120
_TOLD_ABOVE = ("format", "instance", "stages")
_PACKAGES = ("numpy", "numba", "networkx", "ortools", "pulp", "highspy")


def comparison_text(runs: Sequence[Run], options: Mapping[str, Any], seed: int) -> str:
    """Return the text of a comparison file."""
    document = {
        "format": FORMAT,
        "options": dict(options),
        "seed": seed,
        "versions": _versions(),
        "machine": _machine(),
        "runs": [_run(run) for run in runs],
    }
    return "\n".join(_lines(document)) + "\n"


def dimension_figures(row: Row) -> list[dict[str, Any]]:
    """Return bytes, busy time and utilisation of every network dimension."""
    instance = row.schedule.instance
    return [
        {
            "bytes": float(use.sent_bytes),
            "busy_ps": use.busy_ps,
            "utilization": metrics.dimension_utilization(instance, k, use.sent_bytes, row.makespan_ps),
        }
        for k, use in enumerate(row.timeline.dimensions)
    ]


def _run(run: Run) -> dict[str, Any]:
    instance = run.instance
    return {
        "instance": instance_document(instance),
        "network": instance.network.name,
        "collective": str(instance.collective),
        "size_bytes": instance.size_bytes,
        "num_chunks": instance.num_chunks,
        "occupancy": str(instance.occupancy),
        "chunk_overhead_ps": instance.chunk_overhead_ps,
        "dimensions": list(instance.involved),
        "ideal_ps": run.ideal_ps,
        "bound_ps": run.bound.value_ps,
        "bound_kind": str(run.bound.kind),
        "results": [_result(row) for row in run.rows],
    }


def _result(row: Row) -> dict[str, Any]:
    schedule = row.schedule
    instance = schedule.instance
    return {
        "scheduler": row.name,
        "status": str(schedule.status),
        "num_chunks": schedule.num_chunks,
        "sizes": str(schedule.sizing),
        "bound_ps": row.bound.value_ps,
        "bound_kind": str(row.bound.kind),
        "makespan_ps": row.makespan_ps,
        "bw_utilization": metrics.bw_utilization(instance, row.makespan_ps),
        "algbw_Bps": metrics.algbw_Bps(instance, row.makespan_ps),
        "busbw_Bps": metrics.busbw_Bps(instance, row.makespan_ps),
        "speedup": _finite(row.speedup),
        "gap": _finite(row.gap),
        **({} if row.bound_any is None else _bound_any(row, row.bound_any)),
        "wall_s": round(row.wall_s, 6),
        "per_dimension": dimension_figures(row),
        **({"note": row.note} if row.note else {}),
        "schedule": {key: value for key, value in schedule_document(schedule).items() if key not in _TOLD_ABOVE},
    }


def _bound_any(row: Row, bound: Bound) -> dict[str, Any]:
    """Return what is known of every number of chunks allowed."""
    counts = [bound.scope.min_chunks, bound.scope.max_chunks]
    return {
        "bound_any_ps": bound.value_ps,
        "bound_any_kind": str(bound.kind),
        "bound_any_chunks": counts,
        "gap_any": row.gap_any,
    }


def _lines(value: Any, indent: str = "") -> list[str]:
    """Return the lines of a JSON text: what fits stands on one, everything else an entry a line."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) + len(indent) <= _LINE or not isinstance(value, dict | list):
        return [text]
    inner = indent + " "
    if isinstance(value, dict):
        opening, closing = "{", "}"
        entries = [(f"{json.dumps(key, ensure_ascii=False)}: ", entry) for key, entry in value.items()]
    else:
        opening, closing = "[", "]"
        entries = [("", entry) for entry in value]
    lines = [opening]
    for key, entry in entries:
        first, *rest = _lines(entry, inner)
        lines += [inner + key + first, *rest]
        lines[-1] += ","
    lines[-1] = lines[-1][:-1]
    return [*lines, indent + closing]


def _finite(value: float) -> float | None:
    """Return a number that JSON has: infinity is ``null``."""
    return None if isinf(value) else value


def _versions() -> dict[str, str]:
    found = {"themis-opt": VERSION, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _machine() -> dict[str, Any]:
    return {"system": platform.system(), "architecture": platform.machine(), "processors": os.cpu_count()}
