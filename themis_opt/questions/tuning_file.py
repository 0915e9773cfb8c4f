"""A tuning table as CSV and as JSON (``themis-opt/tuning/1``), for a collective library to load."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from themis_opt.export.stages_csv import plain_cell
from themis_opt.files.documents import ChunkDocument
from themis_opt.files.network_file import network_document
from themis_opt.files.results import ResultDocument, result_text
from themis_opt.problem.instance import Instance
from themis_opt.problem.ratios import finite
from themis_opt.problem.version import VERSION
from themis_opt.questions.tune import TunedSize

RULE = (
    "for a message of S bytes use the row with the largest size_bytes <= S, or the first row if there is none; "
    "the number of chunks and their orders stay, each chunk keeps its share of the message; "
    "what is told of a row holds at its own size_bytes"
)
"""How the table is read; it stands in the JSON file itself."""


class TunedFigures(Struct, kw_only=True):
    """The figures of a size, which both tables have; docs/designing.md explains them."""

    size_bytes: int
    scheduler: str
    num_chunks: int
    chunk_sizing: str
    makespan_ps: int
    algbw_Bps: float
    busbw_Bps: float
    bound_ps: int
    gap: float | None
    bound_any_ps: int
    gap_any: float | None
    status: str
    speedup_over_best_fixed: float | None
    best_fixed_scheduler: str
    best_fixed_chunks: int
    best_fixed_makespan_ps: int
    speedup_over_baseline: float | None
    baseline_chunks: int
    baseline_makespan_ps: int
    speedup_over_others: float | None
    reference: str
    reference_chunks: int | None
    reference_makespan_ps: int
    schedule_file: str | None


class TunedRow(TunedFigures, kw_only=True):
    """A row of the JSON file."""

    bound_kind: str
    bound_any_kind: str
    bound_any_chunks: tuple[int, int]
    wall_s: float
    note: str
    chunks: list[ChunkDocument]


class TuningDocument(ResultDocument, kw_only=True, tag="themis-opt/tuning/1"):
    """The table as JSON."""

    rule: str
    themis_opt_version: str
    options: dict[str, Any]
    network: dict[str, Any]
    collective: str
    occupancy: str
    chunk_overhead_ps: int
    dimensions: list[int]
    num_npus: int
    is_complete: bool
    rows: list[TunedRow]


HEADER = (*TunedFigures.__struct_fields__, "chunk_sizes_bytes", "rs_orders", "ag_orders")
"""The columns of the CSV file."""


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
        chunks = row.schedule.chunks
        cells = [
            *structs.astuple(_figures(row, files)),
            " ".join(str(chunk.size_bytes) for chunk in chunks),
            _orders(chunk.rs_order for chunk in chunks),
            _orders(chunk.ag_order for chunk in chunks),
        ]
        # No text that a spreadsheet runs as a formula.
        writer.writerow([plain_cell(cell) if isinstance(cell, str) else cell for cell in cells])
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
    document = TuningDocument(
        rule=RULE,
        themis_opt_version=VERSION,
        options=dict(options),
        network=network_document(instance.network),
        collective=str(instance.collective),
        occupancy=str(instance.occupancy),
        chunk_overhead_ps=instance.chunk_overhead_ps,
        dimensions=list(instance.involved),
        num_npus=instance.num_npus,
        is_complete=len(rows) == len(options.get("sizes_bytes", rows)),
        rows=[_row(row, files) for row in rows],
    )
    return result_text(document)


def _row(row: TunedSize, files: Mapping[int, str]) -> TunedRow:
    assert row.bound_any is not None
    scope = row.bound_any.scope
    return TunedRow(
        **structs.asdict(_figures(row, files)),
        bound_kind=str(row.bound.kind),
        bound_any_kind=str(row.bound_any.kind),
        bound_any_chunks=(scope.min_chunks, scope.max_chunks),
        wall_s=round(row.wall_s, 6),
        note=row.note,
        chunks=[
            ChunkDocument(
                size_bytes=chunk.size_bytes,
                rs_order=None if chunk.rs_order is None else list(chunk.rs_order),
                ag_order=None if chunk.ag_order is None else list(chunk.ag_order),
            )
            for chunk in row.schedule.chunks
        ],
    )


def _figures(row: TunedSize, files: Mapping[int, str]) -> TunedFigures:
    assert row.bound_any is not None
    return TunedFigures(
        size_bytes=row.size_bytes,
        scheduler=row.schedule.scheduler,
        num_chunks=row.schedule.num_chunks,
        chunk_sizing=str(row.schedule.sizing),
        makespan_ps=row.makespan_ps,
        algbw_Bps=row.algbw_Bps,
        busbw_Bps=row.busbw_Bps,
        bound_ps=row.bound.value_ps,
        gap=finite(row.gap),
        bound_any_ps=row.bound_any.value_ps,
        gap_any=finite(row.gap_any),
        status=str(row.status),
        speedup_over_best_fixed=finite(row.speedup_fixed),
        best_fixed_scheduler=row.fixed.scheduler,
        best_fixed_chunks=row.fixed.num_chunks,
        best_fixed_makespan_ps=row.fixed.timed_ps,
        speedup_over_baseline=finite(row.speedup_baseline),
        baseline_chunks=row.baseline.num_chunks,
        baseline_makespan_ps=row.baseline.timed_ps,
        speedup_over_others=finite(row.speedup),
        reference=row.reference.name,
        reference_chunks=row.reference.num_chunks,
        reference_makespan_ps=row.reference.makespan_ps,
        schedule_file=files.get(row.size_bytes),
    )


def _orders(orders: Iterable[tuple[int, ...] | None]) -> str:
    """Return orders chunk by chunk: ``0-2-1 0-1-2``."""
    return " ".join("-".join(map(str, order)) for order in orders if order is not None)
