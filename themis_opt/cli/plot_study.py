"""``themis-opt plot sweep`` and ``gap-map``: what a study found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from themis_opt.cli.plot_sources import kind_of_source, require_of_studies
from themis_opt.problem.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from themis_opt.studies.table import StudyTable, Value


def plot_study(kind: str, sources: tuple[str, ...], output: str, options: dict[str, Any]) -> None:
    """Draw the study in the one source.

    Parameters
    ----------
    kind
        The picture.
    sources
        One study's database.
    output
        The file to write.
    options
        The options of `plot`, by parameter name.
    """
    from themis_opt.show.pictures import save_picture
    from themis_opt.show.pictures.canvas import house_style
    from themis_opt.studies.reading_table import read_table

    if len(sources) > 1:
        raise InputError(f"plot {kind}: takes one study, and {len(sources)} files are given: {', '.join(sources)}")
    source, conditions = sources[0], options["where"]
    require_of_studies(source, kind_of_source(source))
    table = read_table(source, conditions)
    if conditions and not table.rows:
        told = " and ".join(repr(condition) for condition in conditions)
        raise InputError(f"--where: no row meets {told}; 'themis-opt rows {source}' prints the rows there are")
    with house_style():
        save_picture(_figure(kind, table, options), output, dpi=options["dpi"])


def _figure(kind: str, table: StudyTable, options: dict[str, Any]) -> Figure:
    from themis_opt.show.pictures import gap_map, sweep
    from themis_opt.show.pictures.canvas import figure_of, new_axes
    from themis_opt.show.pictures.gap_map import common_range
    from themis_opt.show.pictures.panels import panels
    from themis_opt.show.pictures.sweep_plot import common_values

    def draw(*, only: dict[str, Value] | None, ax: Axes | None, title: str, is_corner: bool = True) -> Axes:
        columns = {"x": options["x"], "y": options["y"], "only": only, "ax": ax, "title": title}
        if kind == "sweep":
            return sweep(table, by=options["by"], legend=is_corner, x_values=places, **columns)
        return gap_map(table, metric=metric, scheduler=options["scheduler"], value_range=colors, **columns)

    metric, panel = options["metric"] or "gap", options["panels"]
    colors = common_range(table, metric, options["scheduler"]) if kind == "gap-map" and panel else None
    places = common_values(table, panel, x=options["x"], by=options["by"]) if kind == "sweep" and panel else None
    title, size = options["title"] or "", options["figure_size"]
    if panel is not None:
        return panels(table, panel, draw, size_in=size, title=title)
    return figure_of(draw(only=None, ax=None if size is None else new_axes(*size), title=title))
