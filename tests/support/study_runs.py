"""Running studies as a user does: here, or in a process of their own when they are cut short, and their tables."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from command_line import run_verb

from themis_opt.studies.reading_table import read_table
from themis_opt.studies.study import Study
from themis_opt.studies.study_file import load_study
from themis_opt.studies.table import Value

HEAD = "format: themis-opt/study/1\n"

Row = tuple[Mapping[str, Value], str]


def study_of(tmp_path: Path, text: str) -> Study:
    """Return the study that a file with this text below its format has."""
    path = tmp_path / "study.yaml"
    path.write_text(HEAD + text)
    return load_study(path)


def rows_of(path: Path) -> list[Row]:
    """Return a study's rows without their seconds."""
    return [(dict(row.values), row.status) for row in read_table(path).rows]


def sweep(folder: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start ``themis-opt sweep`` in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "themis_opt", "sweep", *arguments],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def swept(folder: Path, *arguments: str) -> tuple[int, str]:
    """Sweep in this process (its workers are processes in any case), and return the exit code and stderr."""
    done = run_verb(folder, "sweep", *arguments)
    return done.returncode, done.stderr


def finish(process: subprocess.Popen[str], timeout_s: float = 300.0) -> tuple[int, str]:
    """Return the exit code and what stood on stderr."""
    _, errors = process.communicate(timeout=timeout_s)
    return process.returncode, errors


def num_results(path: Path) -> int:
    """Return how many results a study's file holds, whoever is writing to it."""
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)
    except sqlite3.Error:
        return 0
    try:
        (count,) = connection.execute("SELECT count(*) FROM results").fetchone()
    except sqlite3.Error:  # it is being made
        return 0
    finally:
        connection.close()
    return int(count)


def wait_for_results(path: Path, count: int, process: subprocess.Popen[str], timeout_s: float = 120.0) -> None:
    """Wait until there are so many results, or the sweep has ended."""
    deadline = time.monotonic() + timeout_s
    while num_results(path) < count and process.poll() is None:
        assert time.monotonic() < deadline, f"no {count} results within {timeout_s} s"
        time.sleep(0.01)


def kill(process: subprocess.Popen[str]) -> None:
    """End a sweep as a power cut would."""
    process.send_signal(signal.SIGKILL)
    process.communicate()


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started and that are still there."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def is_whole(path: Path) -> bool:
    """Return whether SQLite finds nothing wrong with a file."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        connection.close()
