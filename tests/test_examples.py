"""The scripts in examples/ run in an empty folder and say what their docstrings promise."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from themis_opt import load_schedule

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py"))


def run(script: str, folder: Path, *, writes: tuple[str, ...] = ()) -> str:
    """Return what a script prints, run as a user would; it must write these files and no other."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / script], cwd=folder, capture_output=True, text=True, timeout=120, check=False
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


def test_every_script_is_run_here() -> None:
    assert all(f'run("{script}"' in Path(__file__).read_text(encoding="utf-8") for script in SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_says_what_it_shows_and_is_listed(script: str) -> None:
    docstring = ast.get_docstring(ast.parse((EXAMPLES / script).read_text(encoding="utf-8")))
    assert docstring is not None
    assert "Shows" in docstring
    assert f"]({script})" in (EXAMPLES / "README.md").read_text(encoding="utf-8")
