"""Where baseline, Themis and the optimum part ways, over message sizes.

For each size: the baseline and Themis, each at its best number of chunks, the best schedule known, and a lower bound.
The times of the heuristics are exact. A schedule known proves how much faster the optimum is than a heuristic at least,
the bound how much at most; in between it is open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum
from typing import Unpack

from themis_opt.problem.bound import Bound
from themis_opt.problem.instance import Instance
from themis_opt.problem.interruption import INTERRUPTION
from themis_opt.problem.parameters import DEFAULT_MAX_CHUNKS
from themis_opt.problem.ratios import ratio
from themis_opt.problem.schedule import Schedule
from themis_opt.questions.fixed_choices import FIXED_COUNTS, best_fixed_choices, shortest
from themis_opt.questions.tune.tune import BASELINE, solve_size, with_size
from themis_opt.schedulers.registry import scheduler_names
from themis_opt.solving.any_count import bound_for_any_count
from themis_opt.solving.keywords import Limits, params_of
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import DEFAULT_SOLVER, SolverParams

THEMIS = ("themis-fifo", "themis-scf")
"""Themis: the better of its two flavours."""


class Verdict(StrEnum):
    """Whether one is faster than another by more than a threshold."""

    YES = "yes"
    NO = "no"
    OPEN = "open"


@dataclass(frozen=True)
class Comparison:
    """Baseline, Themis and the optimum at one message size.

    Attributes
    ----------
    baseline, themis
        The shortest schedule of each over 1, 2, 4 … 512 chunks.
    best
        The shortest schedule known of any scheduler and the solver.
    bound
        What no schedule with any number of chunks of any size is faster than, as far as numbers were looked at.
    note
        A sentence from the solver, or nothing.
    interruption
        The exception of Ctrl-C or a termination signal that cut the solver short, or ``None``.
    """

    baseline: Schedule
    themis: Schedule
    best: Schedule
    bound: Bound
    note: str = ""
    interruption: KeyboardInterrupt | None = None

    @property
    def size_bytes(self) -> int:
        """The message size."""
        return self.best.instance.size_bytes

    @property
    def themis_gain(self) -> float:
        """How much faster Themis is than the baseline (0.1 is 10 %; below 0: slower). Exact."""
        return ratio(self.baseline.timed_ps, self.themis.timed_ps) - 1

    def least_gain(self, over: Schedule) -> float:
        """Return how much faster than a schedule the optimum is at least: what is known is."""
        return ratio(over.timed_ps, self.best.timed_ps) - 1

    def most_gain(self, over: Schedule) -> float:
        """Return how much faster than a schedule the optimum is at most: the bound says so."""
        return ratio(over.timed_ps, self.bound.value_ps) - 1

    def optimum_gains(self, over: Schedule, threshold: float) -> Verdict:
        """Return whether the optimum is faster than a schedule by more than a threshold."""
        over_ps = over.timed_ps
        if is_longer(over_ps, self.best.timed_ps, threshold):
            return Verdict.YES
        return Verdict.OPEN if is_longer(over_ps, self.bound.value_ps, threshold) else Verdict.NO


def is_longer(longer_ps: int, shorter_ps: int, threshold: float) -> bool:
    """Return whether one time is longer than another by more than a part of that."""
    return longer_ps > shorter_ps * (1 + threshold)


@dataclass(frozen=True, slots=True)
class Span:
    """Sizes next to each other, of those looked at, of which something is true.

    Attributes
    ----------
    first_bytes, last_bytes
        The smallest and the largest.
    from_start, to_end
        Whether they are the smallest and the largest looked at.
    """

    first_bytes: int
    last_bytes: int
    from_start: bool
    to_end: bool


def when(
    instance: Instance,
    sizes: Sequence[int],
    *,
    solver: str | None = DEFAULT_SOLVER,
    params: SolverParams | None = None,
    max_chunks: int = DEFAULT_MAX_CHUNKS,
    process: SolverProcess | None = None,
    **limits: Unpack[Limits],
) -> Iterator[Comparison]:
    """Yield the comparison for each message size, in the order given.

    Parameters
    ----------
    instance
        Network, collective and the rest; its size and number of chunks do not matter.
    sizes
        Message sizes [bytes per NPU].
    solver
        The name of a solver, or ``None``: then the best schedule known is that of a heuristic.
    params, limits
        The solver's limits, per size, as `SolverParams`, as keywords (see `Limits`), or both; the seed also goes to the
        schedulers.
    max_chunks
        The most chunks that the solver may choose.
    process
        A process of this solver that was started before; its starter ends it.

    Raises
    ------
    InputError
        When there is no such solver.
    SchedulerError
        When a scheduler fails.
    """
    params = params_of(params, limits)
    names = scheduler_names()
    started_here = nullcontext(process) if process is not None or solver is None else SolverProcess(solver)
    with started_here as running:
        for size_bytes in sizes:
            INTERRUPTION.release()
            sized = with_size(instance, size_bytes)
            choices = best_fixed_choices(sized, names, params.seed)
            best = shortest(choices.values(), names)
            note, interruption = "", None
            if solver is not None:
                assert running is not None
                outcome = solve_size(best, solver, params, max_chunks, running)
                best = shortest([best, outcome.schedule], names)
                note, interruption = outcome.note, outcome.interruption
            themis = shortest([choices[name] for name in THEMIS], names)
            bound = bound_for_any_count(sized, max(*FIXED_COUNTS, max_chunks, best.num_chunks))
            yield Comparison(choices[BASELINE], themis, best, bound, note, interruption)
            if interruption is not None:
                return


def spans(comparisons: Sequence[Comparison], holds: Callable[[Comparison], bool]) -> tuple[Span, ...]:
    """Return the runs of neighbouring sizes of which something is true; sizes ascend."""
    found: list[Span] = []
    first: int | None = None
    for position, comparison in enumerate(comparisons):
        if not holds(comparison):
            first = None
            continue
        if first is None:
            first = position
            found.append(Span(comparison.size_bytes, comparison.size_bytes, position == 0, False))
        is_last = position == len(comparisons) - 1
        found[-1] = Span(found[-1].first_bytes, comparison.size_bytes, found[-1].from_start, is_last)
    return tuple(found)
