"""What the command line says of files that are somebody else's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from themis_opt.files.remarks import Imported, Remark


def announce(imported: Imported) -> None:
    """Say on stderr what was read, how its units were taken, and what was ignored or assumed."""
    from themis_opt.files.remarks import RemarkKind

    echo_headline(imported)
    for line in remark_lines([remark for remark in imported.remarks if remark.kind is not RemarkKind.CONVERTED]):
        click.echo(f"{_printable(imported.path)}: {line}", err=True)


def echo_headline(imported: Imported) -> None:
    """Say on stderr, in one line, what was read and how its units were taken."""
    click.echo(headline(imported), err=True)


def headline(imported: Imported) -> str:
    """Return the line that says what was read and how its units were taken."""
    return _printable(imported.headline)


def remark_lines(remarks: Sequence[Remark]) -> list[str]:
    """Return remarks as lines for people."""
    return [_printable(str(remark)) for remark in remarks]


def _printable(line: str) -> str:
    from themis_opt.cli.main import printable

    return printable(line)
