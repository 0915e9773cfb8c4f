"""Running `themis-opt` in the process of the tests, which saves the second that a start takes."""

from __future__ import annotations

import io
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from themis_opt.cli.main import run
from themis_opt.problem.interruption import INTERRUPTION

Done = subprocess.CompletedProcess[str]
CommandLine = Callable[..., Done]


@contextmanager
def untouched() -> Iterator[None]:
    """Put back what a verb changes in its process: the current folder, the handlers of signals, what interrupted it."""
    folder = os.getcwd()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        os.chdir(folder)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        INTERRUPTION.reset()


def run_verb(folder: Path, *arguments: str | Path) -> Done:
    """Run a verb in a folder and in this process, with what it prints kept apart."""
    words = [str(argument) for argument in arguments]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with untouched(), redirect_stdout(out), redirect_stderr(err):
        os.chdir(folder)
        code = run(words)
    told, complained = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(words, code, told, complained)
