"""The table of a study: its axes, its metrics, and what became of every point."""

from __future__ import annotations

from themis_opt.problem.units import format_bandwidth, format_size, format_time
from themis_opt.show.report.grid import GAP_HEADING, Cell, Grid, GridColumn, Part, Quantity
from themis_opt.show.words import format_gap, format_speedup
from themis_opt.studies.table import Column, Role, StudyTable, Value

_BY_UNIT = {"ps": Quantity.TIME, "B": Quantity.SIZE, "B/s": Quantity.BANDWIDTH}
_STATUS = GridColumn("status", "status", Quantity.TEXT, Part.REMARK)
_SECONDS = GridColumn("seconds", "seconds", Quantity.NUMBER, Part.REMARK)
_REASON = GridColumn("reason", "reason", Quantity.TEXT, Part.REMARK)


def study_grid(study: StudyTable) -> Grid:
    """Return a study's table, its units as people read them; reasons have a column where there are any."""
    has_reasons = any(row.reason for row in study.rows)
    columns = [_column(column) for column in study.columns] + [_STATUS, _SECONDS, *([_REASON] if has_reasons else [])]
    rows = []
    for row in study.rows:
        cells = [
            Cell(_text(column, row.values.get(column.name)), row.values.get(column.name)) for column in study.columns
        ]
        cells.append(Cell(row.status, row.status))
        cells.append(Cell("" if row.seconds is None else f"{row.seconds:.2f}", row.seconds))
        if has_reasons:
            cells.append(Cell(row.reason, row.reason or None))
        rows.append(tuple(cells))
    return Grid(tuple(columns), tuple(rows))


def _column(column: Column) -> GridColumn:
    part = Part.AXIS if column.role is Role.AXIS else Part.METRIC
    return GridColumn(column.name, _heading(column), _quantity(column), part)


def _heading(column: Column) -> str:
    """Return what a column is called for people: its cells have units, so its name needs none."""
    known = {
        "bw_utilization": "BW use",
        "busbw_Bps": "busbw",
        "algbw_Bps": "algbw",
        "gap": GAP_HEADING,
        "gap_any": "gap to the bound for any chunks",
    }
    suffix = {"ps": "_ps", "B": "_bytes", "B/s": "_Bps"}.get(column.unit, "")
    name = column.field.removesuffix(suffix) if suffix else column.field
    return known.get(column.field, name.replace("_", " "))


def _quantity(column: Column) -> Quantity:
    if not column.is_number:
        return Quantity.TEXT
    if column.unit in _BY_UNIT:
        return _BY_UNIT[column.unit]
    if column.field in ("gap", "gap_any") or column.field.endswith("utilization"):
        return Quantity.SHARE
    return Quantity.COUNT if column.field in ("chunks", "num_chunks") else Quantity.NUMBER


def _text(column: Column, value: Value) -> str:
    """Return a value as the command line's tables write it."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if column.unit in _BY_UNIT:
        return {"ps": format_time, "B": format_size, "B/s": format_bandwidth}[column.unit](value)
    if column.field in ("gap", "gap_any"):
        return format_gap(value)
    if column.field.endswith("utilization"):
        return f"{value:.1%}"
    if column.field == "speedup":
        return format_speedup(value)
    return str(value) if isinstance(value, int) else f"{value:.5g}"
