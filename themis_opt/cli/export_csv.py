"""``themis-opt export --to csv``: every stage of schedules as a row."""

from __future__ import annotations

from themis_opt.cli.verb_export import ExportOptions

OPTIONS: frozenset[str] = frozenset()
TAKES_SEVERAL = True


def export(schedules: tuple[str, ...], output: str, options: ExportOptions) -> None:
    """Write the rows."""
    from themis_opt.cli.exporting import read_valid_schedule
    from themis_opt.export.stages_csv import stages_csv_text
    from themis_opt.files.atomic import write_text

    write_text(output, stages_csv_text([(path, read_valid_schedule(path)) for path in schedules]))
