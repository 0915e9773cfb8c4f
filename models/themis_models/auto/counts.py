"""The number of chunks as a decision: a look at a few numbers, then the rest of the time for the promising ones.

A number of chunks whose lower bound is not below the best makespan cannot improve it and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import floor

from themis_models.auto.best import Best
from themis_models.auto.equal import search_equal
from themis_models.auto.free import FreeSearch
from themis_opt.bound import Sizing
from themis_opt.chunking import Chunking
from themis_opt.instance import Instance
from themis_opt.search.space import search_space
from themis_opt.solving.bounds import best_bound, quick_bounds
from themis_opt.solving.protocol import SolverParams

STARTS_PER_LOOK = 2
"""Starts of the search with free sizes each time a number of chunks is looked at; doubled every round."""

GOOD_ENOUGH = 2e-5
"""A number of chunks whose best makespan is this close to its bound is done."""


def search_counts(instance: Instance, chunking: Chunking, best: Best, params: SolverParams) -> None:
    """Improve `best` over all numbers of chunks allowed until its deadline or until nothing can be gained.

    Parameters
    ----------
    instance
        The problem.
    chunking
        Sizing and numbers of chunks.
    best
        Takes every improvement.
    params
        Workers, seed, and the gap at which to stop.
    """

    @cache  # each takes a linear program, so none before it is wanted
    def lower_ps(count: int) -> int:
        return best_bound(quick_bounds(instance, chunking.scope(count))).value_ps

    counts = _counts(chunking)
    # First a coarse look from the most chunks down: many chunks come near their bound soonest, and rule out others.
    _look_at(_coarse(counts), 1, instance, chunking, best, params, lower_ps)
    starts = STARTS_PER_LOOK
    while not best.is_over:
        promising = [count for count in counts if lower_ps(count) * (1 + _allowed(params)) < best.makespan_ps]
        if not promising:
            return
        by_promise = sorted(promising, key=lambda count: (lower_ps(count), count))
        _look_at(by_promise, starts, instance, chunking, best, params, lower_ps)
        starts *= 2


def _look_at(
    counts: list[int],
    starts: int,
    instance: Instance,
    chunking: Chunking,
    best: Best,
    params: SolverParams,
    lower_ps: Callable[[int], int],
) -> None:
    """Search a while with each of these numbers of chunks that can still improve the best."""
    for count in counts:
        if best.is_over:
            return
        if lower_ps(count) * (1 + _allowed(params)) < best.makespan_ps:
            _look(instance, chunking, best, params, count, lower_ps(count), starts)


def _allowed(params: SolverParams) -> float:
    """Return the gap at which a number of chunks is done."""
    return max(GOOD_ENOUGH, params.gap)


def _look(
    instance: Instance, chunking: Chunking, best: Best, params: SolverParams, count: int, lower_ps: int, starts: int
) -> None:
    """Search a while with exactly `count` chunks."""
    counted = replace(instance, num_chunks=count)
    mine = Best(instance, floor(lower_ps * (1 + params.gap)), best.deadline, lambda progress: None)
    if best.schedule is not None and best.schedule.num_chunks == count:
        mine.offer(best.schedule, "best")
    if chunking.sizing is Sizing.FREE:
        search = FreeSearch(search_space(instance), count, chunking, mine, params.seed + starts)
        search.run(params.num_workers, starts * params.num_workers)
    else:
        hints = [hint for hint in params.hints if hint.num_chunks == count]
        search_equal(search_space(counted), mine, hints, params.num_workers, params.seed, max_rounds=1)
    if mine.schedule is not None:
        best.offer(mine.schedule, f"{count} chunks")


def _counts(chunking: Chunking) -> list[int]:
    """Return the numbers of chunks worth trying: all up to 32, then a few per octave."""
    counts = set(range(chunking.min_chunks, min(chunking.max_chunks, 32) + 1)) | {chunking.max_chunks}
    count = 32.0
    while count < chunking.max_chunks:
        counts.add(round(count))
        count *= 2**0.25
    return sorted(count for count in counts if chunking.min_chunks <= count <= chunking.max_chunks)


def _coarse(counts: list[int]) -> list[int]:
    """Return some of the numbers, from the largest down in steps of a quarter."""
    chosen = [counts[-1]]
    for count in reversed(counts):
        if count <= max(chosen[-1] * 0.75, 1) and count < chosen[-1]:
            chosen.append(count)
    return chosen
