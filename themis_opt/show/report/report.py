"""Interactive reports of comparisons, schedules and studies: each one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from themis_opt.problem.schedule import Schedule
from themis_opt.questions.comparison import Run
from themis_opt.questions.comparison_file import ComparisonFile
from themis_opt.questions.row import Row, baseline_makespan_ps
from themis_opt.show.report.baselines import baselines_of
from themis_opt.show.report.claim_sentences import claim_of
from themis_opt.show.report.comparison_grid import comparison_grid
from themis_opt.show.report.grid import GAP_NOTE, Grid, grid_document, grid_markup
from themis_opt.show.report.markup import Markup, element
from themis_opt.show.report.page import Section, page_text
from themis_opt.show.report.reproducing import (
    Commands,
    Origin,
    comparison_commands,
    schedule_commands,
    study_commands,
    study_remark,
)
from themis_opt.show.report.sections import (
    claim_markup,
    commands_markup,
    facts_markup,
    instance_markup,
    means_markup,
    network_markup,
    origin_markup,
    static_markup,
)
from themis_opt.show.report.study_grid import study_grid
from themis_opt.show.report.views import MAX_ALL_STAGES, MAX_STAGES, lanes_document, num_stages, view_document
from themis_opt.show.words import count_chunks, title
from themis_opt.solving.bounds import best_bound, quick_bounds, scope_of
from themis_opt.studies.table import StudyTable
from themis_opt.timing.sequencing import simulate

MAX_POINTS = 5_000
"""Of a study that a page holds: ten times as many take a browser half a minute."""

MAX_REASONS = 50
"""Different reasons of failures that a page names."""


def comparison_report(comparison: ComparisonFile) -> str:
    """Return the report of a comparison whose schedules were judged to be right, as its reader does.

    Raises
    ------
    InputError
        When plotly is not installed.
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
        When plotly is not installed.
    """
    instance = schedule.instance
    bound = schedule.bound or best_bound(quick_bounds(instance, scope_of(schedule)))
    makespan_ps = simulate(instance, schedule).makespan_ps
    judged = schedule.replace(bound=bound, makespan_ps=makespan_ps)
    row = Row(schedule.scheduler or name, judged, baseline_makespan_ps(instance), 0.0)
    versions = {} if schedule.version is None else {"themis-opt": schedule.version}
    origin = Origin({}, schedule.seed, versions)
    return _report((Run(instance, bound, (row,)),), [schedule_commands(schedule, name)], origin)


def study_report(study: StudyTable) -> str:
    """Return the report of a study.

    Raises
    ------
    InputError
        When plotly is not installed.
    """
    shown = replace(study, rows=study.rows[:MAX_POINTS])
    grid = study_grid(shown)
    counts: dict[str, int] = {}
    for row in study.rows:
        counts[row.status] = counts.get(row.status, 0) + 1
    axes = ", ".join(
        f"{column.field} ({len({row.values.get(column.name) for row in study.rows})})" for column in study.axes
    )
    facts = [
        ("points", str(len(study.rows))),
        *((status, str(count)) for status, count in counts.items()),
        ("axes", axes),
        ("metrics", ", ".join(column.field for column in study.metrics)),
    ]
    if len(shown.rows) < len(study.rows):
        facts.append(("in this page", f"the first {MAX_POINTS} points; 'themis-opt rows' has all of them"))
    reasons = list(dict.fromkeys(row.reason for row in study.rows if row.reason))[:MAX_REASONS]
    origin = Origin(versions={"themis-opt": study.version} if study.version else {})
    sections = [
        Section("summary", "Summary", [facts_markup(facts), _reasons(reasons)]),
        Section("plots", "Sweep and gap", [static_markup("sweep.html")]),
        _results(grid, "Every point with its figures; a heading sorts, a first cell selects", _study_note(study)),
        Section(
            "reproduce",
            "The study, and how to run it again",
            [
                element("p", "Save this as study.yaml:"),
                element("pre", study.study_text, tabindex="0"),
                element("p", remark, class_="note") if (remark := study_remark(study.study_text)) else Markup(""),
                *(network_markup(network) for network in study.networks),
                commands_markup(study_commands()),
                origin_markup(origin),
            ],
        ),
    ]
    subject = f"A study of {len(study.rows)} points"
    return page_text(study.name or "Study", subject, sections, {"grid": grid_document(grid), "runs": [], "views": []})


def _report(runs: Sequence[Run], commands: Sequence[Sequence[Commands]], origin: Origin) -> str:
    grid = comparison_grid(runs)
    views, left_out = _views(runs)
    is_single = len(runs) == 1
    names = list(dict.fromkeys(run.instance.network.name for run in runs))
    heading = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    subject = title(runs[0].instance) if is_single else f"{len(runs)} instances, {len(grid.rows)} schedules"
    timeline = [static_markup("timeline.html")]
    if left_out:
        timeline.insert(0, element("p", f"Too many stages to draw, in the table only: {', '.join(left_out)}."))
    sections = [
        Section("summary", "Summary", _summary(runs)),
        _results(grid, "Every schedule with its figures; a heading sorts, a name selects", _note(runs)),
        *([] if is_single else [Section("plots", "Sweep and gap", [static_markup("sweep.html")])]),
        Section("timeline", "Timeline", timeline),
        Section(
            "reproduce",
            "The instance, and how to reproduce it",
            [
                *(
                    instance_markup(run.instance, told, place)
                    for place, (run, told) in enumerate(zip(runs, commands, strict=True))
                ),
                origin_markup(origin),
            ],
        ),
    ]
    data = {
        "grid": grid_document(grid),
        "runs": [
            {
                "title": title(run.instance),
                "lanes": lanes_document(run.instance),
                "phases": [phase.value.upper() for phase in run.instance.phases],
            }
            for run in runs
        ],
        "views": views,
    }
    return page_text(heading, subject, sections, data)


def _summary(runs: Sequence[Run]) -> list[Markup]:
    baselines = baselines_of(runs)
    claims = [
        claim_markup(run, claim_of(run, baseline), baseline, place)
        for place, (run, baseline) in enumerate(zip(runs, baselines, strict=True))
    ]
    if len(runs) == 1:
        return claims
    return [
        element("h3", f"Over {len(runs)} instances"),
        means_markup(runs, baselines),
        element("h3", "The instance of the selected row"),
        *claims,
    ]


def _views(runs: Sequence[Run]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return what is drawn of every row, and the names of those that have too many stages for that."""
    views: list[dict[str, Any]] = []
    left_out = []
    num_left = MAX_ALL_STAGES
    row_idx = 0
    for run_idx, run in enumerate(runs):
        for row in run.rows:
            count = num_stages(row)
            told: dict[str, Any] = {"row": row_idx, "run": run_idx, "name": row.name}
            if count <= min(MAX_STAGES, num_left):
                num_left -= count
                told |= view_document(row)
            else:
                left_out.append(row.name)
            views.append(told)
            row_idx += 1
    return views, left_out


def _results(grid: Grid, caption: str, note: str) -> Section:
    table = grid_markup(grid, told_by="results-caption")
    parts = [
        element("p", caption, id="results-caption", class_="note"),
        element("div", table, class_="scroll", tabindex="0", role="region", aria_label="Results"),
    ]
    return Section("table", "All results", [*parts, element("p", note, class_="note")] if note else parts)


def _note(runs: Sequence[Run]) -> str:
    """Return what is to be known of speedups, and of gaps where they are not all to a bound for the same chunks."""
    counts = {run.instance.num_chunks for run in runs}
    count = count_chunks(counts.pop()) if len(counts) == 1 else "the number of chunks that its instance asks for"
    scopes = {row.bound.scope for run in runs for row in run.rows}
    return f"Speedup is over the baseline with {count}. {GAP_NOTE if len(scopes) > 1 else ''}".rstrip()


def _study_note(study: StudyTable) -> str:
    fields = {column.field for column in study.metrics}
    notes = {"speedup": "Speedup is over the baseline with the point's number of chunks.", "gap": GAP_NOTE}
    return " ".join(note for field, note in notes.items() if field in fields)


def _reasons(reasons: Sequence[str]) -> Markup:
    if not reasons:
        return Markup("")
    return element("div", element("h3", "What failed"), element("ul", (element("li", reason) for reason in reasons)))
