"""The table of results that people sort and plots are drawn from: of a comparison, or of a study.

Every column has a quantity, every cell the text that the command line prints and the value it is sorted and drawn by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Any

from themis_opt.problem.bound import Bound, BoundKind
from themis_opt.problem.instance import Instance
from themis_opt.problem.units import format_bandwidth, format_size, format_time, time_column
from themis_opt.questions.comparison import Run
from themis_opt.questions.row import PredictedRow, Row, Timed
from themis_opt.show.words import format_gap, format_speedup
from themis_opt.studies.table import Column, Role, StudyTable, Value

GAP_HEADING = "gap to the bound for its chunks"
GAP_NOTE = (
    "Each gap is to the bound for the row's own sizing and number of chunks: across these, the smaller gap may be the "
    "longer schedule's, so compare makespans."
)


class Quantity(StrEnum):
    """What the numbers of a column are; a page picks units and scales of axes by it."""

    TIME = "time"
    SIZE = "size"
    BANDWIDTH = "bandwidth"
    SHARE = "share"
    COUNT = "count"
    NUMBER = "number"
    TEXT = "text"


_UNITS = {
    Quantity.TIME: (("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3), ("ps", 1.0)),
    Quantity.SIZE: (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0)),
    Quantity.BANDWIDTH: (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("KB/s", 1e3), ("B/s", 1.0)),
}


class Part(StrEnum):
    """What a column is for: what was varied, what was found, or a remark on it."""

    AXIS = "axis"
    METRIC = "metric"
    REMARK = "remark"


@dataclass(frozen=True, slots=True)
class GridColumn:
    """One column: its key for programs, its heading for people, its quantity and its part."""

    key: str
    heading: str
    quantity: Quantity
    part: Part


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: what people read, and the value it is sorted and drawn by (``None``: nothing there)."""

    text: str
    value: float | str | None


@dataclass(frozen=True)
class Grid:
    """A table of results.

    Attributes
    ----------
    columns
        The columns; the first one names the row.
    rows
        A cell for every column.
    """

    columns: tuple[GridColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def column_idx(self, key: str) -> int | None:
        """Return the place of a column, if there is one."""
        return next((place for place, column in enumerate(self.columns) if column.key == key), None)


_AXES = (
    GridColumn("network", "network", Quantity.TEXT, Part.AXIS),
    GridColumn("collective", "collective", Quantity.TEXT, Part.AXIS),
    GridColumn("dimensions", "dimensions", Quantity.TEXT, Part.AXIS),
    GridColumn("size_bytes", "size", Quantity.SIZE, Part.AXIS),
    GridColumn("asked_chunks", "chunks asked", Quantity.COUNT, Part.AXIS),
    GridColumn("occupancy", "occupancy", Quantity.TEXT, Part.AXIS),
    GridColumn("chunk_overhead_ps", "chunk overhead", Quantity.TIME, Part.AXIS),
)
_COLUMNS = (
    GridColumn("scheduler", "scheduler", Quantity.TEXT, Part.AXIS),
    *_AXES,
    GridColumn("num_chunks", "chunks", Quantity.COUNT, Part.METRIC),
    GridColumn("makespan_ps", "makespan", Quantity.TIME, Part.METRIC),
    GridColumn("bw_utilization", "BW use", Quantity.SHARE, Part.METRIC),
    GridColumn("busbw_Bps", "busbw GB/s", Quantity.BANDWIDTH, Part.METRIC),
    GridColumn("speedup", "speedup", Quantity.NUMBER, Part.METRIC),
    GridColumn("gap", GAP_HEADING, Quantity.SHARE, Part.METRIC),
    GridColumn("bound_ps", "bound", Quantity.TIME, Part.METRIC),
    GridColumn("proof", "bound rests on", Quantity.TEXT, Part.REMARK),
    GridColumn("status", "status", Quantity.TEXT, Part.REMARK),
    GridColumn("wall_s", "seconds", Quantity.NUMBER, Part.REMARK),
)


def grid_document(grid: Grid) -> dict[str, Any]:
    """Return a grid as the page's plots take it; what is no finite number is ``null``."""
    return {
        "columns": [
            {"key": column.key, "heading": column.heading, "part": str(column.part), **_axis(grid, place)}
            for place, column in enumerate(grid.columns)
        ],
        "values": [[_plain(cell.value) for cell in row] for row in grid.rows],
        "texts": [[cell.text for cell in row] for row in grid.rows],
    }


def _axis(grid: Grid, place: int) -> dict[str, Any]:
    """Return how a plot's axis shows a column: in which unit, as a share, or as words."""
    quantity = grid.columns[place].quantity
    cells = (row[place].value for row in grid.rows)
    values = sorted(abs(value) for value in cells if isinstance(value, int | float))
    middle = values[len(values) // 2] if values else 0
    units = _UNITS.get(quantity, ())
    name, scale = next(((name, scale) for name, scale in units if middle >= scale), units[-1] if units else ("", 1))
    return {"unit": name, "scale": scale, "is_share": quantity is Quantity.SHARE, "is_text": quantity is Quantity.TEXT}


def without_constants(grid: Grid, keys: Sequence[str]) -> Grid:
    """Return a grid without those of the named columns that say the same in every row."""
    kept = [
        place
        for place, column in enumerate(grid.columns)
        if column.key not in keys or len({row[place] for row in grid.rows}) > 1
    ]
    return Grid(
        tuple(grid.columns[place] for place in kept), tuple(tuple(row[place] for place in kept) for row in grid.rows)
    )


def _plain(value: float | str | None) -> float | str | None:
    return None if isinstance(value, float) and not isfinite(value) else value


def comparison_grid(runs: Sequence[Run]) -> Grid:
    """Return the table of some runs, row by row; what is the same in all of them has no column."""
    rows: list[tuple[Cell, ...]] = []
    # One unit for the rows of one instance, as on the command line; several instances may be far apart.
    texts = time_column if len(runs) == 1 else _each_time
    for run in runs:
        makespans = texts([row.makespan_ps for row in run.rows])
        bounds = texts([row.bound.value_ps for row in run.rows])
        axes = _axis_cells(run.instance)
        rows += [
            (
                Cell(row.name, row.name),
                *axes,
                *_figures(row, makespan, bound),
            )
            for row, makespan, bound in zip(run.rows, makespans, bounds, strict=True)
        ]
        times = texts([row.makespan_ps for row in run.predictions])
        rows += [
            (Cell(row.name, row.name), *axes, *_predicted(row, time))
            for row, time in zip(run.predictions, times, strict=True)
        ]
    return without_constants(Grid(_COLUMNS, tuple(rows)), [column.key for column in _AXES])


def rests_on(bound: Bound) -> str:
    """Return what proves a bound, in a few words; what rests on a solver's word is called that."""
    if bound.is_taken_on_trust:
        return f"word of {bound.kind}"
    return "critical path" if bound.kind == BoundKind.CRITICAL_PATH else "certificate"


def _each_time(times_ps: Sequence[int]) -> list[str]:
    return [format_time(time_ps) for time_ps in times_ps]


def _axis_cells(instance: Instance) -> tuple[Cell, ...]:
    is_whole = all(k in instance.involved or d.size == 1 for k, d in enumerate(instance.network.dimensions))
    names = "all" if is_whole else "+".join(f"dim{k + 1}" for k in instance.involved)
    return (
        Cell(instance.network.name, instance.network.name),
        Cell(str(instance.collective), str(instance.collective)),
        Cell(names, names),
        Cell(format_size(instance.size_bytes), instance.size_bytes),
        Cell(str(instance.num_chunks), instance.num_chunks),
        Cell(str(instance.occupancy), str(instance.occupancy)),
        Cell(format_time(instance.chunk_overhead_ps), instance.chunk_overhead_ps),
    )


def _shared_figures(row: Timed) -> tuple[Cell, ...]:
    return (
        Cell(f"{row.bw_utilization:.1%}", row.bw_utilization),
        Cell(f"{row.busbw_Bps / 1e9:.5g}", row.busbw_Bps),
        Cell(format_speedup(row.speedup), row.speedup),
    )


def _figures(row: Row, makespan: str, bound: str) -> tuple[Cell, ...]:
    proof, status = rests_on(row.bound), str(row.schedule.status)
    return (
        Cell(str(row.schedule.num_chunks), row.schedule.num_chunks),
        Cell(makespan, row.makespan_ps),
        *_shared_figures(row),
        Cell(format_gap(row.gap), row.gap),
        Cell(bound, row.bound.value_ps),
        Cell(proof, proof),
        Cell(status, status),
        Cell(f"{row.wall_s:.2f}", row.wall_s),
    )


def _predicted(row: PredictedRow, makespan: str) -> tuple[Cell, ...]:
    """Return the cells of a time by a formula, which has no chunks, no bound and took no time to find."""
    nothing = Cell("", None)
    return (
        nothing,
        Cell(makespan, row.makespan_ps),
        *_shared_figures(row),
        *(nothing, nothing),
        Cell("formula", "formula"),
        Cell("predicted", "predicted"),
        nothing,
    )


_BY_UNIT = {"ps": Quantity.TIME, "B": Quantity.SIZE, "B/s": Quantity.BANDWIDTH}
_STATUS = GridColumn("status", "status", Quantity.TEXT, Part.REMARK)
_SECONDS = GridColumn("seconds", "seconds", Quantity.NUMBER, Part.REMARK)
_REASON = GridColumn("reason", "reason", Quantity.TEXT, Part.REMARK)


def study_grid(study: StudyTable) -> Grid:
    """Return a study's table, its units as people read them; reasons have a column where there are any."""
    has_reasons = any(row.reason for row in study.rows)
    columns = [_study_column(column) for column in study.columns] + [
        _STATUS,
        _SECONDS,
        *([_REASON] if has_reasons else []),
    ]
    rows = []
    for row in study.rows:
        cells = [
            Cell(_study_text(column, row.values.get(column.name)), row.values.get(column.name))
            for column in study.columns
        ]
        cells.append(Cell(row.status, row.status))
        cells.append(Cell("" if row.seconds is None else f"{row.seconds:.2f}", row.seconds))
        if has_reasons:
            cells.append(Cell(row.reason, row.reason or None))
        rows.append(tuple(cells))
    return Grid(tuple(columns), tuple(rows))


def _study_column(column: Column) -> GridColumn:
    part = Part.AXIS if column.role is Role.AXIS else Part.METRIC
    return GridColumn(column.name, _study_heading(column), _study_quantity(column), part)


def _study_heading(column: Column) -> str:
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


def _study_quantity(column: Column) -> Quantity:
    if not column.is_number:
        return Quantity.TEXT
    if column.unit in _BY_UNIT:
        return _BY_UNIT[column.unit]
    if column.field in ("gap", "gap_any") or column.field.endswith("utilization"):
        return Quantity.SHARE
    return Quantity.COUNT if column.field in ("chunks", "num_chunks") else Quantity.NUMBER


def _study_text(column: Column, value: Value) -> str:
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
    if column.field in ("speedup", "speedup_over_others"):
        return format_speedup(value)
    return str(value) if isinstance(value, int) else f"{value:.5g}"
