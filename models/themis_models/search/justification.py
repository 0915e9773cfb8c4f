"""Justification: time a candidate from its end backwards, and then serve stages in the order of their latest starts.

Serving the smallest chunk first keeps every dimension busy from the start and lets all the idling gather at the end,
where only long stages are left. Read backwards, the same candidate is busy up to the very end and idles at the start.
Stages served in the order of the latest times at which they may start in that backward schedule idle at neither. In
project scheduling the passes are known as justification, or forward-backward improvement.
"""

from __future__ import annotations

import numpy as np

from themis_models.search.costing import Candidate, FloatArray
from themis_models.search.search_kernel import NEVER, dispatch
from themis_models.search.space import SearchSpace, candidate_costs, kernel_scratch

PASSES = 3
"""Passes backward and forward; more of them seldom help."""

_LEAST_KEY = 1e-3
"""What the earliest stage has for a key, as a part of the makespan: above zero, as priorities are factors."""


def justify(space: SearchSpace, candidate: Candidate, passes: int = PASSES, target_ps: float = 0.0) -> float:
    """Give a candidate, in place, the best priorities of a few passes backward and forward; return its makespan [ps].

    Parameters
    ----------
    space
        The instance.
    candidate
        Orders, sizes and priorities to begin with; orders and sizes stay as they are.
    passes
        How many backward passes, each followed by a forward one.
    target_ps
        Stop at a makespan of this.
    """
    key, hold, duration, load = candidate_costs(space, candidate)
    resident = key / candidate.priority
    scratch = kernel_scratch(space, candidate)

    def serve(keys: FloatArray, *, backwards: bool) -> tuple[float, FloatArray]:
        """Return the makespan and the start times, by stages as they lie in `keys`, on the clock of that direction."""
        path, stages = candidate.path, (keys, hold, duration, load)
        if backwards:
            path = np.ascontiguousarray(path[:, ::-1])
            mirrored = [np.ascontiguousarray(array[:, ::-1]) for array in stages[:3]]
            stages = (mirrored[0], mirrored[1], mirrored[2], load)
        makespan = dispatch(path, stages, space.costs.pipelined, NEVER, scratch, True)
        start = scratch[-1][:, ::-1] if backwards else scratch[-1]
        return makespan, start.copy()

    makespan, start = serve(key, backwards=False)
    if makespan >= NEVER:  # deferred stages wait for each other
        key = resident
        makespan, start = serve(key, backwards=False)
    best, best_key = makespan, key
    for _ in range(passes):
        if best <= target_ps:
            break
        end_ps = start + duration
        makespan, start = serve(makespan - end_ps, backwards=True)
        latest = makespan - (start + duration)
        key = latest + _LEAST_KEY * makespan
        makespan, start = serve(key, backwards=False)
        if makespan < best:
            best, best_key = makespan, key
    candidate.priority[:] = best_key / resident
    return float(best)
