"""A study of 2,000 points, killed at ten random moments and gone on with: the table of an uninterrupted run.

`test_sweep` has the same on 200 points.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from study_runs import finish, is_whole, kill, num_results, rows_of, sweep, wait_for_results

STUDY = Path(__file__).parents[2] / "benchmarks" / "studies" / "two_thousand.yaml"
NUM_POINTS = 2000
KILLS = 10


@pytest.mark.nightly
def test_ten_kills_change_no_row(tmp_path: Path) -> None:
    shutil.copy(STUDY, tmp_path / "s.yaml")
    assert finish(sweep(tmp_path, "s.yaml", "-o", "whole.db", "--processes", "2"))[0] == 0
    draw = random.Random(42)
    path = tmp_path / "s.db"
    before = 0
    for _ in range(KILLS):
        process = sweep(tmp_path, "s.yaml", "-o", "s.db", "--processes", "2")
        # Somewhere between the first result of this run and a tenth of all points later.
        wait_for_results(path, before + draw.randrange(1, NUM_POINTS // KILLS), process)
        kill(process)
        assert is_whole(path)
        now = num_results(path)
        assert before < now < NUM_POINTS
        before = now
    code, errors = finish(sweep(tmp_path, "s.yaml", "-o", "s.db", "--processes", "2"))
    assert code == 0, errors
    assert f"2000 points, {NUM_POINTS - before} done now" in errors
    rows = rows_of(path)
    assert len(rows) == NUM_POINTS
    assert rows == rows_of(tmp_path / "whole.db")
    assert is_whole(path)
