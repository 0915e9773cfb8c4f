"""``themis-opt sweep``: every point once, whatever happens to the processes, to the program or to the study."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import run_verb
from study_plugin import write_study_plugin
from study_runs import children_of, finish, is_whole, kill, num_results, rows_of, sweep, swept, wait_for_results

import themis_opt
from themis_opt.problem.bound import BoundScope, Sizing
from themis_opt.problem.instance import Instance
from themis_opt.studies.reading_table import read_table

SMALL = """\
format: themis-opt/study/1
base: {network: 2d-sw-sw, size: 1 MB}
axes:
  chunks: [2, 8]
  scheduler: [baseline, themis-scf, themis-best, bound]
metrics: [makespan_ps, bound_ps, gap, speedup, num_chunks, 'dimensions[1].utilization']
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "plugin"
    folder.mkdir()
    write_study_plugin(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])))
    monkeypatch.setenv("STUDY_MARKS", str(folder))
    return folder


def write(folder: Path, text: str, name: str = "s.yaml") -> None:
    (folder / name).write_text(text)


def plugin_study(scheduler: str, chunks: str = "[2, 4, 8, 16]") -> str:
    return (
        "format: themis-opt/study/1\nbase: {network: 2d-sw-sw, size: 1 MB}\n"
        f"axes: {{chunks: {chunks}, scheduler: [{scheduler}]}}\nmetrics: [makespan_ps]\n"
    )


def test_rows_say_what_the_library_says(tmp_path: Path) -> None:
    write(tmp_path, SMALL)
    code, errors = swept(tmp_path, "s.yaml", "-o", "s.db", "--processes", "2")
    assert (code, "8 points, 8 done now" in errors) == (0, True), errors
    network = themis_opt.load_network("2d-sw-sw")
    for values, status in rows_of(tmp_path / "s.db"):
        num_chunks, scheduler = values["chunks"], values["scheduler"]
        assert isinstance(num_chunks, int)
        instance = Instance(network, size_bytes=1_000_000, num_chunks=num_chunks)
        if scheduler == "bound":
            assert status == "bound"
            assert (values["makespan_ps"], values["dimensions[1].utilization"]) == (None, None)
        elif scheduler != "themis-best":
            made = themis_opt.schedule(instance, str(scheduler))
            baseline = themis_opt.schedule(instance, "baseline")
            assert made.makespan_ps is not None
            assert baseline.makespan_ps is not None
            assert values["makespan_ps"] == made.makespan_ps
            assert values["speedup"] == baseline.makespan_ps / made.makespan_ps
            assert values["gap"] == made.makespan_ps / int(str(values["bound_ps"])) - 1
            use = themis_opt.simulate(instance, made).dimensions[1]
            bandwidth_Bps = network.dimensions[1].bandwidth_Bps
            assert values["dimensions[1].utilization"] == pytest.approx(
                float(use.sent_bytes / bandwidth_Bps) / (made.makespan_ps / 1e12)
            )
        if scheduler != "themis-best":
            bound = themis_opt.lower_bound(instance, BoundScope(Sizing.EQUAL, num_chunks, num_chunks))
            assert values["bound_ps"] == bound.value_ps


@pytest.mark.slow
def test_running_again_does_only_what_is_missing(tmp_path: Path) -> None:
    write(tmp_path, SMALL)
    assert swept(tmp_path, "s.yaml", "-o", "s.db")[0] == 0
    first = [row.seconds for row in read_table(tmp_path / "s.db").rows]
    assert "8 points, 0 done now in 0.0 s, 8 before" in swept(tmp_path, "s.yaml", "-o", "s.db")[1]
    assert [row.seconds for row in read_table(tmp_path / "s.db").rows] == first

    # One value more on each axis: 3 x 4 points, of which those of the new number are missing (and bound anew).
    write(tmp_path, SMALL.replace("[2, 8]", "[2, 4, 8]"))
    assert "12 points, 3 done now" in swept(tmp_path, "s.yaml", "-o", "s.db")[1]
    # What one more dimension does was not measured before: every schedule is made again, no bound is.
    write(tmp_path, SMALL.replace("'dimensions[1]", "'dimensions[0].bytes', 'dimensions[1]"))
    assert "8 points, 8 done now" in swept(tmp_path, "s.yaml", "-o", "s.db")[1]


@pytest.mark.slow
@pytest.mark.usefixtures("plugin")
def test_a_task_that_kills_its_process_fails_alone(tmp_path: Path) -> None:
    write(tmp_path, plugin_study("deadly, baseline"))
    code, errors = finish(sweep(tmp_path, "s.yaml", "-o", "s.db", "--processes", "2"))
    assert code == 3
    assert "8 points, 8 done now" in errors
    assert "1 failed" in errors
    assert "--retry-failed" in errors
    rows = read_table(tmp_path / "s.db").rows
    failed = [row for row in rows if row.status == "failed"]
    assert [(row.values["chunks"], row.values["scheduler"]) for row in failed] == [(8, "deadly")]
    assert failed[0].reason == "3 processes died of it (the last one by signal 9)"
    assert all(row.status == "heuristic" for row in rows if row not in failed)


@pytest.mark.slow
@pytest.mark.usefixtures("plugin")
def test_a_process_that_dies_costs_a_retry_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path, plugin_study("deadly_once, baseline"))
    code, errors = finish(sweep(tmp_path, "s.yaml", "-o", "s.db", "--processes", "2"))
    assert code == 0, errors
    by_scheduler: dict[object, list[object]] = {}
    for values, _ in rows_of(tmp_path / "s.db"):
        by_scheduler.setdefault(values["scheduler"], []).append(values["makespan_ps"])
    assert by_scheduler["deadly_once"] == by_scheduler["baseline"]


@pytest.mark.slow
@pytest.mark.usefixtures("plugin")
def test_a_task_that_wants_too_much_memory_fails_alone(tmp_path: Path) -> None:
    write(tmp_path, plugin_study("hungry"))
    assert finish(sweep(tmp_path, "s.yaml", "-o", "s.db", "--processes", "1"))[0] == 3
    rows = read_table(tmp_path / "s.db").rows
    assert [(row.status, row.reason) for row in rows] == [
        ("heuristic", ""),
        ("heuristic", ""),
        ("failed", "out of memory"),
        ("heuristic", ""),
    ]


def test_failures_are_rows_and_are_retried_on_request(tmp_path: Path, plugin: Path) -> None:
    write(tmp_path, plugin_study("moody", "[2, 4]"))
    assert finish(sweep(tmp_path, "s.yaml", "-o", "s.db"))[0] == 3
    rows = read_table(tmp_path / "s.db").rows
    assert [row.reason for row in rows] == ["scheduler 'moody' failed: RuntimeError: not today"] * 2
    (plugin / "right").touch()
    code, errors = finish(sweep(tmp_path, "s.yaml", "-o", "s.db"))
    assert (code, "0 done now in 0.0 s, 2 before, 2 failed" in errors) == (3, True), errors
    code, errors = finish(sweep(tmp_path, "s.yaml", "-o", "s.db", "--retry-failed"))
    assert (code, "2 points, 2 done now" in errors) == (0, True), errors
    assert [status for _, status in rows_of(tmp_path / "s.db")] == ["heuristic", "heuristic"]


@pytest.mark.slow
def test_points_that_make_no_instance_are_failed_rows(tmp_path: Path) -> None:
    write(tmp_path, plugin_study("baseline", "[2, 9]").replace("1 MB", "8 B"))
    code, errors = swept(tmp_path, "s.yaml", "-o", "s.db")
    assert (code, "2 points, 1 done now" in errors, "1 make no instance" in errors) == (3, True, True), errors
    assert "before" not in errors
    assert "--retry-failed" not in errors  # which would not help
    assert "every chunk needs at least one byte" in read_table(tmp_path / "s.db").rows[1].reason


@pytest.mark.slow
@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_what_is_done_and_leaves_no_process(tmp_path: Path, number: int, code: int) -> None:
    write(tmp_path, plugin_study("slow", "{from: 1, to: 200, step: 1}"))
    process = sweep(tmp_path, "s.yaml", "-o", "s.db", "--processes", "2")
    wait_for_results(tmp_path / "s.db", 5, process)
    children = children_of(process.pid)
    assert len(children) == 2
    process.send_signal(number)
    found, errors = finish(process)
    assert found == code
    assert " points are kept; the same command goes on from there" in errors
    done = num_results(tmp_path / "s.db")
    assert 5 <= done < 200
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]
    assert is_whole(tmp_path / "s.db")


@pytest.mark.slow
@pytest.mark.usefixtures("plugin")
def test_two_sweeps_at_once_the_second_is_told(tmp_path: Path) -> None:
    write(tmp_path, plugin_study("slow", "{from: 1, to: 2000, step: 1}"))
    first = sweep(tmp_path, "s.yaml", "-o", "s.db", "--processes", "1")
    wait_for_results(tmp_path / "s.db", 1, first)
    code, errors = finish(sweep(tmp_path, "s.yaml", "-o", "s.db"))
    assert code == 2
    assert f"error: s.db: another sweep is writing to it (process {first.pid} on" in errors
    kill(first)


@pytest.mark.slow
@pytest.mark.usefixtures("plugin")
def test_killed_and_gone_on_with_it_is_the_same_table(tmp_path: Path) -> None:
    text = SMALL.replace("[2, 8]", "{from: 1, to: 40, step: 1}").replace("[baseline,", "[slow, baseline,")
    write(tmp_path, text)
    assert finish(sweep(tmp_path, "s.yaml", "-o", "whole.db"))[0] == 0
    draw = random.Random(5)
    path = tmp_path / "s.db"
    for _ in range(3):
        process = sweep(tmp_path, "s.yaml", "-o", "s.db", "--processes", "2")
        wait_for_results(path, num_results(path) + draw.randrange(20), process)
        workers = children_of(process.pid)
        kill(process)
        assert is_whole(path)
        deadline = time.monotonic() + 10
        while any(Path(f"/proc/{pid}").exists() for pid in workers):  # they end with the one that started them
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert finish(sweep(tmp_path, "s.yaml", "-o", "s.db"))[0] == 0
    assert rows_of(path) == rows_of(tmp_path / "whole.db")
    assert len(rows_of(path)) == 200


@pytest.mark.slow
def test_solvers_rows_are_marked_unless_anybody_finds_them_again(tmp_path: Path) -> None:
    write(
        tmp_path,
        "format: themis-opt/study/1\nbase: {network: 4d-ring-fc-ring-sw, chunks: 12, size: 1 MB}\n"
        "axes:\n  scheduler:\n"
        "  - {name: proof, solver: auto, time_limit: 30 s, max_chunks: 1}\n"
        "  - {name: clock, solver: auto, time_limit: 300 ms, gap: 0%}\n"
        "  - {name: counted, solver: auto, time_limit: 60 s, evaluations: 20000, gap: 0%}\n"
        "metrics: [makespan_ps, gap]\n",
    )
    assert swept(tmp_path, "s.yaml", "-o", "s.db")[0] == 0
    assert swept(tmp_path, "s.yaml", "-o", "again.db")[0] == 0
    rows = rows_of(tmp_path / "s.db")
    assert [(values["scheduler"], status) for values, status in rows] == [
        ("proof", "optimal"),
        ("clock", "not-repeatable"),
        ("counted", "feasible"),
    ]
    again = rows_of(tmp_path / "again.db")
    assert [again[0], again[2]] == [rows[0], rows[2]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["s.yaml", "-o", "nowhere/s.db"], "error: nowhere/s.db: there is no folder"),
        (["s.yaml", "-o", "s.yaml"], "error: s.yaml: is already read from"),
        (["none.yaml", "-o", "s.db"], "error: none.yaml: "),
        (["s.yaml"], "Missing option '-o'"),
        (["s.yaml", "-o", "s.csv"], "error: -o: s.csv ends in .csv, and results are a database"),
        (["s.yaml", "-o", "s.db", "--scheduler", "tcp://127.0.0.1:1"], "error: --scheduler: is for --engine dask"),
        (["s.yaml", "-o", "s.db", "--processes", "0"], "'--processes': 0 is not in the range"),
        (["bad.yaml", "-o", "s.db"], "error: bad.yaml: axes.chunks: is empty"),
        (["none-met.yaml", "-o", "s.db"], "error: none-met.yaml: constraints[0]: 'chunks > 9' is met by none of 8"),
    ],
)
def test_bad_calls_get_one_clear_line_and_make_no_file(tmp_path: Path, arguments: list[str], message: str) -> None:
    write(tmp_path, SMALL)
    write(tmp_path, SMALL.replace("[2, 8]", "[]"), "bad.yaml")
    write(tmp_path, SMALL + "constraints: [chunks > 9]\n", "none-met.yaml")
    code, errors = swept(tmp_path, *arguments)
    assert code == 2
    assert message in errors
    assert "Traceback" not in errors
    assert sorted(os.listdir(tmp_path)) == ["bad.yaml", "none-met.yaml", "s.yaml"]


def test_a_dry_run_counts_and_writes_nothing(tmp_path: Path) -> None:
    write(tmp_path, SMALL)
    done = run_verb(tmp_path, "sweep", "s.yaml", "-o", "s.db", "--dry-run")
    assert (done.returncode, done.stdout) == (0, "s: 8 points, 0 done before, 8 to do\n")
    assert not (tmp_path / "s.db").exists()
    assert swept(tmp_path, "s.yaml", "-o", "s.db", "--processes", "1")[0] == 0
    write(tmp_path, SMALL.replace("[2, 8]", "[2, 60000]").replace("1 MB", "10 KB"))
    output = run_verb(tmp_path, "sweep", "s.yaml", "-o", "s.db", "--dry-run").stdout
    first, second = output.splitlines()
    assert first == "s: 8 points, 0 done before, 4 to do"
    assert second.startswith("4 make no instance; the first: chunks is 60000, but the size is only 10000 bytes")
    write(tmp_path, SMALL.replace("[2, 8]", "[2, 8, 16]"))
    output = run_verb(tmp_path, "sweep", "s.yaml", "-o", "s.db", "--dry-run").stdout
    assert output == "s: 12 points, 9 done before, 3 to do\n"


def test_a_dry_run_needs_no_place_to_write(tmp_path: Path) -> None:
    write(tmp_path, SMALL)
    done = run_verb(tmp_path, "sweep", "s.yaml", "-o", "nowhere/s.db", "--dry-run")
    assert (done.returncode, done.stdout) == (0, "s: 8 points, 0 done before, 8 to do\n")
    assert run_verb(tmp_path, "sweep", "s.yaml", "-o", "nowhere/s.db").returncode == 2


@pytest.mark.slow
@pytest.mark.usefixtures("plugin")
def test_a_process_killed_while_it_starts_is_replaced(tmp_path: Path) -> None:
    write(tmp_path, plugin_study("slow", "{from: 1, to: 40, step: 1}"))
    process = sweep(tmp_path, "s.yaml", "-o", "s.db", "--processes", "2")
    deadline = time.monotonic() + 60
    while not (started := children_of(process.pid)):
        assert time.monotonic() < deadline
        time.sleep(0.001)
    os.kill(started[0], signal.SIGKILL)
    code, errors = finish(process)
    assert (code, "40 points, 40 done now" in errors) == (0, True), errors


def test_too_few_file_descriptors_say_what_to_do(tmp_path: Path) -> None:
    write(tmp_path, SMALL)
    command = f"ulimit -n 24; exec {sys.executable} -m themis_opt sweep s.yaml -o s.db --processes 8"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "processes cannot be started (Too many open files); ask for fewer (--processes)" in done.stderr
    assert "Traceback" not in done.stderr
