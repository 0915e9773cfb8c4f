"""The table of a comparison: every scheduler on every instance, with the figures ``themis-opt compare`` prints."""

from __future__ import annotations

from collections.abc import Sequence

from themis_opt.problem.bound import Bound, BoundKind
from themis_opt.problem.instance import Instance
from themis_opt.problem.units import format_size, format_time, time_column
from themis_opt.questions.comparison import Run
from themis_opt.questions.row import Row
from themis_opt.show.report.grid import GAP_HEADING, Cell, Grid, GridColumn, Part, Quantity, without_constants
from themis_opt.show.words import format_gap, format_speedup
from themis_opt.timing import metrics

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


def _figures(row: Row, makespan: str, bound: str) -> tuple[Cell, ...]:
    instance, makespan_ps = row.schedule.instance, row.makespan_ps
    use = metrics.bw_utilization(instance, makespan_ps)
    busbw_Bps = metrics.busbw_Bps(instance, makespan_ps)
    proof, status = rests_on(row.bound), str(row.schedule.status)
    return (
        Cell(str(row.schedule.num_chunks), row.schedule.num_chunks),
        Cell(makespan, makespan_ps),
        Cell(f"{use:.1%}", use),
        Cell(f"{busbw_Bps / 1e9:.5g}", busbw_Bps),
        Cell(format_speedup(row.speedup), row.speedup),
        Cell(format_gap(row.gap), row.gap),
        Cell(bound, row.bound.value_ps),
        Cell(proof, proof),
        Cell(status, status),
        Cell(f"{row.wall_s:.2f}", row.wall_s),
    )
