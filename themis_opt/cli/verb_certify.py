"""``themis-opt certify``: what a schedule file states, proven again from the file alone, and why none can be faster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from themis_opt.cli.exits import FALSE_CLAIM, Exit
from themis_opt.cli.main import printable
from themis_opt.cli.violations import violation_line

if TYPE_CHECKING:
    from themis_opt.judging.certify import Certification
    from themis_opt.problem.schedule import Schedule

MAX_TRIED_CHUNKS = 256
"""A bound taken on trust is not tried against heuristics with more chunks: this verb takes less than a second."""


@click.command("certify")
@click.argument("schedules", metavar="SCHEDULE...", nargs=-1, required=True)
@click.option("--json", "json_path", metavar="FILE|-", help="Write everything as JSON.")
def command(schedules: tuple[str, ...], json_path: str | None) -> None:
    """Prove makespan and bound of schedule files again, in exact arithmetic and without a solver.

    Says which part of a bound the certificate proves and which rests on a solver's word, and why no schedule in the
    bound's scope can be faster. What rests on a solver's word is false, too, when a shipped heuristic ends before it.
    Exit code 1 when anything stated is false, with one line for each violation.
    """
    from themis_opt.files.atomic import check_outputs, write_text
    from themis_opt.files.schedule_file import load_schedule
    from themis_opt.judging.certify import summary_lines, why_lines
    from themis_opt.questions.certification_file import certification_text

    check_outputs((json_path,), schedules)
    loaded = [(path, load_schedule(path)) for path in schedules]
    results = [(path, _certify(schedule)) for path, schedule in loaded]
    if json_path is not None:
        write_text(json_path, certification_text(results))
    if json_path != "-":
        for path, result in results:
            for violation in result.violations:
                click.echo(printable(violation_line(path, violation)))
            if result.violations:
                continue
            for line in summary_lines(result):
                click.echo(printable(f"{path}: {line}"))
            if result.trusted_ps and result.schedule.num_chunks > MAX_TRIED_CHUNKS:
                click.echo(printable(f"{path}: not tried against heuristics, with more than {MAX_TRIED_CHUNKS} chunks"))
            for line in why_lines(result):
                click.echo(printable(line))
    if any(result.violations for _, result in results):
        raise Exit(FALSE_CLAIM)


def _certify(schedule: Schedule) -> Certification:
    """Return what is proven, and what a heuristic refutes of that which rests on somebody's word."""
    from themis_opt.judging.certify import certify

    result = certify(schedule)
    if result.violations or not result.trusted_ps:
        return result
    from themis_opt.judging.refute import refutations

    violations = refutations(schedule, max_chunks=MAX_TRIED_CHUNKS)
    return replace(result, violations=violations) if violations else result
