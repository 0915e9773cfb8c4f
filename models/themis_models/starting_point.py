"""The schedule an exact solver starts from: it is there before the first second is spent, and gives the horizon."""

from __future__ import annotations

from collections.abc import Iterator

from themis_opt.schedule import Schedule

from themis_opt.bound import Bound, Sizing
from themis_opt.cost import CostModel
from themis_opt.instance import Instance
from themis_opt.schedulers.assembly import dispatched, mirrored_chunk
from themis_opt.simulator import DispatchPolicy, simulate
from themis_opt.solving.protocol import SolverParams


def starting_schedule(instance: Instance, params: SolverParams, costs: CostModel | None = None) -> Schedule:
    """Return the best of the hints with the instance's equal chunks, or of plain dispatches if there is no such hint.

    Parameters
    ----------
    instance
        The problem.
    params
        Its hints are looked at; each one's makespan is simulated anew.
    costs
        A cost model of the instance to share remembered costs with.
    """
    costs = costs or CostModel(instance)
    usable = [hint for hint in params.hints if is_equal_chunks(instance, hint)]
    timed = [
        schedule.replace(makespan_ps=simulate(instance, schedule, model=costs).makespan_ps)
        for schedule in usable or _plain_dispatches(instance)
    ]
    return min(timed, key=lambda schedule: schedule.makespan_ps or 0)


def is_equal_chunks(instance: Instance, schedule: Schedule) -> bool:
    """Return whether a schedule has exactly the instance's number of equal chunks."""
    return schedule.num_chunks == instance.num_chunks and schedule.sizing is Sizing.EQUAL


def bound_given_ps(instance: Instance, params: SolverParams) -> int:
    """Return the bound that is already proven for the instance's equal chunks, in picoseconds; 0 when there is none."""
    bound = params.bound
    return bound.value_ps if bound is not None and covers(bound, instance) else 0


def covers(bound: Bound, instance: Instance) -> bool:
    """Return whether a bound speaks of every schedule with the instance's number of equal chunks.

    Equal chunks are a way of choosing sizes, so a bound for free sizes covers them.
    """
    return bound.scope.min_chunks <= instance.num_chunks <= bound.scope.max_chunks


def _plain_dispatches(instance: Instance) -> Iterator[Schedule]:
    """Yield the baseline's and the reversed baseline's orders under the two queue disciplines of the paper."""
    for order in (instance.involved, instance.involved[::-1]):
        chunks = [mirrored_chunk(instance, size, order) for size in instance.equal_chunk_sizes()]
        for policy in (DispatchPolicy.FIFO, DispatchPolicy.SCF):
            yield dispatched(instance, chunks, policy, policy)
