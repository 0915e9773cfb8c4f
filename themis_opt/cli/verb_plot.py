"""``themis-opt plot``: pictures of schedules and of studies."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from themis_opt.cli.options import instance_options, solver_options
from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.errors import InputError

_OF_SOLVERS = {"schedulers", "solver", "time_limit", "evaluations", "seed", "workers"}
_OF_SCHEDULES = {"collective", "size", "chunks", "occupancy", "chunk_overhead", "dimensions", *_OF_SOLVERS}
_OF_STUDIES = {"x", "y", "panels", "where"}
KINDS = {
    "timeline": _OF_SCHEDULES | {"text"},
    "utilization": _OF_SCHEDULES | {"window"},
    "loads": _OF_SCHEDULES,
    "sweep": _OF_STUDIES | {"by"},
    "gap-map": _OF_STUDIES | {"metric", "scheduler"},
}
"""What each kind takes beside the options of all pictures."""
STUDY_KINDS = ("sweep", "gap-map")
_DEFAULTS = {
    **dict.fromkeys(
        ("collective", "size", "chunks", "occupancy", "chunk_overhead", "dimensions"), "[default: the instance's]"
    ),
    "evaluations": "[default: no limit]",
}
"""What happens without the options that other verbs share, where that is no value of theirs."""
_COMMON = frozenset({"kind", "sources", "output", "dpi", "figure_size", "title"})


def _kind(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Return the name of a kind of picture there is."""
    if value not in KINDS:
        raise InputError(f"KIND: {value!r} is not allowed; one of: {', '.join(KINDS)}{did_you_mean(value, KINDS)}")
    return value


def _figure_size(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[float, float] | None:
    """Return width and height in inches, given as ``8x4.5``."""
    if value is None:
        return None
    try:
        width, height = (float(part) for part in value.lower().split("x"))
    except ValueError:
        raise InputError(f"--figure-size: {value!r} is no size; write width x height in inches, as 8x4.5") from None
    if not (2 <= width <= 100 and 1.5 <= height <= 100):
        raise InputError(f"--figure-size: {value!r} is not allowed; allowed are 2x1.5 to 100x100 inches")
    return width, height


class _Grouped(click.Command):
    """A command whose options stand below the kinds of pictures they are for."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list of options for every set of kinds that share them."""
        groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is None:
                continue
            flag, told = record
            told = f"{told}  {_DEFAULTS.get(param.name or '', '')}".rstrip()
            kinds = tuple(kind for kind in KINDS if param.name in KINDS[kind])
            groups.setdefault(kinds, []).append((flag, told))
        for kinds, records in sorted(groups.items(), key=lambda group: _place(group[0])):
            with formatter.section(f"Options of {', '.join(kinds)}" if kinds else "Options of every kind"):
                formatter.write_dl(records)


def _place(kinds: tuple[str, ...]) -> tuple[int, int]:
    """Return where a list of options stands: those of more kinds first, of the kinds named first."""
    return (list(KINDS).index(kinds[0]) if kinds else -1, -len(kinds))


@click.command("plot", cls=_Grouped, context_settings={"default_map": {"solver": "none"}})
@click.argument("kind", metavar=f"[{'|'.join(KINDS)}]", callback=_kind)
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="Where to; ends in .png, .svg or .pdf. Needed without --text.")
@click.option("--text", is_flag=True, help="Draw in the terminal instead of a file.")
@click.option("--dpi", type=click.IntRange(30, 1200), default=150, show_default=True, help="Pixels per inch of a PNG.")
@click.option(
    "--figure-size", callback=_figure_size, metavar="WxH", help="Inches, such as 8x4.5.  [default: as needed]"
)
@click.option("--title", help="Above the picture.  [default: what is drawn]")
@click.option(
    "--window",
    metavar="TIME",
    help="The time over which it is averaged, such as 10us.  [default: a 120th of the longest makespan]",
)
@click.option("--schedulers", help="Of an instance or network: names, or 'all'.  [default: baseline,themis-scf]")
@instance_options
@solver_options
@click.option("--x", metavar="COLUMN", help="Across.  [default: the first axis that varies, numbers before words]")
@click.option("--y", metavar="COLUMN", help="Upwards.  [default: sweep: makespan; gap-map: the next axis that varies]")
@click.option("--by", metavar="COLUMN", help="A line for each of its values.  [default: scheduler]")
@click.option("--metric", metavar="COLUMN", help="What the colours show, such as gap_any.  [default: gap]")
@click.option("--scheduler", metavar="NAME", help="Whose rows.  [default: the only one there is]")
@click.option("--panels", metavar="COLUMN", help="A panel for each of its values.  [default: one picture]")
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Only rows such as 'chunks = 64'; repeat it for more.  [default: all]",
)
@click.pass_context
def command(ctx: click.Context, /, kind: str, sources: tuple[str, ...], output: str | None, **options: Any) -> None:
    """Draw schedules or a study.

    \b
    timeline     when every stage holds its dimension, and the bound
    utilization  the used part of every dimension's bandwidth over time
    loads        bytes / bandwidth of every dimension, stacked by chunk
    sweep        a metric against an axis of a study, a line per scheduler
    gap-map      a metric over two axes of a study

    SOURCE is, for the first three, an instance, a network, a schedule file or a comparison file ('compare --json'),
    or several; with --solver, the solver's schedules are drawn too. For sweep and gap-map it is a study's database.
    """  # noqa: D301 - click wants the character itself
    for name in ctx.params:
        given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and name not in _COMMON and name not in KINDS[kind]:
            owners = [other for other in KINDS if name in KINDS[other]]
            raise InputError(f"{_flag(ctx, name)}: is not for {kind}; it is for: {', '.join(owners)}")
    if options["text"] and output is not None:
        raise InputError("--text: draws in the terminal, and -o names a file; give one of them")
    if not options["text"]:
        _check_output(output, sources)
    if kind in STUDY_KINDS:
        from themis_opt.cli.plot_study import plot_study

        plot_study(kind, sources, output or "", options)
    else:
        from themis_opt.cli.plot_schedules import plot_schedules

        plot_schedules(kind, sources, output or "", options)


def _check_output(output: str | None, sources: tuple[str, ...]) -> None:
    """Raise before anything is computed when the picture could not be drawn or written."""
    from themis_opt.files.atomic import check_outputs
    from themis_opt.show.pictures.canvas import ending_of, require_matplotlib

    if output is None:
        raise InputError("-o: is missing; name a file that ends in .png, .svg or .pdf")
    ending_of(output, "-o")
    check_outputs((output,), sources)
    require_matplotlib()


def _flag(ctx: click.Context, name: str) -> str:
    """Return an option as it is written."""
    return next(param.opts[-1] for param in ctx.command.params if param.name == name)
