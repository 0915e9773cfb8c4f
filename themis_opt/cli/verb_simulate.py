"""``themis-opt simulate``: when everything happens, in a schedule or under a scheduler."""

from __future__ import annotations

from typing import Any

import click

from themis_opt.cli.options import instance_options, overrides_from, read_argument, require_fixed_count
from themis_opt.problem.parameters import SEED

_DEFAULT = "themis-scf"


@click.command("simulate")
@click.argument("argument", metavar="SCHEDULE|INSTANCE")
@instance_options
@click.option("--scheduler", help="For an instance: the scheduler to run.")
@click.option("--seed", type=click.IntRange(SEED.least, SEED.most), default=0, show_default=True)
@click.option("--stages", is_flag=True, help="Also list start and end of every stage.")
@click.option("-o", "--output", metavar="FILE|-", help="Write the schedule, times of all stages included.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the figures as JSON.")
def command(
    argument: str,
    scheduler: str | None,
    seed: int,
    stages: bool,
    output: str | None,
    json_path: str | None,
    **options: Any,
) -> None:
    """Time a schedule file, or a scheduler (default themis-scf) on an instance.

    The times are those of the timing rule; whether what a schedule file claims is true is the matter of 'validate'.
    """
    from dataclasses import replace

    from themis_opt.files.atomic import check_outputs, saving, write_text
    from themis_opt.files.schedule_file import schedule_text
    from themis_opt.problem.errors import DeadlockError, InputError
    from themis_opt.problem.schedule import Schedule
    from themis_opt.questions.row import Row
    from themis_opt.questions.simulation_file import simulation_text
    from themis_opt.schedulers.registry import SCHEDULERS
    from themis_opt.solving.api import schedule as make_schedule
    from themis_opt.timing.sequencing import timeline_of

    overrides = overrides_from(options)
    check_outputs((output, json_path), (argument,))
    thing = read_argument(argument)
    if isinstance(thing, Schedule):
        if scheduler is not None or overrides != type(overrides)():
            raise InputError(
                f"{argument}: is a schedule; --scheduler and the options of an instance do not apply to it"
            )
        schedule = thing
    else:
        require_fixed_count(overrides)
        chosen = _DEFAULT if scheduler is None else scheduler
        try:
            SCHEDULERS.require(chosen)
        except InputError as error:
            raise error.at("--scheduler") from None
        schedule = make_schedule(overrides.apply_to_one(thing, argument), chosen, seed=seed)
    try:
        timeline = schedule.derived(timeline_of)
    except InputError as error:
        raise error.at(argument) from None
    except DeadlockError as error:
        error.args = (f"{argument}: {error}",)
        raise
    timed = replace(schedule, stages=timeline.stages, makespan_ps=timeline.makespan_ps)
    row = Row(schedule.scheduler or argument, schedule, timeline.makespan_ps, 0.0)
    with saving() as save:
        save(output, lambda path: write_text(path, schedule_text(timed)))
        save(json_path, lambda path: write_text(path, simulation_text(row)))
        if "-" not in (output, json_path):
            _print(row, schedule.makespan_ps, stages)


def _print(row: Any, claimed_ps: int | None, stages: bool) -> None:
    from themis_opt.cli.tables import console, dimension_table, make_table
    from themis_opt.cli.wrapping import print_sentence
    from themis_opt.problem.units import format_time
    from themis_opt.show.words import count_chunks, title
    from themis_opt.timing import metrics

    out = console()
    instance = row.schedule.instance
    print_sentence(out, title(instance, count_chunks(row.schedule.num_chunks)), style="bold")
    use = metrics.bw_utilization(instance, row.makespan_ps)
    out.print(f"{row.name}: makespan {format_time(row.makespan_ps)}, BW use {use:.1%}", soft_wrap=True)
    if claimed_ps is not None and claimed_ps != row.makespan_ps:
        out.print(f"the file claims {claimed_ps} ps, the timing rule gives {row.makespan_ps} ps; see 'validate'")
    out.print()
    out.print(dimension_table(row))
    if stages:
        table = make_table(
            [("chunk", "right"), ("phase", "left"), ("dim", "left"), ("start", "right"), ("end", "right")]
        )
        for chunk, phase, k, start, end in row.timeline.stages:
            table.add_row(str(chunk), str(phase), f"dim{k + 1}", f"{start} ps", f"{end} ps")
        out.print(table)
