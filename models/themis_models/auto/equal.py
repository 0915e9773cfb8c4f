"""Equal chunks: annealing from many starts: balanced loads, random orders, heuristics, the best so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from themis_models.auto.balanced import MOVES, TRIES, balanced_candidate
from themis_models.auto.best import Best
from themis_models.auto.numbered import NumberedStarts
from themis_models.search.annealing import (
    NEIGHBOURHOODS_EQUAL,
    NEIGHBOURHOODS_FEW,
    NEIGHBOURHOODS_KEEPING,
    Cooling,
    Rules,
    anneal,
)
from themis_models.search.costing import Candidate, FloatArray
from themis_models.search.space import SearchSpace, candidate_of, random_candidate, schedule_of
from themis_opt.problem.schedule import Schedule

SEGMENT_STAGES = 1_000_000
"""Stages timed between two looks at the clock: a fraction of a second."""

FIRST_STAGES = 20_000_000
"""Stages timed in the first start of each kind, at least."""

FIRST_MOVES = 60_000
"""Moves made there, at least."""

COLD = 2e-5
"""Final temperature, as a part of the bound."""

BALANCING_SHARE = 0.25
"""The part of the evaluations left that balancing may take from a start, where they are limited."""

HOPELESS = 0.02
"""A start that is this part above the best schedule halfway is given up, and left out of later rounds."""


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """How one annealing run begins: from what, how hot (as a part of the bound), and with which neighbourhoods."""

    origin: str
    hot: float
    shares: FloatArray = field(default_factory=lambda: NEIGHBOURHOODS_EQUAL)


STARTS = (
    Start("balanced", 3e-4, NEIGHBOURHOODS_KEEPING),
    Start("balanced", 3e-3, NEIGHBOURHOODS_FEW),
    Start("random", 3e-3, NEIGHBOURHOODS_FEW),
    Start("best", 3e-4, NEIGHBOURHOODS_KEEPING),
    Start("balanced", 1e-2),
    Start("random", 3e-3, NEIGHBOURHOODS_FEW),
    Start("balanced", 3e-3, NEIGHBOURHOODS_FEW),
    Start("hint", 1e-2),
    Start("best", 1e-3),
    Start("random", 3e-2),
)
ROUNDS_TO_DOUBLE = 2
"""After so many rounds of all starts each may time twice as many stages: few chunks gain more from another start."""

MANY_DIMENSIONS = 6
STARTS_FOR_MANY = (
    Start("balanced", 3e-4, NEIGHBOURHOODS_KEEPING),
    Start("balanced", 1e-3, NEIGHBOURHOODS_KEEPING),
    Start("best", 3e-4, NEIGHBOURHOODS_KEEPING),
    Start("best", 1e-3, NEIGHBOURHOODS_KEEPING),
)
"""With so many dimensions nothing but balanced loads comes near the bound; and every round may time twice as much."""


class EqualSearch:
    """Searches with the instance's number of equal chunks.

    Parameters
    ----------
    space
        The instance.
    best
        Takes every improvement; knows target and deadline.
    hints
        Schedules with equal chunks to start from.
    seed
        Source of randomness; with one worker and a limit on starts the result depends on nothing else.
    first_stages
        Stages timed in each start of the first round, at least.
    """

    def __init__(
        self,
        space: SearchSpace,
        best: Best,
        hints: Sequence[Schedule],
        seed: int,
        first_stages: int = FIRST_STAGES,
    ) -> None:
        self._space = space
        self._best = best
        self._hints = hints
        self._seed = seed
        self._first_stages = first_stages
        self._scale = float(max(best.target_ps, 1))
        self._hopeless: set[Start] = set()
        self._starts = NumberedStarts(self._start, lambda: self.is_over)

    @property
    def is_over(self) -> bool:
        """Whether the target is reached or the time is up."""
        return self._best.is_over

    def run(self, num_workers: int, num_starts: int | None = None) -> None:
        """Search until the target, the deadline or so many starts; may be called again to go on."""
        self._starts.run(num_workers, num_starts)

    def _start(self, number: int) -> None:
        is_deep = self._space.num_dims >= MANY_DIMENSIONS
        starts, rounds = (STARTS_FOR_MANY, 1) if is_deep else (STARTS, ROUNDS_TO_DOUBLE)
        round_idx, which = divmod(number, len(starts))
        start = starts[which]
        if start in self._hopeless:
            return
        candidate = self._begin(start, number)
        least = self._first_stages * FIRST_MOVES // FIRST_STAGES * candidate.path.size
        num_stages = max(self._first_stages, least) << (round_idx // rounds)
        if self._best.evaluations is not None:
            # With fewer left the temperature falls faster, so that the last start ends cold, too.
            num_stages = min(num_stages, self._best.evaluations.left * candidate.path.size)
        self._anneal_in_segments(candidate, start, num_stages, self._seed + 7919 * number)

    def _begin(self, start: Start, number: int) -> Candidate:
        space, hints = self._space, self._hints
        random = np.random.default_rng((self._seed, number))
        sizes = space.instance.equal_chunk_sizes()
        if start.origin == "balanced" and space.instance.collective.has_free_orders:
            num_moves = self._affordable_balancing(len(sizes))
            return balanced_candidate(space, sizes, self._scale, random, self._offer_balanced, num_moves)
        origin = self._best.schedule if start.origin == "best" else hints[number % len(hints)] if hints else None
        if start.origin in ("random", "balanced") or origin is None:
            return random_candidate(space, sizes, random)
        candidate = candidate_of(space, origin)
        if start.origin == "hint":
            candidate.priority[:] = 1.0
        return candidate

    def _affordable_balancing(self, num_chunks: int) -> int:
        """Return the moves of balancing for each try, and count them: one looks at the stages of one chunk only."""
        best = self._best
        if best.evaluations is None:
            return MOVES
        num_moves = max(1, min(MOVES, best.evaluations.part(BALANCING_SHARE) * num_chunks // TRIES))
        best.spend(TRIES * num_moves // num_chunks)
        return num_moves

    def _anneal_in_segments(self, candidate: Candidate, start: Start, num_stages: int, seed: int) -> None:
        """Anneal from the start's heat to `COLD`, looking at the clock between segments, offering what each found."""
        space, best = self._space, self._best
        num_segments = max(1, -(-num_stages // SEGMENT_STAGES))
        num_moves = max(1, num_stages // num_segments // candidate.path.size)
        steps = np.geomspace(start.hot, COLD, num_segments + 1) * self._scale
        for segment in range(num_segments):
            if best.is_over:
                return
            best.spend(num_moves)
            rules = Rules(start.shares, not space.instance.collective.has_free_orders)
            cooling = Cooling(num_moves, steps[segment], steps[segment + 1], float(best.target_ps))
            makespan_ps = anneal(space.costs, candidate, rules, cooling, (seed + segment) % 2**31)
            self._offer(candidate, makespan_ps, "search")
            is_late = 2 * segment >= num_segments and start.origin != "best"
            if is_late and makespan_ps > (1 + HOPELESS) * best.makespan_ps:
                self._hopeless.add(start)
                return

    def _offer_balanced(self, candidate: Candidate, makespan_ps: float) -> None:
        self._offer(candidate, makespan_ps, "balancing")

    def _offer(self, candidate: Candidate, makespan_ps: float, phase: str) -> None:
        if makespan_ps < self._best.makespan_ps:
            sizes = [int(size) for size in candidate.chunk_bytes]
            self._best.offer(schedule_of(self._space, candidate, sizes), phase)
