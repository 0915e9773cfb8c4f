"""Times of calls and of processes: medians, because other programs run on the machine too."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import NamedTuple


def median_s(call: Callable[[], object], *, samples: int = 9, calls_per_sample: int = 1) -> float:
    """Return the median time of a call [s], after one call to warm up.

    It is this thread's processor time: what the call takes on a free core, however busy the others are.
    """
    call()
    return median(_seconds(call, calls_per_sample) for _ in range(samples))


def median_ratio(
    slow: Callable[[], object], fast: Callable[[], object], *, samples: int = 9, fast_calls: int = 1
) -> float:
    """Return how many times longer `slow` takes: the median of ratios of calls made one right after the other."""
    slow()
    fast()
    return median(_seconds(slow, 1) / _seconds(fast, fast_calls) for _ in range(samples))


def _seconds(call: Callable[[], object], num_calls: int) -> float:
    started = time.thread_time()
    for _ in range(num_calls):
        call()
    return (time.thread_time() - started) / num_calls


class ProcessUse(NamedTuple):
    """What a process used: wall seconds, processor seconds and its peak resident memory in bytes."""

    wall_s: float
    processor_s: float
    peak_bytes: int


def run_python(arguments: Sequence[str], variables: Mapping[str, str] | None = None) -> ProcessUse:
    """Run this Python with these arguments and further environment variables, output thrown away.

    Raises
    ------
    subprocess.CalledProcessError
        When it fails.
    """
    command = [sys.executable, *arguments]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, **(variables or {})})
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    peak_bytes = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return ProcessUse(wall_s, usage.ru_utime + usage.ru_stime, peak_bytes)
