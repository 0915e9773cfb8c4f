"""``themis-opt rows``: the same table as CSV and Parquet, whole or the rows that meet conditions."""

from __future__ import annotations

import csv
import io
import os
import pty
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine
from study_runs import study_of

from themis_opt.problem.errors import InputError
from themis_opt.studies.planning import plan
from themis_opt.studies.reading_table import read_table
from themis_opt.studies.store import StudyStore
from themis_opt.studies.study_engine import Finding


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a study of 2 x 3 points of which the third has failed, the fifth is missing and the sixth makes none."""
    study = study_of(
        tmp_path,
        "base: {network: 2d-sw-sw}\n"
        "axes: {size: [1 KB, 1 MB], chunks: [2, 100, 1000]}\n"
        "metrics: [makespan_ps, gap, bound_kind, busbw_Bps]\n",
    )
    points = plan(study)
    file = tmp_path / "s.db"
    with StudyStore(file) as store:
        store.plan(study, points)
        for place, point in enumerate(points):
            assert point.task is not None
            figures = {"makespan_ps": 10**6 * (place + 1), "gap": place / 8, "bound_kind": "fluid", "busbw_Bps": 1.5e9}
            if place == 2:
                store.add(Finding(point.task.key, "failed", {}, 0.1, "a reason, with a comma"))
            elif place != 4:
                store.add(Finding(point.task.key, "heuristic", figures, 0.1))
    return file


def chosen(path: Path, *where: str) -> list[tuple[object, object]]:
    return [(row.values["size_bytes"], row.values["chunks"]) for row in read_table(path, where).rows]


def test_csv(path: Path) -> None:
    text = read_table(path).to_csv()
    assert text.splitlines()[0] == "size_bytes,chunks,makespan_ps,gap,bound_kind,busbw_Bps,status,seconds,reason"
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["status"] for row in rows] == ["heuristic", "heuristic", "failed", "heuristic", "missing", "heuristic"]
    assert rows[2] == {
        "size_bytes": "1000",
        "chunks": "1000",
        "makespan_ps": "",
        "gap": "",
        "bound_kind": "",
        "busbw_Bps": "",
        "status": "failed",
        "seconds": "0.1",
        "reason": "a reason, with a comma",
    }
    assert float(rows[5]["gap"]) == 0.625


def test_parquet_holds_the_same(path: Path, tmp_path: Path) -> None:
    from pyarrow import parquet

    table = read_table(path)
    (tmp_path / "s.parquet").write_bytes(table.to_parquet())
    found = parquet.read_table(tmp_path / "s.parquet")
    assert [(field.name, str(field.type)) for field in found.schema] == [
        ("size_bytes", "int64"),
        ("chunks", "int64"),
        ("makespan_ps", "int64"),
        ("gap", "double"),
        ("bound_kind", "string"),
        ("busbw_Bps", "double"),
        ("status", "string"),
        ("seconds", "double"),
        ("reason", "string"),
    ]
    for row, other in zip(table.rows, found.to_pylist(), strict=True):
        assert other == {**row.values, "status": row.status, "seconds": row.seconds, "reason": row.reason}


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        (["size = 1 KB"], [(1000, 2), (1000, 100), (1000, 1000)]),
        (["makespan < 2 us"], [(1000, 2)]),
        (["makespan_ps < 2000000"], [(1000, 2)]),
        (["size_bytes == 1000", "chunks > 2"], [(1000, 100), (1000, 1000)]),
        (["gap >= 37.5%"], [(10**6, 2), (10**6, 1000)]),
        (["gap >= 0.4"], [(10**6, 1000)]),
        (["makespan_ps < 2 us"], [(1000, 2)]),
        (["busbw_Bps = 1.5 GB/s", "chunks = 2"], [(1000, 2), (10**6, 2)]),
        (["bound_kind = a < b"], []),
        (["status = failed"], [(1000, 1000)]),
        (["status != heuristic"], [(1000, 1000), (10**6, 100)]),
        (["bound_kind = fluid", "chunks = 100"], [(1000, 100)]),
        (["bound_kind = path"], []),
    ],
)
def test_conditions(path: Path, where: list[str], rows: list[tuple[int, int]]) -> None:
    assert chosen(path, *where) == rows


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("siz = 1 KB", "--where: no column 'siz'; there are: size, chunks.*did you mean 'size'"),
        ("chunks", "'chunks' is not a comparison; write it as 'size = 100 MB'"),
        ("chunks = two", "--where: 'two' is not a number; chunks has no unit"),
        ("status = faield", "--where: status 'faield' is none; there are: .*did you mean 'failed'"),
        ("size = two", "--where: 'two' is not a size"),
        ("size = 1000", "--where: '1000' has no unit"),
        ("gap > 5", "--where: gap is a ratio; write 5% or 500%"),
        ("bound_kind > fluid", "--where: bound_kind is a text; compare it with = or !="),
    ],
)
def test_conditions_that_make_no_sense(path: Path, where: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_table(path, [where])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["s.db", "-o", "s.xlsx"],
            "error: -o: s.xlsx ends neither in .csv nor in .parquet; rename it,",
        ),
        (["s.db", "--to", "parquet"], "error: --to parquet: is binary; name a file with -o"),
        (
            ["study.yaml"],
            "error: study.yaml: is a study, not its results; run 'themis-opt sweep study.yaml -o ",
        ),
    ],
)
def test_bad_calls(path: Path, themis_opt_command: CommandLine, arguments: list[str], message: str) -> None:
    assert path.exists()
    done = themis_opt_command("rows", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_missing_rows_are_told_beside_the_table(path: Path, themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("rows", path, "-o", "s.csv")
    assert (done.returncode, done.stderr) == (0, f"{path}: 1 of 6 rows are still missing\n")
    assert (path.parent / "s.csv").read_text() == read_table(path).to_csv()
    done = themis_opt_command("rows", path, "--where", "size = 1 MB")
    assert done.stderr == f"{path}: 1 of 3 rows that meet this are still missing\n"


def test_a_terminal_gets_no_commands(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE results SET reason = ?", ("a\x1b[31mb",))
    connection.close()
    main, side = pty.openpty()
    command = [sys.executable, "-m", "themis_opt", "rows", str(path), "--where", "status = failed"]
    done = subprocess.run(command, stdout=side, stderr=subprocess.DEVNULL, check=False)
    os.close(side)
    shown = os.read(main, 10_000)
    os.close(main)
    assert done.returncode == 0
    assert b"a\\x1b[31mb" in shown
    assert b"\x1b" not in shown
