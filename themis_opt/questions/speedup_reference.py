"""What speedups are over: by default the best of what is not ours, and not one choice that nobody runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from themis_opt.problem.instance import Instance
from themis_opt.schedulers.prediction import predict, predicted_ps
from themis_opt.schedulers.registry import get_scheduler, predictor_names, require_row
from themis_opt.timing.sequencing import timeline_of

BEST_OF_OTHERS = "best-of-others"
"""The name of the default reference: the shortest of `OTHERS` on each instance."""

OTHERS = ("baseline-best", "flat-ring", "double-binary-tree")
"""What people run without us: dimension after dimension for every chunk, and algorithms that know no dimensions."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A time that speedups are over.

    Attributes
    ----------
    asked
        What was asked for: the name of a scheduler or prediction, or `BEST_OF_OTHERS`.
    name
        The scheduler or prediction that it is on this instance.
    makespan_ps
        Its time [ps].
    num_chunks
        Its number of chunks; ``None`` of a prediction.
    """

    asked: str
    name: str
    makespan_ps: int
    num_chunks: int | None = None


def require_reference(name: str) -> None:
    """Raise unless a name stands for a reference.

    Raises
    ------
    InputError
        Listing the schedulers and predictions there are.
    """
    if name != BEST_OF_OTHERS:
        require_row(name)


def reference_of(instance: Instance, asked: str = BEST_OF_OTHERS) -> Reference:
    """Return the reference on an instance; the schedule behind it is shown to nobody.

    Parameters
    ----------
    instance
        The problem.
    asked
        The name of a scheduler or prediction, or `BEST_OF_OTHERS`; of the latter, those that do not have the instance's
        collective are left out.

    Raises
    ------
    InputError
        When there is none of that name, or a prediction does not have the instance's collective.
    """
    if asked == BEST_OF_OTHERS:
        # To none of them the number of chunks matters.
        return _best_of_others(replace(instance, num_chunks=1, known=None))
    if asked in predictor_names():
        return Reference(asked, asked, predict(instance, asked))
    schedule = get_scheduler(asked)(instance)
    return Reference(asked, asked, schedule.derived(timeline_of).makespan_ps, schedule.num_chunks)


@lru_cache(maxsize=64)
def _best_of_others(instance: Instance) -> Reference:
    able = [name for name in OTHERS if name not in predictor_names() or predicted_ps(instance, name) is not None]
    found = [reference_of(instance, name) for name in able]
    return replace(min(found, key=lambda reference: reference.makespan_ps), asked=BEST_OF_OTHERS)
