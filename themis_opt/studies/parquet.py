"""A study's table as a Parquet file, with pyarrow (extra ``parquet``)."""

from __future__ import annotations

import io
from typing import Any

from themis_opt.problem.errors import InputError
from themis_opt.studies.table import Column, StudyTable


def table_parquet(table: StudyTable) -> bytes:
    """Return the bytes of a Parquet file: whole numbers as integers, others as doubles, texts as strings.

    Raises
    ------
    InputError
        When pyarrow is not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install 'themis-opt[parquet]'") from None

    columns: dict[str, Any] = {column.name: _array(pyarrow, column, table) for column in table.columns}
    columns["status"] = pyarrow.array([row.status for row in table.rows], pyarrow.string())
    columns["seconds"] = pyarrow.array([row.seconds for row in table.rows], pyarrow.float64())
    columns["reason"] = pyarrow.array([row.reason for row in table.rows], pyarrow.string())
    data = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), data)
    return data.getvalue()


def _array(pyarrow: Any, column: Column, table: StudyTable) -> Any:
    values = [row.values[column.name] for row in table.rows]
    if not column.is_number:
        return pyarrow.array([None if value is None else str(value) for value in values], pyarrow.string())
    whole = all(value is None or (isinstance(value, int) and abs(value) < 2**63) for value in values)
    if whole and any(value is not None for value in values):
        return pyarrow.array(values, pyarrow.int64())
    return pyarrow.array([None if value is None else float(value) for value in values], pyarrow.float64())
