"""``themis-opt list``: what networks, instances, schedulers and solvers there are."""

from __future__ import annotations

from typing import Any

import click

from themis_opt.files.results import ResultDocument, result_text
from themis_opt.problem.errors import InputError
from themis_opt.problem.plugins import Registry


class ListDocument(ResultDocument, kw_only=True, tag="themis-opt/list/1"):
    """What there is; each entry has a name and a summary, and more according to what it is."""

    what: str
    entries: list[dict[str, Any]]


@click.command("list")
@click.argument("what", type=click.Choice(["networks", "instances", "schedulers", "solvers"]))
@click.option("--json", "json_path", metavar="FILE|-", help="Write the list as JSON.")
def command(what: str, json_path: str | None) -> None:
    """List what there is, with one line on each."""
    from themis_opt.cli.tables import console, make_table
    from themis_opt.files.atomic import check_outputs, write_text

    check_outputs((json_path,))
    entries = {"networks": _networks, "instances": _instances, "schedulers": _schedulers, "solvers": _solvers}[what]()
    if json_path is not None:
        write_text(json_path, result_text(ListDocument(what=what, entries=entries)))
    if json_path == "-":
        return
    table = make_table([("name", "left"), ("what it is", "left")])
    table.columns[1].no_wrap = False
    for entry in entries:
        table.add_row(entry["name"], entry["summary"])
    console(None).print(table)


def _networks() -> list[dict[str, Any]]:
    from themis_opt.files.network_file import load_network
    from themis_opt.files.shipped import shipped_networks

    entries = []
    for name in shipped_networks():
        network = load_network(name)
        shape = " x ".join(f"{d.topology} {d.size}" for d in network.dimensions)
        entries.append(
            {
                "name": name,
                "summary": f"{network.num_npus} NPUs: {shape}",
                "num_npus": network.num_npus,
                "dimensions": [{"topology": str(d.topology), "size": d.size} for d in network.dimensions],
            }
        )
    return entries


def _instances() -> list[dict[str, Any]]:
    from themis_opt.files.instance_file import load_instance
    from themis_opt.files.shipped import shipped_instances
    from themis_opt.show.words import title

    entries = []
    for name in shipped_instances():
        instance = load_instance(name)
        entries.append(
            {
                "name": name,
                "summary": title(instance),
                "network": instance.network.name,
                "collective": str(instance.collective),
                "size_bytes": instance.size_bytes,
                "num_chunks": instance.num_chunks,
                "occupancy": str(instance.occupancy),
                "dimensions": list(instance.involved),
            }
        )
    return entries


def _schedulers() -> list[dict[str, Any]]:
    from themis_opt.schedulers.registry import PREDICTORS, SCHEDULERS

    return [_entry(registry, name) for registry in (SCHEDULERS, PREDICTORS) for name in registry.names()]


def _solvers() -> list[dict[str, Any]]:
    from themis_opt.solving.protocol import SOLVERS

    return [_entry(SOLVERS, name) for name in SOLVERS.names()]


def _entry(registry: Registry[Any], name: str) -> dict[str, Any]:
    """Return what a thing is, or why another package's fails to load: that must not hide the others."""
    try:
        return {"name": name, "summary": registry.summary(name), "loads": True}
    except InputError as error:
        return {"name": name, "summary": str(error), "loads": False}
