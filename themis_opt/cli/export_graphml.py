"""``themis-opt export --to graphml``: the network of a schedule, an instance or a network file as a graph."""

from __future__ import annotations

from themis_opt.cli.verb_export import ExportOptions

OPTIONS: frozenset[str] = frozenset()
TAKES_SEVERAL = False


def export(schedules: tuple[str, ...], output: str, options: ExportOptions) -> None:
    """Write the graph: node-link JSON where the output's name ends in ``.json``, else GraphML."""
    from themis_opt.cli.exporting import require_valid
    from themis_opt.cli.options import read_argument
    from themis_opt.export.graphml import graphml_text, node_link_text
    from themis_opt.files.atomic import write_text
    from themis_opt.problem.errors import InputError
    from themis_opt.problem.schedule import Schedule

    (path,) = schedules
    thing = read_argument(path)
    if isinstance(thing, Schedule):
        require_valid(path, thing)
        network = thing.instance.network
    else:
        network = thing.network
    to_text = node_link_text if output.lower().endswith(".json") else graphml_text
    try:
        text = to_text(network)
    except InputError as error:
        raise error.at(path) from None
    write_text(output, text)
