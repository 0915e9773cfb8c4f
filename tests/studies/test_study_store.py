"""The file of a study: what was written is there, whatever ends the program; what is no study's is left alone."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from study_runs import study_of

from themis_opt import load_network
from themis_opt.problem.errors import InputError
from themis_opt.studies.planning import plan
from themis_opt.studies.reading_table import read_table
from themis_opt.studies.store import APPLICATION_ID, StudyStore, read_findings, read_rows
from themis_opt.studies.study import Study
from themis_opt.studies.study_engine import Finding
from themis_opt.studies.study_file import load_study

STORED = Path(__file__).parent / "stored"
FOUND = Finding("", "heuristic", {"makespan_ps": 5, "bw_utilization": 0.1, "gap": None}, 0.25)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return study_of(tmp_path, "name: mine\nbase: {network: 2d-sw-sw}\naxes: {chunks: [2, 4], seed: [0, 7]}\n")


def keys_of(study: Study) -> list[str]:
    return [point.task.key for point in plan(study) if point.task is not None]


def test_results_stand_beside_their_points_in_the_studys_order(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    keys = keys_of(study)
    with StudyStore(path) as store:
        store.plan(study, plan(study))
        store.add(replace(FOUND, key=keys[2]), replace(FOUND, key=keys[0], status="failed", figures={}, reason="why"))
    table = read_table(path)
    assert (table.name, table.study_text) == ("mine", study.text)
    assert table.networks == (load_network("2d-sw-sw"),)
    assert [column.name for column in table.columns] == ["chunks", "seed", "makespan_ps", "bw_utilization", "gap"]
    assert [(row.values["chunks"], row.values["seed"], row.status) for row in table.rows] == [
        (2, 0, "failed"),
        (2, 7, "missing"),
        (4, 0, "heuristic"),
        (4, 7, "missing"),
    ]
    assert table.rows[0].reason == "why"
    assert dict(table.rows[2].values) == {"chunks": 4, "seed": 0, "makespan_ps": 5, "bw_utilization": 0.1, "gap": None}
    assert sorted(os.listdir(tmp_path)) == ["s.db", "study.yaml"]  # neither a lock nor a journal is left behind


def test_it_may_be_read_while_it_is_written(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with StudyStore(path) as store:
        store.plan(study, plan(study))
        store.add(replace(FOUND, key=keys_of(study)[0]))
        assert [row.status for row in read_table(path).rows] == ["heuristic", "missing", "missing", "missing"]


def test_a_changed_study_keeps_what_still_holds(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with StudyStore(path) as store:
        store.plan(study, plan(study))
        store.add(*[replace(FOUND, key=key) for key in keys_of(study)])
    other = study_of(tmp_path, "base: {network: 2d-sw-sw}\naxes: {chunks: [8, 4]}\nmetrics: [makespan_ps]\n")
    with StudyStore(path) as store:
        store.plan(other, plan(other))
        assert len(list(store.findings())) == 4
    assert [(row.values["chunks"], row.status) for row in read_table(path).rows] == [(8, "missing"), (4, "heuristic")]


def test_a_second_sweep_is_told_who_writes(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with (
        StudyStore(path),
        pytest.raises(InputError, match=rf"another sweep is writing to it \(process {os.getpid()} on"),
    ):
        StudyStore(path)
    with StudyStore(path):
        pass  # the first has let go


def test_a_killed_sweep_leaves_a_whole_file_and_no_lock(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    keys = keys_of(study)
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from themis_opt.studies.study_engine import Finding\n"
        "from themis_opt.studies.planning import plan\n"
        "from themis_opt.studies.study_file import load_study\n"
        "from themis_opt.studies.store import StudyStore\n"
        "study = load_study(sys.argv[1])\n"
        "store = StudyStore(sys.argv[2])\n"
        "store.plan(study, plan(study))\n"
        "store.add(Finding(sys.argv[3], 'heuristic', {'makespan_ps': 5}, 0.5))\n"
        "store._connection.execute('BEGIN IMMEDIATE')\n"
        "store._connection.execute('DELETE FROM results')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path / "study.yaml"), str(path), keys[1]], check=False)
    assert killed.returncode == -9
    with StudyStore(path) as store:
        assert [finding.key for finding in store.findings()] == [keys[1]]
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_what_is_no_studys_file_is_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("important")
    with pytest.raises(InputError, match=r"notes.txt: is no file of a study's results"):
        StudyStore(text)
    assert text.read_text() == "important"

    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (a)")
    before = other.read_bytes()
    with pytest.raises(InputError, match=r"other.db: is a database, but not of a study's results"):
        StudyStore(other)
    assert other.read_bytes() == before

    newer = tmp_path / "newer.db"
    with sqlite3.connect(newer) as connection:
        connection.executescript(
            f"CREATE TABLE meta (a); PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 9"
        )
    for use in (StudyStore, read_rows):
        with pytest.raises(InputError, match=r"newer.db: was written in format 9, and this version .* reads format 1"):
            use(newer)
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".lock")]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("-", "-o: a study's results are a database"),
        ("folder", "is a folder; name a file"),
        ("nowhere/s.db", "there is no folder"),
        ("/dev/null", "/dev/null: is no regular file"),
    ],
)
def test_targets_that_cannot_be(tmp_path: Path, target: str, message: str) -> None:
    (tmp_path / "folder").mkdir()
    path = target if target in ("-", "/dev/null") else str(tmp_path / target)
    with pytest.raises(InputError, match=message):
        StudyStore(path)


@pytest.mark.parametrize("damage", ["cut", "overwritten"])
def test_a_damaged_file_is_one_clear_message(study: Study, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "s.db"
    with StudyStore(path) as store:
        store.plan(study, plan(study))
        store.add(*[replace(FOUND, key=key) for key in keys_of(study)])
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] if damage == "cut" else data[:100] + b"\xff" * (len(data) - 100))
    with pytest.raises(InputError, match=r"s\.db: .*(malformed|database|disk)"):
        read_table(path)


@pytest.mark.parametrize("seed", range(60))
def test_any_damage_is_found_or_does_not_matter(study: Study, tmp_path: Path, seed: int) -> None:
    """Bytes overwritten anywhere: in text (which is no UTF-8 then), in numbers, in what SQLite needs itself."""
    path = tmp_path / "s.db"
    with StudyStore(path) as store:
        store.plan(study, plan(study))
        store.add(*[replace(FOUND, key=key) for key in keys_of(study)])
    random = Random(seed)
    data = bytearray(path.read_bytes())
    for _ in range(random.choice((1, 10, 100, 1000))):
        data[random.randrange(100, len(data))] = random.randrange(256)
    path.write_bytes(data)
    for read in (read_table, read_findings):
        with contextlib.suppress(InputError):
            read(path)


def test_a_full_disk_keeps_what_was_written(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    keys = keys_of(study)
    with StudyStore(path) as store:
        store.plan(study, plan(study))
        store.add(replace(FOUND, key=keys[0]))
        (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own word for a disk of this size
        with pytest.raises(InputError, match=r"s\.db: .*full; what was written before is kept"):
            store.add(*[replace(FOUND, key=f"{keys[1]}{number}", reason="long" * 100) for number in range(500)])
    assert [row.status for row in read_table(path).rows] == ["heuristic", "missing", "missing", "missing"]


def test_reading_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.db: no such file; 'themis-opt sweep STUDY.yaml -o .*' makes it"):
        read_table(tmp_path / "none.db")
    (tmp_path / "empty.db").touch()
    with pytest.raises(InputError, match=r"empty\.db: is empty"):
        read_table(tmp_path / "empty.db")
    with StudyStore(tmp_path / "new.db"):
        pass
    with pytest.raises(InputError, match=r"new\.db: holds no study yet"):
        read_table(tmp_path / "new.db")


def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for use in (StudyStore, read_rows):
        with pytest.raises(InputError, match=r"pipe: is no regular file"):
            use(tmp_path / "pipe")


def test_a_file_with_a_second_name_is_refused(study: Study, tmp_path: Path) -> None:
    """SQLite's journals go by the name: two writers under two names would damage the file."""
    with StudyStore(tmp_path / "s.db") as store:
        store.plan(study, plan(study))
    os.link(tmp_path / "s.db", tmp_path / "t.db")
    with pytest.raises(InputError, match=r"t\.db: has a second name \(a hard link\)"):
        StudyStore(tmp_path / "t.db")


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_file_that_goes_away_is_noticed_at_the_next_result(study: Study, tmp_path: Path, how: str) -> None:
    path = tmp_path / "s.db"
    keys = keys_of(study)
    with StudyStore(path) as store:
        store.plan(study, plan(study))
        store.add(replace(FOUND, key=keys[0]))
        path.unlink()
        if how == "replaced":
            path.touch()
        with pytest.raises(InputError, match=r"s\.db: was removed or replaced while the study ran"):
            store.add(replace(FOUND, key=keys[1]))


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE meta SET value = '[' WHERE key = 'axes'",
        "UPDATE meta SET value = '[1, 2]' WHERE key = 'axes'",
        "UPDATE meta SET value = '[\"chunks\"]' WHERE key = 'axes'",
        "DELETE FROM meta WHERE key = 'name'",
        "DELETE FROM meta WHERE key = 'metrics'",
        "UPDATE meta SET value = '[{}]' WHERE key = 'networks'",
        "UPDATE meta SET value = '[\"speed\"]' WHERE key = 'metrics'",
        "UPDATE points SET axis_values = '{'",
        "UPDATE points SET axis_values = '{}'",
        "UPDATE points SET axis_values = x'00ff'",
        "UPDATE points SET axis_values = '[NaN, 1]'",
        "UPDATE points SET axis_values = '[\"four\", 1]'",
        "UPDATE points SET reason = x'00ff'",
        "UPDATE results SET figures = '[]'",
        "UPDATE results SET figures = 'null'",
        "UPDATE results SET figures = '{\"makespan_ps\": Infinity}'",
        'UPDATE results SET figures = \'{"makespan_ps": "long"}\'',
        "UPDATE results SET figures = '{\"makespan_ps\": [1]}'",
        "UPDATE results SET seconds = 'abc'",
        "UPDATE results SET status = x'00ff'",
        "UPDATE points SET axis_values = replace(hex(zeroblob(50000)), '0', '[')",
        "UPDATE points SET axis_values = '[1' || replace(hex(zeroblob(3000)), '0', '0') || ', 1]'",
    ],
)
def test_an_edited_file_is_one_clear_message(study: Study, tmp_path: Path, edit: str) -> None:
    path = tmp_path / "s.db"
    with StudyStore(path) as store:
        store.plan(study, plan(study))
        store.add(*[replace(FOUND, key=key) for key in keys_of(study)])
    with sqlite3.connect(path) as connection:
        connection.execute(edit)
    connection.close()
    with pytest.raises(
        InputError, match=r"s\.db: is damaged \(.*\); name another file, or run the study anew"
    ) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)
    if "results" in edit and "long" not in edit:  # which nobody but the table's reader looks at
        with pytest.raises(InputError, match="is damaged"), StudyStore(path) as store:
            store.findings()


def test_a_file_of_the_version_before_is_read_and_gone_on_with(tmp_path: Path) -> None:
    """What 0.1.0 found stays in the file; a result is another version's, so that the same study computes it anew."""
    path = tmp_path / "s.db"
    shutil.copy(STORED / "study-1.db", path)
    table = read_table(path)
    assert table.version == "0.1.0"
    assert table.to_csv() == (STORED / "study-1.csv").read_text()
    assert table.study_text == (STORED / "study-1.yaml").read_text()
    study = load_study(STORED / "study-1.yaml")
    with StudyStore(path) as store:
        assert len(store.findings()) == 7  # the two points with themis-best share one
        store.plan(study, plan(study))
    assert [row.status for row in read_table(path).rows] == ["missing"] * 8
