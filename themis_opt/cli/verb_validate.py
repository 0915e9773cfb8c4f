"""``themis-opt validate``: the judgement on schedule files, and on what was made of them for others."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from themis_opt.cli.exits import FALSE_CLAIM, Exit
from themis_opt.cli.violations import violation_line
from themis_opt.problem.bound import Bound, BoundKind
from themis_opt.problem.errors import InputError, InvalidScheduleError
from themis_opt.problem.instance import Instance
from themis_opt.problem.parameters import SEED
from themis_opt.problem.schedule import Schedule, Status

if TYPE_CHECKING:
    from themis_opt.export.verdict import Verdict
    from themis_opt.judging.violation import Violation


@dataclass(frozen=True)
class _Judgement:
    """What became of one file: an error that left it unread, or a schedule and its violations.

    `proven_ps` is the part of a valid schedule's bound that was proved again; `verdict` is an interpreter's, on a file
    that is no schedule.
    """

    path: str
    error: InputError | None = None
    schedule: Schedule | None = None
    violations: tuple[Violation, ...] = ()
    proven_ps: int | None = None
    num_executed_npus: int | None = None
    verdict: Verdict | None = None

    @property
    def is_false(self) -> bool:
        """Whether it could be read, and is wrong."""
        return bool(self.violations) or (self.verdict is not None and not self.verdict.is_right)


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
    from themis_opt.cli.import_remarks import announce
    from themis_opt.cli.main import printable
    from themis_opt.files.atomic import check_outputs, write_text
    from themis_opt.files.instance_file import load_instance

    check_outputs((json_path,), schedules if instance is None else (*schedules, instance))
    problem = None
    if instance is not None:
        try:
            problem = load_instance(instance, announce)
        except InputError as error:
            raise error.at("--instance") from None
    judgements = []
    for path in schedules:
        judgement = _judge(path, problem, instance, seed if move_data else None)
        judgements.append(judgement)
        if json_path != "-":
            for line in _lines(judgement):
                click.echo(printable(line))
    if json_path is not None:
        document = {"format": "themis-opt/validation/1", "schedules": [_document(entry) for entry in judgements]}
        write_text(json_path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    # The others have been judged all the same; the first such error is told at the end.
    for judgement in judgements:
        if judgement.error is not None:
            raise judgement.error
    if any(judgement.is_false for judgement in judgements):
        raise Exit(FALSE_CLAIM)


def _judge(path: str, problem: Instance | None, named: str | None, seed: int | None) -> _Judgement:
    """Return the judgement on one file; with a seed, data is moved too."""
    from themis_opt.export.judges import interpret
    from themis_opt.files.schedule_file import load_schedule
    from themis_opt.judging.validator import validate
    from themis_opt.problem.differences import first_difference, same_problem

    try:
        verdict = interpret(path)
        if verdict is not None:
            if problem is not None or seed is not None:
                raise InputError(f"{path}: is no schedule file; --instance and --execute are for schedules alone")
            return _Judgement(path, verdict=verdict)
        schedule = load_schedule(path)
        if problem is not None and not same_problem(problem, schedule.instance):
            difference = first_difference(schedule.instance, [problem])
            raise InputError(f"{path}: is a schedule for another instance than {named} ({difference})")
    except InputError as error:
        return _Judgement(path, error)
    instance = problem or schedule.instance
    violations = validate(instance, schedule)
    proven_ps = None
    if not violations and schedule.bound is not None:
        proven_ps = _proven_ps(instance, schedule.bound)
        if proven_ps < schedule.bound.value_ps:
            from themis_opt.judging.refute import refutations

            violations = refutations(schedule)
    num_executed_npus = None
    if seed is not None and not violations:
        from themis_opt.judging.execution import execute

        try:
            num_executed_npus = execute(instance, schedule, seed=seed).num_npus
        except InvalidScheduleError as error:
            violations = error.violations
    return _Judgement(path, None, schedule, violations, proven_ps, num_executed_npus)


def _proven_ps(instance: Instance, bound: Bound) -> int:
    """Return how much of a valid bound needs nobody's word: by its certificate or the critical path of one chunk."""
    from themis_opt.proof.critical_path import critical_path_bound

    if not bound.is_taken_on_trust:
        return bound.value_ps
    by_path_ps = critical_path_bound(instance, bound.scope).value_ps
    return min(bound.value_ps, max(bound.certified_ps or 0, by_path_ps))


def _lines(judgement: _Judgement) -> list[str]:
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


def _document(judgement: _Judgement) -> dict[str, Any]:
    """Return a judgement as plain data; what is not known of a file that could not be read is null."""
    schedule = judgement.schedule
    bound = None if schedule is None else schedule.bound
    return {
        "file": judgement.path,
        "valid": judgement.error is None and not judgement.is_false,
        "error": None if judgement.error is None else str(judgement.error),
        "violations": [
            {
                "rule": str(violation.rule),
                "message": str(violation),
                "chunk": violation.chunk,
                "phase": violation.phase,
                "dimension": violation.dimension,
            }
            for violation in judgement.violations
        ],
        "findings": [
            {"message": str(finding), "rank": finding.rank, "chunk": finding.chunk, "step": finding.step}
            for finding in (judgement.verdict.findings if judgement.verdict is not None else ())
        ],
        "summary": None if judgement.verdict is None else judgement.verdict.summary,
        "num_chunks": None if schedule is None else schedule.num_chunks,
        "makespan_ps": None if schedule is None else schedule.makespan_ps,
        "status": None if schedule is None else str(schedule.status),
        "bound_ps": None if bound is None else bound.value_ps,
        "bound_kind": None if bound is None else str(bound.kind),
        "certified_bound_ps": None if bound is None else bound.certified_ps,
        "proven_ps": judgement.proven_ps,
        "num_executed_npus": judgement.num_executed_npus,
    }
