"""What this process may use: how many processors, and so a solver's threads; and how often it looks for garbage."""

from __future__ import annotations

import gc
import os

YOUNG_OBJECTS = 100_000
"""New objects between two looks for unreachable circles of objects (Python's own choice is 700)."""


def default_workers(max_evaluations: int | None) -> int:
    """Return a solver's threads where nobody says how many: one where evaluations are limited, to repeat the run."""
    return usable_processors() if max_evaluations is None else 1


def usable_processors() -> int:
    """Return how many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def collect_garbage_rarely() -> None:
    """Let Python look for unreachable circles of objects less often in this process.

    Schedules of thousands of chunks are hundreds of thousands of tuples without such circles, and looking through all
    of them again and again takes more time than making them. Only for programs: a library leaves this to its caller.
    """
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 20, 20)
