"""``themis-opt validate``: the judgement on schedule files, and on what was made of them for others."""

from __future__ import annotations

import click

from themis_opt.cli.exits import FALSE_CLAIM, Exit
from themis_opt.cli.import_remarks import announce
from themis_opt.cli.main import printable
from themis_opt.cli.violations import violation_line
from themis_opt.files.atomic import check_outputs, write_text
from themis_opt.files.instance_file import load_instance
from themis_opt.problem.bound import Bound, BoundKind
from themis_opt.problem.errors import located
from themis_opt.problem.parameters import SEED
from themis_opt.problem.schedule import Status
from themis_opt.questions.validation import Judgement, judge_file, validation_text


@click.command("validate")
@click.argument("schedules", metavar="SCHEDULE|TRACES|XML...", nargs=-1, required=True)
@click.option("--execute", "move_data", is_flag=True, help="Also move data for every NPU and compare the sums.")
@click.option("--instance", metavar="INSTANCE", help="Judge against this instance, not the one in the file.")
@click.option("--seed", type=click.IntRange(SEED.least, SEED.most), default=0, help="For the data of --execute.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the judgements as JSON.")
def command(
    schedules: tuple[str, ...], move_data: bool, instance: str | None, seed: int, json_path: str | None
) -> None:
    """Judge schedule files: rules, times, claims, certificate; with --execute, the data movement too.

    A bound that rests on a solver's word is false, too, when a shipped heuristic ends before it. Exit code 1 when a
    schedule breaks a rule or claims something false, with one line for each violation.

    A folder of execution traces for ASTRA-sim (as export --to astra2 writes it) and an algorithm in MSCCL's XML, by
    whomever, are run on symbols: every rank must end with every contribution exactly once.
    """
    check_outputs((json_path,), schedules if instance is None else (*schedules, instance))
    problem = None
    if instance is not None:
        with located("--instance"):
            problem = load_instance(instance, announce)
    judgements = []
    for path in schedules:
        judgement = judge_file(path, problem, instance or "", seed if move_data else None)
        judgements.append(judgement)
        if json_path != "-":
            for line in _lines(judgement):
                click.echo(printable(line))
    if json_path is not None:
        write_text(json_path, validation_text(judgements))
    # The others have been judged all the same; the first such error is told at the end.
    for judgement in judgements:
        if judgement.error is not None:
            raise judgement.error
    if any(judgement.is_false for judgement in judgements):
        raise Exit(FALSE_CLAIM)


def _lines(judgement: Judgement) -> list[str]:
    path, schedule, verdict = judgement.path, judgement.schedule, judgement.verdict
    if verdict is not None:
        return [f"{path}: {finding}" for finding in verdict.findings] or [f"{path}: valid: {verdict.summary}"]
    if schedule is None:
        return []
    if judgement.violations:
        return [violation_line(path, violation) for violation in judgement.violations]
    chunks = f"{schedule.num_chunks} chunk{'s' if schedule.num_chunks != 1 else ''}"
    claim = "no claimed makespan" if schedule.makespan_ps is None else f"makespan {schedule.makespan_ps} ps"
    bound = "" if schedule.bound is None else _bound_text(schedule.bound, judgement.proven_ps or 0, schedule.status)
    moved = judgement.num_executed_npus
    executed = "" if moved is None else f", {moved} NPUs executed to the exact result"
    return [f"{path}: valid: {chunks}, {claim}{bound}{executed}"]


def _bound_text(bound: Bound, proven_ps: int, status: Status) -> str:
    """Return a bound and a claim of optimality, and on whose word they rest where they cannot be proved again."""
    optimal = ", optimal" if status is Status.OPTIMAL else ""
    if proven_ps == bound.value_ps:
        return f", bound {bound.value_ps} ps{optimal}"
    unknown = "" if bound.kind in list(BoundKind) else ", a kind unknown here"
    if optimal:
        optimal += " on the same word"
    return f", bound {bound.value_ps} ps on the word of {bound.kind}{unknown} (re-proved: {proven_ps} ps){optimal}"
