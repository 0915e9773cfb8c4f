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
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import CommandLine

from themis_opt import Bound, Collective, Dimension, Instance, Network, Status, Topology, metrics, schedule
from themis_opt.bound import BoundScope, Sizing
from themis_opt.cli.main import run
from themis_opt.comparison import compare
from themis_opt.comparison_file import ComparisonFile, read_comparison
from themis_opt.formats.schedule_file import save_schedule
from themis_opt.reporting.claims import claim_of
from themis_opt.reporting.comparison_grid import comparison_grid, rests_on
from themis_opt.reporting.embedding import packed, script_json
from themis_opt.reporting.grid import Quantity, grid_document
from themis_opt.reporting.markup import element
from themis_opt.reporting.report import comparison_report, schedule_report, study_report
from themis_opt.reporting.reproducing import Origin, comparison_commands, schedule_commands
from themis_opt.reporting.views import view_document
from themis_opt.simulator import simulate
from themis_opt.studies.table import Column, Role, StudyRow, StudyTable

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
    return StudyTable(
        f"study of {names[-1]}", f"format: themis-opt/study/1  # {names[-1]}\n", columns, tuple(rows), "0.1.0"
    )


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
        return json.loads(self.script("data"))

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
    for line in (
        claim.headline,
        claim.standing,
        *claim.lines,
        claim.why[0].rstrip(":"),
        *claim.why[1:],
        *claim.remarks,
    ):
        assert " ".join(line.split()) in page.text


def test_what_rests_on_a_solvers_word_is_called_that() -> None:
    instance = Instance(network(), size_bytes=8_000_000, num_chunks=4)
    (run_,) = compare([instance], schedulers=("baseline",))
    row = run_.rows[0]
    scope = BoundScope(Sizing.EQUAL, 4, 4)
    believed = Bound(row.makespan_ps, "cp-sat", scope, run_.bound.certificate, run_.bound.certified_ps)
    trusting = replace(row, schedule=row.schedule.replace(bound=believed, status=Status.OPTIMAL))
    claim = claim_of(replace(run_, rows=(trusting,)))
    assert not claim.is_proven
    assert claim.standing == "Optimal for exactly 4 chunks of equal size: on the word of cp-sat"
    assert any("rest on the word of cp-sat" in line for line in claim.lines)
    assert (rests_on(believed), rests_on(row.bound)) == ("word of cp-sat", "certificate")
    assert 'class="standing trusted"' in comparison_report(
        ComparisonFile((replace(run_, rows=(trusting,)),), {}, 0, {}, {})
    )


def test_a_view_holds_every_stage_of_the_simulator() -> None:
    instance = Instance(network(), size_bytes=8_000_001, num_chunks=3)
    made = schedule(instance, "themis-scf")
    (run_,) = compare([instance], schedulers=("themis-scf",))
    view = view_document(run_.rows[0])
    starts = np.frombuffer(decompress(b64decode(view["starts"])), dtype="<f8").reshape(3, 4)
    found = [
        (chunk, phase, lane, int(starts[chunk, stage]), int(starts[chunk, stage]) + kind["duration"][stage])
        for chunk in range(3)
        for kind in [view["kinds"][view["kind_of"][chunk]]]
        for stage, (phase, lane) in enumerate(kind["path"])
    ]
    expected = [
        (stage.chunk, instance.phases.index(stage.phase), stage.dimension, stage.start_ps, stage.end_ps)
        for stage in simulate(instance, made).stages
    ]
    assert found == expected
    sent = sum(sum(view["kinds"][kind]["sent"]) for kind in view["kind_of"])
    assert sent == pytest.approx(float(metrics.sent_bytes(instance)), rel=1e-12)
    # The first chunk is one byte larger: 2666667 bytes, of which Reduce-Scatter on dim2 (2 NPUs) sends the half.
    first = view["kinds"][view["kind_of"][0]]
    assert first["size"] == "2.66667 MB (2666667 B)"
    rs_on_dim2 = first["path"].index([0, 1])
    before = 1 if rs_on_dim2 == 0 else 4
    assert first["sent"][rs_on_dim2] == pytest.approx(2_666_667 / before / 2)


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
        "size", "scheduler", "makespan", "BW use", "gap", "status", "seconds", "reason",
    ]  # fmt: skip
    quantities = [column["quantity"] for column in grid["columns"]]
    assert quantities[:5] == [Quantity.SIZE, Quantity.TEXT, Quantity.TIME, Quantity.SHARE, Quantity.SHARE]
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


def test_infinite_figures_are_no_json() -> None:
    """A speedup over a makespan of 0 ps is infinite, which JSON has no word for."""
    fast = Network("fast", (Dimension(Topology.RING, 2, Fraction(10**30), Fraction(0)),))
    (run_,) = compare([Instance(fast, size_bytes=2, num_chunks=1)], schedulers=("baseline",))
    slow = replace(run_, rows=(replace(run_.rows[0], baseline_ps=10),))
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


def test_json_in_scripts_has_no_character_that_ends_them() -> None:
    nasty = "</script><!--&\u2028\u2029\ud800"
    text = script_json({nasty: nasty})
    assert not set(text) & set("<>&\u2028\u2029\ud800")
    assert json.loads(text) == {nasty: nasty}


def test_markup_escapes_what_it_did_not_make() -> None:
    made = element("p", "<b>", element("i", "&"), title='"><script>', hidden=True, lang=None)
    assert made == '<p title="&quot;&gt;&lt;script&gt;" hidden>&lt;b&gt;<i>&amp;</i></p>'
    assert element("p", "\udcff") == "<p>?</p>"


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
    monkeypatch.setattr("themis_opt.reporting.report.MAX_STAGES", 15)
    instance = Instance(network(), size_bytes=8_000_000, num_chunks=4)
    large, small = replace(instance, num_chunks=4), replace(instance, num_chunks=3)
    found = Page(comparison_report(comparison(large, small)))
    assert ["kinds" in view for view in found.data["views"]] == [False, False, True, True]
    assert "Too many stages to draw, in the table only: baseline, themis-scf." in found.text
    monkeypatch.setattr("themis_opt.reporting.report.MAX_ALL_STAGES", 12)
    found = Page(comparison_report(comparison(large, small)))
    assert ["kinds" in view for view in found.data["views"]] == [False, False, True, False]


@pytest.mark.slow
def test_what_the_solver_could_choose_is_in_the_command(themis_opt_command: CommandLine, tmp_path: Path) -> None:
    """The command that the page tells gives the same options again."""
    chosen = ("--sizes", "free", "--chunks", "auto:3", "--granularity", "64KB", "--min-chunk", "128KB")
    options = ("--schedulers", "baseline", "--evaluations", "2000", "--time-limit", "20s")
    assert themis_opt_command("compare", "2d-sw-sw", *chosen, *options, "--json", "c.json").returncode == 0
    found = read_comparison(tmp_path / "c.json")
    origin = Origin(found.options, found.seed)
    words = shlex.split(comparison_commands(origin, ["baseline", "auto"])[0])
    assert words[words.index("--sizes") :][:8] == [
        "--sizes", "free", "--chunks", "auto:3", "--granularity", "64000B", "--min-chunk", "128000B",
    ]  # fmt: skip
    again = themis_opt_command(*[word.replace("instance.yaml", "2d-sw-sw") for word in words[1:]])
    assert again.returncode == 0, again.stderr
    assert read_comparison(tmp_path / "comparison.json").options == {**found.options}


def test_commands_are_quoted_for_the_shell() -> None:
    options = {"instances": ["small", "my own.json"], "schedulers": ["a b", "c"], "solver": "none"}
    origin = Origin({**options, "time_limit_s": 2.5, "gap": 0.0001}, 7)
    assert comparison_commands(origin, ["a b", "c", "my own.json"])[0] == (
        "themis-opt compare instance.yaml 'my own.json' --schedulers 'a b,c' --solver none "
        "--time-limit 2.5s --gap 0.0001 --seed 7 --json comparison.json"
    )
    instance = Instance(network(), size_bytes=8_000_000, num_chunks=4)
    made = schedule(instance, "themis-scf", seed=3)
    assert schedule_commands(made, "a;b.json")[0] == "themis-opt validate --execute 'a;b.json'"
    assert "simulate instance.yaml --scheduler themis-scf" in schedule_commands(made, "a.json")[-1]
    solved = made.replace(scheduler="cp-sat", status=Status.FEASIBLE)
    assert "solve instance.yaml --sizes equal --chunks 4" in schedule_commands(solved, "a.json")[-1]


def test_times_beyond_every_integer_of_a_browser_are_floats() -> None:
    slow = Network("slow", (Dimension(Topology.RING, 2, Fraction(1), Fraction(0)),))
    made = schedule(Instance(slow, size_bytes=10**40, num_chunks=1), "baseline")
    view = Page(schedule_report(made, "a.json")).data["views"][0]
    starts = np.frombuffer(decompress(b64decode(view["starts"])), dtype="<f8")
    # Half of 10^40 bytes at a byte a second.
    assert list(starts) == [0, 5e51]
    assert view["makespan_ps"] == 10**52


@pytest.mark.parametrize("collective", list(Collective))
def test_every_collective_can_be_reported(collective: Collective) -> None:
    instance = Instance(network(), collective, size_bytes=8_000_000, num_chunks=2)
    found = Page(schedule_report(schedule(instance, "baseline"), "a.json"))
    assert found.data["runs"][0]["phases"] == [phase.value.upper() for phase in instance.phases]


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


def test_false_schedules_get_no_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    made = schedule(Instance(network(), size_bytes=8_000_000, num_chunks=4), "themis-scf")
    save_schedule(made.replace(makespan_ps=1), path)
    lines = failure(capsys, path, "-o", tmp_path / "r.html", code=1)
    assert lines[0].startswith(f"error: {path}: makespan")
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


def test_without_plotly_one_line_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real_import = builtins.__import__

    def without_plotly(name: str, *arguments: Any, **named: Any) -> Any:
        if name.split(".")[0] == "plotly":
            raise ImportError(name)
        return real_import(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without_plotly)
    (line,) = failure(capsys, "nothing.json", "-o", tmp_path / "r.html")
    assert line == "error: reports need plotly: pip install 'themis-opt[report]'"
