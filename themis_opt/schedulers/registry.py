"""Finding schedulers by name: the built-in ones, and those other packages bring by entry point.

Another package adds one with an entry point in the group ``themis_opt.schedulers``::

    [project.entry-points."themis_opt.schedulers"]
    my-rule = "my_package.my_module:my_scheduler"
"""

from __future__ import annotations

from collections.abc import Mapping

from themis_opt.problem.plugins import Registry
from themis_opt.schedulers.scheduler import Scheduler

_BUILT_IN: Mapping[str, str] = {
    "baseline": "themis_opt.schedulers.baseline:baseline",
    "baseline-astra": "themis_opt.schedulers.baseline:baseline_astra",
    "baseline-best": "themis_opt.schedulers.best_counts:baseline_best",
    "themis-fifo": "themis_opt.schedulers.themis:themis_fifo",
    "themis-scf": "themis_opt.schedulers.themis:themis_scf",
    "themis-best": "themis_opt.schedulers.best_counts:themis_best",
    "themis-astra-fifo": "themis_opt.schedulers.themis_astra:themis_astra_fifo",
    "themis-astra-scf": "themis_opt.schedulers.themis_astra:themis_astra_scf",
    "themis-flex-fifo": "themis_opt.schedulers.themis_flex:themis_flex_fifo",
    "themis-flex-scf": "themis_opt.schedulers.themis_flex:themis_flex_scf",
    "round-robin": "themis_opt.schedulers.controls:round_robin",
    "random": "themis_opt.schedulers.controls:random_orders",
}

COUNT_CHOOSERS = ("baseline-best", "themis-best")
"""Schedulers that try 1, 2, 4 … 512 chunks: to them the instance's number does not matter."""

SCHEDULERS: Registry[Scheduler] = Registry("scheduler", "themis_opt.schedulers", _BUILT_IN)


def scheduler_names() -> tuple[str, ...]:
    """Return the names of all schedulers, the built-in ones first."""
    return SCHEDULERS.names()


def get_scheduler(name: str) -> Scheduler:
    """Return the scheduler with this name.

    Raises
    ------
    InputError
        When there is none; the message lists those there are.
    """
    return SCHEDULERS.get(name)


def scheduler_summary(name: str) -> str:
    """Return the first line of a scheduler's docstring."""
    return SCHEDULERS.summary(name)
