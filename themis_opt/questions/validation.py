"""Judging files one by one: schedules, and what was made of them for others; as JSON ``themis-opt/validation/1``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from msgspec import Struct

from themis_opt.export.judges import interpret
from themis_opt.export.verdict import Verdict
from themis_opt.files.results import ResultDocument, result_text
from themis_opt.files.schedule_file import load_schedule
from themis_opt.judging.execution import execute
from themis_opt.judging.refute import refutations
from themis_opt.judging.validator import validate
from themis_opt.problem.bound import Bound
from themis_opt.problem.differences import first_difference, same_problem
from themis_opt.problem.errors import InputError, InvalidScheduleError
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.violation import Violation
from themis_opt.proof.critical_path import critical_path_bound


@dataclass(frozen=True)
class Judgement:
    """What became of one file: an error that left it unread, a schedule and its violations, or another's verdict.

    Attributes
    ----------
    path
        The file, or the folder.
    error
        Why it could not be read, or is nothing to judge here.
    schedule
        What was read.
    violations
        Every rule it breaks and everything false that it states.
    proven_ps
        The part of a valid schedule's bound that was proved again [ps].
    num_executed_npus
        How many NPUs' data were moved, if that was asked for.
    verdict
        An interpreter's, on a file that is no schedule.
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


def judge_file(path: str, problem: Instance | None = None, named: str = "", seed: int | None = None) -> Judgement:
    """Return the judgement on one file; what cannot be read is part of it, and no exception.

    Parameters
    ----------
    path
        A schedule file, a folder of execution traces, or an algorithm in MSCCL's XML.
    problem
        The instance it must be for; default: its own.
    named
        What the user calls that instance.
    seed
        With one, data is moved for every NPU, too.
    """
    try:
        verdict = interpret(path)
        if verdict is not None:
            if problem is not None or seed is not None:
                raise InputError(f"{path}: is no schedule file; --instance and --execute are for schedules alone")
            return Judgement(path, verdict=verdict)
        schedule = load_schedule(path)
        if problem is not None and not same_problem(problem, schedule.instance):
            difference = first_difference(schedule.instance, [problem])
            raise InputError(f"{path}: is a schedule for another instance than {named} ({difference})")
    except InputError as error:
        return Judgement(path, error)
    instance = problem or schedule.instance
    violations = validate(instance, schedule)
    proven_ps = None
    if not violations and schedule.bound is not None:
        proven_ps = _proven_ps(instance, schedule.bound)
        # What rests on somebody's word is false where a heuristic ends before it.
        violations = refutations(schedule) if proven_ps < schedule.bound.value_ps else ()
    num_executed_npus = None
    if seed is not None and not violations:
        try:
            num_executed_npus = execute(instance, schedule, seed=seed).num_npus
        except InvalidScheduleError as error:
            violations = error.violations
    return Judgement(path, None, schedule, violations, proven_ps, num_executed_npus)


def _proven_ps(instance: Instance, bound: Bound) -> int:
    """Return how much of a valid bound needs nobody's word: by its certificate or the critical path of one chunk."""
    if not bound.is_taken_on_trust:
        return bound.value_ps
    by_path_ps = critical_path_bound(instance, bound.scope).value_ps
    return min(bound.value_ps, max(bound.certified_ps or 0, by_path_ps))


class FoundViolation(Struct, kw_only=True):
    """A rule that is broken, and where."""

    rule: str
    message: str
    chunk: int | None
    phase: str | None
    dimension: int | None


class InterpretersFinding(Struct, kw_only=True):
    """What is wrong with a file that is no schedule, and where."""

    message: str
    rank: int | None
    chunk: int | None
    step: int | None


class JudgedFile(Struct, kw_only=True):
    """One file; what is not known of one that could not be read is null."""

    file: str
    valid: bool
    error: str | None
    violations: list[FoundViolation]
    findings: list[InterpretersFinding]
    summary: str | None
    num_chunks: int | None
    makespan_ps: int | None
    status: str | None
    bound_ps: int | None
    bound_kind: str | None
    certified_bound_ps: int | None
    proven_ps: int | None
    num_executed_npus: int | None


class ValidationDocument(ResultDocument, kw_only=True, tag="themis-opt/validation/1"):
    """What `validate` says of each file."""

    schedules: list[JudgedFile]


def validation_text(judgements: Iterable[Judgement]) -> str:
    """Return judgements as JSON."""
    return result_text(ValidationDocument(schedules=[_file(judgement) for judgement in judgements]))


def _file(judgement: Judgement) -> JudgedFile:
    schedule, verdict = judgement.schedule, judgement.verdict
    bound = None if schedule is None else schedule.bound
    return JudgedFile(
        file=judgement.path,
        valid=judgement.error is None and not judgement.is_false,
        error=None if judgement.error is None else str(judgement.error),
        violations=[
            FoundViolation(
                rule=str(found.rule),
                message=str(found),
                chunk=found.chunk,
                phase=found.phase,
                dimension=found.dimension,
            )
            for found in judgement.violations
        ],
        findings=[
            InterpretersFinding(message=str(found), rank=found.rank, chunk=found.chunk, step=found.step)
            for found in (() if verdict is None else verdict.findings)
        ],
        summary=None if verdict is None else verdict.summary,
        num_chunks=None if schedule is None else schedule.num_chunks,
        makespan_ps=None if schedule is None else schedule.makespan_ps,
        status=None if schedule is None else str(schedule.status),
        bound_ps=None if bound is None else bound.value_ps,
        bound_kind=None if bound is None else str(bound.kind),
        certified_bound_ps=None if bound is None else bound.certified_ps,
        proven_ps=judgement.proven_ps,
        num_executed_npus=judgement.num_executed_npus,
    )
