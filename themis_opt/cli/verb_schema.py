"""``themis-opt schema``: the JSON Schema of a file format."""

from __future__ import annotations

import json

import click


@click.command("schema")
@click.argument("kind", type=click.Choice(["network", "instance", "schedule", "study"]))
@click.option("-o", "--output", metavar="FILE|-", default="-", help="Where to write it.")
def command(kind: str, output: str) -> None:
    """Print the JSON Schema of a file format (draft 2020-12)."""
    from themis_opt.files.atomic import write_text
    from themis_opt.files.documents import json_schema

    write_text(output, json.dumps(json_schema(kind), indent=1) + "\n")
