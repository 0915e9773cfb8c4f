"""The scripts in examples/ run in an empty folder and say what their docstrings promise."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from themis_opt import load_schedule
from themis_opt.studies import read_table

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py"))


def run(script: str, folder: Path, *arguments: str, writes: tuple[str, ...] = ()) -> str:
    """Return what a script prints, run as a user would; it must write these files and no other."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / script, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert sorted(path.name for path in folder.iterdir()) == sorted(writes)
    return done.stdout


def test_compare_schedulers_prints_a_gap_for_every_scheduler_and_size(tmp_path: Path) -> None:
    text = run("compare_schedulers.py", tmp_path)
    titles, *rows, _, scope = text.splitlines()[1:]
    assert titles.split() == ["size", "bound", "baseline", "round-robin", "themis-fifo", "themis-scf"]
    assert [row.split()[:2] for row in rows] == [["1", "MB"], ["10", "MB"], ["100", "MB"], ["1", "GB"]]
    for row in rows:
        gaps = [float(gap) for gap in re.findall(r"\((-?[\d.]+)%\)", row)]
        assert len(gaps) == 4
        assert min(gaps) >= 0
    assert "exactly 64 chunks of equal size" in scope


def test_own_schedule_takes_7_ms_and_is_saved(tmp_path: Path) -> None:
    text = run("own_schedule.py", tmp_path, writes=("by-hand.json",))
    assert "by hand 7.0000 ms, Themis's queues 8.0000 ms" in text
    assert "all 1024 elements are right" in text  # 4 chunks x 16 NPUs x 16 blocks
    assert load_schedule(tmp_path / "by-hand.json").makespan_ps == 7 * 10**9


def test_own_network_finds_a_number_of_chunks_between_the_extremes(tmp_path: Path) -> None:
    text = run("own_network.py", tmp_path)
    best = re.search(r"^best: \S+ with (\d+) chunks", text, re.MULTILINE)
    assert best is not None
    assert 1 < int(best[1]) < 128
    assert "exactly 1 to 128 chunks of any size" in text


def test_certificate_proves_what_is_claimed(tmp_path: Path) -> None:
    claimed, proven = re.findall(r"(?:claimed|proven) (\d+) ps", run("certificate.py", tmp_path))
    assert claimed == proven
    assert int(claimed) > 0


def thinned(name: str, folder: Path, **values: str) -> str:
    """Write a study of examples/studies with fewer values on some axes, and return its path."""
    text = (EXAMPLES / "studies" / f"{name}.yaml").read_text(encoding="utf-8")
    for axis, fewer in values.items():
        text, count = re.subn(rf"^  {axis}: .*$", f"  {axis}: {fewer}", text, flags=re.MULTILINE)
        assert count == 1
    path = folder / f"{name}.yaml"
    path.write_text(text.replace("2000000", "300000").replace("1000000}", "20000}"), encoding="utf-8")
    return str(path)


def is_png(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.slow
def test_paper_figures_are_drawn_and_the_optimum_is_the_fastest(tmp_path: Path) -> None:
    studies, folder = tmp_path / "studies", tmp_path / "work"
    studies.mkdir()
    folder.mkdir()
    sizes = thinned("paper_sizes", studies, size="[100 MiB, 1000 MiB]")
    chunks = thinned("paper_chunks", studies, chunks="[4, 16]")
    figures = tuple(f"figure_{number}.png" for number in (8, 9, 10, 11))
    written = (*figures, "paper_sizes.db", "paper_chunks.db")
    text = run("paper_figures.py", folder, "--sizes", sizes, "--chunks", chunks, writes=written)
    assert all(is_png(folder / figure) for figure in figures)
    assert "paper_sizes: 48 points, 48 of them done now, 0 failed" in text
    times = {name: float(time) for name, time in re.findall(r"MiB, (\S+): ([\d.]+) us with", text)}
    assert list(times) == ["baseline", "themis-fifo", "themis-scf", "optimum"]
    assert min(times, key=lambda name: times[name]) == "optimum"
    for row in read_table(folder / "paper_sizes.db", ["scheduler = optimum"]).rows:
        assert float(row.values["gap_any"] or 0) < 0.002
        assert row.status == "feasible"  # and not 'not-repeatable'


def test_themis_gap_map_is_drawn(tmp_path: Path) -> None:
    text = run("themis_gap_map.py", tmp_path, writes=("themis_gap_map.db", "themis_gap_map.png"))
    assert is_png(tmp_path / "themis_gap_map.png")
    nearest, farthest = map(float, re.findall(r"([\d.]+)% to the bound for any", text))
    assert 0 <= nearest < farthest


@pytest.mark.slow
def test_best_chunk_count_is_drawn_and_choosing_gains(tmp_path: Path) -> None:
    studies, folder = tmp_path / "studies", tmp_path / "work"
    studies.mkdir()
    folder.mkdir()
    study = thinned("best_chunk_count", studies, size="[1 MB, 1 GB]", latency="[10 ns, 10 us]")
    text = run("best_chunk_count.py", folder, "--study", study, writes=("best_chunk_count.db", "best_chunk_count.png"))
    assert is_png(folder / "best_chunk_count.png")
    speedup = re.search(r"the optimum is ([\d.]+) times as fast", text)
    assert speedup is not None
    assert float(speedup[1]) > 1


def test_every_script_is_run_here() -> None:
    assert all(f'run("{script}"' in Path(__file__).read_text(encoding="utf-8") for script in SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_says_what_it_shows_and_is_listed(script: str) -> None:
    docstring = ast.get_docstring(ast.parse((EXAMPLES / script).read_text(encoding="utf-8")))
    assert docstring is not None
    assert "Shows" in docstring
    assert f"]({script})" in (EXAMPLES / "README.md").read_text(encoding="utf-8")
