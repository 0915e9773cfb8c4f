"""``themis-opt describe``: an instance after all conversions, and what one stage costs, with the numbers in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from themis_opt.cli.options import instance_options, overrides_from, read_instance

if TYPE_CHECKING:
    from themis_opt.files.remarks import Imported


@click.command("describe")
@click.argument("instance", metavar="INSTANCE")
@instance_options
@click.option("--json", "json_path", metavar="FILE|-", help="Write everything as JSON.")
def command(instance: str, json_path: str | None, **options: Any) -> None:
    """Show every quantity of INSTANCE after conversion, and the formula of one stage with numbers in it."""
    from themis_opt.cli.import_remarks import echo_headline, remark_lines
    from themis_opt.cli.tables import console, make_table
    from themis_opt.cli.wrapping import print_sentence
    from themis_opt.files.atomic import check_outputs, write_text
    from themis_opt.problem.units import bandwidth_column, format_bandwidth, format_size, format_time, time_column
    from themis_opt.show.words import title
    from themis_opt.timing import metrics
    from themis_opt.timing.cost import CostModel

    check_outputs((json_path,), (instance,))
    imports: list[Imported] = []
    problem = read_instance(instance, overrides_from(options), imports.append)
    for imported in imports:
        echo_headline(imported)
    if json_path is not None:
        from themis_opt.questions.description_document import description_text

        write_text(json_path, description_text(problem, imports))
    if json_path == "-":
        return
    network = problem.network
    out = console()
    print_sentence(out, title(problem), style="bold")
    if network.source:
        print_sentence(out, f"source: {network.source}")
    if network.note:
        print_sentence(out, f"note: {network.note}")
    for imported in imports:
        for line in remark_lines(imported.remarks):
            print_sentence(out, line)
    out.print()
    table = make_table(
        [
            ("", "left"),
            ("topology", "left"),
            ("NPUs", "right"),
            ("algorithm", "left"),
            ("steps", "right"),
            ("bandwidth", "right"),
            ("latency", "right"),
        ]
    )
    bandwidths = bandwidth_column([dimension.bandwidth_Bps for dimension in network.dimensions])
    latencies = time_column([dimension.latency_ps for dimension in network.dimensions], trim=True)
    for k, dimension in enumerate(network.dimensions):
        table.add_row(
            f"dim{k + 1}",
            str(dimension.topology),
            str(dimension.size),
            str(dimension.algorithm),
            str(dimension.num_steps()),
            bandwidths[k],
            latencies[k],
        )
    out.print(table)
    for k, dimension in enumerate(network.dimensions):
        if k not in problem.involved:
            out.print(f"dim{k + 1}: not involved")
        print_sentence(out, f"dim{k + 1}: {float(dimension.bandwidth_Bps * 8 / 10**9):.6g} Gb/s per NPU, one way")
        if dimension.links is not None:
            per_link = format_bandwidth(dimension.bandwidth_Bps / dimension.links)
            print_sentence(out, f"dim{k + 1}: {dimension.links} x {per_link} links per NPU")
        if dimension.reduction_bandwidth_Bps is not None:
            print_sentence(out, f"dim{k + 1}: reduces {format_bandwidth(dimension.reduction_bandwidth_Bps)}")
        if dimension.note:
            print_sentence(out, f"dim{k + 1}: {dimension.note}")
    sizes = problem.equal_chunk_sizes()
    out.print()
    out.print(f"size      {problem.size_bytes} bytes per NPU ({format_size(problem.size_bytes)})")
    size = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    out.print(f"chunks    {problem.num_chunks} of {size} bytes")
    if problem.chunk_overhead_ps:
        overhead = format_time(problem.chunk_overhead_ps)
        print_sentence(out, f"overhead  {overhead} to launch a chunk, on the dimension of its first stage")
    out.print(f"sends     {format_size(metrics.sent_bytes(problem))} per NPU over all dimensions")
    out.print(f"bandwidth {format_bandwidth(metrics.total_bandwidth_Bps(problem))} per NPU over all dimensions")
    out.print(f"ideal     {format_time(metrics.ideal_ps(problem))}")
    out.print()
    model = CostModel(problem)
    for phase in problem.phases:
        k = problem.baseline_order[phase][0]
        dimension = network.dimensions[k]
        cost = model.stage(sizes[0], phase, (), k)
        num_steps = 1 if phase.value == "a2a" else dimension.num_steps()
        steps = f"{num_steps} step{'' if num_steps == 1 else 's'}"
        out.print(f"first {phase.value} stage of chunk 0 on dim{k + 1}:", soft_wrap=True)
        resident = sizes[0] * model.resident_fraction(phase, ())
        out.print(f"  resident {float(resident):.10g} B, sends {float(cost.sent_bytes):.10g} B", soft_wrap=True)
        out.print(
            f"  {steps} x {format_time(dimension.latency_ps)} + {float(cost.sent_bytes):.10g} B / "
            f"{format_bandwidth(dimension.bandwidth_Bps)} = {cost.latency_ps} ps + {cost.transfer_ps} ps "
            f"{f'+ {cost.overhead_ps} ps to launch it ' if cost.overhead_ps else ''}"
            f"= {cost.duration_ps} ps; holds dim{k + 1} for {model.hold_ps(cost)} ps",
            soft_wrap=True,
        )
