"""``themis-opt sweep``: run a design-space study, or what is missing of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from themis_opt.cli.exits import NO_SCHEDULE, Exit, exit_code
from themis_opt.cli.main import printable
from themis_opt.problem.errors import InputError, SolverError
from themis_opt.problem.parameters import WORKERS

if TYPE_CHECKING:
    from themis_opt.studies.planning import Point
    from themis_opt.studies.study import Study
    from themis_opt.studies.study_engine import Engine
    from themis_opt.studies.study_run import SweepProgress

_OTHERS = {
    **dict.fromkeys((".csv", ".parquet"), "'themis-opt rows'"),
    **dict.fromkeys((".png", ".svg", ".pdf"), "'themis-opt plot'"),
    **dict.fromkeys((".html", ".htm"), "'themis-opt report'"),
}
"""What other verbs make of a study's results, by the ending."""


@click.command("sweep")
@click.argument("study_path", metavar="STUDY.yaml")
@click.option(
    "-o", "--output", required=True, metavar="FILE.db", help="The results: one SQLite file, made or gone on with."
)
@click.option("--engine", type=click.Choice(["local", "dask"]), default="local", show_default=True)
@click.option(
    "--processes",
    type=click.IntRange(WORKERS.least, WORKERS.most),
    help="Of this machine, for either engine.  [default: processors]",
)
@click.option("--scheduler", "address", metavar="ADDRESS", help="The scheduler of a dask cluster that is running.")
@click.option("--retry-failed", is_flag=True, help="Try points again that failed before.")
@click.option("--dry-run", is_flag=True, help="Say how many points there are, and run none.")
def command(
    study_path: str,
    output: str,
    engine: str,
    processes: int | None,
    address: str | None,
    retry_failed: bool,
    dry_run: bool,
) -> None:
    """Run a design-space study: every combination of its axes, a row each.

    Killed at any moment it loses only what was being computed: the same command goes on from there, and so does one
    with a study that has changed. 'themis-opt rows FILE.db' prints the table, 'plot' and 'report' show it.
    """
    from themis_opt.cli.import_remarks import announce
    from themis_opt.files.atomic import check_outputs
    from themis_opt.solving.resources import usable_processors
    from themis_opt.studies.dask_engine import DaskEngine, require_dask
    from themis_opt.studies.local_engine import LocalEngine
    from themis_opt.studies.planning import plan
    from themis_opt.studies.study_file import load_study
    from themis_opt.studies.study_run import preview, run_study

    if engine != "dask" and address is not None:
        raise InputError("--scheduler: is for --engine dask; a study's own schedulers stand in its file")
    _require_no_other_ending(output)
    if not dry_run:
        check_outputs((output,), (study_path,))
    study = load_study(study_path, announce)
    if engine == "dask":
        require_dask()
    try:
        points = plan(study)
    except InputError as error:
        raise error.at(study_path) from None
    if dry_run:
        _tell_plan(study, output, points)
        return
    # No more processes than there is work for.
    num_left = preview(study, output, points).num_left
    num_processes = max(1, min(processes or usable_processors(), num_left))

    def make_engine(wanted: tuple[str, ...]) -> Engine:
        if engine == "dask":
            return DaskEngine(wanted, address, num_processes)
        return LocalEngine(num_processes, wanted)

    with _progress(study) as show:
        latest: list[SweepProgress] = []

        def listen(progress: SweepProgress) -> None:
            latest[:] = [progress]
            show(progress)

        try:
            end = run_study(study, output, make_engine, points=points, retry_failed=retry_failed, on_progress=listen)
        except KeyboardInterrupt as error:
            print(
                f"{printable(output)}: stopped; {_kept(latest)}; the same command goes on from there", file=sys.stderr
            )
            raise Exit(exit_code(error)) from None
        except SolverError as error:
            raise SolverError(f"{output}: {error}; {_kept(latest)}; the same command goes on from there") from None
    print(_summary(output, end), file=sys.stderr)
    if end.num_failed:
        retry = "; --retry-failed tries again" if end.num_failed > end.num_impossible else ""
        print(f"'themis-opt rows {printable(output)} --where \"status = failed\"' says why{retry}", file=sys.stderr)
        raise Exit(NO_SCHEDULE)


def _kept(latest: list[SweepProgress]) -> str:
    if not latest:
        return "nothing new was done"
    return f"{latest[-1].num_before + latest[-1].num_done} of {_count(latest[-1].num_points)} are kept"


def _count(num_points: int) -> str:
    return f"{num_points} point{'' if num_points == 1 else 's'}"


def _tell_plan(study: Study, output: str, points: tuple[Point, ...]) -> None:
    """Say how many points there are, how many of them are done, and why some make no instance."""
    from themis_opt.studies.study_run import preview

    now = preview(study, output, points)
    click.echo(printable(f"{study.name}: {_count(now.num_points)}, {now.num_before} done before, {now.num_left} to do"))
    impossible = [point for point in points if point.task is None]
    if impossible:
        click.echo(printable(f"{len(impossible)} make no instance; the first: {impossible[0].reason}"))


def _require_no_other_ending(output: str) -> None:
    """Raise when the results are to go into a file whose name says that it is something else.

    Raises
    ------
    InputError
        Naming the verb that writes such a file.
    """
    ending = output[output.rfind(".") :].lower()
    if ending in _OTHERS:
        raise InputError(
            f"-o: {output} ends in {ending}, and results are a database: name it such as results.db "
            f"({_OTHERS[ending]} makes a {ending} file of it)"
        )


def _summary(output: str, end: SweepProgress) -> str:
    parts = [_count(end.num_points), f"{end.num_done} done now in {end.seconds:.1f} s"]
    if end.num_before:
        parts.append(f"{end.num_before} before")
    if end.num_failed > end.num_impossible:
        parts.append(f"{end.num_failed - end.num_impossible} failed")
    if end.num_impossible:
        parts.append(f"{end.num_impossible} make no instance")
    return printable(f"{output}: {', '.join(parts)}")


@contextmanager
def _progress(study: Study) -> Iterator[Callable[[SweepProgress], None]]:
    """Show a line on stderr that moves with the study, where somebody watches."""
    from themis_opt.cli.options import progress_is_visible

    if not progress_is_visible():
        yield lambda progress: None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    line = [f"{study.name}: starting"]
    live = Live(
        console=Console(stderr=True, highlight=False),
        get_renderable=lambda: Text(line[0], no_wrap=True, overflow="ellipsis"),
        refresh_per_second=4,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )

    def show(progress: SweepProgress) -> None:
        line[0] = progress_line(study, progress)

    with live:
        yield show


def progress_line(study: Study, progress: SweepProgress) -> str:
    """Return one line on how far a study is: done, failed, rate, time left, best so far."""
    left = "-" if progress.seconds_left is None else f"{progress.seconds_left:.0f} s"
    parts = [
        f"{progress.num_before + progress.num_done}/{progress.num_points} points",
        f"{progress.num_failed} failed",
        f"{progress.rate:.1f}/s",
        f"{left} left",
    ]
    if progress.metric is not None and progress.best is not None:
        where = ", ".join(str(value) for value in progress.best_values)
        parts.append(f"best {progress.metric.name} {_shown(progress)} at {where}")
    return printable("  ".join(parts))


def _shown(progress: SweepProgress) -> str:
    from themis_opt.problem.units import format_bandwidth, format_size, format_time

    assert progress.metric is not None
    assert isinstance(progress.best, int | float)
    format_value = {"ps": format_time, "B/s": format_bandwidth, "B": format_size}.get(progress.metric.unit)
    return format_value(progress.best) if format_value else f"{progress.best:.4g}"
