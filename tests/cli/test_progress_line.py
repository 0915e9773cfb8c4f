"""The progress line: five things each at its place, drawn a few times a second, and gone at the end."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import themis_opt
from themis_opt.cli.progress import ProgressLine
from themis_opt.problem.bound import Bound, BoundKind
from themis_opt.problem.instance import Instance
from themis_opt.schedulers.registry import get_scheduler
from themis_opt.solving.bounds import equal_chunks_scope
from themis_opt.solving.protocol import Progress

Terminal = Callable[..., "tuple[int, str]"]


def test_each_part_of_the_progress_line_has_its_place() -> None:
    now = 100.0
    line = ProgressLine("auto", lambda: now)
    instance = Instance(themis_opt.load_network("2d-sw-sw"), num_chunks=4)
    schedule = replace(get_scheduler("baseline")(instance), makespan_ps=110_000_000)
    bound = Bound(100_000_000, BoundKind.FLUID, equal_chunks_scope(instance))
    assert line.render().plain == "auto     0 s  incumbent -           bound -           gap -         starting"
    now = 112.4
    line.show(Progress("search", schedule))
    assert line.render().plain == "auto    12 s  incumbent 110.00 us   bound -           gap -         search"
    line.show(Progress("assignment", None, bound))
    assert line.render().plain == "auto    12 s  incumbent 110.00 us   bound 100.00 us   gap 10.00%    assignment"
    line.show(Progress("\x1b[31m[red]"))
    assert line.render().plain.endswith("  [31m[red]")


@pytest.fixture
def on_a_terminal(tmp_path: Path) -> Terminal:
    """Run a Python program with stderr on a terminal; give the exit code and what it wrote there."""

    def start(program: str, interrupt_when: str = "") -> tuple[int, str]:
        ours, theirs = pty.openpty()
        command = [sys.executable, "-c", program]
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        written = ""
        is_interrupted = False
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # how Linux says that nobody has the other end any more
                break
            if not part:
                break
            written += part.decode(errors="replace")
            if interrupt_when and not is_interrupted and re.search(interrupt_when, written):
                process.send_signal(signal.SIGINT)
                is_interrupted = True
        os.close(ours)
        return process.wait(timeout=60), written

    return start


def last_screen_line(written: str) -> str:
    """Return what is left on the cursor's line: after the last erasure, without commands to the terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.split("\x1b[2K")[-1]).strip()


def test_the_progress_line_shows_all_and_leaves_nothing(on_a_terminal: Terminal) -> None:
    code, written = on_a_terminal(
        "from themis_opt.cli.entry import main; import sys; "
        "sys.argv = ['', 'solve', '4d-ring-sw-sw-sw', '--chunks', '12', '--time-limit', '2s', '--gap', '0']; main()"
    )
    assert code == 0
    assert re.search(r"auto +\d+ s  incumbent [0-9.]+ us +bound [0-9.]+ us +gap [0-9.]+% +\w+", written)
    assert written.count("\x1b[?25l") == written.count("\x1b[?25h") == 1  # the cursor is back
    assert last_screen_line(written) == ""


def test_ctrl_c_leaves_the_terminal_clean(on_a_terminal: Terminal) -> None:
    code, written = on_a_terminal(
        "from themis_opt.cli.entry import main; import sys; "
        "sys.argv = ['', 'solve', '4d-ring-sw-sw-sw', '--chunks', '12', '--time-limit', '60s', '--gap', '0']; main()",
        interrupt_when=r"incumbent \d",
    )
    assert code == 130
    assert written.count("\x1b[?25l") == written.count("\x1b[?25h") == 1
    assert last_screen_line(written) == ""


def test_a_flood_of_reports_is_drawn_a_few_times_and_silence_still_counts_seconds(on_a_terminal: Terminal) -> None:
    code, written = on_a_terminal("""
import time
from themis_opt.cli.progress import progress_line
from themis_opt.solving.protocol import Progress
with progress_line("test") as show:
    for number in range(20_000):
        show(Progress(f"report {number}"))
    time.sleep(2.2)
""")
    assert code == 0
    assert written.count("report") < 100
    assert " 1 s " in written
    assert " 2 s " in written
