"""The dask engine: the same study, the same rows, on a cluster of real processes, one of which is killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from study_plugin import write_study_plugin
from study_runs import finish, num_results, rows_of, sweep, swept, wait_for_results

from themis_opt.studies.reading_table import read_table

STUDY = (Path(__file__).parents[2] / "benchmarks" / "studies" / "two_thousand.yaml").read_text()
SMALL = """\
format: themis-opt/study/1
base: {network: 2d-sw-sw}
axes:
  size: [1 MB, 1 GB]
  chunks: {from: 1, to: 20, step: 1}
  scheduler: [baseline, themis-fifo, themis-scf, bound]
metrics: [makespan_ps, bound_ps, gap]
"""
LARGER = SMALL.replace("to: 20", "to: 50")


class Cluster:
    """A dask scheduler and workers without a nanny: one that is killed stays dead."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"
        self._scheduler = self._start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        deadline = time.monotonic() + 60
        while not self.address:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.workers = [self.add_worker(), self.add_worker()]

    @property
    def address(self) -> str:
        with contextlib.suppress(OSError, ValueError):
            return str(json.loads(self._file.read_text())["address"])
        return ""

    def add_worker(self) -> subprocess.Popen[bytes]:
        return self._start("dask_worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard")

    def stop(self) -> None:
        for process in (*self.workers, self._scheduler):
            process.kill()
            process.wait()

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", "--scheduler-file", str(self._file), *arguments],
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    write_study_plugin(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])))
    monkeypatch.setenv("STUDY_MARKS", str(folder))
    started = Cluster(folder)
    yield started
    started.stop()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "num_points", "num_before"),
    [(LARGER, 400, 40), pytest.param(STUDY, 2000, 300, marks=pytest.mark.nightly)],
)
def test_points_with_a_worker_killed_midway_are_the_same_rows(
    cluster: Cluster, tmp_path: Path, study: str, num_points: int, num_before: int
) -> None:
    (tmp_path / "s.yaml").write_text(study)
    assert swept(tmp_path, "s.yaml", "-o", "local.db")[0] == 0
    process = sweep(tmp_path, "s.yaml", "-o", "dask.db", "--engine", "dask", "--scheduler", cluster.address)
    wait_for_results(tmp_path / "dask.db", num_before, process)
    assert num_before <= num_results(tmp_path / "dask.db") < num_points
    cluster.workers[0].send_signal(signal.SIGKILL)
    code, errors = finish(process)
    assert code == 0, errors
    rows = rows_of(tmp_path / "dask.db")
    assert len(rows) == num_points
    assert rows == rows_of(tmp_path / "local.db")


@pytest.mark.slow
def test_a_task_that_kills_every_worker_fails_alone(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "format: themis-opt/study/1\nbase: {network: 2d-sw-sw, size: 1 MB}\n"
        "axes: {chunks: [2, 8], scheduler: [baseline, deadly]}\nmetrics: [makespan_ps]\n"
    )
    process = sweep(tmp_path, "s.yaml", "-o", "s.db", "--engine", "dask", "--scheduler", cluster.address)
    while process.poll() is None:  # somebody keeps an eye on the cluster
        for number, worker in enumerate(cluster.workers):
            if worker.poll() is not None:
                cluster.workers[number] = cluster.add_worker()
        time.sleep(0.1)
    code, errors = finish(process)
    assert (code, "4 points, 4 done now" in errors, "1 failed" in errors) == (3, True, True), errors
    (failed,) = [row for row in read_table(tmp_path / "s.db").rows if row.status == "failed"]
    assert (failed.values["chunks"], failed.values["scheduler"]) == (8, "deadly")
    assert "KilledWorker" in failed.reason


@pytest.mark.slow
def test_a_cluster_is_started_here_when_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SMALL)
    code, errors = finish(sweep(tmp_path, "s.yaml", "-o", "s.db", "--engine", "dask", "--processes", "2"))
    assert (code, "160 points, 160 done now" in errors) == (0, True), errors
    assert swept(tmp_path, "s.yaml", "-o", "local.db")[0] == 0
    assert rows_of(tmp_path / "s.db") == rows_of(tmp_path / "local.db")


@pytest.mark.slow
def test_a_cluster_that_does_not_answer(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SMALL)
    code, errors = finish(
        sweep(tmp_path, "s.yaml", "-o", "s.db", "--engine", "dask", "--scheduler", "tcp://127.0.0.1:9")
    )
    assert code == 2
    assert "error: --scheduler: no dask scheduler answers at tcp://127.0.0.1:9" in errors
    assert "Traceback" not in errors


def test_without_the_extra_one_line_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SMALL)
    hidden = tmp_path / "hidden" / "distributed"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('not installed')\n")
    path = os.pathsep.join(filter(None, [str(hidden.parent), os.environ.get("PYTHONPATH")]))
    code, errors = finish(sweep(tmp_path, "s.yaml", "-o", "s.db", "--engine", "dask", environment={"PYTHONPATH": path}))
    assert (code, errors) == (2, "error: --engine dask needs dask: pip install 'themis-opt[dask]'\n")
    assert not (tmp_path / "s.db").exists()


@pytest.mark.slow
def test_a_scheduler_that_goes_away_leaves_the_rest_missing(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "format: themis-opt/study/1\nbase: {network: 2d-sw-sw, size: 1 MB}\n"
        "axes: {chunks: {from: 1, to: 400, step: 1}, scheduler: [slow]}\nmetrics: [makespan_ps]\n"
    )
    process = sweep(tmp_path, "s.yaml", "-o", "s.db", "--engine", "dask", "--scheduler", cluster.address)
    wait_for_results(tmp_path / "s.db", 10, process)
    cluster.stop()
    code, errors = finish(process)
    assert code == 3
    (line,) = errors.splitlines()
    assert line.startswith("error: s.db: the dask scheduler at tcp://127.0.0.1:")
    assert " went away; " in line
    assert line.endswith("of 400 points are kept; the same command goes on from there")
    rows = read_table(tmp_path / "s.db").rows
    statuses = {row.status for row in rows}
    assert "missing" in statuses
    assert "failed" not in statuses


@pytest.mark.slow
def test_a_cluster_without_a_worker_is_told(cluster: Cluster, tmp_path: Path) -> None:
    for worker in cluster.workers:
        worker.kill()
        worker.wait()
    (tmp_path / "s.yaml").write_text(SMALL)
    code, errors = finish(sweep(tmp_path, "s.yaml", "-o", "s.db", "--engine", "dask", "--scheduler", cluster.address))
    assert code == 2
    assert "has had no worker for 30 s; start one (dask worker ADDRESS)" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("address", ["tls://127.0.0.1:5", "nonsense", "tcp://127.0.0.1:port"])
def test_addresses_that_are_none(tmp_path: Path, address: str) -> None:
    (tmp_path / "s.yaml").write_text(SMALL)
    code, errors = finish(sweep(tmp_path, "s.yaml", "-o", "s.db", "--engine", "dask", "--scheduler", address))
    assert code == 2
    assert f"error: --scheduler: no dask scheduler answers at {address}" in errors
    assert "Traceback" not in errors
