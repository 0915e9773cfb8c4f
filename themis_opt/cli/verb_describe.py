"""``themis-opt describe``: an instance after all conversions, and what one stage costs, with the numbers in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
from rich.table import Table

from themis_opt.cli.import_remarks import echo_headline, remark_lines
from themis_opt.cli.options import instance_options, overrides_from, read_instance
from themis_opt.cli.tables import console, make_table
from themis_opt.cli.wrapping import print_sentence
from themis_opt.files.atomic import check_outputs, write_text
from themis_opt.files.remarks import Imported
from themis_opt.problem.instance import Instance
from themis_opt.problem.units import bandwidth_column, format_bandwidth, format_size, format_time, time_column
from themis_opt.questions.description_file import DescribedStage, description_text, first_stages
from themis_opt.show.words import title
from themis_opt.timing import metrics


@click.command("describe")
@click.argument("instance", metavar="INSTANCE")
@instance_options
@click.option("--json", "json_path", metavar="FILE|-", help="Write everything as JSON.")
def command(instance: str, json_path: str | None, **options: Any) -> None:
    """Show every quantity of INSTANCE after conversion, and the formula of one stage with numbers in it."""
    check_outputs((json_path,), (instance,))
    imports: list[Imported] = []
    problem = read_instance(instance, overrides_from(options), imports.append)
    for imported in imports:
        echo_headline(imported)
    if json_path is not None:
        write_text(json_path, description_text(problem, imports))
    if json_path == "-":
        return
    out = console()
    print_sentence(out, title(problem), style="bold")
    network = problem.network
    notes = [f"{name}: {text}" for name, text in (("source", network.source), ("note", network.note)) if text]
    for line in notes + [line for imported in imports for line in remark_lines(imported.remarks)]:
        print_sentence(out, line)
    out.print()
    out.print(_dimension_table(problem))
    for line in _dimension_lines(problem):
        print_sentence(out, line)
    out.print()
    for line in _size_lines(problem):
        print_sentence(out, line)
    out.print()
    for stage in first_stages(problem):
        for line in _stage_lines(problem, stage):
            out.print(line, soft_wrap=True)


def _dimension_table(problem: Instance) -> Table:
    headings = ("", "topology", "NPUs", "algorithm", "steps", "bandwidth", "latency")
    texts = ("", "topology", "algorithm")
    table = make_table([(heading, "left" if heading in texts else "right") for heading in headings])
    dimensions = problem.network.dimensions
    bandwidths = bandwidth_column([dimension.bandwidth_Bps for dimension in dimensions])
    latencies = time_column([dimension.latency_ps for dimension in dimensions], trim=True)
    for k, dimension in enumerate(dimensions):
        cells = (dimension.topology, dimension.size, dimension.algorithm, dimension.num_steps())
        table.add_row(f"dim{k + 1}", *map(str, cells), bandwidths[k], latencies[k])
    return table


def _dimension_lines(problem: Instance) -> Iterator[str]:
    """Yield what the table has no column for."""
    for k, dimension in enumerate(problem.network.dimensions):
        name = f"dim{k + 1}"
        if k not in problem.involved:
            yield f"{name}: not involved"
        yield f"{name}: {float(dimension.bandwidth_Bps * 8 / 10**9):.6g} Gb/s per NPU, one way"
        if dimension.links is not None:
            per_link = format_bandwidth(dimension.bandwidth_Bps / dimension.links)
            yield f"{name}: {dimension.links} x {per_link} links per NPU"
        if dimension.reduction_bandwidth_Bps is not None:
            yield f"{name}: reduces {format_bandwidth(dimension.reduction_bandwidth_Bps)}"
        if dimension.note:
            yield f"{name}: {dimension.note}"


def _size_lines(problem: Instance) -> Iterator[str]:
    """Yield what is sent, in how many chunks, and how long that takes at least."""
    sizes = problem.equal_chunk_sizes()
    size = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    yield f"size      {problem.size_bytes} bytes per NPU ({format_size(problem.size_bytes)})"
    yield f"chunks    {problem.num_chunks} of {size} bytes"
    if problem.chunk_overhead_ps:
        overhead = format_time(problem.chunk_overhead_ps)
        yield f"overhead  {overhead} to launch a chunk, on the dimension of its first stage"
    yield f"sends     {format_size(metrics.sent_bytes(problem))} per NPU over all dimensions"
    yield f"bandwidth {format_bandwidth(metrics.total_bandwidth_Bps(problem))} per NPU over all dimensions"
    yield f"ideal     {format_time(metrics.ideal_ps(problem))}"


def _stage_lines(problem: Instance, stage: DescribedStage) -> Iterator[str]:
    """Yield the formula of a stage's cost, with numbers in it."""
    name = f"dim{stage.dimension + 1}"
    dimension = problem.network.dimensions[stage.dimension]
    steps = f"{stage.num_steps} step{'' if stage.num_steps == 1 else 's'}"
    sends = f"{float(stage.sent_bytes):.10g} B"
    launch = f"+ {stage.overhead_ps} ps to launch it " if stage.overhead_ps else ""
    yield f"first {stage.phase} stage of chunk 0 on {name}:"
    yield f"  resident {float(stage.resident_bytes):.10g} B, sends {sends}"
    yield (
        f"  {steps} x {format_time(dimension.latency_ps)} + {sends} / {format_bandwidth(dimension.bandwidth_Bps)} "
        f"= {stage.latency_ps} ps + {stage.transfer_ps} ps {launch}"
        f"= {stage.duration_ps} ps; holds {name} for {stage.hold_ps} ps"
    )
