"""The written parts of a report: claims, instances, commands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib.resources import files

from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Network
from themis_opt.problem.ratios import ratio
from themis_opt.problem.schedule import Status
from themis_opt.problem.units import bandwidth_column, format_bandwidth, format_size, format_time, time_column
from themis_opt.questions.comparison import Run
from themis_opt.questions.row import Row
from themis_opt.show.report.baselines import Baseline
from themis_opt.show.report.claim_sentences import Claim, best_row
from themis_opt.show.report.markup import Markup, element, joined
from themis_opt.show.report.reasons import Reason
from themis_opt.show.report.reproducing import Commands, Origin, instance_yaml, network_yaml
from themis_opt.show.words import count_chunks, format_gap, format_speedup, title
from themis_opt.timing import metrics


def static_text(name: str) -> str:
    """Return the text of a file that is part of this package."""
    return files("themis_opt.show.report").joinpath("static", name).read_text(encoding="utf-8")


def static_markup(name: str) -> Markup:
    """Return a part of a page that is the same in every report."""
    return Markup(static_text(name))


def claim_markup(run: Run, claim: Claim, baseline: Baseline, index: int) -> Markup:
    """Return the summary of one instance: figures, the claim, and why no schedule can be faster."""
    row = best_row(run)
    instance = row.schedule.instance
    facts = [
        ("shortest makespan", format_time(row.makespan_ps), row.name),
        *_baseline_tiles(row, baseline),
        ("above the bound for its chunks", format_gap(row.gap), format_time(row.bound.value_ps)),
        (
            "bandwidth use",
            f"{metrics.bw_utilization(instance, row.makespan_ps):.1%}",
            f"busbw {metrics.busbw_Bps(instance, row.makespan_ps) / 1e9:.5g} GB/s",
        ),
    ]
    return element(
        "article",
        element("p", title(run.instance), class_="subject"),
        element("p", claim.headline, class_="headline"),
        element(
            "dl",
            (
                element("div", element("dt", name), element("dd", value, element("small", detail)))
                for name, value, detail in facts
            ),
            class_="tiles",
        ),
        element(
            "p",
            element("strong", "Proven" if claim.is_proven else "On trust"),
            f" {claim.standing}",
            class_="standing " + ("proven" if claim.is_proven else "trusted"),
        ),
        element("ul", (element("li", line) for line in claim.lines), class_="lines"),
        (_reason(reason) for reason in claim.reasons),
        element("ul", (element("li", remark) for remark in claim.remarks), class_="remarks"),
        data_run=str(index),
    )


def means_markup(runs: Sequence[Run], baselines: Sequence[Baseline]) -> Markup:
    """Return the means of every scheduler over several instances.

    There is no mean of gaps: each is to the bound for its own sizing and number of chunks, so the least mean may be the
    slowest scheduler's.
    """
    by_name: dict[str, list[tuple[Row, Baseline]]] = {}
    for run, baseline in zip(runs, baselines, strict=True):
        for row in run.rows:
            by_name.setdefault(row.name, []).append((row, baseline))
    headings = (
        "scheduler", "instances", "geo-mean speedup", "over the baseline at its best", "mean BW use", "optimal",
    )  # fmt: skip
    lines = []
    for name, rows in by_name.items():
        use = [metrics.bw_utilization(row.schedule.instance, row.makespan_ps) for row, _ in rows]
        over_best = [ratio(baseline.best_ps, row.makespan_ps) for row, baseline in rows]
        cells = (
            str(len(rows)),
            format_speedup(metrics.geometric_mean([row.speedup for row, _ in rows]), 3),
            format_speedup(metrics.geometric_mean(over_best), 3),
            f"{sum(use) / len(use):.1%}",
            str(sum(row.schedule.status is Status.OPTIMAL for row, _ in rows)),
        )
        lines.append(
            element("tr", element("th", name, scope="row"), (element("td", cell, class_="number") for cell in cells))
        )
    head = element(
        "tr",
        (element("th", text, scope="col", class_="number" if place else None) for place, text in enumerate(headings)),
    )
    table = element("table", element("thead", head), element("tbody", lines))
    frame = element("div", table, class_="scroll", tabindex="0", role="region", aria_label="Means over all instances")
    note = (
        "Speedup is over the baseline with the number of chunks that the instance asks for; beside it, over the "
        "baseline at its best. Optimal is said of a schedule's own sizing and number of chunks."
    )
    return joined(frame, element("p", note, class_="note"))


def instance_markup(instance: Instance, commands: Sequence[Commands], index: int) -> Markup:
    """Return an instance in full, and the commands for it."""
    network = instance.network
    sizes = instance.equal_chunk_sizes()
    chunk = f"{min(sizes)} B" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)} B"
    facts = [
        ("network", network.name),
        ("collective", str(instance.collective)),
        ("size", f"{format_size(instance.size_bytes)} per NPU ({instance.size_bytes} B)"),
        ("chunks", f"{count_chunks(instance.num_chunks)} of {chunk}"),
        ("occupancy", str(instance.occupancy)),
        ("chunk overhead", format_time(instance.chunk_overhead_ps)),
        ("NPUs", str(instance.num_npus)),
        ("sends", f"{format_size(metrics.sent_bytes(instance))} per NPU over all dimensions"),
        ("bandwidth", f"{format_bandwidth(metrics.total_bandwidth_Bps(instance))} per NPU over all dimensions"),
        ("ideal", f"{format_time(metrics.ideal_ps(instance))}, every dimension busy all the time, no latency"),
    ]
    return element(
        "article",
        element("h3", title(instance)),
        facts_markup(facts),
        _dimensions(network, instance.involved),
        _told_by_file("The instance as a file: save it as instance.yaml", instance_yaml(instance)),
        commands_markup(commands),
        data_run=str(index),
    )


def network_markup(network: Network) -> Markup:
    """Return a network in full."""
    bandwidth_Bps = sum(dimension.bandwidth_Bps for dimension in network.dimensions)
    facts = [
        ("NPUs", str(network.num_npus)),
        ("bandwidth", f"{format_bandwidth(bandwidth_Bps)} per NPU over all dimensions"),
    ]
    return element(
        "article",
        element("h3", f"The network {network.name}"),
        facts_markup(facts),
        _dimensions(network, range(network.num_dimensions)),
        _told_by_file(
            "The network as a file: where the study names a file, save it under that name", network_yaml(network)
        ),
    )


def commands_markup(commands: Sequence[Commands]) -> Markup:
    """Return commands, one a line, each group under what it is for."""
    return joined(
        element(
            "div",
            element("h4", group.heading),
            element("pre", "\n".join(group.lines), tabindex="0"),
            element("p", group.remark, class_="note") if group.remark else "",
        )
        for group in commands
    )


def origin_markup(origin: Origin) -> Markup:
    """Return what the results were made with; nothing where nothing is known."""
    if not origin.facts:
        return Markup("")
    return element("article", element("h3", "Made with"), facts_markup(origin.facts))


def facts_markup(facts: Sequence[tuple[str, str]]) -> Markup:
    """Return names and values as a list."""
    if not facts:
        return Markup("")
    return element(
        "dl", (element("div", element("dt", name), element("dd", text)) for name, text in facts), class_="facts"
    )


def _baseline_tiles(row: Row, baseline: Baseline) -> list[tuple[str, str, str]]:
    asked = (f"against {baseline.asked}", format_speedup(row.speedup), format_time(baseline.asked_ps))
    if baseline.is_best_as_asked:
        return [(f"{asked[0]}, its best number", *asked[1:])]
    factor = format_speedup(ratio(baseline.best_ps, row.makespan_ps))
    return [asked, (f"against {baseline.best}", factor, format_time(baseline.best_ps))]


def _reason(reason: Reason) -> Markup:
    """Return an argument; one that proves less than what is claimed is closed until it is wanted."""
    steps = (element("li", step.strip(), class_="inner" if step.startswith(" ") else None) for step in reason.steps)
    return element("details", element("summary", reason.heading), element("ol", steps), open=reason.is_enough)


def _told_by_file(heading: str, text: str) -> Markup:
    return element("details", element("summary", heading), element("pre", text, tabindex="0"))


def _dimensions(network: Network, involved: Collection[int]) -> Markup:
    """Return the table of a network's dimensions, and what its file remarks on it."""
    remarks = [("source", network.source), ("note", network.note)]
    remarks += [(f"dim{k + 1}", dimension.note) for k, dimension in enumerate(network.dimensions)]
    table = _dimension_table(network, involved)
    return joined(
        element("div", table, class_="scroll", tabindex="0", role="region", aria_label="Dimensions"),
        facts_markup([(name, text) for name, text in remarks if text]),
    )


def _dimension_table(network: Network, involved: Collection[int]) -> Markup:
    dimensions = network.dimensions
    headings = ("", "topology", "NPUs", "algorithm", "steps", "bandwidth", "latency", "links", "reduction")
    bandwidths = bandwidth_column([dimension.bandwidth_Bps for dimension in dimensions])
    latencies = time_column([dimension.latency_ps for dimension in dimensions], trim=True)
    rows = []
    for k, dimension in enumerate(dimensions):
        reduction_Bps = dimension.reduction_bandwidth_Bps
        cells = (
            str(dimension.topology),
            str(dimension.size),
            str(dimension.algorithm),
            str(dimension.num_steps()),
            bandwidths[k],
            latencies[k],
            "" if dimension.links is None else str(dimension.links),
            "free" if reduction_Bps is None else format_bandwidth(reduction_Bps),
        )
        name = f"dim{k + 1}" if k in involved else f"dim{k + 1} (not involved)"
        rows.append(element("tr", element("th", name, scope="row"), (element("td", cell) for cell in cells)))
    head = element("tr", (element("th", heading, scope="col") for heading in headings))
    return element("table", element("thead", head), element("tbody", rows))
