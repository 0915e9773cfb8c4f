"""``themis-opt certify``: what a schedule file states, proven again from the file alone, and why none can be faster."""

from __future__ import annotations

import json

import click

from themis_opt.cli.exits import FALSE_CLAIM, Exit


@click.command("certify")
@click.argument("schedules", metavar="SCHEDULE...", nargs=-1, required=True)
@click.option("--json", "json_path", metavar="FILE|-", help="Write everything as JSON.")
def command(schedules: tuple[str, ...], json_path: str | None) -> None:
    """Prove makespan and bound of schedule files again, in exact arithmetic and without a solver.

    Says which part of a bound the certificate proves and which rests on a solver's word, and why no schedule in the
    bound's scope can be faster. Exit code 1 when anything stated is false, with one line for each violation.
    """
    from themis_opt.certifying import certification_document, certify, summary_lines, why_lines
    from themis_opt.formats.atomic import check_writable, write_text
    from themis_opt.formats.schedule_file import load_schedule

    if json_path is not None:
        check_writable(json_path)
    loaded = [(path, load_schedule(path)) for path in schedules]
    results = [(path, certify(schedule)) for path, schedule in loaded]
    if json_path is not None:
        document = {
            "format": "themis-opt/certification/1",
            "schedules": [{"file": path, **certification_document(result)} for path, result in results],
        }
        write_text(json_path, json.dumps(document, indent=1) + "\n")
    if json_path != "-":
        for path, result in results:
            for violation in result.violations:
                click.echo(f"{path}: {violation.rule}: {violation}")
            if result.violations:
                continue
            for line in summary_lines(result):
                click.echo(f"{path}: {line}")
            for line in why_lines(result):
                click.echo(line)
    if any(result.violations for _, result in results):
        raise Exit(FALSE_CLAIM)
