"""The heuristics at their own best number of chunks: what one gets without solving, whoever chose that number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.schedulers.baseline import baseline
from themis_opt.schedulers.scheduler import Scheduler
from themis_opt.schedulers.themis import themis_fifo, themis_scf

FIXED_COUNTS = tuple(2**power for power in range(10))
"""1, 2, 4 … 512: the numbers of chunks that a library with a fixed one would choose from."""


def fitting_counts(instance: Instance) -> tuple[int, ...]:
    """Return the numbers of `FIXED_COUNTS` that the collective has enough bytes for: one per chunk."""
    return tuple(count for count in FIXED_COUNTS if count <= instance.size_bytes)


def baseline_best(instance: Instance, *, seed: int = 0) -> Schedule:
    """Take the baseline with the best of 1, 2, 4 ... 512 chunks, whatever the instance asks for."""
    return _best(instance, (baseline,), "baseline-best")


def themis_best(instance: Instance, *, seed: int = 0) -> Schedule:
    """Take Themis, fifo or scf, with the best of 1, 2, 4 ... 512 chunks, whatever the instance asks for."""
    return _best(instance, (themis_fifo, themis_scf), "themis-best")


def _best(instance: Instance, schedulers: Sequence[Scheduler], name: str) -> Schedule:
    """Return the shortest of their schedules; among equals the fewest chunks, then the scheduler named first."""
    counted = [replace(instance, known=None, num_chunks=count) for count in fitting_counts(instance)]
    shortest = min((scheduler(one) for one in counted for scheduler in schedulers), key=lambda made: made.timed_ps)
    # The instance stays as it was asked about: how many chunks there are, the schedule says.
    return shortest.replace(instance=instance, scheduler=name)
