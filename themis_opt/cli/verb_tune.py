"""``themis-opt tune``: the best number of chunks, their sizes and the scheduler for each message size, as a table."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from themis_opt.cli.exits import Exit, exit_code
from themis_opt.cli.option_help import with_help
from themis_opt.cli.options import (
    Overrides,
    choosing_instance_options,
    overrides_from,
    read_chosen_instance,
    solver_options,
)
from themis_opt.problem.errors import InputError
from themis_opt.problem.parameters import DEFAULT_MAX_CHUNKS

if TYPE_CHECKING:
    from rich.console import Console

    from themis_opt.cli.progress import Relay
    from themis_opt.problem.instance import Instance
    from themis_opt.questions.tune.tune import TunedSize


HELP_OF_MESSAGE_SIZES = {
    "--sizes": "Message sizes, bytes per NPU: 1MB:4GB, or 1MB,10MB. (Chunk sizes are found.)",
    "--size": None,
    "--chunks": "auto:MAX: the solver chooses up to MAX chunks.  [default: auto:16]",
    "--solver": "A solver's name; none: schedulers alone.",
}
"""What options mean to a verb over message sizes; it refuses --size, and numbers of chunks."""


@with_help(HELP_OF_MESSAGE_SIZES)
@click.command("tune")
@click.argument("instance", metavar="INSTANCE")
@click.option("--sizes", default="1MB:1GB", show_default=True, help="Message sizes: 1MB:4GB, or 1MB,10MB.")
@click.option("--per-octave", type=int, metavar="N", help="Sizes for each doubling in a range.  [default: 1]")
@click.option("--points", type=int, metavar="N", help="Sizes in a range, its ends included.")
@choosing_instance_options
@solver_options
@click.option("-o", "--output", metavar="FILE", help="Write the table: .csv or .json.")
@click.option("--csv", "csv_path", metavar="FILE|-", help="Write the table as CSV.")
@click.option("--json", "json_path", metavar="FILE|-", help="Write the table as JSON, orders of all chunks included.")
@click.option("--schedules", "folder", metavar="FOLDER", help="Write the schedule of each size into this folder.")
@click.option("--force", is_flag=True, help="--schedules may have files: earlier schedules of sizes go, others stay.")
def command(
    instance: str,
    sizes: str,
    per_octave: int | None,
    points: int | None,
    solver: str,
    time_limit: float,
    evaluations: int | None,
    seed: int,
    workers: int | None,
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
    from themis_opt.cli.progress import Relay
    from themis_opt.problem.interruption import INTERRUPTION
    from themis_opt.questions.tune.message_sizes import parse_sizes
    from themis_opt.questions.tune.tune import tune
    from themis_opt.solving.processors import default_workers
    from themis_opt.solving.protocol import SolverParams

    files = _Files.named(output, csv_path, json_path, folder, force)
    overrides = overrides_from(options)
    max_chunks = chosen_max_chunks(overrides, "tune")
    try:
        sizes_bytes = parse_sizes(sizes, per_octave, points)
    except InputError as error:
        raise error.at("--sizes") from None
    files.check(instance)
    problem = read_chosen_instance(instance, replace(overrides, max_chunks=None))
    threads = workers or default_workers(evaluations)
    relay = Relay()
    params = SolverParams(time_limit, threads, seed, max_evaluations=evaluations, on_progress=relay)
    chosen = None if solver == "none" else solver
    rows: list[TunedSize] = []
    interruption: KeyboardInterrupt | None = None
    failure: InputError | None = None
    running = tune(problem, sizes_bytes, solver=chosen, params=params, max_chunks=max_chunks)
    try:
        for size_bytes in sizes_bytes:
            row = _next(running, relay, size_bytes)
            if row is None:
                break
            INTERRUPTION.hold()  # until the next size begins
            rows.append(row)
            interruption = row.interruption
            if len(rows) == 1 and force:
                files.clear()
            files.save_schedule(row)
    except InputError as error:
        if not rows:
            raise
        failure = error
    except KeyboardInterrupt as error:
        # The sizes that are done are worth keeping.
        if not rows:
            raise
        interruption = error
    INTERRUPTION.hold()
    told = {
        "instance": instance,
        "sizes_bytes": list(sizes_bytes),
        "solver": solver,
        "time_limit_s": time_limit,
        "max_evaluations": evaluations,
        "max_chunks": max_chunks,
        "workers": threads,
        "seed": seed,
    }
    files.save_table(problem, rows, told)
    if not files.uses_stdout:
        from themis_opt.cli.tables import console

        _print(console(), problem, rows, len(sizes_bytes))
    if failure is not None:
        raise failure
    if interruption is not None:
        raise Exit(exit_code(interruption))


def chosen_max_chunks(overrides: Overrides, verb: str) -> int:
    """Return how many chunks the solver may choose; raise where an option says what this verb finds out.

    Raises
    ------
    InputError
        Naming the option.
    """
    if overrides.sizes:
        raise InputError(f"--size is for one size; {verb} takes --sizes, such as 1MB:4GB or 1MB,10MB")
    if overrides.chunks:
        raise InputError(
            f"--chunks: {verb} finds the number of chunks; --chunks auto:MAX limits what the solver may choose"
        )
    return overrides.max_chunks or DEFAULT_MAX_CHUNKS


def _next(running: Iterator[TunedSize], relay: Relay, size_bytes: int) -> TunedSize | None:
    """Return the next row, with a progress line while it is in the making."""
    from themis_opt.cli.progress import progress_line
    from themis_opt.problem.units import format_size

    with progress_line(format_size(size_bytes)) as relay.show:
        return next(running, None)


@dataclass(frozen=True)
class _Files:
    """Where the table and the schedules go."""

    csv_paths: tuple[str, ...]
    json_paths: tuple[str, ...]
    folder: str | None
    force: bool = False

    @classmethod
    def named(
        cls, output: str | None, csv_path: str | None, json_path: str | None, folder: str | None, force: bool
    ) -> _Files:
        """Return what the options say; the ending of --output decides its format.

        Raises
        ------
        InputError
            When it has another ending, or --force has nothing to force.
        """
        if force and folder is None:
            raise InputError("--force is for --schedules FOLDER: it lets that folder have files")
        csv_paths = [] if csv_path is None else [csv_path]
        json_paths = [] if json_path is None else [json_path]
        if output is not None:
            ending = os.path.splitext(output)[1].lower()
            if ending not in (".csv", ".json"):
                raise InputError(f"-o {output}: end the name in .csv or .json; --csv and --json take any name, and -")
            (csv_paths if ending == ".csv" else json_paths).append(output)
        return cls(tuple(csv_paths), tuple(json_paths), folder, force)

    @property
    def uses_stdout(self) -> bool:
        """Whether the table goes to standard output."""
        return "-" in (*self.csv_paths, *self.json_paths)

    def check(self, instance: str) -> None:
        """Raise early when something could not be written.

        Raises
        ------
        InputError
            Naming the file or folder.
        """
        from themis_opt.files.atomic import check_outputs

        check_outputs((*self.csv_paths, *self.json_paths), (instance,))
        if self.folder is None:
            return
        if not self.folder or self.folder == "-":
            raise InputError(f"--schedules {self.folder or repr(self.folder)}: a folder is written; name one")
        target = os.path.realpath(self.folder)
        if os.path.exists(target) and not os.path.isdir(target):
            raise InputError(f"--schedules {self.folder}: is a file, and a folder is written; name another")
        around = target if os.path.isdir(target) else os.path.dirname(target)
        if not os.path.isdir(around):
            raise InputError(f"--schedules {self.folder}: there is no folder {around}; create it first")
        if not os.access(around, os.W_OK | os.X_OK):
            raise InputError(f"--schedules {self.folder}: folder {around} is not writable")
        if os.path.isdir(target) and not self.force and _list_folder(self.folder):
            raise InputError(
                f"--schedules {self.folder}: has files in it; name a new folder, or write into this one with --force: "
                "earlier schedules of sizes (1000000.json) go, other files stay"
            )

    def clear(self) -> None:
        """Remove the schedules of earlier runs from the folder, once there is one to write."""
        if self.folder is None or not os.path.isdir(self.folder):
            return
        for name in _list_folder(self.folder):
            path = os.path.join(self.folder, name)
            if _SCHEDULE_NAME.fullmatch(name) and not os.path.isdir(path):
                try:
                    os.unlink(path)
                except OSError as error:
                    raise InputError(f"--schedules {path}: cannot be removed: {error.strerror}") from None

    def save_schedule(self, row: TunedSize) -> None:
        """Write the schedule of a size, whole or not at all, if a folder is named."""
        if self.folder is None:
            return
        from themis_opt.files.schedule_file import save_schedule

        try:
            os.makedirs(self.folder, exist_ok=True)
        except OSError as error:
            raise InputError(f"--schedules {self.folder}: cannot be created: {error.strerror}") from None
        save_schedule(row.schedule, os.path.join(self.folder, _schedule_name(row)))

    def save_table(self, problem: Instance, rows: Sequence[TunedSize], told: dict[str, Any]) -> None:
        """Write the table to all files named."""
        from themis_opt.files.atomic import write_text
        from themis_opt.questions.tune.tuning_document import tuning_csv, tuning_json

        names = {} if self.folder is None else {row.size_bytes: _schedule_name(row) for row in rows}
        for path in self.csv_paths:
            write_text(path, tuning_csv(rows, names))
        for path in self.json_paths:
            write_text(path, tuning_json(problem, rows, names, told))


def _list_folder(name: str) -> list[str]:
    try:
        return os.listdir(name)
    except OSError as error:
        raise InputError(f"--schedules {name}: cannot be read: {error.strerror}") from None


_SCHEDULE_NAME = re.compile(r"[1-9][0-9]*\.json")


def _schedule_name(row: TunedSize) -> str:
    return f"{row.size_bytes}.json"


def _print(out: Console, problem: Instance, rows: Sequence[TunedSize], num_asked: int) -> None:
    from themis_opt.cli.tables import make_table, shorten
    from themis_opt.cli.wrapping import print_sentence
    from themis_opt.problem.units import format_size, format_time
    from themis_opt.questions.tune.message_sizes import sizes_title
    from themis_opt.show.words import format_gap, format_speedup, title
    from themis_opt.timing import metrics

    first = replace(problem, size_bytes=rows[0].size_bytes, num_chunks=1, known=None)
    print_sentence(out, sizes_title(title(first, "best chunks"), first, rows[-1].size_bytes), style="bold")
    table = make_table(
        [
            ("message", "right"),
            ("chunks", "right"),
            ("scheduler", "left"),
            ("makespan", "right"),
            ("algbw\nGB/s", "right"),
            ("busbw\nGB/s", "right"),
            ("best\nfixed", "right"),
            ("base-\nline", "right"),
            ("gap to\nbound", "right"),
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
            format_speedup(row.speedup_baseline),
            format_gap(row.gap_any),
        )
    out.print(table)
    print_sentence(out, "for a message of S bytes: the row with the largest size that is not above S")
    print_sentence(
        out, "between these sizes another choice may be better than that row; --per-octave makes them closer"
    )
    print_sentence(
        out,
        "best fixed, baseline: speedup over the best scheduler with 1, 2, 4 ... 512 chunks, and over the baseline with "
        "the best of these numbers",
    )
    print_sentence(out, "gap to bound: what any number of chunks of any size might still gain at most")
    if len(rows) > 1:
        fixed = format_speedup(metrics.geometric_mean([row.speedup_fixed for row in rows]), 3)
        baseline = format_speedup(metrics.geometric_mean([row.speedup_baseline for row in rows]), 3)
        print_sentence(out, f"geometric means: {fixed} over the best fixed choice, {baseline} over the baseline")
    for row in rows:
        if row.note:
            print_sentence(out, f"{format_size(row.size_bytes)}: {row.note}")
    if len(rows) < num_asked:
        print_sentence(out, f"stopped: {len(rows)} of {num_asked} sizes are done")
