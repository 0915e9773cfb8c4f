"""``themis-opt import``: networks from the files of others, with a word on every quantity."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from themis_opt.cli.import_remarks import remark_lines
from themis_opt.cli.main import printable
from themis_opt.cli.tables import console, make_table
from themis_opt.cli.wrapping import print_sentence
from themis_opt.files import astra2_network
from themis_opt.files.astra1_network import Gigabyte
from themis_opt.files.atomic import check_outputs
from themis_opt.files.importing import ForeignKind, expect_kind_of, import_network, printable_name, printable_text
from themis_opt.files.nccl_tests import read_nccl_log
from themis_opt.files.network_file import save_network
from themis_opt.files.plain import read_log
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError, located
from themis_opt.problem.network import Algorithm, Topology
from themis_opt.problem.units import format_size, format_time

if TYPE_CHECKING:
    from themis_opt.files.nccl_fit import Fit
    from themis_opt.files.remarks import Imported

_COLLECTIVES = ("all-reduce", "reduce-scatter", "all-gather", "all-to-all")


def _name(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not (value.strip() and value.isprintable()):
        raise InputError(f"--name: {value!r} is not allowed; a network needs a name of printable characters")
    return value


output_option = click.option("-o", "--output", required=True, metavar="FILE|-", help="The network file to write.")
name_option = click.option("--name", callback=_name, help="What the network is called.  [default: as the file]")


@click.group("import")
def command() -> None:
    """Take a network from somebody else's file, and say what became of every quantity.

    Every other verb takes an ASTRA-sim network file as it is, too. Remarks are on stdout, or on stderr with -o -.
    """


@command.command("astra-network", short_help="The network of ASTRA-sim 1 or 2.")
@click.argument("file", metavar="FILE")
@click.option("--system", metavar="FILE", help="A system file: algorithms, and the number of chunks.")
@click.option(
    "--gigabyte",
    type=click.Choice(["decimal", "binary"]),
    default="decimal",
    show_default=True,
    help="A GB of ASTRA-sim 1: 10^9 bytes, or 2^30 as its simulator took it. In version 2 it is 2^30.",
)
@name_option
@output_option
@click.pass_context
def _astra_network(
    context: click.Context, file: str, system: str | None, gigabyte: str, name: str | None, output: str
) -> None:
    """Take the network of ASTRA-sim, version 1 (JSON) or 2 (YAML), told apart by what FILE holds."""
    check_outputs((output,), (file,) if system is None else (file, system))
    imported = import_network(file, system=system, gigabyte=Gigabyte(gigabyte), name=name)
    is_given = context.get_parameter_source("gigabyte") is not click.core.ParameterSource.DEFAULT
    if is_given and gigabyte == Gigabyte.DECIMAL and imported.format_name == astra2_network.FORMAT_NAME:
        raise InputError(f"--gigabyte: {file} is {imported.format_name}, and a GB of version 2 always is 2^30 bytes")
    _write(imported, output)


@command.command("nccl-tests", short_help="A network fitted to measured times.")
@click.argument("files", metavar="LOG...", nargs=-1, required=True)
@click.option("--collective", type=click.Choice(_COLLECTIVES), help="Which one, if the log does not say it.")
@click.option("--size", type=click.IntRange(2, 10**9), metavar="P", help="NPUs, if the log does not list the ranks.")
@click.option(
    "--topology", type=click.Choice(["ring", "fully-connected", "switch"]), default="switch", show_default=True
)
@click.option(
    "--algorithm",
    type=click.Choice(["ring", "direct", "halving-doubling", "bruck"]),
    help="Over whose steps the latency is spread.  [default: the topology's]",
)
@click.option("--in-place", is_flag=True, help="Fit the in-place columns, not the out-of-place ones.")
@name_option
@output_option
def _nccl_tests(
    files: tuple[str, ...],
    collective: str | None,
    size: int | None,
    topology: str,
    algorithm: str | None,
    in_place: bool,
    name: str | None,
    output: str,
) -> None:
    """Fit latency and bandwidth of one group of NPUs to the times in LOG..., all taken together.

    The line through them has the least sum of squared relative residuals: small sizes count as much as large ones.
    """
    from themis_opt.files.nccl_fit import FitOptions, fit_network

    check_outputs((output,), files)
    logs = []
    for file in files:
        text = read_log(file)
        expect_kind_of(file, text, ForeignKind.NCCL_TESTS)
        with located(file):
            logs.append(read_nccl_log(text, size))
    options = FitOptions(
        None if collective is None else Collective(collective),
        size,
        Topology(topology),
        None if algorithm is None else Algorithm(algorithm),
        in_place,
    )
    source = f"nccl-tests, fitted to {', '.join(printable_text(os.path.basename(file)) for file in files)}"
    with located(", ".join(files)):
        fit = fit_network(logs, options, printable_name(files[0]) if name is None else name, source)
    _print_fit(fit, output == "-")
    _write(fit.imported, output)


def _write(imported: Imported, output: str) -> None:
    """Write a network file and print what was read and every remark, beside the file."""
    save_network(imported.network, output)
    for line in (printable(imported.headline), *remark_lines(imported.remarks)):
        if output == "-":
            click.echo(line, err=True)
        else:
            print_sentence(console(), line)


def _print_fit(fit: Fit, to_stderr: bool) -> None:

    table = make_table([("size", "right"), ("measured", "right"), ("fitted", "right"), ("residual", "right")])
    for residual in fit.residuals:
        measured, fitted = format_time(residual.measured_us * 10**6), format_time(residual.fitted_us * 10**6)
        table.add_row(format_size(residual.size_bytes), measured, fitted, f"{residual.relative:+.1%}")
    out = console()
    out.stderr = to_stderr
    plural = "" if fit.num_rows == 1 else "s"
    dimension = fit.imported.network.dimensions[0]
    out.print(f"{fit.collective} among {dimension.size}: {fit.num_rows} measurement{plural}", soft_wrap=True)
    out.print(table)
    worst = fit.worst
    measured, fitted = format_time(worst.measured_us * 10**6), format_time(worst.fitted_us * 10**6)
    at = format_size(worst.size_bytes)
    out.print(f"worst: {worst.relative:+.1%} at {at} (measured {measured}, fitted {fitted})", soft_wrap=True)
