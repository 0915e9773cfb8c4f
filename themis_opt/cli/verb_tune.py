"""``themis-opt tune``: the best number of chunks, their sizes and the scheduler for each message size, as a table."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

import click

from themis_opt.cli.over_sizes import SizesAsked, over_sizes, size_options, solved_instance_options
from themis_opt.cli.tables import console, make_table, shorten
from themis_opt.cli.wrapping import print_sentence
from themis_opt.files.atomic import check_folder, check_outputs, saving, write_text
from themis_opt.files.schedule_file import save_schedule
from themis_opt.problem.errors import InputError, located
from themis_opt.problem.units import format_size, format_time
from themis_opt.questions.tune import TunedSize, tune
from themis_opt.questions.tuning_file import tuning_csv, tuning_json
from themis_opt.show.words import LIST_OF_OTHERS, format_gap, format_speedup
from themis_opt.timing import metrics

_SCHEDULE_NAME = re.compile(r"[1-9][0-9]*\.json")


@over_sizes
@click.command("tune")
@click.argument("instance", metavar="INSTANCE")
@size_options
@solved_instance_options
@click.option("-o", "--output", metavar="FILE", help="Write the table: .csv or .json.")
@click.option("--csv", "csv_path", metavar="FILE|-", help="Write the table as CSV.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the table as JSON, orders of all chunks included.")
@click.option("--schedules", "folder", metavar="FOLDER", help="Write the schedule of each size into this folder.")
@click.option("--force", is_flag=True, help="--schedules may have files: earlier schedules of sizes go, others stay.")
def command(
    instance: str,
    output: str | None,
    csv_path: str | None,
    json_path: str | None,
    folder: str | None,
    force: bool,
    **options: Any,
) -> None:
    """Find the best number of chunks, their sizes and the scheduler for each message size.

    A range such as 1MB:4GB stands for its powers of two times 1MB and its end. For every size all schedulers are tried
    with 1, 2, 4 ... 512 chunks, then the solver looks for something better (--solver none: it does not): what is found
    is at each of these sizes never worse than any of these numbers of chunks with any scheduler.

    It takes one to three time limits per size, less where the bound is met; --solver none about a second per size.

    A library reads the table so: for a message of S bytes the row with the largest size that is not above S. Between
    the sizes another choice may be better than that row: --per-octave 2 or more makes them closer.
    Ctrl-C ends it and keeps the sizes done so far.
    """
    csv_paths = [] if csv_path is None else [csv_path]
    json_paths = [] if json_path is None else [json_path]
    if output is not None:
        _paths_for(output, csv_paths, json_paths).append(output)
    check_outputs((*csv_paths, *json_paths), (instance,))
    schedules = _Schedules.checked(folder, force)
    asked = SizesAsked.of("tune", instance, options)
    done = asked.collect(tune, schedules.save)
    rows: list[TunedSize] = done.results
    told = {"instance": instance, "sizes_bytes": list(asked.sizes_bytes), **asked.told}
    with saving() as save:
        for path in csv_paths:
            save(path, lambda path: write_text(path, tuning_csv(rows, schedules.names)))
        for path in json_paths:
            save(path, lambda path: write_text(path, tuning_json(asked.problem, rows, schedules.names, told)))
        if "-" not in (*csv_paths, *json_paths):
            _print(asked, rows)
    done.leave()


def _paths_for(output: str, csv_paths: list[str], json_paths: list[str]) -> list[str]:
    """Return the list that the ending of --output puts it on."""
    paths = {".csv": csv_paths, ".json": json_paths}.get(os.path.splitext(output)[1].lower())
    if paths is None:
        raise InputError(f"-o {output}: end the name in .csv or .json; --csv and --json take any name, and -")
    return paths


@dataclass
class _Schedules:
    """The folder into which the schedule of each size goes, if one is named."""

    folder: str | None
    force: bool
    names: dict[int, str]

    @classmethod
    def checked(cls, folder: str | None, force: bool) -> _Schedules:
        """Return the folder that the options name; raise early when it could not be written to."""
        if folder is None and force:
            raise InputError("--force is for --schedules FOLDER: it lets that folder have files")
        if folder in ("", "-"):
            raise InputError(f"--schedules {folder or repr(folder)}: a folder is written; name one")
        if folder is not None:
            with located("--schedules", " "):
                goes = "earlier schedules of sizes (1000000.json) go, other files stay"
                check_folder(folder, force=force, in_place=True, goes=goes)
        return cls(folder, force, {})

    def save(self, row: TunedSize) -> None:
        """Write the schedule of a size, whole or not at all; before the first one those of earlier runs go."""
        if self.folder is None:
            return
        try:
            os.makedirs(self.folder, exist_ok=True)
            if self.force and not self.names:
                for name in filter(_SCHEDULE_NAME.fullmatch, os.listdir(self.folder)):
                    if not os.path.isdir(path := os.path.join(self.folder, name)):
                        os.unlink(path)
        except OSError as error:
            raise InputError(f"--schedules {error.filename}: cannot be written: {error.strerror}") from None
        self.names[row.size_bytes] = f"{row.size_bytes}.json"
        save_schedule(row.schedule, os.path.join(self.folder, self.names[row.size_bytes]))


def _print(asked: SizesAsked, rows: list[TunedSize]) -> None:
    out = console()
    print_sentence(out, asked.title(rows), style="bold")
    headings = ("chunks", "scheduler", "makespan", "algbw\nGB/s", "busbw\nGB/s", "best\nfixed", "best\nother")
    table = make_table(
        [
            (heading, "left" if heading == "scheduler" else "right")
            for heading in ("message", *headings, "gap to\nbound")
        ],
        spacious=False,
    )
    for row in rows:
        table.add_row(
            format_size(row.size_bytes),
            str(row.schedule.num_chunks),
            shorten(row.schedule.scheduler, 17),
            format_time(row.makespan_ps),
            f"{row.algbw_Bps / 1e9:.4g}",
            f"{row.busbw_Bps / 1e9:.4g}",
            format_speedup(row.speedup_fixed),
            format_speedup(row.speedup),
            format_gap(row.gap_any),
        )
    out.print(table)
    for line in _lines(rows) + asked.stopped(rows):
        print_sentence(out, line)


def _lines(rows: list[TunedSize]) -> list[str]:
    """Return how the table is read, the means, and what the solver has to say."""
    lines = [
        "for a message of S bytes: the row with the largest size that is not above S",
        "between these sizes another choice may be better than that row; --per-octave makes them closer",
        "best fixed: speedup over the best scheduler with 1, 2, 4 ... 512 chunks",
        f"best other: speedup over the best of {LIST_OF_OTHERS}",
        "gap to bound: what any number of chunks of any size might still gain at most",
    ]
    if len(rows) > 1:
        fixed = format_speedup(metrics.geometric_mean([row.speedup_fixed for row in rows]), 3)
        others = format_speedup(metrics.geometric_mean([row.speedup for row in rows]), 3)
        lines.append(f"geometric means: {fixed} over the best fixed choice, {others} over the best other")
    return lines + [f"{format_size(row.size_bytes)}: {row.note}" for row in rows if row.note]
