"""From orders and a queue discipline to a complete schedule."""

from __future__ import annotations

from collections.abc import Sequence

from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Order, Schedule
from themis_opt.timing.dispatch import dispatch
from themis_opt.timing.engine import Engine
from themis_opt.timing.policy import DispatchPolicy
from themis_opt.timing.sequencing import timeline_of


def mirrored_chunk(instance: Instance, size_bytes: int, order: Order) -> Chunk:
    """Return a chunk whose All-Gather order is the reverse of `order` and whose Reduce-Scatter order is `order`.

    Phases the collective does not have are left out; All-to-All ignores `order`.

    Parameters
    ----------
    instance
        The problem.
    size_bytes
        Bytes of the chunk.
    order
        Dimension indices in the order visited.
    """
    backwards = {Phase.ALL_GATHER: order[::-1]}
    return Chunk.along(size_bytes, ((phase, k) for phase in instance.phases for k in backwards.get(phase, order)))


def dispatched(
    instance: Instance,
    chunks: Sequence[Chunk],
    policy: DispatchPolicy,
    scheduler: str,
    seed: int | None = None,
    engine: Engine = Engine.AUTO,
) -> Schedule:
    """Return the schedule that a queue discipline makes of some chunks, with its times.

    Parameters
    ----------
    instance, chunks, policy, engine
        As of `timing.dispatch.dispatch`.
    scheduler, seed
        Who made the orders, for the record.
    """
    result = dispatch(instance, chunks, policy, engine=engine)
    makespan_ps = result.timeline.makespan_ps
    schedule = Schedule(instance, tuple(chunks), result.sequences, makespan_ps, scheduler, seed=seed)
    schedule.keep(timeline_of, result.timeline)
    return schedule
