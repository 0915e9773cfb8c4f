"""Every stage of schedules as a row of comma-separated values (RFC 4180), for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from fractions import Fraction

from themis_opt.export.stage_rows import StageRow, name_text, number_text, stage_rows
from themis_opt.problem.schedule import Schedule
from themis_opt.timing.sequencing import simulate

HEADER = (
    "schedule",
    "scheduler",
    "chunk",
    "phase",
    "stage",
    "dimension",
    "dimension_name",
    "start_ps",
    "end_ps",
    "hold_ps",
    "duration_ps",
    "overhead_ps",
    "transfer_ps",
    "latency_ps",
    "num_steps",
    "resident_bytes",
    "sent_bytes",
    "resident_bytes_exact",
    "sent_bytes_exact",
)
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
        writer.writerows((*names, *_cells(row)) for row in stage_rows(simulate(schedule.instance, schedule)))
    return text.getvalue()


def plain_cell(text: str) -> str:
    """Return a text that no spreadsheet runs as a formula: one that might be gets an apostrophe in front.

    >>> plain_cell("=cmd()"), plain_cell("themis-scf")
    ("'=cmd()", 'themis-scf')
    """
    text = name_text(text)
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA_STARTS) else text


def _cells(row: StageRow) -> tuple[object, ...]:
    cost = row.cost
    return (
        row.chunk,
        row.phase,
        row.stage,
        row.dimension,
        f"dim{row.dimension + 1}",
        row.start_ps,
        row.end_ps,
        row.hold_ps,
        cost.duration_ps,
        cost.overhead_ps,
        cost.transfer_ps,
        cost.latency_ps,
        row.num_steps,
        _decimal(row.resident_bytes),
        _decimal(cost.sent_bytes),
        row.resident_bytes,
        cost.sent_bytes,
    )


def _decimal(value: Fraction) -> str:
    """Return a number that every program adds up: where decimals do not end, rounded to a millionth of a byte."""
    text = number_text(value)
    return text if "/" not in text else number_text(Fraction(round(value * 10**_PLACES), 10**_PLACES))
