"""Runs of ``benchmarks/corpus.py`` on a corpus of one instance: what they write, print and end with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from corpus_kit import BASELINE_PS, GOOD, ROOT, TINY, TINY_PATH_PS
from msgspec.structs import replace as restruct

import themis_opt
from themis_opt.cli.exits import Terminated
from themis_opt.files.instance_file import load_instance
from themis_opt.files.schedule_file import load_schedule
from themis_opt.judging.certify import certify
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.errors import InputError
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.solving.bounds import best_bound, equal_chunks_scope, quick_bounds
from themis_opt.timing.sequencing import simulate

pytest_plugins = ["corpus_fixtures"]


class OneSchedule:
    """Stands in for the solver: the baseline's schedule with the quick bounds, changed as told; counts its calls."""

    num_workers = 2

    def __init__(self, solved: Callable[..., Any], folder: Path, changes: dict[str, Any]) -> None:
        instance = load_instance(folder / "tiny.yaml")
        schedule = themis_opt.schedule(instance, "baseline")
        bound = best_bound(quick_bounds(instance, equal_chunks_scope(instance)))
        stated = {"bound": bound, "status": Status.FEASIBLE, "seed": 0, **changes}
        schedule = schedule.replace(**stated)
        self._solved = solved(schedule, None, 0.5, "")
        self.asked: list[tuple[float, int]] = []

    def __call__(self, num_workers: int | None) -> OneSchedule:
        return self

    def __enter__(self) -> OneSchedule:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def solve(self, instance: Any, time_limit_s: float, *, seed: int, **choice: Any) -> Any:
        self.asked.append((time_limit_s, seed))
        return self._solved


@pytest.fixture
def stand_in(modules: SimpleNamespace, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., OneSchedule]:
    def use(**changes: Any) -> OneSchedule:
        solver = OneSchedule(modules.solves.Solved, tiny, changes)
        monkeypatch.setattr(modules.corpus, "AutoSolver", solver)
        return solver

    return use


def tamper(modules: SimpleNamespace, tiny: Path, **changes: Any) -> None:
    """Change the makespan, the status or the proof in the record, whether or not that is true."""
    (entry,) = modules.records.load_corpus(tiny)
    modules.records.save_record(entry, restruct(entry.record, **changes))


def test_a_tiny_instance_from_end_to_end(
    modules: SimpleNamespace, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--folder", str(tiny), "--only", "tiny", "--time-limit", "4", "--workers", "1"]
    assert modules.corpus.main([*options, "--add", "--schedules", str(tmp_path)]) == 0
    assert "1 of 1 run: 1 new; 1 records written" in capsys.readouterr().out
    (entry,) = modules.records.load_corpus(tiny)
    schedule = load_schedule(tmp_path / "tiny.json")
    assert certify(schedule).violations == ()
    assert schedule.makespan_ps == entry.record.makespan_ps >= TINY_PATH_PS
    assert entry.record.found.workers == 1
    assert entry.record.found.version == themis_opt.__version__

    before = entry.record_path.read_bytes()
    assert modules.corpus.main([*options, "--update"]) == 0
    assert "1 of 1 run: 1 same; 0 records written" in capsys.readouterr().out
    assert entry.record_path.read_bytes() == before
    assert modules.corpus.main([*options, "--list"]) == 0
    assert "optimal" in capsys.readouterr().out  # two chunks: a few stages, proven in no time


def test_the_baseline_of_the_tiny_instance(tiny: Path) -> None:
    instance = load_instance(tiny / "tiny.yaml")
    schedule: Schedule = themis_opt.schedule(instance, "baseline")
    assert simulate(instance, schedule).makespan_ps == BASELINE_PS
    path = max(quick_bounds(instance, equal_chunks_scope(instance)), key=lambda bound: bound.value_ps)
    assert path.value_ps >= TINY_PATH_PS


def test_better_is_written_only_when_asked(
    modules: SimpleNamespace, tiny: Path, stand_in: Callable[..., OneSchedule], capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in()
    arguments = ["--folder", str(tiny)]
    assert modules.corpus.main([*arguments, "--add"]) == 0
    tamper(modules, tiny, makespan_ps=10**10)
    assert modules.corpus.main(arguments) == 0
    assert "BETTER makespan -20.0000 %" in capsys.readouterr().out
    assert modules.records.load_corpus(tiny)[0].record.makespan_ps == 10**10
    assert modules.corpus.main([*arguments, "--update"]) == 0
    assert modules.records.load_corpus(tiny)[0].record.makespan_ps == BASELINE_PS


def test_worse_is_tried_again_with_more_time_and_then_fails(
    modules: SimpleNamespace, tiny: Path, stand_in: Callable[..., OneSchedule], capsys: pytest.CaptureFixture[str]
) -> None:
    solver = stand_in()
    arguments = ["--folder", str(tiny), "--time-limit", "2", "--seed", "5"]
    assert modules.corpus.main([*arguments, "--add"]) == 0
    tamper(modules, tiny, makespan_ps=BASELINE_PS * 9 // 10)
    before = (tiny / "records" / "tiny.yaml").read_bytes()
    solver.asked.clear()
    assert modules.corpus.main([*arguments, "--update"]) == 1
    assert "WORSE makespan +11.1111 % (3 tries)\n" in capsys.readouterr().out
    assert solver.asked == [(2, 5), (4, 6), (8, 7)]
    assert (tiny / "records" / "tiny.yaml").read_bytes() == before
    assert modules.corpus.main([*arguments, "--allowance", "12"]) == 0
    solver.asked.clear()
    assert modules.corpus.main([*arguments, "--retries", "0"]) == 1
    assert solver.asked == [(2, 5)]
    assert "tries" not in capsys.readouterr().out.splitlines()[-3]


def test_a_contradiction_fails_and_changes_nothing(
    modules: SimpleNamespace, tiny: Path, stand_in: Callable[..., OneSchedule], capsys: pytest.CaptureFixture[str]
) -> None:
    solver = stand_in()
    arguments = ["--folder", str(tiny), "--update"]
    assert modules.corpus.main(["--folder", str(tiny), "--add"]) == 0
    # A record of 5 ms cannot be: one chunk alone takes 6.
    record = modules.records.load_corpus(tiny)[0].record
    false = restruct(record.proof, bound_ps=10**9, kind="other", certificate=None, certified_ps=None)
    tamper(modules, tiny, makespan_ps=5 * 10**9, proof=false)
    before = (tiny / "records" / "tiny.yaml").read_bytes()
    solver.asked.clear()
    assert modules.corpus.main(arguments) == 1
    assert "CONTRADICTION a bound is above the makespan 5000000000 ps" in capsys.readouterr().out
    assert len(solver.asked) == 1
    assert (tiny / "records" / "tiny.yaml").read_bytes() == before


@pytest.mark.parametrize(
    "changes",
    [
        {"makespan_ps": BASELINE_PS - 1},
        {"bound": Bound(7 * 10**9, BoundKind.FLUID, BoundScope(Sizing.EQUAL, 2, 2), None, 7 * 10**9)},
        {"status": Status.OPTIMAL, "bound": Bound(BASELINE_PS - 1, "other", BoundScope(Sizing.EQUAL, 2, 2))},
    ],
    ids=["makespan", "certificate", "status"],
)
def test_no_record_comes_from_a_schedule_that_states_something_false(
    modules: SimpleNamespace,
    tiny: Path,
    stand_in: Callable[..., OneSchedule],
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, Any],
) -> None:
    stand_in(**changes)
    assert modules.corpus.main(["--folder", str(tiny), "--add"]) == 1
    assert "ERROR" in capsys.readouterr().out
    assert modules.records.load_corpus(tiny)[0].record is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "none of these 1 instances has a record; --add makes them"),
        (["--only", "hgx"], "--only hgx: no instance in"),
        (["--add", "--schedules", "nowhere"], "--schedules nowhere: there is no such folder"),
    ],
)
def test_slips_of_the_command_line_end_with_one_line(
    modules: SimpleNamespace, tiny: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert modules.corpus.main(["--folder", str(tiny), *arguments]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


# ---- what is printed, and how it ends


def test_the_list_fits_a_terminal_and_names_its_columns(
    modules: SimpleNamespace, entries: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert modules.corpus.main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "instance"
    assert lines[1].split("  ")[-1] == "proof"
    assert lines[2::2] == [entry.name for entry in entries]
    assert len(lines) == 2 + 2 * len(entries)


def test_the_table_names_its_columns(
    modules: SimpleNamespace, tiny: Path, stand_in: Callable[..., OneSchedule], capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in()
    assert modules.corpus.main(["--folder", str(tiny), "--add"]) == 0
    _, _, head, row, *_ = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "instance"
    assert row.split()[0] == "tiny"
    assert row.endswith("  new")


@pytest.mark.parametrize(("signal_type", "code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_an_interrupted_run_sums_up_what_it_did(
    modules: SimpleNamespace,
    tiny: Path,
    stand_in: Callable[..., OneSchedule],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    signal_type: type[BaseException],
    code: int,
) -> None:
    stand_in()
    (tiny / "two.yaml").write_text(TINY)
    solve = OneSchedule.solve

    def interrupted(solver: OneSchedule, *given: Any, **choice: Any) -> Any:
        if solver.asked:
            raise signal_type
        return solve(solver, *given, **choice)

    monkeypatch.setattr(OneSchedule, "solve", interrupted)
    assert modules.corpus.main(["--folder", str(tiny), "--add"]) == code
    assert "1 of 2 run: 1 new; 1 records written" in capsys.readouterr().out
    assert (tiny / "records" / "tiny.yaml").exists()


SCRIPT = [sys.executable, str(ROOT / "benchmarks" / "corpus.py")]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_sigterm_ends_a_run_with_its_sum(tiny: Path) -> None:
    # Sixteen chunks of free size: not proven before the signal comes.
    (tiny / "tiny.yaml").write_text(TINY.replace("2d-figure-5", "4d-ring-sw-sw-sw").replace("chunks: 2", "chunks: 16"))
    command = [*SCRIPT, "--folder", str(tiny), "--add", "--time-limit", "60", "--workers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        while not process.stdout.readline().startswith("instance"):
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert "0 of 1 run: none; 0 records written" in process.stdout.read()
        assert process.stderr.read() == ""
    assert process.returncode == 143
    assert list((tiny / "records").iterdir()) == []


def list_into(stdout: Any, *only: str) -> tuple[int, str]:
    """Return exit code and stderr of --list, which Python buffers, so that some is printed as late as at the end."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [*SCRIPT, "--list", *only]
    done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, env=env)
    return done.returncode, done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("only", [[], ["--only", "hgx"]], ids=["while printing", "at the end"])
def test_a_full_disk_is_told_without_a_traceback(only: list[str]) -> None:
    with open("/dev/full", "w") as full:
        assert list_into(full, *only) == (2, "error: standard output: No space left on device\n")


def test_a_reader_that_leaves_early_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    assert list_into(writing) == (141, "")
    os.close(writing)


def test_a_corpus_that_cannot_be_written_is_told_before_anything_runs(
    modules: SimpleNamespace,
    tiny: Path,
    stand_in: Callable[..., OneSchedule],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    solver = stand_in()
    (tiny / "records").rmdir()
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # whoever runs the tests may be allowed everything
    assert modules.corpus.main(["--folder", str(tiny), "--add"]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tiny}: is not writable, so no record can be saved")
    (tiny / "records").write_text("")
    assert modules.corpus.main(["--folder", str(tiny), "--add"]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tiny / 'records'}: is no folder")
    assert solver.asked == []


def test_a_folder_of_records_that_cannot_be_made_is_told(modules: SimpleNamespace, tiny: Path) -> None:
    path = tiny / "records" / "tiny.yaml"
    path.write_text(GOOD)
    (entry,) = modules.records.load_corpus(tiny)
    path.unlink()
    (tiny / "records").rmdir()
    (tiny / "records").write_text("")  # in the way
    with pytest.raises(InputError, match=r"records: cannot be created: File exists"):
        modules.records.save_record(entry, entry.record)
