"""Interactive reports of comparisons, schedules and studies: each one HTML file that needs no network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Network
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.problem.units import bandwidth_column, format_bandwidth, format_size, format_time, time_column
from themis_opt.questions.comparison import Run
from themis_opt.questions.comparison_file import ComparisonFile
from themis_opt.questions.row import Row, Timed
from themis_opt.questions.speedup_reference import reference_of
from themis_opt.show.report.claim_sentences import best_row, claim_of
from themis_opt.show.report.page import page_text
from themis_opt.show.report.reproducing import (
    Commands,
    Origin,
    comparison_commands,
    instance_yaml,
    network_yaml,
    schedule_commands,
    study_commands,
    study_remark,
)
from themis_opt.show.report.results_grid import GAP_NOTE, comparison_grid, grid_document, study_grid
from themis_opt.show.report.timeline_figure import MAX_ALL_STAGES, MAX_STAGES, num_stages, time_unit, timeline_figure
from themis_opt.show.words import (
    LIST_OF_OTHERS,
    count_chunks,
    describe_reference,
    describe_references,
    format_gap,
    format_speedup,
    name_reference,
    title,
)
from themis_opt.studies.table import StudyTable
from themis_opt.timing import metrics

MAX_POINTS = 5_000
"""Of a study that a page holds: ten times as many take a browser half a minute."""

MAX_REASONS = 50
"""Different reasons of failures that a page names."""

Facts = list[tuple[str, str]]


def comparison_report(comparison: ComparisonFile) -> str:
    """Return the report of a comparison whose schedules were judged to be right, as its reader does.

    Raises
    ------
    InputError
        When plotly or jinja2 is not installed.
    """
    origin = Origin(comparison.options, comparison.seed, comparison.versions, comparison.machine)
    commands = [comparison_commands(origin, [row.name for row in run.rows]) for run in comparison.runs]
    return _report(comparison.runs, commands, origin)


def schedule_report(schedule: Schedule, name: str) -> str:
    """Return the report of one schedule that was judged to be right; `name` is its file's, for the commands.

    A schedule without a bound gets the best one that costs milliseconds.

    Raises
    ------
    InputError
        When plotly or jinja2 is not installed.
    """
    row = Row.of(schedule.scheduler or name, schedule)
    versions = {} if schedule.version is None else {"themis-opt": schedule.version}
    origin = Origin({}, schedule.seed, versions)
    return _report(
        (Run(schedule.instance, row.bound, (row,), reference_of(schedule.instance)),),
        [schedule_commands(schedule, name)],
        origin,
    )


def study_report(study: StudyTable) -> str:
    """Return the report of a study.

    Raises
    ------
    InputError
        When plotly or jinja2 is not installed.
    """
    shown = replace(study, rows=study.rows[:MAX_POINTS])
    grid = study_grid(shown)
    axes = ", ".join(
        f"{column.field} ({len({row.values.get(column.name) for row in study.rows})})" for column in study.axes
    )
    facts = [
        ("points", str(len(study.rows))),
        *((status, str(count)) for status, count in Counter(row.status for row in study.rows).items()),
        ("axes", axes),
        ("metrics", ", ".join(column.field for column in study.metrics)),
    ]
    if len(shown.rows) < len(study.rows):
        facts.append(("in this page", f"the first {MAX_POINTS} points; 'themis-opt rows' has all of them"))
    fields = {column.field for column in study.metrics}
    notes = {
        "speedup": "Speedup is over the baseline with the point's number of chunks.",
        "speedup_over_others": f"Speedup over others is over the best of {LIST_OF_OTHERS}.",
        "gap": GAP_NOTE,
    }
    context = {
        "title": study.name or "Study",
        "subject": f"A study of {len(study.rows)} points",
        "kind": "study",
        "facts": facts,
        "failures": list(dict.fromkeys(row.reason for row in study.rows if row.reason))[:MAX_REASONS],
        "grid": grid,
        "table_caption": "Every point with its figures; a heading sorts, a first cell selects",
        "table_note": " ".join(note for field, note in notes.items() if field in fields),
        "has_plots": True,
        "study_text": study.study_text,
        "study_remark": study_remark(study.study_text),
        "networks": [_network_part(network) for network in study.networks],
        "commands": study_commands(),
        "origin": Origin(versions={"themis-opt": study.version} if study.version else {}).facts,
        "gap_note": GAP_NOTE,
    }
    return page_text(context, {"grid": grid_document(grid), "runs": [], "views": []})


def _report(runs: Sequence[Run], commands: Sequence[Sequence[Commands]], origin: Origin) -> str:
    grid = comparison_grid(runs)
    views, left_out = _views(runs)
    is_single = len(runs) == 1
    names = list(dict.fromkeys(run.instance.network.name for run in runs))
    context = {
        "title": ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else ""),
        "subject": title(runs[0].instance) if is_single else f"{len(runs)} instances, {len(grid.rows)} schedules",
        "kind": "comparison",
        "means": None if is_single else _means(runs),
        "num_runs": len(runs),
        "references": describe_references(run.reference for run in runs),
        "claims": [_claim_part(run) for run in runs],
        "grid": grid,
        "table_caption": "Every schedule with its figures; a heading sorts, a name selects",
        "table_note": _note(runs),
        "has_plots": not is_single,
        "left_out": left_out,
        "instances": [_instance_part(run.instance, told) for run, told in zip(runs, commands, strict=True)],
        "origin": origin.facts,
        "gap_note": GAP_NOTE,
    }
    return page_text(context, {"grid": grid_document(grid), "runs": _axes(runs), "views": views})


def _views(runs: Sequence[Run]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return what is drawn of every row, and the names of those that have too many stages for that."""
    views: list[dict[str, Any]] = []
    left_out = []
    num_left = MAX_ALL_STAGES
    for run_idx, run in enumerate(runs):
        unit = time_unit(max(row.makespan_ps for row in run.rows))
        for row in run.rows:
            told: dict[str, Any] = {"run": run_idx, "name": row.name, "makespan_ps": float(row.makespan_ps)}
            count = num_stages(row)
            if count <= min(MAX_STAGES, num_left):
                num_left -= count
                told["figure"] = timeline_figure(row, unit)
            else:
                left_out.append(row.name)
            views.append(told)
        # They have a row in the table, and nothing to draw.
        for timed in run.predictions:
            why = "Predicted by a formula: there are no stages to draw."
            views.append({"run": run_idx, "name": timed.name, "makespan_ps": float(timed.makespan_ps), "why": why})
    return views, left_out


def _axes(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return each run's title, and where one axis for all its schedules ends."""
    ends = [max(row.makespan_ps for row in run.rows) for run in runs]
    return [
        {"title": title(run.instance), "end": 1.02 * max(end, 1) / time_unit(end)[1]}
        for run, end in zip(runs, ends, strict=True)
    ]


def _claim_part(run: Run) -> dict[str, Any]:
    """Return the summary of one instance: figures, the claim, and why no schedule can be faster."""
    row = best_row(run)
    against = f"against {name_reference(run.reference)}"
    tiles = [
        ("shortest makespan", format_time(row.makespan_ps), row.name),
        (against, format_speedup(row.speedup), format_time(run.reference.makespan_ps)),
        ("above the bound for its chunks", format_gap(row.gap), format_time(row.bound.value_ps)),
        ("bandwidth use", f"{row.bw_utilization:.1%}", f"busbw {row.busbw_Bps / 1e9:.5g} GB/s"),
    ]
    return {"title": title(run.instance), "claim": claim_of(run), "tiles": tiles}


def _means(runs: Sequence[Run]) -> list[tuple[str, ...]]:
    """Return the means of every scheduler over several instances.

    There is no mean of gaps: each is to the bound for its own sizing and number of chunks, so the least mean may be the
    slowest scheduler's.
    """
    by_name: dict[str, list[Timed]] = {}
    for run in runs:
        for row in (*run.rows, *run.predictions):
            by_name.setdefault(row.name, []).append(row)
    return [
        (
            name,
            str(len(rows)),
            format_speedup(metrics.geometric_mean([row.speedup for row in rows]), 3),
            f"{sum(row.bw_utilization for row in rows) / len(rows):.1%}",
            str(sum(row.status is Status.OPTIMAL for row in rows if isinstance(row, Row))),
        )
        for name, rows in by_name.items()
    ]


def _instance_part(instance: Instance, commands: Sequence[Commands]) -> dict[str, Any]:
    """Return an instance in full, and the commands for it."""
    sizes = instance.equal_chunk_sizes()
    chunk = f"{min(sizes)} B" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)} B"
    facts = [
        ("network", instance.network.name),
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
    return {
        "heading": title(instance),
        "facts": facts,
        **_dimensions(instance.network, instance.involved),
        "file_heading": "The instance as a file: save it as instance.yaml",
        "file": instance_yaml(instance),
        "commands": commands,
    }


def _network_part(network: Network) -> dict[str, Any]:
    """Return a network in full."""
    bandwidth_Bps = sum(dimension.bandwidth_Bps for dimension in network.dimensions)
    return {
        "heading": f"The network {network.name}",
        "facts": [
            ("NPUs", str(network.num_npus)),
            ("bandwidth", f"{format_bandwidth(bandwidth_Bps)} per NPU over all dimensions"),
        ],
        **_dimensions(network, range(network.num_dimensions)),
        "file_heading": "The network as a file: where the study names a file, save it under that name",
        "file": network_yaml(network),
        "commands": (),
    }


def _dimensions(network: Network, involved: Sequence[int]) -> dict[str, Any]:
    """Return the table of a network's dimensions, and what its file remarks on it."""
    bandwidths = bandwidth_column([dimension.bandwidth_Bps for dimension in network.dimensions])
    latencies = time_column([dimension.latency_ps for dimension in network.dimensions], trim=True)
    rows = [
        (
            f"dim{k + 1}" if k in involved else f"dim{k + 1} (not involved)",
            str(dimension.topology),
            str(dimension.size),
            str(dimension.algorithm),
            str(dimension.num_steps()),
            bandwidths[k],
            latencies[k],
            "" if dimension.links is None else str(dimension.links),
            "free" if (Bps := dimension.reduction_bandwidth_Bps) is None else format_bandwidth(Bps),
        )
        for k, dimension in enumerate(network.dimensions)
    ]
    remarks = [("source", network.source), ("note", network.note)]
    remarks += [(f"dim{k + 1}", dimension.note) for k, dimension in enumerate(network.dimensions)]
    return {"dimensions": rows, "remarks": [(name, text) for name, text in remarks if text]}


def _note(runs: Sequence[Run]) -> str:
    """Return what is to be known of speedups, and of gaps where they are not all to a bound for the same chunks."""
    over = (
        describe_reference(runs[0].reference) if len(runs) == 1 else describe_references(run.reference for run in runs)
    )
    scopes = {row.bound.scope for run in runs for row in run.rows}
    return f"Speedup is over {over}. {GAP_NOTE if len(scopes) > 1 else ''}".rstrip()
