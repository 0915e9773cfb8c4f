"""What the program does when something outside of it, or a defect in it, gets in its way."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine, Done

from themis_opt.cli import verb_explain

FEW = ("--chunks", "4")


def started(*arguments: str, setup: str, folder: Path) -> Done:
    """Run the command in a process of its own that has run some statements first."""
    code = f"import os, sys\n{setup}\nos.execv(sys.executable, [sys.executable, '-m', *sys.argv[1:]])"
    words = [sys.executable, "-c", code, "themis_opt", *arguments]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.fixture
def defect(monkeypatch: pytest.MonkeyPatch) -> None:
    def divide(*_: object) -> None:
        raise ZeroDivisionError("division by zero\nin the second line")

    monkeypatch.setattr(verb_explain, "_account", divide)


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)


@pytest.mark.usefixtures("defect")
def test_a_defect_is_one_short_message(themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("explain", "2d-sw-sw")
    assert (done.returncode, done.stdout) == (4, "")
    first, *rest = done.stderr.splitlines()
    assert first.startswith("error: this is a defect of themis-opt: ZeroDivisionError: division by zero (")
    assert len(rest) == 2
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("defect")
def test_its_traceback_is_for_those_who_ask(themis_opt_command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEMIS_OPT_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        themis_opt_command("explain", "2d-sw-sw")


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize(
    ("arguments", "figure"),
    [
        (("solve", "2d-sw-sw", *FEW, "--time-limit", "5s", "-o", "out.json"), "makespan"),
        (("solve", "2d-sw-sw", *FEW, "--time-limit", "5s", "--json", "out.json"), "makespan"),
        (("compare", "2d-sw-sw", *FEW, "--solver", "none", "--json", "out.json"), "themis-scf"),
        (("explain", "2d-sw-sw", *FEW, "--json", "out.json"), "dim2"),
        (("tune", "2d-sw-sw", "--sizes", "1MB", "--solver", "none", "--csv", "out.csv"), "1 MB"),
        (("when", "2d-sw-sw", "--sizes", "1MB", "--solver", "none", "--json", "out.json"), "1 MB"),
    ],
    ids=lambda value: " ".join(value[:1]) if isinstance(value, tuple) else "",
)
def test_a_full_disk_takes_the_file_and_not_the_figures(
    arguments: tuple[str, ...], figure: str, themis_opt_command: CommandLine, tmp_path: Path
) -> None:
    done = themis_opt_command(*arguments)
    assert done.returncode == 2
    assert figure in done.stdout
    assert "written to" not in done.stdout
    assert done.stderr.splitlines()[-1].endswith(": cannot be written: No space left on device")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_that_was_ignored_before_the_start_stays_ignored(name: str, tmp_path: Path) -> None:
    """As nohup wants it, and a shell script that starts us with `&`."""
    code = (
        "import signal; from themis_opt.cli.main import run\n"
        f"signal.signal(signal.{name}, signal.SIG_IGN); run(['schema', 'network'])\n"
        f"print(signal.getsignal(signal.{name}).name)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.endswith("SIG_IGN\n"), done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "2d-sw-sw", "-o", "out.json"),
        ("compare", "2d-sw-sw", "--json", "out.json"),
        ("tune", "2d-sw-sw", "--schedules", "out"),
    ],
)
def test_a_folder_removed_under_the_program_is_named(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = started(*arguments, setup="os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.endswith("the folder you are in no longer exists; change to one that does\n")
