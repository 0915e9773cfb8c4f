"""``themis-opt export --to perfetto``: schedules side by side as a trace for ui.perfetto.dev."""

from __future__ import annotations

from themis_opt.cli.verb_export import ExportOptions

OPTIONS: frozenset[str] = frozenset()
TAKES_SEVERAL = True


def export(schedules: tuple[str, ...], output: str, options: ExportOptions) -> None:
    """Write the trace."""
    from themis_opt.cli.exporting import read_valid_schedule
    from themis_opt.export.perfetto import perfetto_text
    from themis_opt.files.atomic import write_text

    loaded = [(path, read_valid_schedule(path)) for path in schedules]
    named = [(f"{schedule.scheduler} ({path})" if schedule.scheduler else path, schedule) for path, schedule in loaded]
    write_text(output, perfetto_text(named))
