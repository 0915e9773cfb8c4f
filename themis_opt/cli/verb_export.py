"""``themis-opt export``: a schedule in the files of other simulators, runtimes and viewers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

import click

from themis_opt.files.atomic import check_outputs
from themis_opt.problem.choices import did_you_mean
from themis_opt.problem.errors import InputError

TARGETS = {
    "astra2": "export_astra2",
    "msccl-xml": "export_msccl",
    "perfetto": "export_perfetto",
    "csv": "export_csv",
    "graphml": "export_graphml",
}
"""The module of each target, in this folder; its `export` does the work, its `OPTIONS` are the ones it takes."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What only some targets take; ``None`` means that it was not given."""

    ranks: str | None = None
    max_bytes: str | None = None
    in_place: bool | None = None
    force: bool | None = None


def _target(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Return the name of a target there is."""
    if value not in TARGETS:
        raise InputError(f"--to: {value!r} is not allowed; one of: {', '.join(TARGETS)}{did_you_mean(value, TARGETS)}")
    return value


@click.command("export")
@click.argument("schedules", metavar="SCHEDULE...", nargs=-1, required=True)
@click.option("--to", "target", required=True, metavar=f"[{'|'.join(TARGETS)}]", callback=_target, help="For whom.")
@click.option("-o", "--output", required=True, metavar="FILE|DIR|-", help="Where to; a folder for astra2.")
@click.option("--ranks", metavar="LIST", help="astra2: only these ranks, such as 0,3 or 0-15.")
@click.option("--max-bytes", metavar="SIZE", help="astra2: refuse to write more than this, such as 2GB.")
@click.option("--in-place/--out-of-place", "in_place", default=None, help="msccl-xml: where the result goes.")
@click.option("--force", is_flag=True, default=None, help="astra2: write into a folder that has files already.")
def command(schedules: tuple[str, ...], target: str, output: str, **options: Any) -> None:
    """Write SCHEDULE in somebody else's format.

    \b
    astra2     a folder that ASTRA-sim 2 runs as it is
    msccl-xml  an algorithm for MSCCL's executor
    perfetto   a trace for ui.perfetto.dev; several schedules side by side
    csv        a row for every stage; several schedules one below the other
    graphml    the network, also of an instance, as a graph with capacities;
               node-link JSON where FILE ends in .json

    A schedule that breaks a rule or claims something false is not exported: exit code 1, as with 'validate'.
    """  # noqa: D301 - click wants the character itself
    module = _module(target)
    for field in fields(ExportOptions):
        if options[field.name] is not None and field.name not in module.OPTIONS:
            raise InputError(f"{_flag(field.name, options[field.name])}: is not for --to {target}{_owner(field.name)}")
    if len(schedules) > 1 and not module.TAKES_SEVERAL:
        raise InputError(
            f"--to {target}: takes one schedule, and {len(schedules)} are given: {', '.join(schedules)}; "
            "export them one by one"
        )
    if target != "astra2":
        check_outputs((output,), schedules)
    module.export(schedules, output, ExportOptions(**options))


def _module(target: str) -> Any:
    return import_module(f"themis_opt.cli.{TARGETS[target]}")


def _flag(name: str, value: object) -> str:
    """Return an option as it was given."""
    return "--out-of-place" if name == "in_place" and value is False else f"--{name.replace('_', '-')}"


def _owner(name: str) -> str:
    """Return whose option it is."""
    owners = [target for target in TARGETS if name in _module(target).OPTIONS]
    return f" but for {' and '.join(owners)}" if owners else ""
