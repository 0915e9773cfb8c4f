"""``themis-opt report``: a comparison, a schedule or a study as one interactive HTML file."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from themis_opt.errors import InputError, InvalidScheduleError

if TYPE_CHECKING:
    from themis_opt.schedules import Schedule

_SQLITE = b"SQLite format 3\0"
_COMPARISON = b'"themis-opt/comparison/'
_HEAD_BYTES = 400
"""The line that says what a file is stands near its beginning."""


@click.command("report")
@click.argument("source", metavar="COMPARISON|SCHEDULE|STUDY")
@click.option("-o", "--output", required=True, metavar="FILE|-", help="The HTML file.")
def command(source: str, output: str) -> None:
    """Write an interactive report of SOURCE: one HTML file that needs no network.

    \b
    COMPARISON  what 'themis-opt compare ... --json FILE' wrote
    SCHEDULE    a schedule file
    STUDY       the database of 'themis-opt sweep'

    Every schedule is judged first, as 'validate' does it: one that breaks a rule or claims something false gets no
    report but exit code 1. Open the file in any browser of the last years.
    """  # noqa: D301 - click wants the character itself
    from themis_opt.formats.atomic import check_outputs, write_text
    from themis_opt.reporting.embedding import require_plotly

    check_outputs((output,), (source,))
    require_plotly()  # what is missing is told before anything is judged
    write_text(output, _report(source))


def _report(source: str) -> str:
    from themis_opt.reporting.report import comparison_report, schedule_report, study_report

    head = _head(source)
    if head.startswith(_SQLITE):
        from themis_opt.studies.reading_table import read_table

        return study_report(read_table(source))
    if _COMPARISON in head:
        from themis_opt.comparison_file import read_comparison

        return comparison_report(read_comparison(source))
    return schedule_report(_valid_schedule(source), source)


def _head(source: str) -> bytes:
    """Return the first bytes of a regular file; nothing of what is none, which its reader tells."""
    if not os.path.isfile(source):
        return b""
    try:
        with open(source, "rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror}") from None


def _valid_schedule(source: str) -> Schedule:
    """Return the schedule in a file, judged as 'validate' does it."""
    from themis_opt.cli.options import read_argument
    from themis_opt.cli.violations import violation_line
    from themis_opt.refuting import refutations
    from themis_opt.schedules import Schedule
    from themis_opt.validation import validate

    thing = read_argument(source)
    if not isinstance(thing, Schedule):
        raise InputError(
            f"{source}: is an instance or a network, which has no results yet; compare schedulers on it first: "
            f"themis-opt compare {source} --json comparison.json"
        )
    violations = validate(thing.instance, thing) or refutations(thing)
    if violations:
        told = [replace(violation, message=violation_line(source, violation)) for violation in violations]
        raise InvalidScheduleError(told)
    return thing
