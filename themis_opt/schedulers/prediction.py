"""Algorithms of runtimes that are known by a formula alone: a time, and no schedule of stages behind it."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from themis_opt.problem.checks import shown
from themis_opt.problem.errors import InputError, SchedulerError
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
    """Return how long a runtime's algorithm takes by its formula [ps], rounded once.

    Raises
    ------
    InputError
        When there is no such algorithm, or it does not have the instance's collective.
    SchedulerError
        When the formula fails or gives no time, which is a defect of it.
    """
    time_ps = predicted_ps(instance, name)
    if time_ps is None:
        raise InputError(f"{name} has no {instance.collective}; leave it out, or ask for another collective")
    return time_ps


def predicted_ps(instance: Instance, name: str) -> int | None:
    """Return the same as `predict`, but ``None`` where the algorithm does not have the instance's collective."""
    formula = PREDICTORS.get(name)
    try:
        exact_ps = formula(instance)
    except Exception as error:
        # Another author's code may raise anything; what matters to the user is whose it is.
        raise SchedulerError(f"prediction {name!r} failed: {type(error).__name__}: {error}") from error
    if exact_ps is None:
        return None
    if not isinstance(exact_ps, int | Fraction) or exact_ps < 0:
        raise SchedulerError(
            f"prediction {name!r} gave {shown(exact_ps)}; a time is a Fraction of at least 0 ps, or None"
        )
    return round(exact_ps)
