"""Equal chunks: annealing from many starts: balanced loads, random orders, heuristics, the best so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from themis_models.auto.balanced import balanced_candidate
from themis_models.auto.best import Best
from themis_opt.schedules import Schedule
from themis_opt.search.annealing import NEIGHBOURHOODS_EQUAL, NEIGHBOURHOODS_KEEPING, anneal
from themis_opt.search.kernel import FloatArray
from themis_opt.search.space import Candidate, SearchSpace, candidate_of, random_candidate, schedule_of

SEGMENT_STAGES = 1_000_000
"""Stages timed between two looks at the clock: a fraction of a second."""

FIRST_STAGES = 20_000_000
"""Stages timed in the first start of each kind, at least; every round doubles it."""

FIRST_MOVES = 60_000
"""Moves made there, at least."""

COLD = 2e-5
"""Final temperature, as a part of the bound."""


@dataclass(frozen=True, slots=True)
class Start:
    """How one annealing run begins: from what, how hot (as a part of the bound), and with which neighbourhoods."""

    origin: str
    hot: float
    shares: FloatArray = field(default_factory=lambda: NEIGHBOURHOODS_EQUAL)


STARTS = (
    Start("balanced", 3e-4, NEIGHBOURHOODS_KEEPING),
    Start("random", 1e-2),
    Start("best", 3e-4, NEIGHBOURHOODS_KEEPING),
    Start("random", 3e-3),
    Start("balanced", 1e-3, NEIGHBOURHOODS_KEEPING),
    Start("hint", 1e-2),
    Start("best", 1e-3),
    Start("random", 3e-2),
)


def search_equal(
    space: SearchSpace,
    best: Best,
    hints: Sequence[Schedule],
    num_workers: int,
    seed: int,
    max_rounds: int | None = None,
) -> None:
    """Improve `best` with equal chunks until its target, its deadline, or `max_rounds` rounds of all starts.

    Parameters
    ----------
    space
        The instance.
    best
        Takes every improvement; knows target and deadline.
    hints
        Schedules with equal chunks to start from.
    num_workers
        Threads; the compiled kernel lets them run side by side.
    seed
        Source of randomness; with one worker and a limit on rounds the result depends on nothing else.
    max_rounds
        Stop after this many rounds.
    """
    starts = _numbered_starts(max_rounds)
    with ThreadPoolExecutor(num_workers) as pool:
        workers = [pool.submit(_work, space, best, hints, starts, seed) for _ in range(num_workers)]
        for worker in workers:
            worker.result()


class _Numbered:
    """An iterator that several threads may draw from."""

    def __init__(self, items: Iterator[tuple[int, int, Start]]) -> None:
        import threading

        self._items = items
        self._lock = threading.Lock()

    def __iter__(self) -> _Numbered:
        return self

    def __next__(self) -> tuple[int, int, Start]:
        with self._lock:
            return next(self._items)


def _numbered_starts(max_rounds: int | None) -> _Numbered:
    def generate() -> Iterator[tuple[int, int, Start]]:
        round_idx = 0
        while max_rounds is None or round_idx < max_rounds:
            for index, start in enumerate(STARTS):
                yield round_idx * len(STARTS) + index, round_idx, start
            round_idx += 1

    return _Numbered(generate())


def _work(space: SearchSpace, best: Best, hints: Sequence[Schedule], starts: _Numbered, seed: int) -> None:
    for number, round_idx, start in starts:
        if best.is_over:
            return
        candidate = _begin(space, best, hints, start, number, seed)
        num_stages = max(FIRST_STAGES, FIRST_MOVES * candidate.path.size) << round_idx
        _anneal_in_segments(space, best, candidate, start, num_stages, seed + 7919 * number)


def _begin(
    space: SearchSpace, best: Best, hints: Sequence[Schedule], start: Start, number: int, seed: int
) -> Candidate:
    random = np.random.default_rng((seed, number))
    if start.origin == "balanced" and space.instance.collective.has_free_orders:
        return balanced_candidate(
            space,
            space.instance.equal_chunk_sizes(),
            float(max(best.target_ps, 1)),
            random,
            lambda candidate, makespan_ps: _offer(space, best, candidate, makespan_ps, "balancing"),
        )
    origin = best.schedule if start.origin == "best" else hints[number % len(hints)] if hints else None
    if start.origin in ("random", "balanced") or origin is None:
        return random_candidate(space, space.instance.equal_chunk_sizes(), random)
    candidate = candidate_of(space, origin)
    if start.origin == "hint":
        candidate.priority[:] = 1.0
    return candidate


def _anneal_in_segments(
    space: SearchSpace, best: Best, candidate: Candidate, start: Start, num_stages: int, seed: int
) -> None:
    """Anneal from the start's heat to `COLD`, looking at the clock between segments and offering what each found."""
    scale = float(max(best.target_ps, 1))
    stages_per_move = candidate.path.size
    num_segments = max(1, -(-num_stages // SEGMENT_STAGES))
    num_moves = max(1, num_stages // num_segments // stages_per_move)
    steps = np.geomspace(start.hot, COLD, num_segments + 1) * scale
    for segment in range(num_segments):
        if best.is_over:
            return
        makespan = anneal(
            candidate.path,
            candidate.chunk_bytes,
            candidate.priority,
            *space.arrays,
            not space.instance.collective.has_free_orders,
            1.0,
            0.0,
            start.shares,
            num_moves,
            steps[segment],
            steps[segment + 1],
            float(best.target_ps),
            (seed + segment) % 2**31,
        )
        _offer(space, best, candidate, makespan, "search")


def _offer(space: SearchSpace, best: Best, candidate: Candidate, makespan_ps: float, phase: str) -> None:
    if makespan_ps < best.makespan_ps:
        best.offer(schedule_of(space, candidate, [int(size) for size in candidate.chunk_bytes]), phase)
