"""The number of chunks as a decision: search on where the best schedule seems most likely to be found.

A number of chunks whose lower bound is not below the best makespan cannot improve it and is left out. Of the others,
the one is searched next whose bound and best makespan so far promise most: the makespan less a part of what separates
it from the bound, a part that shrinks with every start. Before a number is tried, its gap is taken for
`FIRST_GAP`·e^(-`GAP_DECAY`·chunks/dimensions): as it was met on many networks, chunks fewer than dimensions leave some
of these idle, and with twice as many most gaps close.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import ceil, exp, floor, inf, log

from themis_models.auto.best import Best
from themis_models.auto.equal import EqualSearch
from themis_models.auto.few import SEARCH_SHARE, is_worth_proving, prove_best_number
from themis_models.auto.free import FreeSearch
from themis_models.search.space import search_space
from themis_opt.problem.bound import Bound, Sizing
from themis_opt.problem.chunking import Chunking
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.solving.bounds import best_bound, num_lattice_arcs, quick_bounds
from themis_opt.solving.protocol import SolverParams

FIRST_GAP, GAP_DECAY = 2.0, 3.2
"""What is expected of a number of chunks that was not tried yet."""

STARTS_TO_HALVE = 4
"""After so many starts half of the gap is expected to stay."""

BOUNDS_SHARE = 0.2
"""The part of the time that the bounds of the numbers may take before the search."""

BOUNDS_ARCS = 20_000
"""And where evaluations are limited, the arcs of all their order lattices together: seconds."""

LOOKS = 16
"""Where evaluations are limited, there are at least so many looks: none may take more than its part of them."""

LIKELY_PER_DIMENSION = 2
"""So many chunks for each dimension are often best."""

STAGES_PER_LOOK = 2_000_000
"""Stages timed in each start of the search with equal chunks in its first round: a tenth of a second."""

GOOD_ENOUGH = 2e-5
"""A number of chunks whose best makespan is this close to its bound is done."""


def search_counts(instance: Instance, chunking: Chunking, best: Best, params: SolverParams) -> dict[int, Bound]:
    """Improve `best` over all numbers of chunks allowed until its deadline or until nothing can be gained.

    After a part of the time the best number so far is proven to allow no more, where it is small enough.

    Parameters
    ----------
    instance
        The problem.
    chunking
        Sizing and numbers of chunks.
    best
        Takes every improvement.
    params
        Workers, seed, known schedules, and the gap at which to stop.

    Returns
    -------
    dict
        The best bounds for the numbers of chunks tried.
    """
    allowed = max(GOOD_ENOUGH, params.gap)
    is_time_for_proof = best.after(SEARCH_SHARE)
    tries = every = _tries(instance, chunking, best, params)
    while not best.is_over:
        tries = [one for one in tries if not one.is_over and one.lower_ps * (1 + allowed) < best.makespan_ps]
        if not tries:
            break
        if is_time_for_proof():
            for one in tries:
                one.prove_if_best()
        chosen = min(tries, key=lambda one: (one.promised_ps, one.num_chunks))
        with _one_look(best):
            chosen.go_on(params.num_workers)
        if chosen.schedule is not None:
            best.offer(chosen.schedule, f"{chosen.num_chunks} chunks")
    return {one.num_chunks: one.bound for one in every}


@contextmanager
def _one_look(best: Best) -> Iterator[None]:
    """Keep a look at one number of chunks from taking what the others need, where evaluations are limited."""
    if best.evaluations is None:
        yield
        return
    with best.evaluations.narrowed(ceil(best.evaluations.limit / LOOKS)):
        yield


def _tries(instance: Instance, chunking: Chunking, best: Best, params: SolverParams) -> list[_Try]:
    """Return the numbers of chunks with their bounds, as many as a part of the time allows, likely ones first.

    With eight dimensions and more a bound takes tenths of a second.
    """
    likely = LIKELY_PER_DIMENSION * len(instance.involved)
    is_enough = best.after(BOUNDS_SHARE)
    affordable = inf if best.evaluations is None else BOUNDS_ARCS // max(1, num_lattice_arcs(instance))
    tries: list[_Try] = []
    for count in sorted(_counts(chunking), key=lambda count: abs(log(count / likely))):
        if tries and (is_enough() or len(tries) >= affordable):
            break
        tries.append(_Try(instance, chunking, best, params, count))
    return tries


@dataclass(frozen=True, slots=True)
class _NoSearch:
    """Stands for a search that has not begun."""

    is_over: bool = False


class _Try:
    """The search with exactly one number of chunks, and what may be expected of it."""

    def __init__(self, instance: Instance, chunking: Chunking, best: Best, params: SolverParams, count: int) -> None:
        self.num_chunks = count
        self.bound = best_bound(quick_bounds(instance, chunking.scope(count)))
        self._is_proof_tried = False
        self._instance = replace(instance, num_chunks=count)
        self._chunking = chunking
        self._params = params
        target_ps = floor(self.lower_ps * (1 + params.gap))
        self._mine = Best(instance, target_ps, best.deadline, lambda progress: None, evaluations=best.evaluations)
        self._shared = best
        self._num_starts = 0
        self._search: EqualSearch | FreeSearch | _NoSearch = _NoSearch()

    @property
    def is_over(self) -> bool:
        """Whether nothing can be gained with this number of chunks."""
        return self._search.is_over

    @property
    def schedule(self) -> Schedule | None:
        """The best schedule found."""
        return self._mine.schedule

    @property
    def lower_ps(self) -> int:
        """The best lower bound."""
        return self.bound.value_ps

    @property
    def promised_ps(self) -> float:
        """The makespan that may be expected of another look."""
        if self._num_starts == 0:
            gap = FIRST_GAP * exp(-GAP_DECAY * self.num_chunks / len(self._instance.involved))
            return self.lower_ps * (1 + gap)
        if self._mine.schedule is None:
            return float("inf")
        rest = STARTS_TO_HALVE / (STARTS_TO_HALVE + self._num_starts)
        return self._mine.makespan_ps - rest * (self._mine.makespan_ps - self.lower_ps)

    def prove_if_best(self) -> None:
        """Try once to raise the bound, if the best schedule is one of so few chunks that this may help."""
        known = self._shared.schedule
        if self._is_proof_tried or known is None or known.num_chunks != self.num_chunks:
            return
        if not is_worth_proving(self._instance, self._chunking, self._shared, self.lower_ps):
            return
        self._is_proof_tried = True
        self.bound = prove_best_number(self._instance, self._chunking, self._shared, self._params)
        self._mine.target_ps = floor(self.lower_ps * (1 + self._params.gap))
        if self._shared.schedule is not None:
            self._mine.offer(self._shared.schedule, "sequences")

    def go_on(self, num_workers: int) -> None:
        """Search for another moment: one start by each worker."""
        if isinstance(self._search, _NoSearch):
            self._search = self._new_search()
        self._search.run(num_workers, num_workers)
        self._num_starts += num_workers

    def _new_search(self) -> EqualSearch | FreeSearch:
        known = self._shared.schedule
        if known is not None and known.num_chunks == self.num_chunks:
            self._mine.offer(known, "best")
        space, seed = search_space(self._instance), self._params.seed
        if self._chunking.sizing is Sizing.FREE:
            return FreeSearch(space, self.num_chunks, self._chunking, self._mine, seed)
        hints = [hint for hint in self._params.hints if hint.num_chunks == self.num_chunks]
        return EqualSearch(space, self._mine, hints, seed, STAGES_PER_LOOK)


def _counts(chunking: Chunking) -> list[int]:
    """Return the numbers of chunks worth trying: all up to 32, then a few per octave."""
    counts = set(range(chunking.min_chunks, min(chunking.max_chunks, 32) + 1)) | {chunking.max_chunks}
    count = 32.0
    while count < chunking.max_chunks:
        counts.add(round(count))
        count *= 2**0.25
    return sorted(count for count in counts if chunking.min_chunks <= count <= chunking.max_chunks)
