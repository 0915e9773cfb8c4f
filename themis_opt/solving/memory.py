"""How often a program of ours looks for garbage."""

from __future__ import annotations

import gc

YOUNG_OBJECTS = 100_000
"""New objects between two looks for unreachable circles of objects (Python's own choice is 700)."""


def collect_garbage_rarely() -> None:
    """Let Python look for unreachable circles of objects less often in this process.

    Schedules of thousands of chunks are hundreds of thousands of tuples without such circles, and looking through all
    of them again and again takes more time than making them. Only for programs: a library leaves this to its caller.
    """
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 20, 20)
