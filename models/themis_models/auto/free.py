"""Chunks of free size: annealing and the sizing program in turns, from many random starts."""

from __future__ import annotations

import threading

import numpy as np

from themis_models.auto.best import Best
from themis_models.auto.numbered import NumberedStarts
from themis_models.search.annealing import NEIGHBOURHOODS_FREE, Cooling, Rules, anneal
from themis_models.search.costing import Candidate, FloatArray
from themis_models.search.rounding import FixedSequences, round_sizes
from themis_models.search.space import SearchSpace, candidate_of, random_candidate, schedule_of, served_sequences
from themis_models.sizing import best_sizes
from themis_opt.problem.chunking import Chunking

STAGES_PER_ANNEALING = 5_000_000
"""Stages timed between two runs of the sizing program."""

MOVES_PER_STAGE = 1000
"""And no more moves than this for every stage of the schedule: tiny ones gain more from another start."""

TURNS_PER_START = 6
SIZINGS_PER_TURN = 5
HOT, HOTTEST = 0.2, 3e-2
LATER, COLD = 0.2, 1e-2
"""Temperatures. The first annealing of a start begins at `HOT`, as a part of the bound's share of one chunk, or at
`HOTTEST` as a part of the bound if that is less. The later ones begin at `LATER` of this; all end at `COLD` of it."""

FEW_GRANULES = 256
"""With fewer granules per chunk rounding costs so much that every other start anneals whole granules instead."""

PROGRESS = 1e-6
"""A sizing program that gains less than this part is the last of its turn."""


class FreeSearch:
    """Searches with a fixed number of chunks whose sizes are free.

    Parameters
    ----------
    space
        The instance.
    num_chunks
        Exactly so many chunks.
    chunking
        What sizes are made of.
    best
        Takes every improvement; knows target and deadline.
    seed
        Source of randomness.

    Attributes
    ----------
    fractional_ps
        The best makespan with fractional sizes: how much rounding costs is the difference.
    """

    def __init__(self, space: SearchSpace, num_chunks: int, chunking: Chunking, best: Best, seed: int) -> None:
        self._space = space
        self._num_chunks = num_chunks
        self._chunking = chunking
        self._best = best
        self._seed = seed
        self._lock = threading.Lock()
        self._is_coarse = space.instance.size_bytes < FEW_GRANULES * num_chunks * chunking.granule_bytes
        self.fractional_ps = float("inf")
        self._starts = NumberedStarts(self._start, lambda: self.is_over)

    def run(self, num_workers: int, num_starts: int | None = None) -> None:
        """Search until the target, the deadline or so many starts; may be called again to go on."""
        self._starts.run(num_workers, num_starts)

    @property
    def is_over(self) -> bool:
        """Whether the target is reached, the time is up, or no other sizes of whole granules can be shorter."""
        return self._best.is_over or (not self._is_coarse and self._is_sized)

    @property
    def _is_sized(self) -> bool:
        """Whether fractional sizes can gain nothing more."""
        return self.fractional_ps <= self._best.target_ps * (1 + PROGRESS)

    def _start(self, number: int) -> None:
        if self._is_coarse and (number % 2 == 0 or self._is_sized):
            self._start_whole(number)
        else:
            self._start_fractional(number)

    def _start_whole(self, number: int) -> None:
        """Anneal sizes of whole granules; what is left over of the collective's size stays with the first chunk."""
        space, chunking = self._space, self._chunking
        random = np.random.default_rng((self._seed, self._num_chunks, number))
        num_granules, remainder = divmod(space.instance.size_bytes, chunking.granule_bytes)
        spare = num_granules - chunking.min_granules * self._num_chunks
        share = random.dirichlet(np.full(self._num_chunks, 3.0))
        sizes = (chunking.min_granules + random.multinomial(spare, share)) * chunking.granule_bytes
        sizes[0] += remainder
        candidate = random_candidate(space, sizes.tolist(), random)
        for turn in range(TURNS_PER_START):
            if self.is_over:
                return
            self._anneal(candidate, random, turn, float(chunking.granule_bytes))
            self._best.offer(schedule_of(space, candidate, [round(size) for size in candidate.chunk_bytes]), "search")

    def _start_fractional(self, number: int) -> None:
        space, best = self._space, self._best
        random = np.random.default_rng((self._seed, self._num_chunks, number))
        least = float(self._chunking.min_granules * self._chunking.granule_bytes)
        total = float(space.instance.size_bytes)
        spread = total - least * self._num_chunks
        sizes = least + spread * random.dirichlet(np.full(self._num_chunks, 3.0))
        candidate = random_candidate(space, sizes.tolist(), random)
        if number % 3 == 2 and best.schedule is not None and best.schedule.num_chunks == self._num_chunks:
            candidate = candidate_of(space, best.schedule)
        for turn in range(TURNS_PER_START):
            if self.is_over:
                return
            self._anneal(candidate, random, turn, 0.0)
            self._size(candidate, least)

    def _anneal(self, candidate: Candidate, random: np.random.Generator, turn: int, granule: float) -> None:
        scale = float(max(self._best.target_ps, 1))
        hot = min(HOT / self._num_chunks, HOTTEST) * scale
        num_moves = max(1, min(STAGES_PER_ANNEALING // candidate.path.size, MOVES_PER_STAGE * candidate.path.size))
        num_moves = self._best.affordable(num_moves)
        self._best.spend(num_moves)
        least = float(self._chunking.min_granules * self._chunking.granule_bytes)
        rules = Rules(NEIGHBOURHOODS_FREE, not self._space.instance.collective.has_free_orders, least, granule)
        cooling = Cooling(num_moves, hot * (LATER if turn else 1.0), hot * COLD, scale)
        anneal(self._space.costs, candidate, rules, cooling, int(random.integers(2**31)))

    def _size(self, candidate: Candidate, least: float) -> None:
        """Run the sizing program, dispatch again with its sizes, and so on while that helps."""
        last = float("inf")
        for _ in range(SIZINGS_PER_TURN):
            served = served_sequences(self._space, candidate)
            solved = best_sizes(self._space, candidate, served, least)
            if solved is None:
                return
            makespan, sizes = solved
            self._round(candidate, served, makespan, sizes)
            candidate.chunk_bytes[:] = np.maximum(sizes, least)
            if makespan > last * (1 - PROGRESS) or self.is_over:
                return
            last = makespan

    def _round(
        self, candidate: Candidate, served: list[list[tuple[int, int]]], makespan: float, sizes: FloatArray
    ) -> None:
        """Offer the schedule with whole granules, if the fractional one promises an improvement."""
        with self._lock:
            if makespan >= self.fractional_ps * (1 - 1e-9) or makespan >= self._best.makespan_ps:
                return
            self.fractional_ps = makespan
        timing = FixedSequences(self._space, candidate, served)
        whole = round_sizes(timing, sizes, self._chunking)
        self._best.offer(schedule_of(self._space, candidate, whole, served), "search and sizing")
