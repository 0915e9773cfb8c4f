"""A tuning table as CSV and as JSON (``themis-opt/tuning/1``), for a collective library to load."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from themis_opt.export.stages_csv import plain_cell
from themis_opt.files.network_file import network_document
from themis_opt.problem.instance import Instance
from themis_opt.problem.ratios import finite
from themis_opt.problem.version import VERSION
from themis_opt.questions.tune.tune import TunedSize

FORMAT = "themis-opt/tuning/1"

RULE = (
    "for a message of S bytes use the row with the largest size_bytes <= S, or the first row if there is none; "
    "the number of chunks and their orders stay, each chunk keeps its share of the message; "
    "what is told of a row holds at its own size_bytes"
)
"""How the table is read; it stands in the JSON file itself."""

HEADER = (
    "size_bytes",
    "scheduler",
    "num_chunks",
    "chunk_sizing",
    "makespan_ps",
    "algbw_Bps",
    "busbw_Bps",
    "bound_ps",
    "gap",
    "bound_any_ps",
    "gap_any",
    "status",
    "speedup_over_best_fixed",
    "best_fixed_scheduler",
    "best_fixed_chunks",
    "best_fixed_makespan_ps",
    "speedup_over_baseline",
    "baseline_chunks",
    "baseline_makespan_ps",
    "schedule_file",
    "chunk_sizes_bytes",
    "rs_orders",
    "ag_orders",
)
"""The columns of the CSV file, which are keys of the rows of the JSON file, too; docs/designing.md explains them."""


def tuning_csv(rows: Sequence[TunedSize], files: Mapping[int, str]) -> str:
    """Return the table as comma-separated values (RFC 4180); all chunks stand in one cell, separated by spaces.

    An order is written as ``0-2-1``; the cell is empty where the collective has no such phase.

    Parameters
    ----------
    rows
        One for each message size.
    files
        The names of the schedule files written, by message size.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEADER)
    for row in rows:
        figures = _figures(row, files)
        figures["chunk_sizes_bytes"] = " ".join(str(chunk.size_bytes) for chunk in row.schedule.chunks)
        figures["rs_orders"] = _orders(chunk.rs_order for chunk in row.schedule.chunks)
        figures["ag_orders"] = _orders(chunk.ag_order for chunk in row.schedule.chunks)
        writer.writerow([_cell(figures[column]) for column in HEADER])
    return text.getvalue()


def tuning_json(
    instance: Instance, rows: Sequence[TunedSize], files: Mapping[int, str], options: Mapping[str, Any]
) -> str:
    """Return the table as JSON, with the orders of all chunks.

    Parameters
    ----------
    instance
        What was tuned; its size and number of chunks do not matter.
    rows
        One for each message size.
    files
        The names of the schedule files written, by message size.
    options
        What the user asked for.
    """
    document = {
        "format": FORMAT,
        "rule": RULE,
        "themis_opt_version": VERSION,
        "options": dict(options),
        "network": network_document(instance.network),
        "collective": str(instance.collective),
        "occupancy": str(instance.occupancy),
        "chunk_overhead_ps": instance.chunk_overhead_ps,
        "dimensions": list(instance.involved),
        "num_npus": instance.num_npus,
        "is_complete": len(rows) == len(options.get("sizes_bytes", rows)),
        "rows": [_row(row, files) for row in rows],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _row(row: TunedSize, files: Mapping[int, str]) -> dict[str, Any]:
    schedule = row.schedule
    assert schedule.bound is not None
    return {
        **_figures(row, files),
        "bound_kind": str(schedule.bound.kind),
        "bound_any_kind": str(row.bound_any.kind),
        "bound_any_chunks": [row.bound_any.scope.min_chunks, row.bound_any.scope.max_chunks],
        "wall_s": round(row.wall_s, 6),
        "note": row.note,
        "chunks": [
            {
                "size_bytes": chunk.size_bytes,
                "rs_order": None if chunk.rs_order is None else list(chunk.rs_order),
                "ag_order": None if chunk.ag_order is None else list(chunk.ag_order),
            }
            for chunk in schedule.chunks
        ],
    }


def _figures(row: TunedSize, files: Mapping[int, str]) -> dict[str, Any]:
    schedule = row.schedule
    assert schedule.bound is not None
    return {
        "size_bytes": row.size_bytes,
        "scheduler": schedule.scheduler,
        "num_chunks": schedule.num_chunks,
        "chunk_sizing": str(schedule.sizing),
        "makespan_ps": row.makespan_ps,
        "algbw_Bps": row.algbw_Bps,
        "busbw_Bps": row.busbw_Bps,
        "bound_ps": schedule.bound.value_ps,
        "gap": finite(row.gap),
        "bound_any_ps": row.bound_any.value_ps,
        "gap_any": finite(row.gap_any),
        "status": str(schedule.status),
        "speedup_over_best_fixed": finite(row.speedup_fixed),
        "best_fixed_scheduler": row.fixed.scheduler,
        "best_fixed_chunks": row.fixed.num_chunks,
        "best_fixed_makespan_ps": row.fixed.timed_ps,
        "speedup_over_baseline": finite(row.speedup_baseline),
        "baseline_chunks": row.baseline.num_chunks,
        "baseline_makespan_ps": row.baseline.timed_ps,
        "schedule_file": files.get(row.size_bytes),
    }


def _orders(orders: Iterable[tuple[int, ...] | None]) -> str:
    """Return orders chunk by chunk: ``0-2-1 0-1-2``."""
    return " ".join("-".join(map(str, order)) for order in orders if order is not None)


def _cell(value: Any) -> Any:
    """Return a value as a cell: nothing for ``None``, and no text that a spreadsheet runs as a formula."""
    if isinstance(value, str):
        return plain_cell(value)
    return "" if value is None else value
