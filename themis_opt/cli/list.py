"""``themis-opt list``: what networks, instances, schedulers and solvers there are."""

from __future__ import annotations

from typing import Any

import click

from themis_opt.errors import InputError
from themis_opt.plugins import Registry


@click.command("list")
@click.argument("what", type=click.Choice(["networks", "instances", "schedulers", "solvers"]))
def command(what: str) -> None:
    """List what there is, with one line on each."""
    from themis_opt.cli.tables import console, make_table

    rows = {"networks": _networks, "instances": _instances, "schedulers": _schedulers, "solvers": _solvers}[what]()
    table = make_table([("name", "left"), ("what it is", "left")])
    table.columns[1].no_wrap = False
    for name, text in rows:
        table.add_row(name, text)
    console(None).print(table)


def _networks() -> list[tuple[str, str]]:
    from themis_opt.formats.network_file import load_network
    from themis_opt.formats.shipped import shipped_networks

    rows = []
    for name in shipped_networks():
        network = load_network(name)
        shape = " x ".join(f"{d.topology} {d.size}" for d in network.dimensions)
        rows.append((name, f"{network.num_npus} NPUs: {shape}"))
    return rows


def _instances() -> list[tuple[str, str]]:
    from themis_opt.cli.tables import title
    from themis_opt.formats.instance_file import load_instance
    from themis_opt.formats.shipped import shipped_instances

    return [(name, title(load_instance(name))) for name in shipped_instances()]


def _schedulers() -> list[tuple[str, str]]:
    from themis_opt.schedulers.registry import SCHEDULERS

    return [(name, _summary(SCHEDULERS, name)) for name in SCHEDULERS.names()]


def _solvers() -> list[tuple[str, str]]:
    from themis_opt.solving.registry import SOLVERS

    return [(name, _summary(SOLVERS, name)) for name in SOLVERS.names()]


def _summary(registry: Registry[Any], name: str) -> str:
    """Return what a thing is, or why another package's fails to load: that must not hide the others."""
    try:
        return registry.summary(name)
    except InputError as error:
        return str(error)
