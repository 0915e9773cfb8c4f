"""The best chunks and scheduler for each message size: never worse than any fixed choice, and a table to load."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from command_line import CommandLine
from random_instances import dimension, network

import themis_opt
from themis_opt.cli.verb_tune import command
from themis_opt.files.schedule_file import load_schedule
from themis_opt.judging.validator import validate
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.schedule import Chunk, Schedule
from themis_opt.questions.fixed_choices import fitting_counts, shortest
from themis_opt.questions.message_sizes import parse_sizes, size_range
from themis_opt.questions.tune import tune
from themis_opt.schedulers.registry import scheduler_names
from themis_opt.solving.bounds import bound_for_any_count
from themis_opt.solving.protocol import SolverParams

DOCS = Path(__file__).parents[2] / "docs" / "designing.md"
KB, MB, GB = 1000, 10**6, 10**9


def brute_force_ps(instance: Instance, size_bytes: int) -> int:
    """Return the shortest makespan of all schedulers with 1, 2, 4 … 512 chunks, each made on its own."""
    makespans = []
    for count in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
        if count > size_bytes:
            continue
        sized = replace(instance, size_bytes=size_bytes, num_chunks=count)
        makespans += [
            themis_opt.schedule(sized, name).makespan_ps or 0 for name in scheduler_names() if "-best" not in name
        ]
    return min(makespans)


@pytest.mark.parametrize(
    ("instance", "sizes"),
    [
        (Instance(themis_opt.load_network("3d-fc-ring-sw")), [300]),
        (Instance(themis_opt.load_network("2d-sw-sw"), Collective.ALL_GATHER, occupancy=Occupancy.PIPELINED), [MB]),
        (Instance(themis_opt.load_network("2d-sw-sw"), Collective.ALL_TO_ALL, chunk_overhead_ps=10**6), [MB]),
    ],
)
def test_without_a_solver_the_best_fixed_choice_is_found(instance: Instance, sizes: list[int]) -> None:
    for size_bytes, row in zip(sizes, tune(instance, sizes, solver=None), strict=True):
        assert row.size_bytes == size_bytes
        assert row.makespan_ps == brute_force_ps(instance, size_bytes)
        assert row.speedup_fixed == 1
        assert validate(row.schedule.instance, row.schedule) == ()
        assert row.bound_any.value_ps <= row.makespan_ps


@pytest.mark.slow
@pytest.mark.parametrize("name", ["2d-sw-sw", "4d-ring-fc-ring-sw", "hgx-h100-256"])
def test_with_a_solver_no_fixed_choice_is_better(name: str) -> None:
    instance = Instance(themis_opt.load_network(name))
    sizes = [64 * KB, 8 * MB, 20 * MB, 4 * GB]
    for row in tune(instance, sizes, params=SolverParams(1.0, 2)):
        assert row.makespan_ps <= brute_force_ps(instance, row.size_bytes)
        assert validate(row.schedule.instance, row.schedule) == ()
        assert row.schedule.num_chunks == row.schedule.instance.num_chunks


def test_fewer_chunks_then_the_simpler_scheduler_win_among_equals() -> None:
    """One dimension of 2 NPUs without latency: every cut takes the same time, so one baseline chunk does."""
    instance = Instance(network(dimension(2)))
    (row,) = tune(instance, [1024], solver=None)
    assert (row.schedule.num_chunks, row.schedule.scheduler, row.makespan_ps) == (1, "baseline", 1024)
    assert row.schedule.status == "optimal"
    two, one = (
        Schedule(instance, (Chunk(1, (0,), (0,)),) * count, (), makespan_ps=7, scheduler=name)
        for count, name in ((2, "baseline"), (1, "auto"))
    )
    assert shortest([two, one], ("baseline",)) is one
    assert shortest([one, replace(one, scheduler="baseline")], ("baseline",)).scheduler == "baseline"
    assert shortest([one, replace(two, makespan_ps=6)], ("baseline",)).makespan_ps == 6


def test_a_solver_may_not_make_it_worse_and_mostly_makes_it_better() -> None:
    instance = Instance(themis_opt.load_network("2d-sw-sw"))
    (row,) = tune(instance, [100 * MB], params=SolverParams(0.3, 2))
    assert row.schedule.scheduler == "auto"
    assert row.speedup_fixed > 1.05  # 833.8 us were found in ten seconds, and the best fixed choice takes 945
    (tiny,) = tune(instance, [300], params=SolverParams(0.3, 2))  # less than four bytes for each of 1024 NPUs
    assert tiny.makespan_ps <= brute_force_ps(instance, 300)


def test_messages_smaller_than_512_bytes_have_fewer_chunks() -> None:
    instance = Instance(themis_opt.load_network("2d-sw-sw"), num_chunks=1)
    assert fitting_counts(replace(instance, size_bytes=5)) == (1, 2, 4)
    assert fitting_counts(replace(instance, size_bytes=512))[-1] == 512
    (row,) = tune(instance, [1], solver=None)
    assert row.schedule.num_chunks == 1


@pytest.mark.parametrize("occupancy", list(Occupancy))
@pytest.mark.parametrize("size_bytes", [3, 40, 2000])
def test_the_bound_for_any_number_holds_for_each(size_bytes: int, occupancy: Occupancy) -> None:
    """It is not above any schedule, nor above the best bound for any one number of chunks."""
    instance = Instance(
        network(dimension(4, latency_ps=3), dimension(2, 2, 5)),
        size_bytes=size_bytes,
        num_chunks=1,
        occupancy=occupancy,
    )
    bound = bound_for_any_count(instance, 512)
    assert bound.scope.max_chunks == min(512, size_bytes)
    for count in range(1, min(size_bytes, 40) + 1):
        counted = replace(instance, num_chunks=count)
        for name in ("baseline", "themis-scf", "round-robin"):
            assert bound.value_ps <= (themis_opt.schedule(counted, name).makespan_ps or 0)


@pytest.mark.parametrize(
    ("text", "density", "sizes"),
    [
        ("1MB:4MB", {}, (MB, 2 * MB, 4 * MB)),
        ("64KB:300KB", {}, (64 * KB, 128 * KB, 256 * KB, 300 * KB)),
        ("1KiB:4KiB", {"per_octave": 2}, (1024, 1448, 2048, 2896, 4096)),
        ("1KB:100KB", {"points": 3}, (KB, 10 * KB, 100 * KB)),
        ("10MB, 1MB,10MB", {}, (MB, 10 * MB)),
        ("1MB", {}, (MB,)),
        ("1MB:1MB", {}, (MB,)),
        ("1B:3B", {"per_octave": 9}, (1, 2, 3)),
    ],
)
def test_sizes(text: str, density: dict[str, int], sizes: tuple[int, ...]) -> None:
    assert parse_sizes(text, **density) == sizes


def test_a_range_has_its_ends_and_equal_ratios() -> None:
    sizes = size_range(64 * KB, 4 * GB, points=33)
    assert len(sizes) == 33
    assert (sizes[0], sizes[-1]) == (64 * KB, 4 * GB)
    ratios = [after / before for before, after in pairwise(sizes)]
    assert max(ratios) / min(ratios) < 1.0001


@pytest.mark.parametrize(
    ("text", "density", "message"),
    [
        ("4GB:1MB", {}, "4 GB:1 MB runs backwards; write the smaller size first, 1 MB:4 GB"),
        ("0B:1MB", {}, "'0B' is not allowed; at least one byte is needed"),
        ("1:2", {}, "'1' has no unit"),
        ("1MB:2MB:4MB", {}, "'2MB:4MB'"),
        ("", {}, "'' is not a size"),
        ("1MB,2MB", {"points": 4}, "--per-octave and --points are for a range"),
        ("1MB:2MB", {"points": 4, "per_octave": 2}, "give one of them"),
        ("1MB:2MB", {"points": 1}, "--points is 1, and a range has two ends"),
        ("1MB:2MB", {"points": 10**9}, "--points is 1000000000; allowed are 1 to 1000"),
        ("1MB:2MB", {"per_octave": 0}, "--per-octave is 0; at least 1 is needed"),
        ("1B:1TB", {"per_octave": 100}, "at most 1000 sizes are made"),
    ],
)
def test_bad_sizes(text: str, density: dict[str, int], message: str) -> None:
    with pytest.raises(InputError) as told:
        parse_sizes(text, **density)
    assert message in str(told.value)


def test_the_tables_say_the_same_and_a_library_can_load_them(
    tmp_path: Path, invoke: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    invoke(
        "tune", "2d-sw-sw", "--sizes", "1MB:3MB", "--solver", "none", "-o", "table.csv", "--json", "table.json",
        "--schedules", "schedules",
    )  # fmt: skip
    shown = capsys.readouterr()
    assert shown.err == ""
    assert max(map(len, shown.out.splitlines())) <= 80
    document = json.loads((tmp_path / "table.json").read_text())
    assert document["format"] == "themis-opt/tuning/1"
    assert "largest size_bytes <= S" in document["rule"]
    assert document["is_complete"]
    text = DOCS.read_text()
    keys = {*document, *document["rows"][0], *document["rows"][0]["chunks"][0], *document["options"]}
    assert [key for key in keys if f"`{key}`" not in text] == []
    lines = list(csv.DictReader(io.StringIO((tmp_path / "table.csv").read_text())))
    assert [int(line["size_bytes"]) for line in lines] == [MB, 2 * MB, 3 * MB]
    for line, row in zip(lines, document["rows"], strict=True):
        assert line["scheduler"] == row["scheduler"]
        assert int(line["makespan_ps"]) == row["makespan_ps"]
        assert float(line["busbw_Bps"]) == row["busbw_Bps"]
        sizes = [int(size) for size in line["chunk_sizes_bytes"].split()]
        assert sizes == [chunk["size_bytes"] for chunk in row["chunks"]]
        assert sum(sizes) == row["size_bytes"]
        assert len(sizes) == int(line["num_chunks"])
        schedule = load_schedule(tmp_path / "schedules" / line["schedule_file"])
        assert schedule.makespan_ps == row["makespan_ps"]
        assert validate(schedule.instance, schedule) == ()
        for column, name in (("rs_orders", "rs_order"), ("ag_orders", "ag_order")):
            orders = [[int(k) for k in order.split("-")] for order in line[column].split()]
            assert orders == [chunk[name] for chunk in row["chunks"]]
        assert [list(chunk.rs_order or ()) for chunk in schedule.chunks] == [
            chunk["rs_order"] for chunk in row["chunks"]
        ]
    assert sorted(os.listdir(tmp_path / "schedules")) == ["1000000.json", "2000000.json", "3000000.json"]


def test_orders_of_a_phase_that_there_is_not_are_an_empty_cell(
    invoke: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    invoke("tune", "2d-sw-sw", "--sizes", "1MB", "--solver", "none", "--collective", "all-gather", "--csv", "-")
    (line,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert line["rs_orders"] == ""
    assert set(line["ag_orders"].split()) <= {"0-1", "1-0"}
    assert len(line["ag_orders"].split()) == int(line["num_chunks"])


def test_schedules_of_two_runs_are_not_mixed(tmp_path: Path, invoke: Callable[..., None]) -> None:
    """Files of other kinds stay; with --force earlier schedules go, since the table does not name them."""
    folder = tmp_path / "schedules"
    folder.mkdir()
    arguments = "tune", "2d-sw-sw", "--sizes", "1MB", "--solver", "none", "--schedules", "schedules"
    invoke(*arguments)  # an empty folder will do
    (folder / "2000000.json").write_text("of an earlier run")
    (folder / "notes.txt").write_text("not ours")
    (folder / "07.json").write_text("not ours")
    with pytest.raises(InputError, match=r"--schedules schedules: has files in it; .* --force"):
        invoke(*arguments)
    assert (folder / "2000000.json").exists()
    invoke(*arguments, "--force")
    assert sorted(os.listdir(folder)) == ["07.json", "1000000.json", "notes.txt"]


def test_earlier_schedules_stay_when_there_are_no_new_ones(
    tmp_path: Path, invoke: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "schedules").mkdir()
    (tmp_path / "schedules" / "2000000.json").write_text("of an earlier run")

    def fail(*arguments: object, **options: object) -> Iterator[object]:
        raise InputError("no such thing")
        yield

    monkeypatch.setattr("themis_opt.cli.verb_tune.tune", fail)
    with pytest.raises(InputError, match="no such thing"):
        invoke("tune", "2d-sw-sw", "--sizes", "1MB", "--schedules", "schedules", "--force")
    assert os.listdir(tmp_path / "schedules") == ["2000000.json"]


def test_the_help_shows_no_option_that_is_refused() -> None:
    shown = command.get_help(command.make_context("tune", ["2d-sw-sw"]))
    assert "--size " not in shown
    assert "Number of chunks" not in shown
    assert "Message sizes" in shown


def test_json_alone_on_a_clean_stdout(themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("tune", "2d-sw-sw", "--sizes", "1MB", "--solver", "none", "--json", "-")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)["rows"]) == 1


def test_csv_alone_on_a_clean_stdout(invoke: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    invoke("tune", "2d-sw-sw", "--sizes", "1MB", "--solver", "none", "--csv", "-")
    (line,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert line["size_bytes"] == "1000000"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sizes", "4GB:1MB"], "--sizes: 4 GB:1 MB runs backwards"),
        (["-o", "table.txt"], "-o table.txt: end the name in .csv or .json"),
        (["-o", "-"], "-o -: end the name in .csv or .json"),
        (["-o", "nowhere/table.csv"], "there is no folder"),
        (["--csv", "same", "--json", "same"], "already read from or written to"),
        (["--size", "1MB"], "--size is for one size; tune takes --sizes"),
        (["--chunks", "8"], "--chunks: tune finds the number of chunks"),
        (["--collective", "all-reduce,all-gather"], "make 2 instances"),
        (["--schedules", "file"], "--schedules file: is a file, and a folder is written"),
        (["--schedules", "no/such"], "--schedules no/such: there is no folder"),
        (["--force"], "--force is for --schedules FOLDER"),
        (["--schedules", ""], "--schedules '': a folder is written; name one"),
    ],
)
def test_bad_arguments(arguments: list[str], message: str, tmp_path: Path, invoke: Callable[..., None]) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError) as told:
        invoke("tune", "2d-sw-sw", "--solver", "none", *arguments)
    assert message in str(told.value)
    assert os.listdir(tmp_path) == ["file"]


def test_ctrl_c_keeps_the_sizes_done_so_far(tmp_path: Path) -> None:
    """Sent once the schedule of the first size is written, when four are left to do."""
    arguments = "tune 4d-ring-sw-sw-sw --sizes 1MB,20MB,40MB,80MB,100MB --solver none --json table.json"
    process = subprocess.Popen(
        [sys.executable, "-m", "themis_opt", *arguments.split(), "--schedules", "schedules"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "schedules" / "1000000.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "")
    document = json.loads((tmp_path / "table.json").read_text())
    assert 1 <= len(document["rows"]) < 5
    assert not document["is_complete"]
    assert f"stopped: {len(document['rows'])} of 5 sizes are done" in out
    files = {f"{row['size_bytes']}.json" for row in document["rows"]}
    assert files <= set(os.listdir(tmp_path / "schedules"))
