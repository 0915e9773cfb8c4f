"""Starting points that need little or no annealing: balanced loads, and priorities justified from both ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from themis_models.search.annealing import Cooling
from themis_models.search.balancing import balance
from themis_models.search.costing import Candidate
from themis_models.search.justification import justify
from themis_models.search.space import SearchSpace, random_candidate

TRIES = 6
"""Candidates of which the best is taken."""

MOVES = 200_000
HOT, COLD = 1e-2, 1e-5
"""Moves and temperatures of balancing, these as parts of the bound."""

IDLE = (0.1, 0.01)
"""What it counts for a dimension that no chunk starts or ends on, as parts of the bound, in turn."""


def balanced_candidate(
    space: SearchSpace,
    chunk_bytes: Sequence[float],
    bound_ps: float,
    random: np.random.Generator,
    on_found: Callable[[Candidate, float], None],
    num_moves: int = MOVES,
) -> Candidate:
    """Return the best of a few candidates whose loads are balanced and whose priorities are justified.

    Parameters
    ----------
    space
        The instance, of a collective whose orders are free.
    chunk_bytes
        Chunk sizes, which stay as they are.
    bound_ps
        A makespan [ps] that is good enough; temperatures are in proportion to it.
    random
        Source of randomness.
    on_found
        Told of each candidate that is the best so far, and of its makespan [ps].
    num_moves
        Moves of balancing each.
    """
    shortest, chosen = float("inf"), None
    for attempt in range(TRIES):
        candidate = random_candidate(space, chunk_bytes, random)
        idle_ps = IDLE[attempt % len(IDLE)] * bound_ps
        cooling = Cooling(num_moves, HOT * bound_ps, COLD * bound_ps)
        balance(space.costs, candidate, idle_ps, cooling, int(random.integers(2**31)))
        makespan = justify(space, candidate, target_ps=bound_ps)
        if chosen is None or makespan < shortest:
            shortest, chosen = makespan, candidate
            on_found(candidate, makespan)
        if shortest <= bound_ps:
            break
    assert chosen is not None
    return chosen
