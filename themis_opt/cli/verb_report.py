"""``themis-opt report``: a comparison, a schedule or a study as one interactive HTML file."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING

import click

from themis_opt.problem.errors import InputError

if TYPE_CHECKING:
    from themis_opt.problem.schedule import Schedule

_SQLITE = b"SQLite format 3\0"
_COMPARISON = b'"themis-opt/comparison/'
_HEAD_BYTES = 400
"""The line that says what a file is stands near its beginning."""
_LOOKED_AT_BYTES = 10_000
"""In a file of somebody's own, which may begin with remarks."""
_FORMAT = re.compile(r"""^\s*\{?\s*["']?format["']?\s*:\s*["']?themis-opt/([a-z-]{1,20})/""", re.MULTILINE)
_ENDINGS = (".html", ".htm")
_REPORTABLE = (
    "a report is made of a comparison ('themis-opt compare ... --json FILE'), a schedule file, or a study's database "
    "('themis-opt sweep STUDY -o FILE')"
)


@click.command("report")
@click.argument("source", metavar="COMPARISON|SCHEDULE|STUDY")
@click.option("-o", "--output", required=True, metavar="FILE|-", help="The HTML file: ends in .html or .htm.")
def command(source: str, output: str) -> None:
    """Write an interactive report of SOURCE: one HTML file that needs no network.

    \b
    COMPARISON  what 'themis-opt compare ... --json FILE' wrote
    SCHEDULE    a schedule file
    STUDY       the database of 'themis-opt sweep'

    Every schedule is judged first, as 'validate' does it: one that breaks a rule or claims something false gets no
    report but exit code 1. Open the file in any browser of the last years.
    """  # noqa: D301 - click wants the character itself
    from themis_opt.files.atomic import check_outputs, write_text
    from themis_opt.show.report.page import require_packages

    check_outputs((output,), (source,))
    _check_ending(output)
    require_packages()  # what is missing is told before anything is judged
    write_text(output, _report(source))


def _check_ending(output: str) -> None:
    """Raise when a file would not open as what it is.

    Raises
    ------
    InputError
        When its name has another ending than HTML's.
    """
    if output == "-":
        return
    ending = os.path.splitext(output)[1]
    if ending.lower() not in _ENDINGS:
        said = f"ends in {ending!r}" if ending else "has no ending"
        raise InputError(
            f"-o: {output!r} {said}; a report is HTML, and its file ends in {' or '.join(_ENDINGS)} "
            "(a browser can print it as PDF)"
        )


def _report(source: str) -> str:
    from themis_opt.show.report.report import comparison_report, schedule_report, study_report

    head = _head(source)
    if head.startswith(_SQLITE):
        from themis_opt.studies.reading_table import read_table

        return study_report(read_table(source))
    if _COMPARISON in head:
        from themis_opt.questions.comparison_file import read_comparison

        return comparison_report(read_comparison(source))
    return schedule_report(_valid_schedule(source), source)


def _head(source: str, num_bytes: int = _HEAD_BYTES) -> bytes:
    """Return the first bytes of a regular file; nothing of what is none, which its reader tells."""
    if not os.path.isfile(source):
        return b""
    try:
        with open(source, "rb") as file:
            return file.read(num_bytes)
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror}") from None


def _without_report(source: str) -> InputError | None:
    """Return what to do with a file of ours that has no report; ``None`` when it is none."""
    kind = _kind(source)
    if kind is None or kind in ("network", "instance", "schedule"):
        return None
    if kind == "study":
        line = shlex.join(["themis-opt", "sweep", source, "-o", "study.db"])
        return InputError(
            f"{source}: is a study that has yet to be run: {line}; then: themis-opt report study.db -o report.html"
        )
    hint = "; 'themis-opt tune ... --schedules FOLDER' writes its schedules" if kind == "tuning" else ""
    return InputError(f"{source}: its format is themis-opt/{kind}, which has no report; {_REPORTABLE}{hint}")


def _kind(source: str) -> str | None:
    """Return what the format line near the beginning of a file says it is."""
    text = _head(source, _LOOKED_AT_BYTES).decode("utf-8", errors="replace")
    match = _FORMAT.search(text)
    return None if match is None else match[1]


def _valid_schedule(source: str) -> Schedule:
    """Return the schedule in a file, judged as 'validate' does it."""
    from themis_opt.cli.options import read_argument
    from themis_opt.judging.refute import check_claims
    from themis_opt.problem.schedule import Schedule

    try:
        thing = read_argument(source)
    except InputError as error:
        raise _without_report(source) or error from None
    if not isinstance(thing, Schedule):
        raise InputError(
            f"{source}: is an instance or a network, which has no results yet; compare schedulers on it first: "
            f"themis-opt compare {source} --json comparison.json"
        )
    check_claims(thing, source)
    return thing
