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
    page = Path(__file__).parents[1] / "docs" / "pictures.md"
    commands = re.findall(r"^```sh\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    assert len(commands) == 2
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for block in commands:
        subprocess.run(["bash", "-euc", block], check=True, capture_output=True, env={**os.environ, "PATH": path})
    drawn = set(re.findall(r"-o (\S+\.(?:png|svg|pdf))", "".join(commands)))
    assert len(drawn) == 7
    assert all(is_picture(name) for name in drawn)
