"""Judging a whole schedule, rule by rule; what a broken rule makes impossible to judge is left out."""

from __future__ import annotations

from dataclasses import replace

from themis_opt.judging import claims, structure
from themis_opt.judging.form import form_violations
from themis_opt.judging.precedence import Precedence, Work, list_works
from themis_opt.judging.stage_times import stage_violations
from themis_opt.problem.errors import DeadlockError, InvalidScheduleError
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.violation import Violation, ViolationKind

NO_STAGES = {ViolationKind.CHUNKS, ViolationKind.SIZE, ViolationKind.ORDER}
"""Broken rules that leave it open which stages there are or what they cost."""


def validate(instance: Instance, schedule: Schedule) -> tuple[Violation, ...]:
    """Return every rule the schedule breaks and every false claim it makes; nothing when it is right.

    Parameters
    ----------
    instance
        The problem. Names, notes and the number of chunks may differ from those the schedule was made for.
    schedule
        Any schedule, however wrong.

    Returns
    -------
    tuple of Violation
        In the order of the rules: form, instance, sizes, orders, sequences, times, claims.
    """
    return tuple(_wrong_problem(instance, schedule) or _judge(instance, schedule))


def check(instance: Instance, schedule: Schedule, where: str = "") -> None:
    """Raise unless the schedule is right (`validate`).

    Parameters
    ----------
    instance
        The problem.
    schedule
        What claims to answer it.
    where
        What stands in front of every violation: the file it is from.

    Raises
    ------
    InvalidScheduleError
        With every violation.
    """
    violations = validate(instance, schedule)
    if violations:
        named = [replace(violation, message=f"{where}: {violation}") for violation in violations]
        raise InvalidScheduleError(named if where else violations)


def runnable_works(instance: Instance, schedule: Schedule) -> list[Work]:
    """Return all stages so that each comes after those it waits for, whatever the schedule claims.

    Raises
    ------
    InvalidScheduleError
        When a rule about sizes, orders or sequences is broken or the schedule deadlocks.
    """
    broken = _wrong_problem(instance, schedule) or _incomplete(instance, schedule)
    if broken:
        raise InvalidScheduleError(broken)
    works = list_works(instance, schedule.chunks)
    try:
        return [works[vertex] for vertex in Precedence(works, schedule.sequences).topological_order()]
    except DeadlockError as error:
        raise InvalidScheduleError([_deadlock(error)]) from None


def _wrong_problem(instance: Instance, schedule: Schedule) -> list[Violation]:
    """Return why this is no schedule at all, or none of this instance."""
    return list(form_violations(schedule)) or list(structure.instance_violations(instance, schedule.instance))


def _incomplete(instance: Instance, schedule: Schedule) -> list[Violation]:
    """Return what is wrong with the sizes, orders and sequences."""
    return [
        *structure.size_violations(instance, schedule.chunks),
        *structure.order_violations(instance, schedule.chunks),
        *structure.sequence_violations(instance, schedule),
    ]


def _deadlock(error: DeadlockError) -> Violation:
    return Violation(ViolationKind.DEADLOCK, str(error), found=error.cycle)


def _judge(instance: Instance, schedule: Schedule) -> list[Violation]:
    """Return the violations of a well-formed schedule of this instance."""
    found = _incomplete(instance, schedule)
    broken = {violation.rule for violation in found}
    works = None if broken & NO_STAGES else list_works(instance, schedule.chunks)
    precedence = None
    earliest_ps = claimed_ps = None
    if ViolationKind.SEQUENCE not in broken:
        found += structure.phase_violations(instance, schedule)
        if works is not None:
            precedence = Precedence(works, schedule.sequences)
            try:
                earliest_ps = precedence.earliest_end_ps()
            except DeadlockError as error:
                found.append(_deadlock(error))
    if works is not None and schedule.stages is not None:
        stages = list(stage_violations(works, precedence, schedule.stages))
        found += stages
        if ViolationKind.STAGES not in {violation.rule for violation in stages}:
            claimed_ps = max(end_ps for *_, end_ps in schedule.stages)

    makespan_ps = earliest_ps if schedule.stages is None else claimed_ps
    if makespan_ps is not None:
        found += claims.makespan_violations(schedule, makespan_ps)
    if earliest_ps is None:
        earliest_ps = schedule.makespan_ps if makespan_ps is None else makespan_ps
    found += claims.bound_violations(instance, schedule, earliest_ps)
    found += claims.status_violations(schedule, makespan_ps)
    return found
