"""``themis-opt validate``: the judgement on schedule files."""

from __future__ import annotations

import click

from themis_opt.bound import Bound, BoundKind
from themis_opt.cli.exits import FALSE_CLAIM, Exit
from themis_opt.errors import InputError, InvalidScheduleError


@click.command("validate")
@click.argument("schedules", metavar="SCHEDULE...", nargs=-1, required=True)
@click.option("--execute", "move_data", is_flag=True, help="Also move data for every NPU and compare the sums.")
@click.option("--instance", metavar="INSTANCE", help="Judge against this instance, not the one in the file.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, help="For the data of --execute.")
def command(schedules: tuple[str, ...], move_data: bool, instance: str | None, seed: int) -> None:
    """Judge schedule files: rules, times, claims, certificate; with --execute, the data movement too.

    Exit code 1 when a schedule breaks a rule or claims something false, with one line for each violation.
    """
    from themis_opt.comparison import same_problem
    from themis_opt.formats.instance_file import load_instance
    from themis_opt.formats.schedule_file import load_schedule
    from themis_opt.validation import validate

    problem = None if instance is None else load_instance(instance)
    all_good = True
    unreadable: InputError | None = None
    for path in schedules:
        try:
            schedule = load_schedule(path)
        except InputError as error:
            # The others are judged all the same; the first such error is told at the end.
            unreadable = unreadable or error
            continue
        if problem is not None and not same_problem(problem, schedule.instance):
            raise InputError(f"{path}: is a schedule for another instance than {instance}")
        violations = validate(problem or schedule.instance, schedule)
        for violation in violations:
            rule, text = str(violation.rule), str(violation)
            click.echo(f"{path}: {text}" if text.startswith(f"{rule}:") else f"{path}: {rule}: {text}")
        all_good &= not violations
        if violations:
            continue
        executed = ""
        if move_data:
            from themis_opt.execution import execute

            try:
                report = execute(problem or schedule.instance, schedule, seed=seed)
            except InvalidScheduleError as error:
                all_good = False
                click.echo(f"{path}: {error}")
                continue
            executed = f", {report.num_npus} NPUs executed to the exact result"
        bound = "" if schedule.bound is None else _bound_text(schedule.bound)
        claim = "no claimed makespan" if schedule.makespan_ps is None else f"makespan {schedule.makespan_ps} ps"
        click.echo(f"{path}: valid: {schedule.num_chunks} chunks, {claim}{bound}{executed}")
    if unreadable is not None:
        raise unreadable
    if not all_good:
        raise Exit(FALSE_CLAIM)


def _bound_text(bound: Bound) -> str:
    """Return a bound, and on whose word it rests where validation cannot prove it again."""
    if bound.kind in (BoundKind.FLUID, BoundKind.CRITICAL_PATH):
        return f", bound {bound.value_ps} ps"
    certified = "nothing" if bound.certified_ps is None else f"{bound.certified_ps} ps"
    return f", bound {bound.value_ps} ps on the word of {bound.kind} (re-proved: {certified})"
