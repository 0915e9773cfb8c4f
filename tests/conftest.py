"""Fixtures that several test files share."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from command_line import CommandLine, run_verb, untouched
from hypothesis import HealthCheck, settings

from themis_opt.cli.main import cli

# A machine under load is slow without anything being wrong; and a red run must be red again when it is looked at.
settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


# A test run that was started with nohup, or with & by a script, ignores signals, and so would everything it starts.
for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number is signal.SIGINT else signal.SIG_DFL)


@pytest.fixture
def themis_opt_command(tmp_path: Path) -> CommandLine:
    """Run ``themis-opt`` with some arguments in an empty folder, inside this process: a start would take a second.

    What only a process of its own shows (signals, a closed stdout, what is loaded) starts one: `sys.executable -m`.
    """
    return partial(run_verb, tmp_path)


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Run the command line here, in an empty folder; errors come as exceptions."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> None:
        with cli.make_context("themis-opt", list(arguments)) as context:
            cli.invoke(context)

    with untouched():
        yield run
