"""Algorithms of runtimes that are known by a formula alone: a time, and no schedule of stages behind it."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.schedulers.registry import PREDICTORS


class Predictor(Protocol):
    """Anything that tells from an instance how long a runtime's algorithm takes on it.

    The first line of its docstring is what ``themis-opt list schedulers`` shows.
    """

    def __call__(self, instance: Instance) -> Fraction | None:
        """Return the time [ps], or ``None`` where the algorithm has no such collective."""
        ...


def predict(instance: Instance, name: str) -> int:
    """Return how long a runtime's algorithm takes by its formula [ps, rounded once], the launch of one chunk included.

    Raises
    ------
    InputError
        When there is no such algorithm, or it does not have the instance's collective.
    """
    exact_ps = PREDICTORS.get(name)(instance)
    if exact_ps is None:
        raise InputError(f"{name} has no {instance.collective}; leave it out, or ask for another collective")
    return round(exact_ps)


def has_collective(instance: Instance, name: str) -> bool:
    """Return whether a runtime's algorithm has the instance's collective."""
    return PREDICTORS.get(name)(instance) is not None
