"""The schedule a solver starts from, and falls back to."""

from __future__ import annotations

from themis_opt.problem.bound import Sizing
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Schedule
from themis_opt.solving.protocol import SolverParams
from themis_opt.timing.dispatch import dispatch
from themis_opt.timing.policy import DispatchPolicy
from themis_opt.timing.sequencing import timeline_of


def best_hint(instance: Instance, params: SolverParams) -> Schedule:
    """Return the best hint with the instance's number of equal chunks, timed; without one, the baseline."""
    usable = [hint for hint in params.hints if _is_usable(instance, hint)] or [_baseline(instance)]
    timed = [hint.replace(makespan_ps=hint.derived(timeline_of).makespan_ps) for hint in usable]
    return min(timed, key=lambda hint: hint.makespan_ps or 0)


def _is_usable(instance: Instance, schedule: Schedule) -> bool:
    return schedule.num_chunks == instance.num_chunks and schedule.sizing is Sizing.EQUAL


def _baseline(instance: Instance) -> Schedule:
    path = [(phase, k) for phase, order in instance.baseline_order.items() for k in order]
    chunks = tuple(Chunk.along(size, path) for size in instance.equal_chunk_sizes())
    return Schedule(instance, chunks, dispatch(instance, chunks, DispatchPolicy.SCF).sequences)
