"""``export --to astra2`` and ``validate`` of its folder, as a user runs them."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from chakra_folders import dimension, random_schedule
from command_line import CommandLine

from themis_opt import Algorithm, Collective
from themis_opt.cli.verb_export import parse_ranks
from themis_opt.files.schedule_file import save_schedule
from themis_opt.problem.errors import InputError


@pytest.fixture
def schedule_file(tmp_path: Path) -> Path:
    """A schedule of two chunks among 4 x 3 NPUs."""
    made = random_schedule([dimension(Algorithm.RING, 4), dimension(Algorithm.DIRECT, 3)], num_chunks=2)
    save_schedule(made, tmp_path / "mine.json")
    return tmp_path / "mine.json"


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_export_and_validate(tmp_path: Path, themis_opt_command: CommandLine, schedule_file: Path) -> None:
    done = themis_opt_command("export", "--to", "astra2", "mine.json", "-o", "out")
    assert done.returncode == 0, done.stderr
    # Beforehand, on stderr: files, nodes, bytes, the replay's memory.
    num_bytes = sum(file.stat().st_size for file in (tmp_path / "out").glob("rank.*.et"))
    assert done.stderr == (
        f"out: 29 files, 480 nodes, {num_bytes / 1000:.2f} KB; replaying takes about 670 KB to 960 KB of memory\n"
    )
    assert done.stdout.startswith("out: written; ASTRA-sim 2 will report ")
    cycles = done.stdout.split("report ")[1].split()[0]
    assert names(tmp_path) == ["mine.json", "out"]
    assert len(names(tmp_path / "out")) == 29
    readme = (tmp_path / "out" / "README.md").read_text()
    assert "ulimit -n 45\n" in readme
    assert f"expected time: {cycles} ns\n" in readme
    assert f"sys[i] finished, {cycles} cycles" in readme
    assert "--workload-configuration=./wl --system-configuration=./system.json" in readme

    done = themis_opt_command("validate", "out", "mine.json", "--json", "-")
    assert done.returncode == 0
    judged = json.loads(done.stdout)["schedules"]
    assert [entry["valid"] for entry in judged] == [True, True]
    done = themis_opt_command("validate", "out")
    assert done.stdout.startswith("out: valid: all-reduce on 12 ranks, 2 chunks, 480 nodes, 240 messages: ")
    assert done.stdout.endswith(f"makespan {cycles} ns by ASTRA-sim's rule\n")


def test_a_wrong_folder_is_exit_code_1_and_an_unreadable_one_2(
    tmp_path: Path, themis_opt_command: CommandLine, schedule_file: Path
) -> None:
    themis_opt_command("export", "--to", "astra2", "mine.json", "-o", "out")
    shutil.copy(tmp_path / "out" / "rank.1.et", tmp_path / "out" / "rank.2.et")
    done = themis_opt_command("validate", "out")
    assert (done.returncode, done.stderr) == (1, "")
    assert (
        "out: rank 2, chunk 1, stage 0 (rs), step 0: a SEND goes to rank 5; the algorithm's partner is rank 6"
        in done.stdout
    )
    os.truncate(tmp_path / "out" / "rank.2.et", 100)
    done = themis_opt_command("validate", "out")
    assert done.returncode == 2
    assert done.stderr.startswith("error: out/rank.2.et: byte ")


@pytest.mark.parametrize(
    ("text", "ranks"), [("0", [0]), ("0,3,8-11", [0, 3, 8, 9, 10, 11]), ("3, 1-2,2", [1, 2, 3]), ("11-11", [11])]
)
def test_lists_of_ranks(text: str, ranks: list[int]) -> None:
    assert parse_ranks(text, 12) == ranks


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'' is no rank"),
        ("a", "'a' is no rank and no range of ranks; write a list such as 0,3,8-15"),
        ("1,,2", "'' is no rank"),
        ("-1", "'-1' is no rank"),
        ("3-1", "3-1 runs backwards; write 1-3"),
        ("12", "12 names rank 12, and the ranks are 0 to 11"),
        ("0-999999999999", "names rank 999999999999"),
        ("9" * 5000, "is no rank"),
    ],
)
def test_wrong_lists_of_ranks(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        parse_ranks(text, 12)
    assert str(caught.value).startswith("--ranks: ")


def test_some_ranks(tmp_path: Path, themis_opt_command: CommandLine, schedule_file: Path) -> None:
    done = themis_opt_command("export", "--to", "astra2", "mine.json", "-o", "out", "--ranks", "0,3-4")
    assert done.returncode == 0
    assert "note: only 3 of 12 ranks are written, so ASTRA-sim cannot run this folder\n" in done.stderr
    assert done.stdout == "out: 3 of 12 ranks written\n"
    traces = [name for name in names(tmp_path / "out") if name.endswith(".et")]
    assert traces == ["rank.0.et", "rank.3.et", "rank.4.et", "wl.0.et", "wl.3.et", "wl.4.et"]
    done = themis_opt_command("validate", "out")
    assert (done.returncode, "3 of 12 ranks" in done.stdout) == (0, True)


def test_more_than_allowed_is_refused_with_the_number(
    tmp_path: Path, themis_opt_command: CommandLine, schedule_file: Path
) -> None:
    done = themis_opt_command("export", "--to", "astra2", "mine.json", "-o", "out", "--max-bytes", "30KB")
    assert done.returncode == 2
    assert "error: mine.json: the traces of 12 ranks have 480 nodes in 34812 bytes (34.81 KB), " in done.stderr
    assert "more than --max-bytes 30 KB; allow more, write some ranks only" in done.stderr
    assert names(tmp_path) == ["mine.json"]
    done = themis_opt_command("export", "--to", "astra2", "mine.json", "-o", "out", "--max-bytes", "40")
    assert (done.returncode, done.stderr[:26]) == (2, "error: --max-bytes: '40' h")


@pytest.mark.parametrize(
    ("collective", "said"), [(Collective.ALL_TO_ALL, "mine.json: --to astra2 writes all-reduce, reduce-scatter and")]
)
def test_what_cannot_be_written(
    collective: Collective, said: str, tmp_path: Path, themis_opt_command: CommandLine
) -> None:
    save_schedule(random_schedule([dimension(Algorithm.RING, 4)], collective), tmp_path / "mine.json")
    done = themis_opt_command("export", "--to", "astra2", "mine.json", "-o", "out")
    assert (done.returncode, names(tmp_path)) == (2, ["mine.json"])
    assert said in done.stderr


def test_where_it_cannot_be_written(tmp_path: Path, themis_opt_command: CommandLine, schedule_file: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    for output, said in [
        ("full", "full: has files in it; name a new folder, or write into this one with --force"),
        ("mine.json", "mine.json: is a file, and a folder is written; name another"),
        ("no/where", "no/where: there is no folder"),
        ("-", "-o -: a folder is written; name one"),
        ("", "-o '': a folder is written; name one"),
    ]:
        done = themis_opt_command("export", "--to", "astra2", "mine.json", "-o", output)
        assert done.returncode == 2, output
        assert done.stderr.startswith(f"error: {said}")
    assert names(tmp_path) == ["full", "mine.json"]


def test_an_empty_folder_is_taken_as_it_is(
    tmp_path: Path, themis_opt_command: CommandLine, schedule_file: Path
) -> None:
    (tmp_path / "out").mkdir(mode=0o750)
    done = themis_opt_command("export", "--to", "astra2", "mine.json", "-o", "out")
    assert done.returncode == 0
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o750
    assert themis_opt_command("export", "--to", "astra2", "mine.json", "-o", "new").returncode == 0
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o777 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_force_replaces_ours_and_leaves_the_rest(
    tmp_path: Path, themis_opt_command: CommandLine, schedule_file: Path
) -> None:
    """An older export of more ranks leaves no traces; what somebody put beside it stays."""
    themis_opt_command("export", "--to", "astra2", "mine.json", "-o", "out")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    (tmp_path / "out" / "rank.99.et").write_text("of an older export")
    done = themis_opt_command("export", "--to", "astra2", "mine.json", "-o", "out", "--ranks", "0-2", "--force")
    assert done.returncode == 0
    assert [name for name in names(tmp_path / "out") if name.startswith("rank")] == [f"rank.{i}.et" for i in range(3)]
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"
    assert names(tmp_path) == ["mine.json", "out"]
    done = themis_opt_command("export", "--to", "astra2", "out/schedule.json", "-o", "out", "--force")
    assert done.returncode == 2
    assert done.stderr.startswith("error: out/schedule.json: would be replaced by its own export")


@pytest.mark.parametrize("name", ["rank.5.et", "wl.77.et", "schedule.json"])
def test_a_folder_in_the_place_of_a_file_is_told_before_anything_goes(
    name: str, tmp_path: Path, themis_opt_command: CommandLine, schedule_file: Path
) -> None:
    themis_opt_command("export", "--to", "astra2", schedule_file.name, "-o", "out")
    (tmp_path / "out" / name).unlink(missing_ok=True)
    (tmp_path / "out" / name).mkdir()
    before = names(tmp_path / "out")
    done = themis_opt_command("export", "--to", "astra2", schedule_file.name, "-o", "out", "--force")
    assert done.returncode == 2
    assert f"a folder stands where a file of the export goes; remove it ({name})" in done.stderr
    assert names(tmp_path / "out") == before
    assert names(tmp_path) == ["mine.json", "out"]


def test_a_full_disk_leaves_nothing(
    tmp_path: Path, schedule_file: Path, themis_opt_command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "somewhere/rank.0.et")

    monkeypatch.setattr("themis_opt.export.chakra.write.folder.write_traces", fail)
    done = themis_opt_command("export", "--to", "astra2", "mine.json", "-o", "out")
    assert done.returncode == 2
    assert done.stderr.endswith("error: out: cannot be written: No space left on device (rank.0.et)\n")
    assert names(tmp_path) == ["mine.json"]


def test_a_disk_without_room_is_told_before_anything_is_written(
    tmp_path: Path, schedule_file: Path, themis_opt_command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1000))
    done = themis_opt_command("export", "--to", "astra2", "mine.json", "-o", "out")
    assert done.returncode == 2
    assert "bytes, and the disk has 1000 left" in done.stderr
    assert names(tmp_path) == ["mine.json"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_an_interruption_leaves_nothing(number: int, code: int, tmp_path: Path, schedule_file: Path) -> None:
    program = f"""
import os, sys
from themis_opt.cli.main import run
from themis_opt.export.chakra.write import folder
write = folder.write_traces
def interrupted(*arguments):
    write(*arguments)
    os.kill(os.getpid(), {int(number)})
folder.write_traces = interrupted
sys.exit(run(["export", "--to", "astra2", "mine.json", "-o", "out"]))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stderr.endswith("error: stopped before there was a result\n")
    assert names(tmp_path) == ["mine.json"]


def test_a_signal_while_it_comes_into_place_waits(tmp_path: Path, schedule_file: Path) -> None:
    program = """
import os, signal, sys
from themis_opt.cli.main import run
from themis_opt.files import atomic
rename = os.rename
def interrupted(*arguments):
    os.kill(os.getpid(), signal.SIGTERM)
    rename(*arguments)
atomic.os.rename = interrupted
sys.exit(run(["export", "--to", "astra2", "mine.json", "-o", "out"]))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 143
    assert names(tmp_path) == ["mine.json", "out"]
    assert len(names(tmp_path / "out")) == 29


@pytest.mark.slow
def test_a_thousand_ranks_take_little_memory(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    """4D, 1024 ranks, 16 chunks: a million nodes, 90 MB, in less than 300 MB of memory; 64 chunks of 3D are refused."""
    themis_opt_command("simulate", "4d-ring-fc-ring-sw", "--chunks", "16", "-o", "s.json")
    # The kernel's count of this program's memory: getrusage counts what the test runner had before it started it, too.
    program = """
import pathlib, re, sys
from themis_opt.cli.main import run
code = run(["export", "--to", "astra2", "s.json", "-o", "out"])
peak_kB = re.search(r"VmHWM:\\s+(\\d+) kB", pathlib.Path("/proc/self/status").read_text())[1]
pathlib.Path("peak").write_text(peak_kB)
sys.exit(code)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 30 * 1024 < int((tmp_path / "peak").read_text()) < 300 * 1024  # KiB
    assert len(list((tmp_path / "out").glob("rank.*.et"))) == 1024
    themis_opt_command("simulate", "3d-fc-ring-sw", "--chunks", "64", "-o", "large.json")
    done = themis_opt_command("export", "--to", "astra2", "large.json", "-o", "more", "--max-bytes", "200MB")
    assert done.returncode == 2
    assert "the traces of 1024 ranks have 6553600 nodes in" in done.stderr
    assert "more than --max-bytes 200 MB" in done.stderr
    assert not (tmp_path / "more").exists()
