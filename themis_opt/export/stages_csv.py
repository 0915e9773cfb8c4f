"""Every stage of schedules as a row of comma-separated values (RFC 4180), for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from fractions import Fraction

from themis_opt.export.stage_rows import StageRow, name_text, number_text, stage_rows
from themis_opt.problem.schedule import Schedule
from themis_opt.timing.sequencing import timeline_of

_COLUMNS: dict[str, Callable[[StageRow], object]] = {
    "chunk": lambda row: row.chunk,
    "phase": lambda row: row.phase,
    "stage": lambda row: row.stage,
    "dimension": lambda row: row.dimension,
    "dimension_name": lambda row: f"dim{row.dimension + 1}",
    "start_ps": lambda row: row.start_ps,
    "end_ps": lambda row: row.end_ps,
    "hold_ps": lambda row: row.hold_ps,
    "duration_ps": lambda row: row.cost.duration_ps,
    "overhead_ps": lambda row: row.cost.overhead_ps,
    "transfer_ps": lambda row: row.cost.transfer_ps,
    "latency_ps": lambda row: row.cost.latency_ps,
    "num_steps": lambda row: row.num_steps,
    "resident_bytes": lambda row: _decimal(row.resident_bytes),
    "sent_bytes": lambda row: _decimal(row.cost.sent_bytes),
    "resident_bytes_exact": lambda row: row.resident_bytes,
    "sent_bytes_exact": lambda row: row.cost.sent_bytes,
}
HEADER = ("schedule", "scheduler", *_COLUMNS)
"""The first line; docs/interop-pictures.md says what the columns mean."""

_FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")
"""With these a cell may begin a formula in one spreadsheet or another (OWASP, "CSV Injection"); some are full-width."""
_PLACES = 6


def stages_csv_text(schedules: Sequence[tuple[str, Schedule]]) -> str:
    """Return the stages of named schedules, one below the other, chunk by chunk.

    Parameters
    ----------
    schedules
        What to call each one (a file's name), and the schedule. Their times are those of the timing rule.

    Raises
    ------
    InputError
        When a schedule is incomplete.
    DeadlockError
        When a schedule never ends.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEADER)
    for name, schedule in schedules:
        names = plain_cell(name), plain_cell(schedule.scheduler)
        for row in stage_rows(schedule.derived(timeline_of)):
            writer.writerow((*names, *(cell(row) for cell in _COLUMNS.values())))
    return text.getvalue()


def plain_cell(text: str) -> str:
    """Return a text that no spreadsheet runs as a formula: one that might be gets an apostrophe in front.

    >>> plain_cell("=cmd()"), plain_cell("themis-scf")
    ("'=cmd()", 'themis-scf')
    """
    text = name_text(text)
    # Spreadsheets skip blanks before they look for a formula.
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA_STARTS) else text


def _decimal(value: Fraction) -> str:
    """Return a number that every program adds up: where decimals do not end, rounded to a millionth of a byte."""
    text = number_text(value)
    return text if "/" not in text else number_text(Fraction(round(value * 10**_PLACES), 10**_PLACES))
