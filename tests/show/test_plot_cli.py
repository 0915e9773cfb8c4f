"""``themis-opt plot``: files for every kind, and one clear message for whatever is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_pictures_studies import table

from themis_opt.cli.main import run
from themis_opt.studies.table import StudyTable


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> str:
    """A database's name, and what is read from it."""
    wanted: list[tuple[str, ...]] = []

    def read(path: str, where: tuple[str, ...] = ()) -> StudyTable:
        wanted.append(where)
        return table(sizes=(10**6, 10**8), schedulers=("baseline", "themis-scf"))

    monkeypatch.setattr("themis_opt.studies.reading_table.read_table", read)
    return "study.db"


def is_picture(path: str) -> bool:
    start = Path(path).read_bytes()[:100]
    return start.startswith({".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[path[-4:]])


@pytest.mark.parametrize(("kind", "ending"), [("timeline", "png"), ("utilization", "svg"), ("loads", "pdf")])
def test_schedules(kind: str, ending: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["plot", kind, "2d-sw-sw", "--chunks", "4", "-o", f"x.{ending}"]) == 0
    assert is_picture(f"x.{ending}")
    assert capfd.readouterr() == ("", "")


def test_files_of_schedules_and_comparisons() -> None:
    assert run(["simulate", "2d-sw-sw", "--chunks", "4", "-o", "mine.json"]) == 0
    assert run(["compare", "2d-sw-sw", "--chunks", "4", "--solver", "none", "--json", "all.json"]) == 0
    assert run(["plot", "timeline", "mine.json", "-o", "a.svg"]) == 0
    assert run(["plot", "timeline", "all.json", "mine.json", "-o", "b.svg"]) == 0
    assert run(["plot", "timeline", "2d-sw-sw", "mine.json", "--chunks", "4", "-o", "c.svg"]) == 0
    shown = {name: Path(f"{name}.svg").read_text() for name in "abc"}
    named = {name: re.findall(r"<!-- (\S+): \d+ chunks, makespan", text) for name, text in shown.items()}
    assert named == {
        "a": ["mine.json"],
        "b": ["baseline", "themis-fifo", "themis-scf", "themis-best", "mine.json"],
        "c": ["baseline", "themis-scf", "mine.json"],
    }


def test_several_instances_are_told_apart() -> None:
    assert run(["plot", "loads", "2d-sw-sw", "--size", "1MB,2MB", "--chunks", "2", "--schedulers", "baseline",
                "-o", "x.svg"]) == 0  # fmt: skip
    assert re.findall(r"<!-- (baseline, [^:]*):", Path("x.svg").read_text()) == ["baseline, 1 MB", "baseline, 2 MB"]


@pytest.mark.slow
def test_a_solver_may_be_asked() -> None:
    assert run(["plot", "timeline", "2d-sw-sw", "--chunks", "2", "--schedulers", "baseline", "--solver", "auto",
                "--time-limit", "1s", "-o", "x.svg"]) == 0  # fmt: skip
    rows = re.findall(r"<!-- (\S+): \d+ chunks?, makespan", Path("x.svg").read_text())
    assert rows == ["baseline", "auto-equal", "auto"]


def test_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plot", "timeline", "2d-sw-sw", "--chunks", "4", "--text"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2d-sw-sw, all-reduce, 100 MB, exclusive, 1024 NPUs"
    assert [line.split()[0] for line in lines if line.startswith("dim")] == ["dim1", "dim2"] * 2
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in "".join(lines)
    assert list(Path().iterdir()) == []


@pytest.mark.slow
def test_the_terminal_needs_no_matplotlib() -> None:
    probe = (
        "import sys\nfrom themis_opt.cli.main import run\n"
        "assert run(['plot', 'timeline', 'figure-5', '--text']) == 0\n"
        "assert 'matplotlib' not in sys.modules\n"
        "assert run(['plot', 'timeline', 'figure-5', '-o', 'x.png']) == 0\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", probe], check=True, capture_output=True)


@pytest.mark.parametrize(
    "arguments",
    [
        ["sweep", "--where", "chunks=16"],
        ["sweep", "--panels", "chunks", "--y", "busbw"],
        ["sweep", "--x", "chunks", "--panels", "size"],
        ["gap-map", "--scheduler", "themis-scf"],
        ["gap-map", "--panels", "scheduler", "--metric", "makespan", "--figure-size", "12x4"],
    ],
)
def test_studies(arguments: list[str], study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, *options = arguments
    if "--where" in options:  # done by whoever reads the table
        narrow = table(sizes=(10**6, 10**8))
        kept = tuple(row for row in narrow.rows if row.values["chunks"] == 16)
        seen: list[object] = []

        def read(path: str, where: tuple[str, ...]) -> StudyTable:
            seen.append((path, where))
            return StudyTable("s", "", narrow.columns, kept)

        monkeypatch.setattr("themis_opt.studies.reading_table.read_table", read)
        assert run(["plot", kind, study, *options, "-o", "x.png"]) == 0
        assert seen == [(study, ("chunks=16",))]
    else:
        assert run(["plot", kind, study, *options, "-o", "x.png"]) == 0
    assert is_picture("x.png")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sweeps", "s.db", "-o", "x.png"], "KIND: 'sweeps' is not allowed; one of: timeline, utilization, loads, "
         "sweep, gap-map (did you mean 'sweep'?)"),
        (["timeline", "2d-sw-sw", "-o", "x.pgn"], "-o: 'x.pgn' ends in '.pgn'; a picture's file ends in one of: "
         ".png, .svg, .pdf (did you mean '.png'?)"),
        (["timeline", "2d-sw-sw", "-o", "-"], "-o: '-' has no ending; a picture's file ends in one of: "),
        (["timeline", "2d-sw-sw"], "-o: is missing; name a file that ends in .png, .svg or .pdf"),
        (["timeline", "2d-sw-sw", "-o", "no/x.png"], "no/x.png: there is no folder"),
        (["timeline", "2d-sw-sw", "--text", "-o", "x.png"], "--text: draws in the terminal, and -o names a file"),
        (["loads", "2d-sw-sw", "--text"], "--text: is not for loads; it is for: timeline"),
        (["timeline", "2d-sw-sw", "--by", "x", "-o", "x.png"], "--by: is not for timeline; it is for: sweep"),
        (["sweep", "s.db", "--chunks", "4", "-o", "x.png"], "--chunks: is not for sweep; it is for: timeline, util"),
        (["timeline", "2d-sw-sw", "--chunks", "auto", "-o", "x.png"], "--chunks auto is for solve and compare"),
        (["timeline", "2d-sw-sw", "--schedulers", "themis-sfc", "-o", "x.png"], "--schedulers: unknown scheduler "
         "'themis-sfc'"),
        (["timeline", "2d-sw-sw", "--figure-size", "8", "-o", "x.png"], "--figure-size: '8' is no size; write width"),
        (["timeline", "2d-sw-sw", "--figure-size", "nanx4", "-o", "x.png"], "--figure-size: 'nanx4' is not allowed"),
        (["utilization", "2d-sw-sw", "--window", "10", "-o", "x.png"], "--window: '10' has no unit"),
        (["utilization", "2d-sw-sw", "--window", "0us", "-o", "x.png"], "--window: '0us' is not allowed"),
        (["timeline", "nosuch", "-o", "x.png"], "nosuch: no shipped instance or network and no file of this name"),
        (["sweep", "a.db", "b.db", "-o", "x.png"], "plot sweep: takes one study, and 2 files are given: a.db, b.db"),
        (["sweep", "a.db", "-o", "x.png"], "a.db: "),
    ],
)  # fmt: skip
def test_mistakes(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plot", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"error: {message}")
    assert "Traceback" not in told.err
    assert list(Path().iterdir()) == []


def test_a_study_is_no_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    Path("study.db").write_bytes(b"SQLite format 3\x00" + bytes(100))
    assert run(["plot", "timeline", "study.db", "-o", "x.png"]) == 2
    assert capsys.readouterr().err == (
        "error: study.db: is a study's database; 'plot sweep' and 'plot gap-map' draw it\n"
    )


def test_a_study_is_run_first(capsys: pytest.CaptureFixture[str]) -> None:
    Path("study.yaml").write_text(
        "# mine\nformat: themis-opt/study/1\nbase: {network: 2d-sw-sw}\naxes: {chunks: [1]}\n"
    )
    assert run(["plot", "timeline", "study.yaml", "-o", "x.png"]) == 2
    assert capsys.readouterr().err == (
        "error: study.yaml: is a study; run 'themis-opt sweep study.yaml -o results.db' first, and 'plot sweep' and "
        "'plot gap-map' draw results.db\n"
    )
    assert run(["plot", "sweep", "study.yaml", "-o", "x.png"]) == 2
    assert "run 'themis-opt sweep study.yaml -o results.db' first" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["timeline", "gap-map"])
@pytest.mark.parametrize("kind", ["tuning", "when", "provision"])
def test_tables_are_not_drawn(kind: str, source: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.json").write_text(json.dumps({"format": f"themis-opt/{kind}/1", "network": {}}, indent=1))
    assert run(["plot", source, "x.json", "-o", "x.png"]) == 2
    told = capsys.readouterr().err
    assert told == (
        f"error: x.json: themis-opt/{kind}/1 is a table that no picture shows; 'plot timeline', 'plot utilization' and "
        "'plot loads' draw instances, networks, schedules and comparisons; 'plot sweep' and 'plot gap-map' draw a "
        "study's database\n"
    )


def test_a_schedule_is_no_study(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "2d-sw-sw", "--chunks", "4", "-o", "mine.json"]) == 0
    capsys.readouterr()
    assert run(["plot", "sweep", "mine.json", "-o", "x.png"]) == 2
    assert capsys.readouterr().err.startswith(
        "error: mine.json: is a schedule; 'plot timeline', 'plot utilization' and "
    )


@pytest.mark.parametrize("name", ["auto", "auto-equal"])
def test_a_solver_is_no_scheduler(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plot", "timeline", "2d-sw-sw", "--schedulers", f"baseline,{name}", "-o", "x.png"]) == 2
    assert capsys.readouterr().err == (
        f"error: --schedulers: {name!r} is no scheduler but a solver's; ask for it with --solver auto\n"
    )


def test_the_schedulers_there_are_include_themis_best(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plot", "timeline", "2d-sw-sw", "--schedulers", "themis-bst", "-o", "x.png"]) == 2
    assert capsys.readouterr().err.endswith(", random (did you mean 'themis-best'?)\n")


@pytest.mark.parametrize("kind", ["sweep", "gap-map"])
def test_where_is_to_blame_when_no_row_is_left(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = StudyTable("s", "", table().columns, ())
    monkeypatch.setattr("themis_opt.studies.reading_table.read_table", lambda path, where: empty)
    conditions = ["--where", "scheduler=foo", "--where", "chunks = 4"]
    assert run(["plot", kind, "s.db", "--panels", "size", *conditions, "-o", "x.png"]) == 2
    assert capsys.readouterr().err == (
        "error: --where: no row meets 'scheduler=foo' and 'chunks = 4'; 'themis-opt rows s.db' prints the rows there "
        "are\n"
    )


def test_panels_share_ticks_and_colour_bar(study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(["plot", "sweep", study, "--panels", "chunks", "-o", "x.svg"]) == 0
    text = Path("x.svg").read_text()
    assert [text.count(f"<!-- {label} -->") for label in ("1 MB", "100 MB")] == [3, 3]
    whole = table(sizes=(10**6, 10**8))
    rows = tuple(row for row in whole.rows if row.values["chunks"] == 4 or row.values["size_bytes"] == 10**6)
    few = StudyTable("s", "", whole.columns, rows)  # two panels have one size only
    monkeypatch.setattr("themis_opt.studies.reading_table.read_table", lambda path, where: few)
    assert run(["plot", "sweep", study, "--panels", "chunks", "-o", "x.svg"]) == 0
    assert Path("x.svg").read_text().count("<!-- 100 MB -->") == 3
    monkeypatch.setattr("themis_opt.studies.reading_table.read_table", lambda path, where: whole)
    assert run(["plot", "gap-map", study, "--panels", "scheduler", "-o", "y.svg"]) == 0
    assert Path("y.svg").read_text().count("<!-- gap to the bound for these chunks [%] -->") == 1


def test_help_says_which_options_a_kind_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plot", "--help"]) == 0
    _, *parts = re.split(r"^Options of (.*):$", capsys.readouterr().out, flags=re.MULTILINE)
    groups = {
        kinds: set(re.findall(r"--[a-z-]+(?= )", text)) for kinds, text in zip(parts[::2], parts[1::2], strict=True)
    }
    assert {"--output", "--dpi", "--title", "--help"} <= groups["every kind"]
    assert {"--schedulers", "--size", "--time-limit"} <= groups["timeline, utilization, loads"]
    assert groups["timeline"] == {"--text"}
    assert groups["sweep, gap-map"] == {"--x", "--y", "--panels", "--where"}
    assert groups["sweep"] == {"--by"}
    assert groups["gap-map"] == {"--metric", "--scheduler"}
    for name in ("--size", "--chunks", "--solver", "--evaluations", "--x", "--scheduler", "--window"):
        (told,) = re.findall(rf"^  {name} (.*?)(?=^  -|^\n|\Z)", "".join(parts), re.MULTILINE | re.DOTALL)
        assert "[default:" in told


@pytest.mark.parametrize("text", [["--text"], ["-o", "x.svg"]])
def test_nothing_is_shown_on_the_way_without_a_solver(
    text: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["simulate", "2d-sw-sw", "--chunks", "4", "-o", "mine.json"]) == 0
    capsys.readouterr()
    monkeypatch.setattr("themis_opt.cli.progress.progress_line", lambda what: pytest.fail(f"a line for {what}"))
    assert run(["plot", "timeline", "mine.json", *text]) == 0
    assert capsys.readouterr().err == ""


def test_false_schedules_are_not_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "2d-sw-sw", "--chunks", "4", "-o", "mine.json"]) == 0
    data = json.loads(Path("mine.json").read_text())
    data["makespan_ps"] -= 1
    Path("mine.json").write_text(json.dumps(data))
    capsys.readouterr()
    assert run(["plot", "timeline", "mine.json", "-o", "x.png"]) == 1
    assert capsys.readouterr().err.startswith("error: mine.json: ")
    assert not Path("x.png").exists()


def test_a_schedule_of_another_instance(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "2d-sw-sw", "--chunks", "4", "-o", "mine.json"]) == 0
    capsys.readouterr()
    assert run(["plot", "timeline", "3d-fc-ring-sw", "mine.json", "-o", "x.png"]) == 2
    assert capsys.readouterr().err.startswith("error: mine.json: is a schedule for another instance (")
    assert run(["plot", "timeline", "mine.json", "--size", "1MB", "-o", "x.png"]) == 2
    assert capsys.readouterr().err.startswith("error: the options of an instance, --schedulers and --solver are for an")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run(["plot", "timeline", "2d-sw-sw", "-o", "x.png"]) == 2
    assert capsys.readouterr().err == "error: plotting needs matplotlib: pip install 'themis-opt[plot]'\n"


def test_a_picture_does_not_replace_its_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "2d-sw-sw", "--chunks", "4", "-o", "mine.svg"]) == 0
    before = Path("mine.svg").read_bytes()
    assert run(["plot", "timeline", "mine.svg", "-o", "mine.svg"]) == 2
    assert "is already read from or written to by this command" in capsys.readouterr().err
    assert Path("mine.svg").read_bytes() == before


@pytest.mark.slow
def test_the_commands_of_the_page_run() -> None:
    page = Path(__file__).parents[2] / "docs" / "pictures.md"
    commands = re.findall(r"^```sh\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    assert len(commands) == 2
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for block in commands:
        subprocess.run(["bash", "-euc", block], check=True, capture_output=True, env={**os.environ, "PATH": path})
    drawn = set(re.findall(r"-o (\S+\.(?:png|svg|pdf))", "".join(commands)))
    assert len(drawn) == 8
    assert all(is_picture(name) for name in drawn)
