"""``themis-opt when``: the provisioning of a network, and where baseline, Themis and the optimum part ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from themis_opt.cli.exits import Exit, exit_code
from themis_opt.cli.option_help import with_help
from themis_opt.cli.options import choosing_instance_options, overrides_from, read_chosen_instance, solver_options
from themis_opt.cli.verb_tune import HELP_OF_MESSAGE_SIZES, chosen_max_chunks
from themis_opt.problem.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from themis_opt.cli.progress import Relay
    from themis_opt.problem.instance import Instance
    from themis_opt.questions.explain.provisioned import Provision
    from themis_opt.questions.when.when import Comparison


def _gain(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """Return a gain given as a percentage (``5%``) or a plain fraction (``0.05``)."""
    text = value.strip()
    number = text.removesuffix("%").rstrip()
    try:
        gain = float(number) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise InputError(f"{param.opts[0]}: {value!r} is not a gain; write it as 5% or 0.05") from None
    if gain >= 1 and not text.endswith("%"):
        raise InputError(
            f"{param.opts[0]}: {value!r} without a % would be {100 * gain:g} %; write 5% or 0.05 "
            f"(and {100 * gain:g}% if that is meant)"
        )
    if not 0 <= gain < 100:
        raise InputError(f"{param.opts[0]}: {value!r} is not allowed; it must not be negative, and below 10000%")
    return gain


@with_help(HELP_OF_MESSAGE_SIZES)
@click.command("when")
@click.argument("network", metavar="NETWORK")
@click.option("--sizes", default="1MB:1GB", show_default=True, help="Message sizes: 1MB:4GB, or 1MB,10MB.")
@click.option("--per-octave", type=int, metavar="N", help="Sizes for each doubling in a range.  [default: 1]")
@click.option("--points", type=int, metavar="N", help="Sizes in a range, its ends included.")
@click.option(
    "--themis-gain",
    default="1%",
    show_default=True,
    callback=_gain,
    help="How much faster than the baseline Themis must be to count.",
)
@click.option(
    "--optimum-gain",
    default="5%",
    show_default=True,
    callback=_gain,
    help="How much faster than Themis, or the baseline, the optimum must be to count.",
)
@choosing_instance_options
@solver_options
@click.option("--json", "json_path", metavar="FILE|-", help="Write everything as JSON.")
def command(
    network: str,
    sizes: str,
    per_octave: int | None,
    points: int | None,
    themis_gain: float,
    optimum_gain: float,
    solver: str,
    time_limit: float,
    evaluations: int | None,
    seed: int,
    workers: int | None,
    json_path: str | None,
    **options: Any,
) -> None:
    """Say how NETWORK is provisioned, and at which message sizes baseline, Themis and the optimum part ways.

    Over-, just or under-provisioned is a dimension for the baseline order. Then for each message size: the baseline and
    Themis, each with the best of 1, 2, 4 ... 512 chunks, the best schedule found, and what the bound still allows.
    Without a solver (--solver none) the best of all schedulers stands for what was found. Who is not faster
    by more than --themis-gain or --optimum-gain does not count as faster.

    It takes one to three time limits per size, less where the bound is met; --solver none about a second per size.

    Ctrl-C ends it and keeps the sizes done so far.
    """
    from themis_opt.cli.progress import Relay
    from themis_opt.files.atomic import check_outputs, write_text
    from themis_opt.problem.interruption import INTERRUPTION
    from themis_opt.questions.explain.provisioned import provisioning
    from themis_opt.questions.tune.message_sizes import parse_sizes
    from themis_opt.questions.when.when import when
    from themis_opt.questions.when.when_document import when_json
    from themis_opt.solving.processors import default_workers
    from themis_opt.solving.protocol import SolverParams

    overrides = overrides_from(options)
    max_chunks = chosen_max_chunks(overrides, "when")
    try:
        sizes_bytes = parse_sizes(sizes, per_octave, points)
    except InputError as error:
        raise error.at("--sizes") from None
    check_outputs((json_path,), (network,))
    problem = read_chosen_instance(network, replace(overrides, max_chunks=None))
    threads = workers or default_workers(evaluations)
    relay = Relay()
    params = SolverParams(time_limit, threads, seed, max_evaluations=evaluations, on_progress=relay)
    chosen = None if solver == "none" else solver
    found: list[Comparison] = []
    interruption: KeyboardInterrupt | None = None
    running = when(problem, sizes_bytes, solver=chosen, params=params, max_chunks=max_chunks)
    try:
        for size_bytes in sizes_bytes:
            comparison = _next(running, relay, size_bytes)
            if comparison is None:
                break
            found.append(comparison)
            interruption = comparison.interruption
    except KeyboardInterrupt as error:
        # The sizes that are done are worth keeping.
        if not found:
            raise
        interruption = error
    INTERRUPTION.hold()
    provisions = provisioning(problem)
    told = {
        "network": network,
        "sizes_bytes": list(sizes_bytes),
        "themis_gain": themis_gain,
        "optimum_gain": optimum_gain,
        "solver": solver,
        "time_limit_s": time_limit,
        "max_evaluations": evaluations,
        "max_chunks": max_chunks,
        "workers": threads,
        "seed": seed,
    }
    if json_path is not None:
        write_text(json_path, when_json(problem, provisions, found, told))
    if json_path != "-":
        from themis_opt.cli.tables import console
        from themis_opt.cli.wrapping import print_sentence
        from themis_opt.questions.when.when_words import findings

        out = console()
        _print(out, problem, provisions, found)
        out.print("\nof the sizes above", style="bold")
        for line in findings(found, themis_gain, optimum_gain):
            print_sentence(out, line)
        if len(found) < len(sizes_bytes):
            print_sentence(out, f"stopped: {len(found)} of {len(sizes_bytes)} sizes are done")
    if interruption is not None:
        raise Exit(exit_code(interruption))


def _next(running: Iterator[Comparison], relay: Relay, size_bytes: int) -> Comparison | None:
    """Return the next comparison, with a progress line while it is in the making."""
    from themis_opt.cli.progress import progress_line
    from themis_opt.problem.units import format_size

    with progress_line(format_size(size_bytes)) as relay.show:
        return next(running, None)


def _print(out: Console, problem: Instance, provisions: Sequence[Provision], found: Sequence[Comparison]) -> None:
    from themis_opt.cli.tables import make_table
    from themis_opt.cli.wrapping import print_sentence
    from themis_opt.problem.units import bandwidth_column, format_size, format_time
    from themis_opt.questions.tune.message_sizes import sizes_title
    from themis_opt.show.words import title

    first = replace(problem, size_bytes=found[0].size_bytes, num_chunks=1, known=None)
    heading = sizes_title(title(first, "best chunks"), first, found[-1].size_bytes)
    print_sentence(out, heading, style="bold")
    table = make_table(
        [("", "left"), ("bandwidth", "right"), ("has/needs", "right"), ("for the baseline order", "left")]
    )
    bandwidths = bandwidth_column([provision.bandwidth_Bps for provision in provisions])
    for provision, bandwidth in zip(provisions, bandwidths, strict=True):
        table.add_row(
            f"dim{provision.dimension + 1}", bandwidth, f"{float(provision.ratio):.4g}", str(provision.supply)
        )
    out.print(table)
    out.print()
    table = make_table(
        [
            ("message", "right"),
            ("baseline", "right"),
            ("Themis", "right"),
            ("best known", "right"),
            ("bound", "right"),
            ("Themis over\nbaseline", "right"),
            ("optimum over\nThemis", "right"),
        ],
        spacious=False,
    )
    for one in found:
        least, most = one.least_gain(one.themis), one.most_gain(one.themis)
        table.add_row(
            format_size(one.size_bytes),
            format_time(one.baseline.timed_ps),
            format_time(one.themis.timed_ps),
            format_time(one.best.timed_ps),
            format_time(one.bound.value_ps),
            f"{one.themis_gain:+.1%}",
            f"{least:.1%}" if f"{least:.1%}" == f"{most:.1%}" else f"{least:.1%} - {most:.1%}",
        )
    out.print(table)
    print_sentence(
        out,
        "baseline, Themis: each with the best of 1, 2, 4 ... 512 chunks; bound: for any number of chunks of any size; "
        "optimum over Themis: at least (a schedule is known) and at most (the bound)",
    )
