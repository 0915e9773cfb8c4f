"""What the command line says of files that are somebody else's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from themis_opt.cli.main import printable

if TYPE_CHECKING:
    from themis_opt.files.remarks import Imported, Remark


def announce(imported: Imported) -> None:
    """Say on stderr what was read, how its units were taken, and what was ignored or assumed."""
    echo_headline(imported)
    for line in remark_lines([remark for remark in imported.remarks if remark.kind != "converted"]):
        click.echo(f"{printable(imported.path)}: {line}", err=True)


def echo_headline(imported: Imported) -> None:
    """Say on stderr, in one line, what was read and how its units were taken."""
    click.echo(printable(imported.headline), err=True)


def remark_lines(remarks: Sequence[Remark]) -> list[str]:
    """Return remarks as lines for people."""
    return [printable(str(remark)) for remark in remarks]
