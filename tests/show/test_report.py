"""Reports as text: what stands in them, that nothing in them can run or call home, and what the verb refuses."""

from __future__ import annotations

import builtins
import hashlib
import json
import re
import shlex
from base64 import b64decode, b64encode
from dataclasses import replace
from fractions import Fraction
from gzip import decompress
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine

from themis_opt import Bound, Collective, Dimension, Instance, Network, Status, Topology, load_network, schedule
from themis_opt.cli.main import run
from themis_opt.files.network_file import save_network
from themis_opt.files.schedule_file import load_schedule, save_schedule
from themis_opt.judging.certify import certify, summary_lines, why_lines
from themis_opt.problem.bound import BoundScope, Sizing
from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Occupancy
from themis_opt.problem.units import format_time, time_column
from themis_opt.proof.critical_path import critical_path_bound
from themis_opt.questions.comparison import compare
from themis_opt.questions.comparison_file import ComparisonFile, read_comparison
from themis_opt.questions.row import Row
from themis_opt.schedulers.best_counts import baseline_best, themis_best
from themis_opt.show.report.claim_sentences import best_row, claim_of
from themis_opt.show.report.page import packed
from themis_opt.show.report.reasons import reasons_of
from themis_opt.show.report.report import comparison_report, schedule_report, study_report
from themis_opt.show.report.reproducing import Origin, comparison_commands, instance_yaml, schedule_commands
from themis_opt.show.report.results_grid import (
    Cell,
    Grid,
    GridColumn,
    Part,
    Quantity,
    comparison_grid,
    grid_document,
    rests_on,
)
from themis_opt.show.report.timeline_figure import time_unit, timeline_figure
from themis_opt.studies.reading_table import read_table
from themis_opt.studies.table import Column, Role, StudyRow, StudyTable
from themis_opt.timing import metrics
from themis_opt.timing.sequencing import simulate

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    '<b>b</b><br><a href="javascript:alert(1)">',
    "\"onmouseover='alert(1)' &lt;b&gt; $\\alpha$ %{x}",
)
SCHEDULERS = ("baseline", "themis-scf")


def network(name: str = "small") -> Network:
    """Two dimensions of 4 and 2 NPUs at 2 and 1 GB/s, 100 ns a step."""
    return Network(
        name,
        (
            Dimension(Topology.RING, 4, Fraction(2 * 10**9), Fraction(100_000), note=name),
            Dimension(Topology.SWITCH, 2, Fraction(10**9), Fraction(100_000)),
        ),
        source=name,
        note=name,
    )


def comparison(*instances: Instance, schedulers: tuple[str, ...] = SCHEDULERS) -> ComparisonFile:
    runs = tuple(compare(instances, schedulers=schedulers))
    options = {"instances": ["small"], "schedulers": list(schedulers), "solver": "none", "time_limit_s": 10.0}
    return ComparisonFile(runs, options, 7, {"themis-opt": "0.1.0"}, {"system": "Linux"})


def study(*names: str) -> StudyTable:
    """A study of two sizes and some schedulers, whose last point failed."""
    columns = (
        Column("size_bytes", "size", "B", Role.AXIS, True),
        Column("scheduler", "scheduler", "", Role.AXIS, False),
        Column("makespan_ps", "makespan_ps", "ps", Role.METRIC, True),
        Column("bw_utilization", "bw_utilization", "", Role.METRIC, True),
        Column("gap", "gap", "", Role.METRIC, True),
    )
    rows = [
        StudyRow(
            {
                "size_bytes": size,
                "scheduler": name,
                "makespan_ps": size * 100 * (place + 2),
                "bw_utilization": 0.5,
                "gap": place / 10,
            },
            "heuristic",
            0.25,
        )
        for size in (1_000_000, 100_000_000)
        for place, name in enumerate(names)
    ]
    failed = {
        "size_bytes": 100_000_000,
        "scheduler": names[-1],
        "makespan_ps": None,
        "bw_utilization": None,
        "gap": None,
    }
    rows[-1] = StudyRow(failed, "failed", 0.5, f"no luck with {names[-1]}")
    text = f"format: themis-opt/study/1  # {names[-1]}\n"
    return StudyTable(f"study of {names[-1]}", text, columns, tuple(rows), "0.1.0", (network(names[-1]),))


class Page(HTMLParser):
    """What a browser finds in a page: elements with their attributes, scripts, and the text people see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.seen: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        tag = self.elements[-1][0] if self.elements else ""
        if tag == "script" and not data.isspace():
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif tag != "style":
            self.seen.append(data)

    def script(self, identifier: str) -> str:
        return next(text for attributes, text in self.scripts if attributes.get("id") == identifier)

    @property
    def data(self) -> Any:
        return json.loads(decompress(b64decode(self.script("data"))))

    @property
    def text(self) -> str:
        return " ".join("".join(self.seen).split())


@pytest.fixture(scope="module")
def page() -> Page:
    instance = Instance(network(), size_bytes=8_000_000, num_chunks=4)
    return Page(comparison_report(comparison(instance)))


def test_the_table_has_the_figures_of_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Every figure that compare prints stands in the page's table, in the same words."""
    told = ["compare", "3d-fc-ring-sw", "--chunks", "4", "--solver", "none", "--json", str(tmp_path / "c.json")]
    assert run(told) == 0
    printed = capsys.readouterr().out.splitlines()
    assert run(["report", str(tmp_path / "c.json"), "-o", str(tmp_path / "r.html")]) == 0
    assert capsys.readouterr() == ("", "")
    text = (tmp_path / "r.html").read_text()
    for name in ("baseline", "themis-fifo", "themis-scf", "themis-best"):
        line = next(line for line in printed if line.startswith(name))
        row = re.search(rf"<tr data-row=\"\d+\"><th scope=\"row\"><button [^>]*>{name}</button></th>(.*?)</tr>", text)
        assert row is not None
        cells = re.findall(r"<td[^>]*>(.*?)</td>", row[1])
        chunks, makespan, use, busbw, speedup, gap, _, _, status, seconds = cells
        shown = " ".join([name, chunks, makespan, use, busbw, speedup, gap, status, seconds])
        assert shown.split() == line.split()


def test_the_claim_is_certifys(page: Page) -> None:
    instance = Instance(network(), size_bytes=8_000_000, num_chunks=4)
    (run_,) = compare([instance], schedulers=SCHEDULERS)
    claim = claim_of(run_)
    assert claim.is_proven
    row = best_row(run_)
    certification = certify(row.schedule)
    assert claim.lines == tuple(summary_lines(certification))
    (reason,) = claim.reasons
    assert [f"{reason.heading}:", *reason.steps] == why_lines(certification)
    for line in (
        claim.headline,
        claim.standing,
        *claim.lines,
        reason.heading,
        *reason.steps,
        *claim.remarks,
    ):
        assert " ".join(line.split()) in page.text


def test_a_claim_that_the_critical_path_proves_says_so() -> None:
    """One chunk of 8 MB on two dimensions of 4 and 2 NPUs, alone: its way is the bound, its certificate proves less.

    dim1 first: 6 MB at 2 GB/s and 3 steps of 100 ns are 3000.3 us, then on dim2 1 MB at 1 GB/s and 1 step 1000.1 us.
    dim2 first: 4 MB and 1 step 4000.1 us, then 3 MB and 3 steps 1500.3 us, which is longer. All-Gather mirrors it.
    """
    instance = Instance(network(), size_bytes=8_000_000, num_chunks=1)
    (run_,) = compare([instance], schedulers=("baseline",))
    claim = claim_of(run_)
    assert claim.standing == (
        "Optimal for exactly 1 chunk of equal size: proven here without a solver, by the critical path of one chunk"
    )
    path, certificate = claim.reasons
    assert path.heading == (
        "Why no schedule with exactly 1 chunk of equal size can end before 8.0008 ms: the critical path of one chunk"
    )
    assert path.steps == (
        "The only chunk has 8 MB, and goes through its stages one after another.",
        "Whatever orders it takes, and even if no other chunk is ever in its way:",
        "  the fastest Reduce-Scatter order is dim1-dim2 (3.0003 ms + 1.0001 ms = 4.0004 ms)",
        "  the fastest All-Gather order is dim2-dim1 (1.0001 ms + 3.0003 ms = 4.0004 ms)",
        "So it ends no earlier than 8.0008 ms, and neither does the schedule.",
    )
    assert (path.is_enough, certificate.is_enough) == (True, False)
    certified_ps = run_.bound.certified_ps or certify(run_.rows[0].schedule).certified_ps
    assert certificate.heading == (
        "What the certificate alone proves, which is less: no schedule with exactly 1 chunk of equal size can end "
        f"before {format_time(certified_ps or 0)}"
    )
    text = comparison_report(ComparisonFile((run_,), {}, 0, {}, {}))
    assert re.findall(r"<details( open)?><summary>(Why|What)", text) == [(" open", "Why"), ("", "What")]


@pytest.mark.parametrize(("least", "most"), [(1, 1), (3, 3), (1, 8)])
def test_the_critical_path_of_a_reason_is_the_bounds(least: int, most: int) -> None:
    instance = Instance(network(), size_bytes=8_000_001, num_chunks=most)
    scope = BoundScope(Sizing.EQUAL, least, most)
    made = schedule(instance, "baseline")
    path_ps = critical_path_bound(instance, scope).value_ps
    bound = Bound(path_ps, "critical-path", scope)
    (reason,) = reasons_of(certify(made.replace(bound=bound, status=Status.FEASIBLE)))
    assert reason.is_enough
    assert format_time(path_ps) in reason.heading
    assert reason.steps[-1] == f"So it ends no earlier than {format_time(path_ps)}, and neither does the schedule."
    told = [step for step in reason.steps if step.startswith("  the fastest")]
    totals = [float(step.split("= ")[1].split(" ")[0]) for step in told]
    unit = 1e9 if "ms)" in told[0] else 1e6
    assert sum(totals) * unit == pytest.approx(path_ps, rel=1e-3)
    assert (f"Of these numbers of chunks {most} allows the earliest end." in reason.steps) == (least != most)


def test_the_reference_is_named_and_stands_in_headline_tile_and_note() -> None:
    """A page compares with the best of what is not ours, here the baseline at its own best number of chunks."""
    instance = Instance(load_network("3d-fc-ring-sw"), num_chunks=64)
    makespans = {
        2**power: schedule(replace(instance, num_chunks=2**power), "baseline").makespan_ps or 0 for power in range(10)
    }
    best = min(makespans, key=makespans.__getitem__)
    assert best != 64
    made = themis_best(instance)
    found = Page(schedule_report(made, "a.json"))
    makespan_ps, time = made.makespan_ps or 0, format_time(makespans[best])
    factor = f"{makespans[best] / makespan_ps:.2f}x"
    rival = f"baseline-best with {best} chunks"
    why = f"over {rival} ({time}), the best of baseline-best, flat-ring and double-binary-tree"
    for text in (
        f"takes {format_time(makespan_ps)} with {made.num_chunks} chunks, {factor} the speed of {rival} ({time}).",
        f"against {rival}{factor}{time}",
        f"speedup: {why}",
        f"Speedup is {why}.",
    ):
        assert text in found.text


def test_the_reference_of_ones_own_is_not_its_own_rival() -> None:
    instance = Instance(network(), size_bytes=8_000_000, num_chunks=4)
    runs = tuple(compare([instance], schedulers=("baseline",), reference="baseline"))
    assert "the speed of" not in claim_of(runs[0]).headline
    text = Page(comparison_report(ComparisonFile(runs, {}, 0, {}, {}))).text
    assert "against baseline with 4 chunks1.00x" in text
    assert f"Speedup is over baseline with 4 chunks ({format_time(runs[0].reference.makespan_ps)})." in text


def test_predictions_have_a_row_and_nothing_to_draw() -> None:
    instance = Instance(network(), size_bytes=8_000_000, num_chunks=4)
    runs = tuple(compare([instance], schedulers=("baseline", "flat-ring")))
    found = Page(comparison_report(ComparisonFile(runs, {}, 0, {}, {})))
    ring = found.data["views"][1]
    assert (ring["name"], ring.get("figure")) == ("flat-ring", None)
    assert ring["why"] == "Predicted by a formula: there are no stages to draw."
    columns = [column["key"] for column in found.data["grid"]["columns"]]
    cells = dict(zip(columns, found.data["grid"]["texts"][1], strict=True))
    (row,) = runs[0].predictions
    assert (cells["scheduler"], cells["makespan_ps"], cells["status"]) == (
        "flat-ring",
        time_column([row.makespan_ps])[0],
        "predicted",
    )
    assert (cells["num_chunks"], cells["gap"], cells["bound_ps"]) == ("", "", "")
    assert "flat-ring: predicted by a formula; no schedule, and no bound of its own" in found.text


def test_what_rests_on_a_solvers_word_is_called_that() -> None:
    instance = Instance(network(), size_bytes=8_000_000, num_chunks=4)
    (run_,) = compare([instance], schedulers=("baseline",))
    row = run_.rows[0]
    scope = BoundScope(Sizing.EQUAL, 4, 4)
    believed = Bound(row.makespan_ps, "cp-sat", scope, run_.bound.certificate, run_.bound.certified_ps)
    trusting = replace(row, schedule=row.schedule.replace(bound=believed, status=Status.OPTIMAL))
    trusted_run = replace(run_, rows=(trusting,))
    claim = claim_of(trusted_run)
    assert not claim.is_proven
    assert claim.standing == "Optimal for exactly 4 chunks of equal size: on the word of cp-sat"
    assert any("rest on the word of cp-sat" in line for line in claim.lines)
    (reason,) = claim.reasons
    assert reason.heading.startswith("What the certificate alone proves, which is less: no schedule with exactly 4 ")
    assert (rests_on(believed), rests_on(row.bound)) == ("word of cp-sat", "certificate")
    assert 'class="standing trusted"' in comparison_report(
        ComparisonFile((replace(run_, rows=(trusting,)),), {}, 0, {}, {})
    )


def blocks_of(figure: dict[str, Any]) -> list[tuple[int, str, int, float, float]]:
    """Return chunk, phase, lane, start and end of every block of a timeline; each must stand where it starts."""
    found = []
    for trace in figure["data"]:
        if trace["type"] == "heatmap":
            lane = round(sum(trace["y"]) / 2)
            for place, (chunk, told) in enumerate(zip(trace["z"][0], trace["customdata"][0], strict=True)):
                assert (chunk is None) == (told is None)
                if told is not None:
                    assert told[0] == chunk
                    assert trace["x"][place] * time_unit(10**9)[1] == pytest.approx(told[4])
                    found.append((chunk, trace["name"], lane, told[4], told[5]))
    return sorted(found)


def test_a_timeline_draws_every_stage_of_the_simulator() -> None:
    instance = Instance(network(), size_bytes=8_000_001, num_chunks=3)
    made = schedule(instance, "themis-scf")
    (run_,) = compare([instance], schedulers=("themis-scf",))
    figure = timeline_figure(run_.rows[0], time_unit(10**9))
    names = {Phase.REDUCE_SCATTER: "Reduce-Scatter", Phase.ALL_GATHER: "All-Gather"}
    expected = [
        (stage.chunk, names[stage.phase], stage.dimension, stage.start_ps, stage.end_ps)
        for stage in simulate(instance, made).stages
    ]
    assert blocks_of(figure) == sorted(expected)
    # The first chunk is one byte larger: 2666667 bytes, of which Reduce-Scatter on dim2 (2 NPUs) sends the half.
    (dim2,) = [trace for trace in figure["data"] if trace["name"] == "Reduce-Scatter" and sum(trace["y"]) == 2]
    (told,) = [told for told in dim2["customdata"][0] if told is not None and told[0] == 0]
    assert told[1] in ("1.33333 MB (1333333.5 B)", "333.333 KB (333333.375 B)")


def test_use_over_time_adds_up_to_what_is_sent() -> None:
    """The mean of the windows, which are equally long, is the use of the dimension, whatever stands in each."""
    for occupancy in Occupancy:
        instance = Instance(network(), size_bytes=8_000_000, num_chunks=4, occupancy=occupancy)
        (run_,) = compare([instance], schedulers=("themis-scf",))
        row = run_.rows[0]
        lines = [trace for trace in timeline_figure(row, ("ps", 1))["data"] if trace.get("yaxis") == "y2"]
        for line, use in zip(lines, row.dimension_uses, strict=True):
            assert sum(line["y"][:-1]) / len(line["y"][:-1]) == pytest.approx(use.utilization)
            assert all(-1e-9 <= value <= 1 + 1e-9 for value in line["y"])
            assert (line["x"][0], line["x"][-1]) == (0, row.makespan_ps)


def test_latency_before_a_transfer_is_no_use() -> None:
    """One chunk on one dimension: 10 ps of latency, then 30 ps at full bandwidth."""
    ring = Dimension(Topology.RING, 2, Fraction(10**12), Fraction(10))
    made = schedule(Instance(Network("one", (ring,)), Collective.REDUCE_SCATTER, 60, 1), "baseline")
    (line,) = [each for each in timeline_figure(Row.of("x", made), ("ps", 1))["data"] if each.get("yaxis") == "y2"]
    windows = len(line["y"]) - 1
    assert line["y"][: windows // 4] == pytest.approx([0.0] * (windows // 4))
    assert line["y"][windows // 4 :] == pytest.approx([1.0] * (windows - windows // 4 + 1))


def test_columns_that_say_the_same_everywhere_are_left_out() -> None:
    one = Instance(network(), size_bytes=8_000_000, num_chunks=4)
    several = [one, replace(one, size_bytes=1_000_000), replace(one, dimensions=(0,))]
    alone = comparison_grid(tuple(compare([one], schedulers=SCHEDULERS)))
    together = comparison_grid(tuple(compare(several, schedulers=SCHEDULERS)))
    assert [column.key for column in alone.columns][:2] == ["scheduler", "num_chunks"]
    assert [column.key for column in together.columns][:4] == ["scheduler", "dimensions", "size_bytes", "num_chunks"]
    assert [row[1].text for row in together.rows] == ["all"] * 4 + ["dim1"] * 2


def test_a_study_has_its_axes_metrics_and_reasons() -> None:
    found = Page(study_report(study("baseline", "auto")))
    grid = found.data["grid"]
    assert [column["heading"] for column in grid["columns"]] == [
        "size", "scheduler", "makespan", "BW use", "gap to the bound for its chunks", "status", "seconds", "reason",
    ]  # fmt: skip
    assert [column["unit"] for column in grid["columns"]][:5] == ["MB", "", "us", "", ""]
    assert [column["is_text"] for column in grid["columns"]][:5] == [False, True, False, False, False]
    assert [column["is_share"] for column in grid["columns"]][:5] == [False, False, False, True, True]
    assert grid["values"][0] == [1_000_000, "baseline", 200_000_000, 0.5, 0.0, "heuristic", 0.25, None]
    assert grid["values"][3][2:] == [None, None, None, "failed", 0.5, "no luck with auto"]
    for text in (
        "1 MB",
        "200.00 us",
        "50.0%",
        "10.00%",
        "no luck with auto",
        "themis-opt sweep study.yaml -o study.db",
    ):
        assert text in found.text
    assert "timeline" not in {attributes.get("id") for _, attributes in found.elements}


def test_an_axis_has_the_unit_that_its_middle_value_reaches() -> None:
    column = GridColumn("size_bytes", "size", Quantity.SIZE, Part.AXIS)
    for sizes, unit in (((999, 10**6, 10**9), "MB"), ((1, 999_999, 10**9), "KB"), ((0,), "B"), ((), "B")):
        grid = Grid((column,), tuple((Cell("", size),) for size in sizes))
        assert grid_document(grid)["columns"][0]["unit"] == unit


def test_gaps_say_to_which_bound() -> None:
    """Rows with other chunks have other bounds: the page says so where there are several, and has no mean of gaps."""
    instance = Instance(network(), size_bytes=8_000_000, num_chunks=4)
    note = "Each gap is to the bound for the row's own sizing and number of chunks"
    alone = Page(comparison_report(comparison(instance)))
    assert "gap to the bound for its chunks" in alone.text
    assert note not in alone.text
    several = Page(comparison_report(comparison(instance, replace(instance, num_chunks=8))))
    assert note in several.text
    assert several.text.count(note) == 2  # below the table and below the plot of gaps
    assert "mean gap" not in several.text
    assert "geo-mean speedup" in several.text
    others = "the best of baseline-best, flat-ring and double-binary-tree on each instance"
    assert several.text.count(f"Speedup is over {others}.") == 2  # below the means and below the table
    assert note in Page(study_report(study("baseline"))).text


def test_means_are_over_each_instance_s_reference() -> None:
    instances = [Instance(network(), size_bytes=8_000_000, num_chunks=count) for count in (1, 512)]
    runs = tuple(compare(instances, schedulers=("baseline",)))
    best_ps = baseline_best(instances[0]).makespan_ps or 0
    expected = metrics.geometric_mean([best_ps / run_.rows[0].makespan_ps for run_ in runs])
    text = Page(comparison_report(ComparisonFile(runs, {}, 0, {}, {}))).text
    assert f"baseline2{expected:.3f}x" in text


def test_infinite_figures_are_no_json() -> None:
    """A speedup over a makespan of 0 ps is infinite, which JSON has no word for."""
    fast = Network("fast", (Dimension(Topology.RING, 2, Fraction(10**30), Fraction(0)),))
    (run_,) = compare([Instance(fast, size_bytes=2, num_chunks=1)], schedulers=("baseline",))
    slow = replace(run_, rows=(replace(run_.rows[0], reference_ps=10),))
    grid = comparison_grid((slow,))
    place = grid.column_idx("speedup")
    assert place is not None
    assert grid.rows[0][place].text == "inf"
    assert grid_document(grid)["values"][0][place] is None
    Page(comparison_report(ComparisonFile((slow,), {}, 0, {}, {})))


@pytest.mark.parametrize("name", HOSTILE)
def test_text_from_files_is_text(name: str) -> None:
    """No name, note, reason or kind of a file adds an element, an attribute or a script to a page."""
    instance = Instance(network(name), size_bytes=8_000_000, num_chunks=2)
    harmless = Instance(network("harmless"), size_bytes=8_000_000, num_chunks=2)
    ours = comparison(instance, replace(instance, num_chunks=4))
    tame = comparison(harmless, replace(harmless, num_chunks=4))
    rows = tuple(replace(row, name=name, note=name) for row in ours.runs[0].rows)
    ours = replace(ours, runs=(replace(ours.runs[0], rows=rows), ours.runs[1]), options={name: [name]})
    rows = tuple(replace(row, name="harmless", note="harmless") for row in tame.runs[0].rows)
    tame = replace(tame, runs=(replace(tame.runs[0], rows=rows), tame.runs[1]), options={"harmless": ["harmless"]})
    made = schedule(instance, "baseline").replace(scheduler=name, version=name)
    plain = schedule(harmless, "baseline").replace(scheduler="harmless", version="harmless")
    pairs = [
        (comparison_report(ours), comparison_report(tame)),
        (schedule_report(made, name), schedule_report(plain, "harmless")),
        (study_report(study("baseline", name)), study_report(study("baseline", "harmless"))),
    ]
    for hostile, other in pairs:
        page, tame_page = Page(hostile), Page(other)
        assert [tag for tag, _ in page.elements] == [tag for tag, _ in tame_page.elements]
        assert [sorted(found) for _, found in page.elements] == [sorted(found) for _, found in tame_page.elements]
        assert name in "".join(page.seen)
        assert name in json.dumps(page.data, ensure_ascii=False) or json.dumps(name)[1:-1] in json.dumps(page.data)


def test_data_in_the_page_has_no_character_that_ends_its_script(page: Page) -> None:
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", page.script("data"))
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", packed(b"</script>" * 9))


def test_half_a_character_in_a_files_name_is_a_question_mark() -> None:
    made = schedule(Instance(network(), size_bytes=8_000_000, num_chunks=2), "baseline")
    text = schedule_report(made.replace(scheduler=""), "half\udcff.json")
    assert "half?.json" in text
    text.encode("utf-8")


def test_pages_reach_nothing(page: Page) -> None:
    """No address is loaded, and the policy allows nothing but the scripts inside, which it names by their hashes."""
    (policy,) = [found["content"] for tag, found in page.elements if tag == "meta" and "http-equiv" in found]
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert not re.search(r"https?:|\*", policy)
    (ours,) = [text for found, text in page.scripts if not found]
    plotly = decompress(b64decode(page.script("library")))
    for script in (ours.encode(), plotly):
        assert b64encode(hashlib.sha256(script).digest()).decode() in policy
    for tag, found in page.elements:
        for attribute in ("src", "href", "action", "srcset"):
            target = found.get(attribute) or "#"
            assert target.startswith(("#", "data:,")), (tag, target)
        assert not [attribute for attribute in found if attribute.startswith("on")]


def test_the_same_input_gives_the_same_bytes() -> None:
    instance = Instance(network(), size_bytes=8_000_000, num_chunks=4)
    runs = comparison(instance)
    assert comparison_report(runs) == comparison_report(runs)
    assert packed(b"some bytes") == packed(b"some bytes")
    assert study_report(study("baseline")) == study_report(study("baseline"))


def test_schedules_too_large_to_draw_stay_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("themis_opt.show.report.report.MAX_STAGES", 15)
    instance = Instance(network(), size_bytes=8_000_000, num_chunks=4)
    large, small = replace(instance, num_chunks=4), replace(instance, num_chunks=3)
    found = Page(comparison_report(comparison(large, small)))
    assert ["figure" in view for view in found.data["views"]] == [False, False, True, True]
    assert "Too many stages to draw, in the table only: baseline, themis-scf." in found.text
    monkeypatch.setattr("themis_opt.show.report.report.MAX_ALL_STAGES", 12)
    found = Page(comparison_report(comparison(large, small)))
    assert ["figure" in view for view in found.data["views"]] == [False, False, True, False]


@pytest.mark.slow
def test_what_the_solver_could_choose_is_in_the_command(themis_opt_command: CommandLine, tmp_path: Path) -> None:
    """The command that the page tells gives the same options again."""
    chosen = ("--sizes", "free", "--chunks", "auto:3", "--granularity", "64KB", "--min-chunk", "128KB")
    options = ("--schedulers", "baseline", "--evaluations", "2000", "--time-limit", "20s")
    assert themis_opt_command("compare", "2d-sw-sw", *chosen, *options, "--json", "c.json").returncode == 0
    found = read_comparison(tmp_path / "c.json")
    origin = Origin(found.options, found.seed)
    (commands,) = comparison_commands(origin, ["baseline", "auto"])
    assert commands.remark == ""  # a number of evaluations ended it, not a clock
    words = shlex.split(commands.lines[0])
    assert words[words.index("--sizes") :][:8] == [
        "--sizes", "free", "--chunks", "auto:3", "--granularity", "64000B", "--min-chunk", "128000B",
    ]  # fmt: skip
    again = themis_opt_command(*[word.replace("instance.yaml", "2d-sw-sw") for word in words[1:]])
    assert again.returncode == 0, again.stderr
    assert read_comparison(tmp_path / "comparison.json").options == {**found.options}


def test_commands_are_quoted_for_the_shell() -> None:
    options = {"instances": ["small", "my own.json"], "schedulers": ["a b", "c"], "solver": "none"}
    origin = Origin({**options, "time_limit_s": 2.5, "gap": 0.0001}, 7)
    (commands,) = comparison_commands(origin, ["a b", "c", "my own.json"])
    assert commands.lines[0] == (
        "themis-opt compare instance.yaml 'my own.json' --schedulers 'a b,c' --solver none "
        "--time-limit 2.5s --gap 0.0001 --seed 7 --json comparison.json"
    )
    instance = Instance(network(), size_bytes=8_000_000, num_chunks=4)
    made = schedule(instance, "themis-scf").replace(seed=3)
    judging, making = schedule_commands(made, "a;b.json")
    assert judging.lines[0] == "themis-opt validate --execute 'a;b.json'"
    assert making.lines == ("themis-opt simulate instance.yaml --scheduler themis-scf --seed 3 -o again.json",)


def test_commands_promise_no_more_than_they_keep() -> None:
    instance = Instance(network(), size_bytes=8_000_000, num_chunks=4)
    solved = schedule(instance, "themis-scf").replace(scheduler="cp-sat", status=Status.FEASIBLE, seed=3)
    judging, making = schedule_commands(solved, "a.json")
    assert (judging.heading, making.heading) == ("Judge it again", "Make one like it")
    assert making.lines == ("themis-opt solve instance.yaml --sizes equal --chunks 4 --seed 3 -o again.json",)
    assert making.remark.startswith("A schedule's file keeps neither the limits of its search nor what could be chosen")
    assert making.remark in Page(schedule_report(solved, "a.json")).text
    (clocked,) = comparison_commands(Origin({"solver": "auto", "time_limit_s": 2.5}), [])
    assert clocked.heading == "Make one like it"
    assert clocked.remark.startswith("The solver's clock has a say in what it finds")
    (plain,) = comparison_commands(Origin({"solver": "none", "time_limit_s": 2.5}), [])
    assert plain.remark == ""


def test_a_schedule_with_another_number_of_chunks_than_asked_is_made_like_it(tmp_path: Path) -> None:
    """Themis at its best number of chunks: what the command makes has it, too."""
    instance = Instance(network(), size_bytes=8_000_000, num_chunks=64)
    made = themis_best(instance).replace(instance=instance)
    assert made.num_chunks != 64
    _, making = schedule_commands(made, "a.json")
    (tmp_path / "instance.yaml").write_text(instance_yaml(instance))
    words = shlex.split(making.lines[0])[1:]
    names = {"instance.yaml": str(tmp_path / "instance.yaml"), "again.json": str(tmp_path / "again.json")}
    assert run([names.get(word, word) for word in words]) == 0
    again = load_schedule(tmp_path / "again.json")
    assert (again.chunks, again.makespan_ps) == (made.chunks, made.makespan_ps)


def test_times_beyond_every_integer_of_a_browser_are_floats() -> None:
    slow = Network("slow", (Dimension(Topology.RING, 2, Fraction(1), Fraction(0)),))
    made = schedule(Instance(slow, size_bytes=10**40, num_chunks=1), "baseline")
    view = Page(schedule_report(made, "a.json")).data["views"][0]
    # Half of 10^40 bytes at a byte a second, then the same again.
    heatmaps = [trace for trace in view["figure"]["data"] if trace["type"] == "heatmap"]
    assert [trace["x"] for trace in heatmaps] == [[0, 0, 5e39], [0, 5e39, 1e40]]
    assert view["makespan_ps"] == 1e52


@pytest.mark.parametrize("collective", list(Collective))
def test_every_collective_can_be_reported(collective: Collective) -> None:
    instance = Instance(network(), collective, size_bytes=8_000_000, num_chunks=2)
    found = Page(schedule_report(schedule(instance, "baseline"), "a.json"))
    names = {"rs": "Reduce-Scatter", "ag": "All-Gather", "a2a": "All-to-All"}
    drawn = {trace["name"] for trace in found.data["views"][0]["figure"]["data"] if trace["type"] == "heatmap"}
    assert drawn == {names[phase.value] for phase in instance.phases}


def failure(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 2) -> list[str]:
    assert run(["report", *map(str, arguments)]) == code
    out, err = capsys.readouterr()
    assert out == ""
    return [str(line) for line in err.splitlines()]


def test_a_user_reports_a_schedule(
    themis_opt_command: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    save_schedule(schedule(Instance(network(), size_bytes=8_000_000, num_chunks=4), "themis-scf"), tmp_path / "a.json")
    done = themis_opt_command("report", "a.json", "-o", "a.html")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    monkeypatch.chdir(tmp_path)
    assert run(["report", "a.json", "-o", "-"]) == 0
    assert capsys.readouterr() == ((tmp_path / "a.html").read_text(), "")
    assert (tmp_path / "a.html").stat().st_size < 3_000_000


def test_a_user_reports_a_study(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(
        "format: themis-opt/study/1\nbase: {network: 2d-sw-sw, chunks: 2}\n"
        "axes: {size: [1 MB, 10 MB], scheduler: [baseline, themis-scf]}\nmetrics: [makespan_ps, gap]\n"
    )
    database = tmp_path / "study.db"
    assert run(["sweep", str(tmp_path / "study.yaml"), "-o", str(database), "--engine", "local"]) == 0
    assert run(["report", str(database), "-o", str(tmp_path / "r.html")]) == 0
    grid = Page((tmp_path / "r.html").read_text()).data["grid"]
    assert [row[:2] for row in grid["values"]] == [
        [size, name] for size in (1_000_000, 10_000_000) for name in ("baseline", "themis-scf")
    ]


def test_a_study_can_be_run_again_from_its_page_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its networks were files, which nobody has any more."""
    first, second = tmp_path / "first", tmp_path / "second"
    text = (
        "format: themis-opt/study/1\nbase: {chunks: 2, scheduler: themis-scf}\n"
        "axes: {size: [1 MB, 10 MB], network: [a.yaml, b.yaml]}\nmetrics: [makespan_ps, gap]\n"
    )
    for folder in (first, second):
        folder.mkdir()
    (first / "study.yaml").write_text(text)
    networks = [network("a"), replace(network("b"), dimensions=network().dimensions[::-1])]
    for one in networks:
        save_network(one, first / f"{one.name}.yaml")
    monkeypatch.chdir(first)
    assert run(["sweep", "study.yaml", "-o", "study.db", "--engine", "local"]) == 0
    for one in networks:
        (first / f"{one.name}.yaml").unlink()
    assert run(["report", "study.db", "-o", "study.html"]) == 0
    page = (first / "study.html").read_text()
    told = [unescape(found) for found in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)]
    assert told[0] == text
    assert told[3] == "themis-opt sweep study.yaml -o study.db\nthemis-opt report study.db -o report.html"
    assert re.findall(r"<h3>The network (\w)</h3>", page) == ["a", "b"]
    monkeypatch.chdir(second)
    for name, found in zip(("study.yaml", "a.yaml", "b.yaml"), told, strict=False):
        Path(name).write_text(found)
    assert [load_network("a.yaml"), load_network("b.yaml")] == networks
    assert run(["sweep", "study.yaml", "-o", "study.db", "--engine", "local"]) == 0
    tables = [read_table(folder / "study.db") for folder in (first, second)]
    assert [row.values for row in tables[0].rows] == [row.values for row in tables[1].rows]
    assert "themis-opt version" in Page(page).text


def test_a_study_of_many_points_is_told_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = study("baseline", "themis-scf", "auto")
    page = Page(study_report(whole))
    assert len(page.data["grid"]["values"]) == len(whole.rows)
    assert "in this page" not in page.text
    monkeypatch.setattr("themis_opt.show.report.report.MAX_POINTS", 2)
    page = Page(study_report(whole))
    assert len(page.data["grid"]["values"]) == 2
    assert f"A study of {len(whole.rows)} points" in page.text
    assert "the first 2 points; 'themis-opt rows' has all of them" in page.text


def test_a_study_without_networks_says_nothing_of_them() -> None:
    """Its file is older than they are."""
    page = Page(study_report(replace(study("baseline"), networks=())))
    assert "The network" not in page.text
    assert "halving-doubling" not in page.text
    known = Page(study_report(study("baseline"))).text
    assert "The network baseline" in known
    for text in ("halving-doubling", "2 GB/s", "100 ns", "themis-opt/network/1", "3 GB/s per NPU over all dimensions"):
        assert text in known


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("base: {instance: 'my.yaml', chunks: 2}\n", "'my.yaml'"),
        ("base: {network: my.yaml, chunks: 2}\n", None),
        ("base: [1]\n", None),
        ("base: {instance: &a [*a]}\n", None),
        ("{", None),
    ],
)
def test_a_study_of_an_instance_file_says_that_it_needs_it(text: str, told: str | None) -> None:
    found = Page(study_report(replace(study("baseline"), study_text=text))).text
    assert ("only the network of that" in found) == (told is not None)
    assert told is None or f"Its base names the instance {told}." in found


def test_false_schedules_get_no_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    made = schedule(Instance(network(), size_bytes=8_000_000, num_chunks=4), "themis-scf")
    save_schedule(made.replace(makespan_ps=1), path)
    lines = failure(capsys, path, "-o", tmp_path / "r.html", code=1)
    assert lines[0].startswith(f"error: {path}: the claimed makespan")
    # A bound on somebody's word that a heuristic refutes is as false.
    bound = Bound(made.makespan_ps or 0, "cp-sat", BoundScope(Sizing.EQUAL, 1, 4))
    slow = schedule(Instance(network(), size_bytes=8_000_000, num_chunks=1), "baseline")
    worse = replace(bound, value_ps=slow.makespan_ps or 0)
    save_schedule(slow.replace(instance=made.instance, bound=worse, status=Status.OPTIMAL), path)
    lines = failure(capsys, path, "-o", tmp_path / "r.html", code=1)
    assert "on the word of cp-sat" in lines[0]
    assert not (tmp_path / "r.html").exists()


def test_what_is_no_result_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    html = tmp_path / "r.html"
    (line,) = failure(capsys, "2d-sw-sw", "-o", html)
    assert line == (
        "error: 2d-sw-sw: is an instance or a network, which has no results yet; compare schedulers on it first: "
        "themis-opt compare 2d-sw-sw --json comparison.json"
    )
    assert "no such file" in failure(capsys, tmp_path / "nothing.json", "-o", html)[0]
    assert "is a folder" in failure(capsys, "2d-sw-sw", "-o", tmp_path)[0]
    (tmp_path / "c.json").write_text('{"format": "themis-opt/comparison/1"}')
    assert "comparison/2" in failure(capsys, tmp_path / "c.json", "-o", html)[0]
    (tmp_path / "s.db").write_bytes(b"SQLite format 3\0" + b"\0" * 100)
    assert failure(capsys, tmp_path / "s.db", "-o", html)[0].startswith(f"error: {tmp_path / 's.db'}: ")
    before = (tmp_path / "c.json").read_bytes()
    assert "already read" in failure(capsys, tmp_path / "c.json", "-o", tmp_path / "c.json")[0]
    assert (tmp_path / "c.json").read_bytes() == before
    assert not html.exists()


@pytest.mark.parametrize(("name", "said"), [("a.pdf", "ends in '.pdf'"), ("a", "has no ending"), ("a.html.gz", "gz")])
def test_a_report_is_written_to_html_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, said: str
) -> None:
    """Told before any work: what is to be reported is not even looked for."""
    (line,) = failure(capsys, "nothing.json", "-o", tmp_path / name)
    assert line.startswith(f"error: -o: '{tmp_path / name}' ")
    assert said in line
    assert "ends in .html or .htm" in line
    save_schedule(schedule(Instance(network(), size_bytes=8_000_000, num_chunks=4), "baseline"), tmp_path / "a.json")
    assert run(["report", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.HTM")]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.HTM", "a.json"]


def test_files_without_a_report_say_what_to_do(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    html = tmp_path / "r.html"
    study_file = tmp_path / "my study.yaml"
    study_file.write_text("# A remark.\n\nformat: themis-opt/study/1\nbase: {network: 2d-sw-sw}\naxes: {size: [1MB]}\n")
    (line,) = failure(capsys, study_file, "-o", html)
    assert line == (
        f"error: {study_file}: is a study that has yet to be run: themis-opt sweep '{study_file}' -o study.db; "
        "then: themis-opt report study.db -o report.html"
    )
    path = tmp_path / "told.json"
    for kind in ("tuning", "when", "provision"):
        told = {"format": f"themis-opt/{kind}/1", "options": {}}
        for text in (json.dumps(told, indent=1), json.dumps(told, separators=(",", ":"))):
            path.write_text(text)
            (line,) = failure(capsys, path, "-o", html)
            assert line.startswith(
                f"error: {path}: its format is themis-opt/{kind}, which has no report; a report is made of a "
                "comparison ('themis-opt compare ... --json FILE'), a schedule file, or a study's database"
            )
            assert "did you mean" not in line
    # What only speaks of such a format is not one.
    path = tmp_path / "note.yaml"
    path.write_text("format: themis-opt/network/1\nname: a\nnote: |\n  format: themis-opt/study/1\n")
    assert "dimensions" in failure(capsys, path, "-o", html)[0]


@pytest.mark.parametrize("package", ["plotly", "jinja2"])
def test_without_its_packages_one_line_says_what_to_install(
    package: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real_import = builtins.__import__

    def without_it(name: str, *arguments: Any, **named: Any) -> Any:
        if name.split(".")[0] == package:
            raise ImportError(f"No module named {name!r}", name=name)
        return real_import(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without_it)
    (line,) = failure(capsys, "nothing.json", "-o", tmp_path / "r.html")
    assert line == f"error: reports need {package}: pip install 'themis-opt[report]'"
