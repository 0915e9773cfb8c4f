"""A study's table as CSV: a line for every row, in the study's order, numbers exactly as they were kept."""

from __future__ import annotations

import csv
import io

from themis_opt.studies.table import StudyTable, Value

MORE_COLUMNS = ("status", "seconds", "reason")
"""What follows the axes and metrics."""


def table_csv(table: StudyTable) -> str:
    """Return the text of a CSV file; a value that is not there is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(column.name for column in table.columns), *MORE_COLUMNS])
    for row in table.rows:
        values = [_shown(row.values[column.name]) for column in table.columns]
        writer.writerow([*values, row.status, _shown(row.seconds), row.reason])
    return text.getvalue()


def _shown(value: Value) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)
