"""Fixtures that several test files share."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from themis_opt.cli.main import run as run_command_line
from themis_opt.problem.interruption import INTERRUPTION

# A machine under load is slow without anything being wrong; and a red run must be red again when it is looked at.
settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

CommandLine = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def themis_opt_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """Run ``themis-opt`` with some arguments in an empty folder, inside this process: a start would take a second.

    What only a process of its own shows (signals, what is loaded, a closed stdout) is for `themis_opt_process`.
    """

    def run(*arguments: str | Path, timeout_s: float = 120.0) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(tmp_path)
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = run_command_line([str(argument) for argument in arguments])
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            INTERRUPTION.reset()
        told, complained = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
        return subprocess.CompletedProcess([*map(str, arguments)], code, told, complained)

    return run


@pytest.fixture
def themis_opt_process(tmp_path: Path) -> CommandLine:
    """Run ``python -m themis_opt`` with some arguments in an empty folder, as a user would."""

    def run(*arguments: str | Path, timeout_s: float = 120.0) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "themis_opt", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=timeout_s,
            check=False,
        )

    return run
