"""What the results of a run claim, held against each other, against the baseline and against the heuristics.

Each schedule may be right by itself and its bound false all the same: another row, or a schedule made in a moment, ends
before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from themis_opt.judging.refute import refutations
from themis_opt.judging.validator import check
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.chunking import Chunking
from themis_opt.problem.errors import InvalidScheduleError
from themis_opt.problem.instance import MAX_CHUNKS, Instance
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.problem.violation import Violation, ViolationKind
from themis_opt.solving.bounds import bounds_by_count, scope_of

LP_TOLERANCE = Fraction(1, 10**6)
"""Another release of the LP solver may find other weights, worth a little more or less."""


@dataclass(frozen=True, slots=True)
class Ending:
    """A schedule that exists: what it is called, what it is an example of, and when it ends [ps]."""

    name: str
    scope: BoundScope
    makespan_ps: int

    def refutes(self, bound: Bound) -> bool:
        """Return whether the bound speaks of it, and it ends before."""
        mine, scope = self.scope, bound.scope
        is_spoken_of = scope.sizes is Sizing.FREE or mine.sizes is Sizing.EQUAL
        is_spoken_of = is_spoken_of and scope.min_chunks <= mine.min_chunks <= scope.max_chunks
        return is_spoken_of and self.makespan_ps < bound.value_ps


def check_claim(schedule: Schedule, endings: Iterable[Ending], where: str) -> None:
    """Raise when a valid schedule's bound is false: another schedule ends before it, or a heuristic's.

    Parameters
    ----------
    schedule
        The schedule with the bound it claims.
    endings
        Schedules known to exist.
    where
        What the message begins with.

    Raises
    ------
    InvalidScheduleError
        Naming what ends before the bound.
    """
    bound = schedule.bound
    if bound is None:
        return
    for ending in endings:
        if ending.refutes(bound):
            message = (
                f"the bound is {bound.value_ps} ps ({bound.kind}) for {bound.scope}, "
                f"but {ending.name} ends at {ending.makespan_ps} ps"
            )
            raise _false(where, ViolationKind.BOUND, message)
    violations = refutations(schedule)
    if violations:
        raise InvalidScheduleError([replace(found, message=f"{where}: {found}") for found in violations])


def checked_bound_any(schedule: Schedule, claimed: Bound, endings: Sequence[Ending], where: str) -> Bound:
    """Return a bound for all numbers of chunks allowed, as far as it could not be shown to be false.

    It is the least of one bound for each number (`solving.bounds.bound_over_counts`) and has no certificate of its own,
    so what takes no solver is worked out again.

    Parameters
    ----------
    schedule
        A valid schedule of the row that claims it.
    claimed
        The bound.
    endings
        Schedules known to exist.
    where
        What the message begins with.

    Raises
    ------
    InvalidScheduleError
        When it is false, or is no bound at all.
    """
    scope = claimed.scope
    if scope.max_chunks > MAX_CHUNKS:
        message = f"a bound for {scope} is claimed; a schedule has at most {MAX_CHUNKS} chunks"
        raise _false(where, ViolationKind.SCOPE, message)
    # Of a kind that is proved again from its certificate there is none here: to the judge it is somebody's word.
    is_provable = claimed.kind in (BoundKind.FLUID, BoundKind.CRITICAL_PATH)
    on_trust = replace(claimed, kind=BoundKind.OTHER) if is_provable else claimed
    claim = schedule.replace(bound=on_trust, status=Status.FEASIBLE)
    check(schedule.instance, claim, where)
    proven = _reproved(schedule.instance, claimed, where) if is_provable else claimed
    check_claim(claim.replace(bound=replace(on_trust, value_ps=proven.value_ps)), endings, where)
    return proven


def ending_of(name: str, schedule: Schedule, makespan_ps: int) -> Ending:
    """Return a schedule that exists as what it refutes is compared with it.

    Parameters
    ----------
    name
        What a message calls it.
    schedule
        The schedule.
    makespan_ps
        When it ends, as timed here.
    """
    return Ending(name, scope_of(schedule), makespan_ps)


def _reproved(instance: Instance, claimed: Bound, where: str) -> Bound:
    """Return the claimed bound, or the little less of it that this machine's LP solver proves."""
    scope = claimed.scope
    # What granules there are does not matter to a bound.
    chunking = Chunking(scope.sizes, scope.min_chunks, scope.max_chunks, granule_bytes=1, min_chunk_bytes=1)
    bounds = bounds_by_count(instance, chunking)
    least_ps = min(bound.value_ps for bound in bounds)
    if claimed.value_ps <= least_ps:
        return claimed
    # Where a solver has raised the bounds for the least numbers, that of another number is the least.
    reachable = [least_ps, *(bound.value_ps for bound in bounds if bound.kind == claimed.kind)]
    for value_ps in reachable:
        if abs(claimed.value_ps - value_ps) <= value_ps * LP_TOLERANCE:
            return replace(claimed, value_ps=min(claimed.value_ps, value_ps))
    message = f"{claimed.value_ps} ps ({claimed.kind}) for {scope} are more than is proven here, {least_ps} ps"
    raise _false(where, ViolationKind.BOUND, message)


def _false(where: str, rule: ViolationKind, message: str) -> InvalidScheduleError:
    return InvalidScheduleError([Violation(rule, f"{where}: {message}")])
