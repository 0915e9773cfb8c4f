"""The written parts of a report: claims, instances, commands."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from themis_opt import metrics
from themis_opt.comparison import Row, Run
from themis_opt.instance import Instance
from themis_opt.reporting.claims import Claim, best_row
from themis_opt.reporting.markup import Markup, element
from themis_opt.reporting.reproducing import Origin, instance_yaml
from themis_opt.schedules import Status
from themis_opt.units import bandwidth_column, format_bandwidth, format_size, format_time, time_column
from themis_opt.wording import count_chunks, format_gap, format_speedup, title


def static_text(name: str) -> str:
    """Return the text of a file that is part of this package."""
    return files("themis_opt.reporting").joinpath("static", name).read_text(encoding="utf-8")


def static_markup(name: str) -> Markup:
    """Return a part of a page that is the same in every report."""
    return Markup(static_text(name))


def claim_markup(run: Run, claim: Claim, index: int) -> Markup:
    """Return the summary of one instance: figures, the claim, and why no schedule can be faster."""
    row = best_row(run)
    instance = row.schedule.instance
    facts = [
        ("shortest makespan", format_time(row.makespan_ps), row.name),
        ("against the baseline", format_speedup(row.speedup), format_time(row.baseline_ps)),
        ("above its bound", format_gap(row.gap), format_time(row.bound.value_ps)),
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
        _why(claim.why) if claim.why else "",
        element("ul", (element("li", remark) for remark in claim.remarks), class_="remarks"),
        data_run=str(index),
    )


def means_markup(runs: Sequence[Run]) -> Markup:
    """Return the means of every scheduler over several instances, as ``themis-opt compare`` prints them."""
    by_name: dict[str, list[Row]] = {}
    for row in (row for run in runs for row in run.rows):
        by_name.setdefault(row.name, []).append(row)
    headings = ("scheduler", "instances", "geo-mean speedup", "mean BW use", "mean gap", "optimal")
    lines = []
    for name, rows in by_name.items():
        use = [metrics.bw_utilization(row.schedule.instance, row.makespan_ps) for row in rows]
        cells = (
            str(len(rows)),
            format_speedup(metrics.geometric_mean([row.speedup for row in rows]), 3),
            f"{sum(use) / len(use):.1%}",
            format_gap(sum(row.gap for row in rows) / len(rows)),
            str(sum(row.schedule.status is Status.OPTIMAL for row in rows)),
        )
        lines.append(
            element("tr", element("th", name, scope="row"), (element("td", cell, class_="number") for cell in cells))
        )
    head = element(
        "tr",
        (element("th", text, scope="col", class_="number" if place else None) for place, text in enumerate(headings)),
    )
    table = element("table", element("thead", head), element("tbody", lines))
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label="Means over all instances")


def instance_markup(instance: Instance, commands: Sequence[str], index: int) -> Markup:
    """Return an instance in full, and the commands for it."""
    network = instance.network
    remarks = [("source", network.source), ("note", network.note)]
    remarks += [(f"dim{k + 1}", dimension.note) for k, dimension in enumerate(network.dimensions)]
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
        element("div", _dimensions(instance), class_="scroll", tabindex="0", role="region", aria_label="Dimensions"),
        facts_markup([(name, text) for name, text in remarks if text]),
        element(
            "details",
            element("summary", "The instance as a file: save it as instance.yaml"),
            element("pre", instance_yaml(instance), tabindex="0"),
        ),
        commands_markup(commands),
        data_run=str(index),
    )


def commands_markup(commands: Sequence[str]) -> Markup:
    """Return commands, one a line."""
    return element("div", element("h4", "Commands"), element("pre", "\n".join(commands), tabindex="0"))


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


def _why(lines: Sequence[str]) -> Markup:
    steps = (element("li", line.strip(), class_="inner" if line.startswith(" ") else None) for line in lines[1:])
    return element("details", element("summary", lines[0].rstrip(":")), element("ol", steps), open=True)


def _dimensions(instance: Instance) -> Markup:
    dimensions = instance.network.dimensions
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
        name = f"dim{k + 1}" if k in instance.involved else f"dim{k + 1} (not involved)"
        rows.append(element("tr", element("th", name, scope="row"), (element("td", cell) for cell in cells)))
    head = element("tr", (element("th", heading, scope="col") for heading in headings))
    return element("table", element("thead", head), element("tbody", rows))
