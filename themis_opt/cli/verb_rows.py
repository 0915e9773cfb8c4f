"""``themis-opt rows``: a study's table, as CSV or Parquet."""

from __future__ import annotations

import sys

import click

from themis_opt.cli.main import printable
from themis_opt.problem.errors import InputError


@click.command("rows")
@click.argument("path", metavar="FILE.db")
@click.option("--to", "kind", type=click.Choice(["csv", "parquet"]), help="[default: by the file's ending, else csv]")
@click.option("-o", "--output", metavar="FILE|-", default="-", show_default=True, help="Where to write it.")
@click.option("--where", multiple=True, metavar="CONDITION", help="Such as 'size = 100 MB' or 'gap > 5%'; repeatable.")
def command(path: str, kind: str | None, output: str, where: tuple[str, ...]) -> None:
    """Print a study's table: a column for every axis and metric, then status, seconds and the reason of a failure.

    Rows stand in the study's order. It may be read while the study runs: what is not there yet has status 'missing'.
    Where a solver's clock had a say the status is 'not-repeatable': another run may find another schedule.
    """
    from themis_opt.files.atomic import check_outputs, write_bytes, write_text
    from themis_opt.studies.reading_table import read_table
    from themis_opt.studies.table import PointStatus

    chosen = kind or _kind_of(output)
    if chosen == "parquet" and output == "-":
        raise InputError("--to parquet: is binary; name a file with -o")
    check_outputs((output,), (path,))
    table = read_table(path, where)
    if chosen == "parquet":
        write_bytes(output, table.to_parquet())
    else:
        write_text(output, table.to_csv())
    num_missing = sum(row.status == PointStatus.MISSING for row in table.rows)
    if num_missing:
        rows = "rows that meet this" if where else "rows"
        print(f"{printable(path)}: {num_missing} of {len(table.rows)} {rows} are still missing", file=sys.stderr)


def _kind_of(output: str) -> str:
    """Return what the file's ending asks for.

    Raises
    ------
    InputError
        When it asks for something else.
    """
    kind = {".csv": "csv", ".parquet": "parquet"}.get(output[output.rfind(".") :].lower())
    if kind is None and output != "-" and not output.startswith("/dev/"):
        raise InputError(f"-o: {output} ends neither in .csv nor in .parquet; rename it, or say --to csv")
    return kind or "csv"
