"""Finding schedulers by name: the built-in ones, and those other packages bring by entry point.

Beside them stand the runtimes' algorithms of which there is a formula and no schedule (`PREDICTORS`).

Another package adds one with an entry point in the group ``themis_opt.schedulers``::

    [project.entry-points."themis_opt.schedulers"]
    my-rule = "my_package.my_module:my_scheduler"
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.errors import InputError
from themis_opt.problem.plugins import Registry
from themis_opt.schedulers.scheduler import Scheduler

if TYPE_CHECKING:
    from themis_opt.schedulers.prediction import Predictor

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

_PREDICTED: Mapping[str, str] = {
    "flat-ring": "themis_opt.schedulers.flat_ring:flat_ring",
    "double-binary-tree": "themis_opt.schedulers.double_binary_tree:double_binary_tree",
}
_NO_SCHEDULE = (
    "{name!r} is predicted by a formula: there is a time to compare with, and no schedule to simulate, draw, validate "
    "or export; see it with 'themis-opt compare ... --schedulers {name}'"
)

SCHEDULERS: Registry[Scheduler] = Registry(
    "scheduler", "themis_opt.schedulers", _BUILT_IN, {name: _NO_SCHEDULE.format(name=name) for name in _PREDICTED}
)

PREDICTORS: Registry[Predictor] = Registry("prediction", "themis_opt.predictors", _PREDICTED)
"""Algorithms of runtimes that are a formula: they stand in tables beside schedulers, and have no schedule."""


def scheduler_names() -> tuple[str, ...]:
    """Return the names of all schedulers, the built-in ones first."""
    return SCHEDULERS.names()


def predictor_names() -> tuple[str, ...]:
    """Return the names of the runtimes' algorithms that are predicted by a formula."""
    return PREDICTORS.names()


def row_names() -> tuple[str, ...]:
    """Return what a row of a comparison may be named after: all schedulers, then all predictions."""
    return (*SCHEDULERS.names(), *PREDICTORS.names())


def require_row(name: str) -> None:
    """Raise unless a name stands for a row of a comparison: a scheduler's, or a prediction's.

    Raises
    ------
    InputError
        Listing those there are.
    """
    known = row_names()
    if name not in known:
        raise InputError(f"unknown scheduler {name!r}; there are: {', '.join(known)}{did_you_mean(name, known)}")


def get_scheduler(name: str) -> Scheduler:
    """Return the scheduler with this name.

    Raises
    ------
    InputError
        When there is none, the message listing those there are; or when it is predicted and makes no schedule.
    """
    return SCHEDULERS.get(name)


def scheduler_summary(name: str) -> str:
    """Return the first line of a scheduler's docstring."""
    return SCHEDULERS.summary(name)
