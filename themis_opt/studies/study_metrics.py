"""What a study can measure of a point: makespan, bound, gap, bandwidths, and the use of each dimension."""

from __future__ import annotations

import re
from dataclasses import dataclass

from themis_opt.files.strict import show
from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.errors import InputError

_PER_DIMENSION = re.compile(r"dimensions\[(0|[1-9][0-9]?)\]\.(bytes|busy_ps|utilization)")


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of a point.

    Attributes
    ----------
    name
        Its name and the heading of its column.
    unit
        ``ps``, ``B/s``, ``B`` or nothing.
    is_number
        Whether it is a number.
    more_is_better
        Whether a larger value is a better one; ``None`` where neither is.
    costs_extra
        Whether it takes more than the point's own schedule and bound: it is measured where it is asked for.
    """

    name: str
    unit: str = ""
    is_number: bool = True
    more_is_better: bool | None = None
    costs_extra: bool = False


METRICS = {
    metric.name: metric
    for metric in (
        Metric("makespan_ps", "ps", more_is_better=False),
        Metric("bound_ps", "ps", more_is_better=True),
        Metric("bound_kind", is_number=False),
        Metric("gap", more_is_better=False),
        Metric("percent_of_optimum", more_is_better=True),
        Metric("ideal_ps", "ps", more_is_better=False),
        Metric("bw_utilization", more_is_better=True),
        Metric("algbw_Bps", "B/s", more_is_better=True),
        Metric("busbw_Bps", "B/s", more_is_better=True),
        Metric("speedup", more_is_better=True),
        Metric("speedup_over_others", more_is_better=True, costs_extra=True),
        Metric("num_chunks"),
        Metric("sizing", is_number=False),
        Metric("bound_any_ps", "ps", more_is_better=True),
        Metric("gap_any", more_is_better=False),
        Metric("num_npus"),
        Metric("total_bandwidth_Bps", "B/s", more_is_better=True),
    )
}
DEFAULT_METRICS = ("makespan_ps", "bw_utilization", "gap")


def metric_named(name: object) -> Metric:
    """Return the metric with this name.

    Raises
    ------
    InputError
        When there is none; the message lists those there are, and the nearest.
    """
    if isinstance(name, str):
        if name in METRICS:
            return METRICS[name]
        match = _PER_DIMENSION.fullmatch(name)
        if match is not None:
            unit = {"bytes": "B", "busy_ps": "ps", "utilization": ""}[match[2]]
            return Metric(name, unit, more_is_better=True if match[2] == "utilization" else None, costs_extra=True)
    known = [*METRICS, "dimensions[0].bytes", "dimensions[0].busy_ps", "dimensions[0].utilization"]
    raise InputError(f"unknown metric {show(name)}; known are: {', '.join(known)}{did_you_mean(name, known)}")
