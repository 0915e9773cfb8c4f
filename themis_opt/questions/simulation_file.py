"""The times of one schedule as JSON (``themis-opt/simulation/1``)."""

from __future__ import annotations

from msgspec import Struct

from themis_opt.files.results import ONE_LINE, ResultDocument, result_text
from themis_opt.questions.row import Row


class SimulatedDimension(Struct, kw_only=True):
    """What a dimension does, and when it is idle."""

    bytes: float
    busy_ps: int
    utilization: float
    idle_gaps_ps: tuple[tuple[int, int], ...]


class SimulationDocument(ResultDocument, kw_only=True, tag="themis-opt/simulation/1"):
    """When everything happens; stages are told as chunk, phase, dimension, start and end."""

    scheduler: str
    makespan_ps: int
    per_dimension: list[SimulatedDimension]
    stages: list[tuple[int, str, int, int, int]]


def simulation_text(row: Row) -> str:
    """Return the times of a row's schedule, on one line: it may have a million stages."""
    timeline = row.timeline
    document = SimulationDocument(
        scheduler=row.name,
        makespan_ps=row.makespan_ps,
        per_dimension=[
            SimulatedDimension(
                bytes=use.bytes, busy_ps=use.busy_ps, utilization=use.utilization, idle_gaps_ps=times.idle_gaps
            )
            for use, times in zip(row.dimension_uses, timeline.dimensions, strict=True)
        ],
        stages=[(chunk, str(phase), k, start, end) for chunk, phase, k, start, end in timeline.stages],
    )
    return result_text(document, line=ONE_LINE)
