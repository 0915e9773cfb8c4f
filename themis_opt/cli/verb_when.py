"""``themis-opt when``: the provisioning of a network, and where baseline, Themis and the optimum part ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from themis_opt.cli.collecting import Collected
from themis_opt.cli.over_sizes import SizesAsked, over_sizes, size_options, solved_instance_options
from themis_opt.cli.tables import console, make_table
from themis_opt.cli.wrapping import print_sentence
from themis_opt.files.atomic import check_outputs, saving, write_text
from themis_opt.problem.errors import InputError
from themis_opt.problem.units import bandwidth_column, format_size, format_time
from themis_opt.questions.explain.supply import Provision, provisioning
from themis_opt.questions.when import Parting, findings, when, when_json


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


@over_sizes
@click.command("when")
@click.argument("network", metavar="NETWORK")
@size_options
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
@solved_instance_options
@click.option("--json", "json_path", metavar="FILE|-", help="Write everything as JSON.")
def command(network: str, themis_gain: float, optimum_gain: float, json_path: str | None, **options: Any) -> None:
    """Say how NETWORK is provisioned, and at which message sizes baseline, Themis and the optimum part ways.

    Over-, just or under-provisioned is a dimension for the baseline order. Then for each message size: the baseline and
    Themis, each with the best of 1, 2, 4 ... 512 chunks, the best schedule found, and what the bound still allows.
    Without a solver (--solver none) the best of all schedulers stands for what was found. Who is not faster
    by more than --themis-gain or --optimum-gain does not count as faster.

    It takes one to three time limits per size, less where the bound is met; --solver none about a second per size.

    Ctrl-C ends it and keeps the sizes done so far.
    """
    check_outputs((json_path,), (network,))
    asked = SizesAsked.of("when", network, options)
    done: Collected[Parting] = asked.collect(when, lambda parting: None)
    found = done.results
    provisions = provisioning(asked.problem)
    told = {
        "network": network,
        "sizes_bytes": list(asked.sizes_bytes),
        "themis_gain": themis_gain,
        "optimum_gain": optimum_gain,
        **asked.told,
    }
    with saving() as save:
        save(json_path, lambda path: write_text(path, when_json(asked.problem, provisions, found, told)))
        if json_path != "-":
            _print(asked, provisions, found, findings(found, themis_gain, optimum_gain))
    done.leave()


def _print(asked: SizesAsked, provisions: Sequence[Provision], found: Sequence[Parting], lines: list[str]) -> None:
    out = console()
    print_sentence(out, asked.title(found), style="bold")
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
    headings = ("message", "baseline", "Themis", "best known", "bound")
    gains = ("Themis over\nbaseline", "optimum over\nThemis")
    table = make_table([(heading, "right") for heading in (*headings, *gains)], spacious=False)
    for one in found:
        times_ps = (one.baseline.timed_ps, one.themis.timed_ps, one.best.timed_ps, one.bound.value_ps)
        least, most = f"{one.least_gain(one.themis):.1%}", f"{one.most_gain(one.themis):.1%}"
        table.add_row(
            format_size(one.size_bytes),
            *map(format_time, times_ps),
            f"{one.themis_gain:+.1%}",
            least if least == most else f"{least} - {most}",
        )
    out.print(table)
    print_sentence(
        out,
        "baseline, Themis: each with the best of 1, 2, 4 ... 512 chunks; bound: for any number of chunks of any size; "
        "optimum over Themis: at least (a schedule is known) and at most (the bound)",
    )
    out.print("\nof the sizes above", style="bold")
    for line in lines + asked.stopped(found):
        print_sentence(out, line)
