"""How many processors this process may use, and so how many threads a solver gets when nobody says."""

from __future__ import annotations

import os


def default_workers(max_evaluations: int | None) -> int:
    """Return a solver's threads where nobody says how many: one where evaluations are limited, to repeat the run."""
    return usable_processors() if max_evaluations is None else 1


def usable_processors() -> int:
    """Return how many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
