"""``themis-opt export``, as a user runs it: targets, their options, refusals, and what is on stdout."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from command_line import CommandLine

from themis_opt.cli import verb_export as export
from themis_opt.cli.main import run

PICTURES = ("perfetto", "csv", "graphml")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two schedules that hold, and four that don't."""
    folder = tmp_path_factory.mktemp("made")
    for name in ("baseline", "themis-scf"):
        path = str(folder / f"{name}.json")
        assert run(["simulate", "2d-figure-5", "--chunks", "2", "--scheduler", name, "-o", path]) == 0
    good = json.loads((folder / "baseline.json").read_text())
    stuck = {**good, "stages": None, "makespan_ps": None}
    stuck["chunks"] = [{**good["chunks"][0], "rs_order": order} for order in ([0, 1], [1, 0])]
    stuck["sequences"] = [
        [[1, "rs"], [0, "rs"], [0, "ag"], [1, "ag"]],  # chunk 1 first, but it comes from dim2 ...
        [[0, "rs"], [1, "rs"], [0, "ag"], [1, "ag"]],  # ... which waits for chunk 0, behind it on dim1
    ]
    (folder / "stuck.json").write_text(json.dumps(stuck))
    (folder / "false.json").write_text(json.dumps({**good, "stages": None, "makespan_ps": 1}))
    # Eight chunks: Themis ends earlier than what is called optimal here.
    path = folder / "refuted.json"
    assert run(["simulate", "2d-figure-5", "--chunks", "8", "--scheduler", "baseline", "-o", str(path)]) == 0
    eight = json.loads(path.read_text())
    scope = {"sizes": "equal", "num_chunks": [8, 8]}
    claim = {"status": "optimal", "bound_ps": eight["makespan_ps"], "bound_kind": "cp-sat", "bound_scope": scope}
    path.write_text(json.dumps({**eight, **claim}))
    (folder / "short.json").write_text(json.dumps({**good, "stages": None, "sequences": [[], []]}))
    return folder


@pytest.fixture(autouse=True)
def in_folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made)


def failure(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 2) -> list[str]:
    """Return the lines on stderr of an export that fails, with nothing on stdout and no traceback."""
    assert run(["export", *arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    lines: list[str] = err.splitlines()
    assert lines[0].startswith("error: ")
    return [lines[0].removeprefix("error: "), *lines[1:]]


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["export", *arguments, "-o", "-"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return str(out)


def test_a_user_exports_to_files(themis_opt_command: CommandLine, made: Path, tmp_path: Path) -> None:
    for target, name in (("perfetto", "a.json"), ("csv", "a.csv"), ("graphml", "a.graphml")):
        done = themis_opt_command("export", made / "baseline.json", "--to", target, "-o", name)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert run(["export", str(made / "baseline.json"), "--to", target, "-o", "again"]) == 0
        assert (tmp_path / name).read_bytes() == Path("again").read_bytes()


def test_several_schedules_in_one_trace(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(output(capsys, "baseline.json", "themis-scf.json", "--to", "perfetto"))
    names = [event["args"]["name"] for event in document["traceEvents"] if event["name"] == "process_name"]
    assert names == ["baseline (baseline.json)", "themis-scf (themis-scf.json)"]


def test_several_schedules_in_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(output(capsys, "themis-scf.json", "baseline.json", "--to", "csv"))))
    assert [row["schedule"] for row in rows] == ["themis-scf.json"] * 8 + ["baseline.json"] * 8


@pytest.mark.parametrize("argument", ["baseline.json", "2d-figure-5"])
def test_graphs_of_schedules_and_of_networks(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    graph = nx.parse_graphml(output(capsys, argument, "--to", "graphml"))
    assert graph.graph["name"] == "2d-figure-5"
    assert graph.graph["num_npus"] == 16
    for name in ("a.json", "A.JSON"):
        assert run(["export", argument, "--to", "graphml", "-o", name]) == 0
        node_link = nx.node_link_graph(json.loads(Path(name).read_text()), edges="edges")
        assert dict(node_link.nodes(data=True)) == dict(graph.nodes(data=True))


@pytest.mark.parametrize("target", [*PICTURES, "astra2", "msccl-xml"])
@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("refuted", "refuted.json: bound: the bound is "),
        ("stuck", "stuck.json: deadlock: "),
        ("false", "false.json: makespan"),
        ("short", "short.json: "),
    ],
)
def test_wrong_schedules_are_refused_as_validate_does(
    target: str, name: str, first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = failure(capsys, f"{name}.json", "--to", target, "-o", "never", code=1)
    assert lines[0].startswith(first)
    assert lines[-1].startswith(f"{name}.json: is not exported")
    assert lines[-1].endswith(f"see 'themis-opt validate {name}.json'")
    assert not Path("never").exists()
    assert run(["validate", f"{name}.json"]) == 1
    assert capsys.readouterr().out.splitlines()[: len(lines) - 1] == lines[:-1]


def test_many_violations_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    lines = failure(capsys, "short.json", "--to", "csv", "-o", "-", code=1)
    assert len(lines) == 5
    num_all = len(violation_lines(capsys, "short.json"))
    assert lines[-1].startswith(f"short.json: is not exported, and {num_all - 4} more violations; ")


def violation_lines(capsys: pytest.CaptureFixture[str], path: str) -> list[str]:
    assert run(["validate", path]) == 1
    return str(capsys.readouterr().out).splitlines()


@pytest.mark.parametrize("target", PICTURES)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ranks", "0-3"], "--ranks: is not for --to {}"),
        (["--max-bytes", "2GB"], "--max-bytes: is not for --to {}"),
        (["--in-place"], "--in-place: is not for --to {}"),
        (["--out-of-place"], "--out-of-place: is not for --to {}"),
        (["--force"], "--force: is not for --to {}"),
    ],
)
def test_options_of_other_targets_are_refused_by_name(
    target: str,
    options: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (line,) = failure(capsys, "baseline.json", "--to", target, "-o", "never", *options)
    owner = "msccl-xml" if "place" in options[0] else "astra2"
    assert line == f"{message.format(target)} but for {owner}"
    assert not Path("never").exists()


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str) -> list[Any]:
    """Put something else in a target's place, and return the list of what its `export` is called with."""
    calls: list[Any] = []
    target = replace(export.TARGETS[name], export=lambda *given: calls.append(given))
    monkeypatch.setitem(export.TARGETS, name, target)
    return calls


def test_a_targets_own_options_reach_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls = stand_in(monkeypatch, "astra2")
    # It writes a folder, which may be there already: what is in it is the target's matter.
    arguments = ["a.json", "--to", "astra2", "-o", str(tmp_path), "--ranks", "0,3", "--force"]
    assert run(["export", *arguments]) == 0
    assert calls == [(("a.json",), str(tmp_path), export.ExportOptions(ranks="0,3", force=True))]


def test_what_is_not_given_is_not_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = stand_in(monkeypatch, "msccl-xml")
    for flags in ([], ["--in-place"], ["--out-of-place"]):
        assert run(["export", "baseline.json", "--to", "msccl-xml", "-o", "a.xml", *flags]) == 0
    assert [options.in_place for *_, options in calls] == [None, True, False]


def test_one_schedule_only_where_there_is_room_for_one(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = failure(capsys, "baseline.json", "themis-scf.json", "--to", "graphml", "-o", "never")
    assert line == (
        "--to graphml: takes one schedule, and 2 are given: baseline.json, themis-scf.json; export them one by one"
    )


def test_an_unknown_target_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = failure(capsys, "baseline.json", "--to", "perfeto", "-o", "never")
    assert line == (
        "--to: 'perfeto' is not allowed; one of: astra2, msccl-xml, perfetto, csv, graphml (did you mean 'perfetto'?)"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["baseline.json", "--to", "csv"], "Missing option '-o' / '--output'."),
        (["baseline.json", "-o", "a"], "Missing option '--to'."),
        (["--to", "csv", "-o", "a"], "Missing argument 'SCHEDULE...'."),
    ],
)
def test_what_is_missing_is_named(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    first, hint = failure(capsys, *arguments)
    assert first == message
    assert hint == "Try 'themis-opt export --help'."


@pytest.mark.parametrize("target", PICTURES)
def test_the_output_may_not_be_the_input(target: str, capsys: pytest.CaptureFixture[str], made: Path) -> None:
    before = Path("baseline.json").read_bytes()
    (line,) = failure(capsys, "baseline.json", "--to", target, "-o", str(made / "baseline.json"))
    assert line.endswith("baseline.json: is already read from or written to by this command; name another file")
    assert Path("baseline.json").read_bytes() == before


def test_outputs_that_cannot_be_written_are_told_before_anything_is_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (line,) = failure(capsys, "nothing.json", "--to", "csv", "-o", str(tmp_path))
    assert line == f"{tmp_path}: is a folder; name a file"
    (line,) = failure(capsys, "nothing.json", "--to", "csv", "-o", "no/such/a.csv")
    assert line.startswith("no/such/a.csv: there is no folder ")


@pytest.mark.parametrize("target", ["perfetto", "csv"])
def test_a_network_is_no_schedule(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = failure(capsys, "2d-figure-5", "--to", target, "-o", "never")
    assert line == (
        "2d-figure-5: is no schedule but an instance or a network; make a schedule of it first: "
        "themis-opt solve 2d-figure-5 -o best.json"
    )


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    for target in PICTURES:
        line = failure(capsys, "nothing.json", "--to", target, "-o", "never")[0]
        assert "nothing.json" in line


def test_a_network_too_large_for_a_graph_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("large.yaml").write_text(
        "format: themis-opt/network/1\nname: large\ndimensions:\n"
        "  - {topology: fully-connected, size: 1000, bandwidth: 1 GB/s, latency: 1 us}\n"
    )
    (line,) = failure(capsys, "large.yaml", "--to", "graphml", "-o", "never")
    assert line.startswith("large.yaml: network 'large': its 1000 NPUs make a graph of 999000 edges; at most 500000 ")


def test_a_scheduler_named_like_a_formula(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(Path("baseline.json").read_text())
    data["scheduler"] = '=cmd|"\n'
    Path("odd.json").write_text(json.dumps(data))
    rows = list(csv.DictReader(io.StringIO(output(capsys, "odd.json", "--to", "csv"), newline="")))
    assert {row["scheduler"] for row in rows} == {"'=cmd|\"\n"}
    events = json.loads(output(capsys, "odd.json", "--to", "perfetto"))["traceEvents"]
    assert events[0]["args"]["name"] == '=cmd|"\n (odd.json)'


def test_a_file_whose_name_is_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Names of files are bytes; those that are no UTF-8 are told with question marks."""
    name = os.fsdecode(b"\xff.json")
    Path(name).write_bytes(Path("baseline.json").read_bytes())
    assert run(["export", name, "--to", "csv", "-o", "a.csv"]) == 0
    assert Path("a.csv").read_text().splitlines()[1].startswith("?.json,baseline,")
    assert "baseline (?.json)" in output(capsys, name, "--to", "perfetto")


def test_help_names_every_target_and_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for word in (*export.TARGETS, "--ranks", "--max-bytes", "--in-place / --out-of-place", "--force", "'validate'"):
        assert word in text
