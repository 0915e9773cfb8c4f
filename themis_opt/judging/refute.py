"""Refuting a bound that rests on somebody's word: a schedule it speaks of that ends earlier is proof enough.

The validator proves fluid and critical-path bounds again and takes the others on trust; it knows no scheduler. What
the shipped heuristics find in a moment needs no trust.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from themis_opt.judging.validator import check
from themis_opt.problem.bound import Bound, BoundScope
from themis_opt.problem.errors import InvalidScheduleError
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Schedule, Status
from themis_opt.problem.violation import Violation, ViolationKind
from themis_opt.schedulers.assembly import dispatched
from themis_opt.schedulers.baseline import chunks_in_index_order
from themis_opt.schedulers.themis import greedy_chunks
from themis_opt.timing.engine import Engine
from themis_opt.timing.policy import DispatchPolicy

HEURISTICS = (
    ("baseline", chunks_in_index_order, DispatchPolicy.FIFO),
    ("themis-fifo", greedy_chunks, DispatchPolicy.FIFO),
    ("themis-scf", greedy_chunks, DispatchPolicy.SCF),
)
MAX_TRIED_CHUNKS = 1024
"""Schedules with more chunks are not tried: judging a file stays a matter of seconds."""


def refutations(schedule: Schedule, *, max_chunks: int = MAX_TRIED_CHUNKS) -> tuple[Violation, ...]:
    """Return the violation of a schedule whose bound a shipped heuristic refutes; nothing when none does.

    Parameters
    ----------
    schedule
        A schedule without violations (`themis_opt.judging.validate`).
    max_chunks
        Schedules with more chunks are not tried.
    """
    bound = schedule.bound
    if bound is None or not bound.is_taken_on_trust:
        return ()
    for witness in _witnesses(schedule, bound, max_chunks):
        ends_ps = witness.makespan_ps
        if ends_ps is None or ends_ps >= bound.value_ps:
            continue
        try:
            check(schedule.instance, witness)
        except InvalidScheduleError:
            continue
        chunks = f"{witness.num_chunks} chunk{'s' if witness.num_chunks != 1 else ''}"
        so = "; so the schedule is not optimal" if schedule.status == Status.OPTIMAL else ""
        message = (
            f"the bound is {bound.value_ps} ps on the word of {bound.kind}, "
            f"but {witness.scheduler} with {chunks} ends at {ends_ps} ps{so}"
        )
        return (Violation(ViolationKind.BOUND, message, expected=ends_ps, found=bound.value_ps),)
    return ()


def _witnesses(schedule: Schedule, bound: Bound, max_chunks: int) -> Iterator[Schedule]:
    """Yield schedules the bound speaks of: the same chunks served otherwise, and the heuristics' equal chunks."""
    instance, scope = schedule.instance, bound.scope
    if schedule.num_chunks <= max_chunks:
        for policy in (DispatchPolicy.FIFO, DispatchPolicy.SCF):
            yield _served(instance, schedule.chunks, policy, f"serving its chunks by {policy}")
    for count in _counts(schedule.num_chunks, scope, max_chunks):
        equal = replace(instance, num_chunks=count, known=None)
        for name, make_chunks, policy in HEURISTICS:
            yield _served(equal, make_chunks(equal), policy, name)


def _counts(own: int, scope: BoundScope, max_chunks: int) -> list[int]:
    """Return numbers of chunks to try: the schedule's, both ends of the scope, and between them twice as many each."""
    counts = {own, scope.min_chunks, scope.max_chunks}
    count = scope.min_chunks
    while (count := 2 * count) < min(scope.max_chunks, max_chunks):
        counts.add(count)
    return [count for count in sorted(counts) if count <= max_chunks]


def _served(instance: Instance, chunks: Sequence[Chunk], policy: DispatchPolicy, name: str) -> Schedule:
    """Return a witness; plain Python makes it in less time than loading the compiled simulator takes."""
    return dispatched(instance, chunks, policy, name, engine=Engine.REFERENCE)


def check_claims(schedule: Schedule, where: str) -> None:
    """Raise unless a schedule is right, and nothing that the heuristics find in a moment ends before its bound.

    Parameters
    ----------
    schedule
        The schedule.
    where
        What stands in front of every violation: the file it is from.

    Raises
    ------
    InvalidScheduleError
        With every violation.
    """
    check(schedule.instance, schedule, where)
    found = refutations(schedule)
    if found:
        raise InvalidScheduleError([replace(violation, message=f"{where}: {violation}") for violation in found])
