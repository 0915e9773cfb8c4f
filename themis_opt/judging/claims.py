"""What a schedule states about its quality: makespan, bound, certificate, optimality."""

from __future__ import annotations

from collections.abc import Iterator

from themis_opt.problem.bound import Bound, BoundKind, Sizing
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.problem.violation import Violation, ViolationKind
from themis_opt.proof.certificate import certified_bound_ps, check_weights
from themis_opt.proof.critical_path import critical_path_bound

MAX_COUNTS_REPROVED = 10_000
"""A bound over more numbers of equal chunks is not re-proved: each number takes a shortest path of its own."""


def makespan_violations(schedule: Schedule, makespan_ps: int) -> Iterator[Violation]:
    """Yield a claimed makespan that is not `makespan_ps`, the true one."""
    if schedule.makespan_ps is not None and schedule.makespan_ps != makespan_ps:
        message = f"the claimed makespan is {schedule.makespan_ps} ps; the schedule ends at {makespan_ps} ps"
        yield Violation(ViolationKind.MAKESPAN, message, expected=makespan_ps, found=schedule.makespan_ps)


def status_violations(schedule: Schedule, makespan_ps: int | None) -> Iterator[Violation]:
    """Yield a claim of optimality that no bound equal to the makespan supports."""
    if schedule.status != Status.OPTIMAL:
        return
    if schedule.bound is None:
        yield Violation(ViolationKind.STATUS, "the status is optimal, and there is no bound that says so")
    elif makespan_ps is not None and makespan_ps != schedule.bound.value_ps:
        value_ps = schedule.bound.value_ps
        message = f"the status is optimal, but the makespan is {makespan_ps} ps and the bound {value_ps} ps"
        yield Violation(ViolationKind.STATUS, message, expected=value_ps, found=makespan_ps)


def bound_violations(instance: Instance, schedule: Schedule, earliest_ps: int | None) -> Iterator[Violation]:
    """Yield everything false about the claimed bound.

    Parameters
    ----------
    instance
        The problem.
    schedule
        What makes the claim.
    earliest_ps
        When the schedule can end at the earliest, as far as that is known: a bound may not lie above it even if the
        schedule's stages are claimed to run later.
    """
    bound = schedule.bound
    if bound is None:
        return
    if bound.value_ps < 0:
        message = f"the bound is {bound.value_ps} ps; a time is at least 0 ps"
        yield Violation(ViolationKind.BOUND, message, expected=0, found=bound.value_ps)
    out_of_scope = list(_scope_violations(instance, schedule, bound))
    yield from out_of_scope
    if not out_of_scope and earliest_ps is not None and bound.value_ps > earliest_ps:
        message = f"the bound is {bound.value_ps} ps, but the schedule ends at {earliest_ps} ps"
        yield Violation(ViolationKind.BOUND, message, expected=earliest_ps, found=bound.value_ps)
    yield from _kind_violations(bound)
    yield from _certificate_violations(instance, bound)
    if _has_range(instance, bound):
        yield from _proof_violations(instance, bound)


def _has_range(instance: Instance, bound: Bound) -> bool:
    return 1 <= bound.scope.min_chunks <= bound.scope.max_chunks <= instance.size_bytes


def _scope_violations(instance: Instance, schedule: Schedule, bound: Bound) -> Iterator[Violation]:
    """Yield why the bound's scope is empty or does not include this schedule."""
    scope = bound.scope
    claimed = (scope.min_chunks, scope.max_chunks)
    if not _has_range(instance, bound):
        message = (
            f"bound_scope.num_chunks is {list(claimed)}; "
            f"it must be a range within 1 to {instance.size_bytes} (one byte per chunk)"
        )
        yield Violation(ViolationKind.SCOPE, message, expected=(1, instance.size_bytes), found=claimed)
    elif not scope.min_chunks <= schedule.num_chunks <= scope.max_chunks:
        message = f"the bound holds for {scope}; the schedule has {schedule.num_chunks} chunks"
        yield Violation(ViolationKind.SCOPE, message, expected=claimed, found=schedule.num_chunks)
    if scope.sizes == Sizing.EQUAL and schedule.sizing is Sizing.FREE:
        message = f"the bound holds for {scope}; the schedule's {schedule.num_chunks} chunks are not of equal size"
        yield Violation(ViolationKind.SCOPE, message, expected=Sizing.EQUAL, found=Sizing.FREE)


def _kind_violations(bound: Bound) -> Iterator[Violation]:
    """Yield what contradicts the bound's kind."""
    if bound.certified_ps is not None and bound.certified_ps > bound.value_ps:
        message = f"the certified bound is {bound.certified_ps} ps, above the bound of {bound.value_ps} ps"
        yield Violation(ViolationKind.CERTIFIED_BOUND, message, expected=bound.value_ps, found=bound.certified_ps)
    if bound.certified_ps is not None and bound.certified_ps < 0:
        message = f"the certified bound is {bound.certified_ps} ps; a time is at least 0 ps"
        yield Violation(ViolationKind.CERTIFIED_BOUND, message, expected=0, found=bound.certified_ps)
    if bound.certified_ps is None and bound.certificate is not None:
        message = "there is a certificate, and no certified bound that says what it proves"
        yield Violation(ViolationKind.CERTIFIED_BOUND, message)
    if bound.certified_ps is not None and bound.certificate is None:
        message = f"the certified bound is {bound.certified_ps} ps, and there is no certificate"
        yield Violation(ViolationKind.CERTIFICATE, message, found=bound.certified_ps)
    if bound.kind != BoundKind.FLUID:
        return
    if bound.certificate is None:
        message = f"the bound of {bound.value_ps} ps is fluid, and there is no certificate"
        yield Violation(ViolationKind.CERTIFICATE, message, found=bound.value_ps)
    if bound.certified_ps != bound.value_ps:
        message = f"the bound of {bound.value_ps} ps is fluid, but the certified bound is {bound.certified_ps} ps"
        yield Violation(ViolationKind.BOUND, message, expected=bound.certified_ps, found=bound.value_ps)


def _certificate_violations(instance: Instance, bound: Bound) -> Iterator[Violation]:
    """Yield weights that are no certificate."""
    if bound.certificate is None:
        return
    try:
        check_weights(instance, bound.certificate)
    except InputError as error:
        yield Violation(ViolationKind.CERTIFICATE, str(error), found=tuple(bound.certificate))


def _proof_violations(instance: Instance, bound: Bound) -> Iterator[Violation]:
    """Yield a certified bound above what its certificate proves, and a critical-path bound above the critical path."""
    if bound.kind == BoundKind.CRITICAL_PATH:
        proven_ps = critical_path_bound(instance, bound.scope).value_ps
        if bound.value_ps > proven_ps:
            message = f"the critical-path bound is {bound.value_ps} ps; the critical path takes {proven_ps} ps"
            yield Violation(ViolationKind.BOUND, message, expected=proven_ps, found=bound.value_ps)
    if bound.certificate is None or bound.certified_ps is None or any(_certificate_violations(instance, bound)):
        return
    num_counts = bound.scope.max_chunks - bound.scope.min_chunks + 1
    if bound.scope.sizes == Sizing.EQUAL and num_counts > MAX_COUNTS_REPROVED:
        message = (
            f"the certificate is claimed for {num_counts} numbers of equal chunks; "
            f"at most {MAX_COUNTS_REPROVED} are re-proved"
        )
        yield Violation(ViolationKind.SCOPE, message, expected=MAX_COUNTS_REPROVED, found=num_counts)
        return
    proven_ps = certified_bound_ps(instance, bound.certificate, bound.scope)
    if bound.certified_ps > proven_ps:
        message = f"the certified bound is {bound.certified_ps} ps; the certificate proves {proven_ps} ps"
        yield Violation(ViolationKind.CERTIFIED_BOUND, message, expected=proven_ps, found=bound.certified_ps)
