"""``themis-opt export --to msccl-xml``: an algorithm for MSCCL's executors, and the rule under which they use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from themis_opt.cli.verb_export import ExportOptions

OPTIONS = {"in_place"}
TAKES_SEVERAL = False


def export(schedules: tuple[str, ...], output: str, options: ExportOptions) -> None:
    """Write the schedule as MSCCL XML, in place unless told otherwise; it has been run on symbols before.

    Raises
    ------
    InputError
        When it cannot be read, expressed or written.
    InvalidScheduleError
        When it breaks a rule or claims something false.
    """
    from themis_opt.cli.exporting import read_valid_schedule
    from themis_opt.cli.main import printable
    from themis_opt.export.msccl.judge.xml_judge import interpret_text
    from themis_opt.export.msccl.write.lowering import lower
    from themis_opt.export.msccl.write.usage import command_lines, usage_rule
    from themis_opt.export.msccl.write.writing import xml_text
    from themis_opt.files.atomic import write_text
    from themis_opt.problem.errors import InputError

    (path,) = schedules
    schedule = read_valid_schedule(path)
    try:
        algo = lower(schedule, in_place=options.in_place is not False)
    except InputError as error:
        raise error.at(path) from None
    rule = usage_rule(algo, schedule.instance)
    examples = command_lines(algo, schedule.instance, "FILE" if output == "-" else output)
    text = xml_text(algo, (*rule, *command_lines(algo, schedule.instance, "FILE")))
    verdict = interpret_text(text, output)
    if not verdict.is_right:
        raise RuntimeError(f"the algorithm made of {path} is wrong, please report it: {verdict.findings[0]}")
    write_text(output, text)
    for line in (f"{output}: {verdict.summary}", *rule, "Try it with nccl-tests:", *examples):
        click.echo(printable(line), err=output == "-")
