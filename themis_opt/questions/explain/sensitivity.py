"""What more bandwidth on a dimension is worth: to a schedule as it stands, and to the best there can be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from themis_opt.problem.bound import Bound, BoundKind
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.solving.bounds import equal_chunks_scope, quick_bounds
from themis_opt.timing.sequencing import simulate

ONE_PERCENT_MORE = Fraction(101, 100)
GIGABYTE_PER_S = Fraction(10**9)


def bandwidth_gains(schedule: Schedule, factor: Fraction = ONE_PERCENT_MORE) -> dict[int, int]:
    """Return by how much a schedule ends earlier [ps] when one dimension's bandwidth is `factor` times as high.

    Orders, sizes and sequences stay as they are; the schedule is simulated anew for each involved dimension.
    """
    instance = schedule.instance
    makespan_ps = simulate(instance, schedule).makespan_ps
    return {k: makespan_ps - _makespan_ps(schedule, [k], factor) for k in instance.involved}


def gain_everywhere_ps(schedule: Schedule, factor: Fraction = ONE_PERCENT_MORE) -> int:
    """Return by how much a schedule ends earlier [ps] when all dimensions' bandwidths are `factor` times as high."""
    instance = schedule.instance
    return simulate(instance, schedule).makespan_ps - _makespan_ps(schedule, instance.involved, factor)


def bandwidth_values(instance: Instance, more_Bps: Fraction = GIGABYTE_PER_S) -> tuple[Bound, dict[int, int]]:
    """Return the fluid bound, and by how much it falls [ps] when one dimension has `more_Bps` more bandwidth.

    That is what no schedule can do without and the best ones come near to: the marginal value of bandwidth. The bound
    is for the instance's number of equal chunks. It is computed anew for each involved dimension; a bound's certificate
    weights (the linear program's duals) give the same to first order.
    """
    bound = _fluid(instance)
    values = {}
    for k in instance.involved:
        richer = _with_bandwidth(instance, k, instance.network.dimensions[k].bandwidth_Bps + more_Bps)
        values[k] = bound.value_ps - _fluid(richer).value_ps
    return bound, values


def _makespan_ps(schedule: Schedule, dimensions: Iterable[int], factor: Fraction) -> int:
    faster = schedule.instance
    for k in dimensions:
        faster = _with_bandwidth(faster, k, faster.network.dimensions[k].bandwidth_Bps * factor)
    return simulate(faster, replace(schedule, instance=faster)).makespan_ps


def _fluid(instance: Instance) -> Bound:
    bounds = quick_bounds(instance, equal_chunks_scope(instance))
    return next(bound for bound in bounds if bound.kind == BoundKind.FLUID)


def _with_bandwidth(instance: Instance, k: int, bandwidth_Bps: Fraction) -> Instance:
    dimensions = list(instance.network.dimensions)
    dimensions[k] = replace(dimensions[k], bandwidth_Bps=bandwidth_Bps)
    return replace(instance, network=replace(instance.network, dimensions=tuple(dimensions)), known=None)
