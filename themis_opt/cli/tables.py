"""Tables and figures for people: at most 79 columns wide, and readable without colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions
from rich.segment import Segment
from rich.table import Table

from themis_opt.cli.wrapping import print_sentence
from themis_opt.problem.bound import BoundScope, Sizing
from themis_opt.problem.checks import escaped
from themis_opt.problem.chunking import ChunkingChoice
from themis_opt.problem.units import format_time, size_column, time_column
from themis_opt.questions.comparison import Run
from themis_opt.questions.row import PredictedRow, Row, Timed
from themis_opt.show.words import (
    describe_bound,
    describe_reference,
    describe_references,
    format_gap,
    format_speedup,
    title,
)
from themis_opt.timing import metrics

_NAME_WIDTH = 17
"""Of the first column of a comparison: what 80 columns leave beside its figures, one space apart."""
_SPACIOUS_NAME_WIDTH = 13
"""Names up to this length leave room for two spaces between the columns."""
_TABLE_WIDTH = 200
"""Wider than any table: a narrow terminal wraps its lines, but no number loses its unit."""


class _Console(Console):
    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield what is shown, without the commands to the terminal that texts from files may hold."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield segment._replace(text="\n".join(map(escaped, segment.text.split("\n"))))

    def on_broken_pipe(self) -> None:
        """Leave a broken pipe to the entry point instead of ending the process here."""
        raise BrokenPipeError


def console(width: int | None = _TABLE_WIDTH) -> Console:
    """Return a console for stdout; texts are not wrapped unless `width` is ``None`` (the terminal's)."""
    return _Console(highlight=False, markup=False, width=width)


def make_table(columns: Sequence[tuple[str, str]], *, spacious: bool = True) -> Table:
    """Return an empty table with these (header, justification) columns, two spaces apart or only one."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, int(spacious), 0, 0), show_edge=False)
    for header, justify in columns:
        table.add_column(header, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    return table


def print_run(out: Console, run: Run, choice: ChunkingChoice | None = None) -> None:
    """Print one instance's table, and below it the bound, the ideal and every note.

    Parameters
    ----------
    out
        Where to.
    run
        The instance with its rows.
    choice
        What the user lets the solver choose about the chunks: then the run is headed by that, and the bound is the one
        of the solver's row, the last. ``None``: the instance's own number of equal chunks.
    """
    chunks, bound = None, run.bound
    has_free_count = choice is not None and choice.max_chunks is not None
    if choice is not None and (has_free_count or choice.sizing is Sizing.FREE):
        allowed = choice.on(run.instance)
        scope = BoundScope(allowed.sizing, allowed.min_chunks, allowed.max_chunks)
        chunks, bound = str(scope).removeprefix("exactly "), run.rows[-1].bound
    print_sentence(out, title(run.instance, chunks), style="bold")
    out.print(rows_table(run.rows, run.predictions))
    for row in (*run.rows, *run.predictions):
        if shorten(row.name, _NAME_WIDTH) != row.name:
            out.print(f"{shorten(row.name, _NAME_WIDTH)} is {row.name}", soft_wrap=True)
    print_sentence(out, f"bound {describe_bound(bound)}")
    print_sentence(out, f"ideal {format_time(run.ideal_ps)} (every dimension busy all the time, no latency)")
    print_sentence(out, f"speedup: over {describe_reference(run.reference)}")
    for row in run.rows:
        if row.bound_any is not None:
            gap_any = format_gap(row.gap_any or 0.0)
            print_sentence(out, f"{row.name}: at most {gap_any} above {describe_bound(row.bound_any)}")
    own = [row.name for row in run.rows if row.bound.scope != bound.scope]
    if own:
        print_sentence(out, f"gap of {', '.join(own)}: to the bound for its own chunk sizes and count")
    for row in run.rows:
        if row.note:
            print_sentence(out, f"{row.name}: {row.note}")
    if run.predictions:
        names = ", ".join(row.name for row in run.predictions)
        print_sentence(out, f"{names}: predicted by a formula; no schedule, and no bound of its own")
    for name in run.left_out:
        print_sentence(out, f"{name}: left out, it has no {run.instance.collective}")


def rows_table(rows: Sequence[Row], predictions: Sequence[PredictedRow] = ()) -> Table:
    """Return the comparison of some rows, and below them of times that are known by a formula."""
    table = make_table(
        [
            ("scheduler", "left"),
            ("chunks", "right"),
            ("makespan", "right"),
            ("BW\nuse", "right"),
            ("busbw\nGB/s", "right"),
            ("speed-\nup", "right"),
            ("gap to\nbound", "right"),
            ("status", "left"),
            ("sec-\nonds", "right"),
        ],
        spacious=all(len(row.name) <= _SPACIOUS_NAME_WIDTH for row in (*rows, *predictions)),
    )
    shown: list[Timed] = [*rows, *predictions]
    for row, makespan in zip(shown, time_column([row.makespan_ps for row in shown]), strict=True):
        chunks, gap, status, seconds = "-", "-", "predicted", "-"
        if isinstance(row, Row):
            chunks, gap = str(row.schedule.num_chunks), format_gap(row.gap)
            status, seconds = str(row.status), f"{row.wall_s:.2f}"
        figures = (f"{row.bw_utilization:.1%}", f"{row.busbw_Bps / 1e9:.5g}", format_speedup(row.speedup))
        table.add_row(shorten(row.name, _NAME_WIDTH), chunks, makespan, *figures, gap, status, seconds)
    return table


def dimension_table(row: Row) -> Table:
    """Return bytes, busy time and idle time of every dimension."""
    table = make_table(
        [
            ("dimension", "left"),
            ("NPUs", "right"),
            ("bytes sent", "right"),
            ("busy", "right"),
            ("idle", "right"),
            ("gaps", "right"),
            ("BW use", "right"),
        ]
    )
    instance = row.schedule.instance
    uses = row.timeline.dimensions
    times = time_column([time for use in uses for time in (use.busy_ps, row.makespan_ps - use.busy_ps)])
    sizes = size_column([use.sent_bytes for use in uses])
    for k, use in enumerate(uses):
        dimension = instance.network.dimensions[k]
        name = f"dim{k + 1} {dimension.topology}"
        if k not in instance.involved:
            table.add_row(name, str(dimension.size), "not involved")
            continue
        table.add_row(
            name,
            str(dimension.size),
            sizes[k],
            *times[2 * k : 2 * k + 2],
            str(len(use.idle_gaps)),
            f"{metrics.dimension_utilization(instance, k, use.sent_bytes, row.makespan_ps):.1%}",
        )
    return table


def print_means(out: Console, runs: Sequence[Run]) -> None:
    """Print the means over several instances, and what their speedups are over."""
    out.print(f"over {len(runs)} instances", style="bold")
    out.print(means_table(runs))
    print_sentence(out, f"speedup: over {describe_references(run.reference for run in runs)}")


def means_table(runs: Sequence[Run]) -> Table:
    """Return the geometric means of speedups, and mean gaps, over several instances."""
    by_name: dict[str, list[Timed]] = {}
    for run in runs:
        for row in (*run.rows, *run.predictions):
            by_name.setdefault(row.name, []).append(row)
    table = make_table(
        [
            ("scheduler", "left"),
            ("instances", "right"),
            ("geo-mean speedup", "right"),
            ("mean BW use", "right"),
            ("mean gap", "right"),
            ("optimal", "right"),
        ]
    )
    for name, rows in by_name.items():
        use = [row.bw_utilization for row in rows]
        made = [row for row in rows if isinstance(row, Row)]
        table.add_row(
            shorten(name, _NAME_WIDTH),
            str(len(rows)),
            format_speedup(metrics.geometric_mean([row.speedup for row in rows]), 3),
            f"{sum(use) / len(use):.1%}",
            format_gap(sum(row.gap for row in made) / len(made)) if made else "-",
            str(sum(row.status == "optimal" for row in made)) if made else "-",
        )
    return table


def shorten(text: str, width: int) -> str:
    """Return a text of at most `width` characters, the end of a longer one kept."""
    return text if len(text) <= width else "..." + text[-(width - 3) :]


def as_plain(value: Any) -> Any:
    """Return an option's value as JSON can hold it."""
    if isinstance(value, tuple | list):
        return [as_plain(item) for item in value]
    return value if isinstance(value, int | float | bool | None) else str(value)
