"""Orders under which the most loaded dimension carries little: annealing on the loads alone, no schedule being timed.

A move costs as little as the stages of one chunk. What comes out has loads as low as the assignment bound knows them,
or nearly so; how chunks then take turns is left to `justification` and `annealing`.
"""

from __future__ import annotations

import numpy as np

from themis_models.search.annealing import Cooling
from themis_models.search.costing import (
    Candidate,
    Costs,
    FloatArray,
    IntArray,
    cost_chunk,
    cost_chunks,
    make_stages,
    unload,
)
from themis_opt.timing.compiled import compiled


@compiled
def _makespan_at_least(load: FloatArray, starts: IntArray, ends: IntArray, idle: float) -> float:
    """Return the largest load, `idle` added where no chunk starts and where none ends."""
    largest = 0.0
    for d in range(load.shape[0]):
        needed = load[d]
        if starts[d] == 0:
            needed += idle
        if ends[d] == 0:
            needed += idle
        largest = max(largest, needed)
    return largest


@compiled
def _swap(path: IntArray, chunk: int, a: int, b: int, starts: IntArray, ends: IntArray) -> None:
    """Swap two stages of a chunk, and keep count of the chunks that start and end on each dimension."""
    last = path.shape[1] - 1
    starts[path[chunk, 0]] -= 1
    ends[path[chunk, last]] -= 1
    path[chunk, a], path[chunk, b] = path[chunk, b], path[chunk, a]
    starts[path[chunk, 0]] += 1
    ends[path[chunk, last]] += 1


@compiled
def balance(costs: Costs, candidate: Candidate, idle: float, cooling: Cooling, seed: int) -> float:
    """Anneal a candidate's orders in place; return the largest load [ps].

    A move swaps two dimensions in one order of one chunk. A dimension on which no chunk starts must idle at first, one
    on which none ends at last.

    Parameters
    ----------
    costs
        The instance.
    candidate
        Where to begin, and what is changed.
    idle
        What idling at first or at last adds to a dimension's load, and to what is returned [ps].
    cooling
        How many moves, and which are accepted; there is no early end.
    seed
        Of all random numbers.
    """
    np.random.seed(seed)
    path = candidate.path
    num_chunks, num_stages = path.shape
    num_dims = costs.group_sizes.shape[0]
    stages = make_stages(path.shape, num_dims)
    load = stages[3]
    cost_chunks(costs, candidate, stages)
    old_load = np.empty(num_dims)
    starts = np.zeros(num_dims, np.int64)
    ends = np.zeros(num_dims, np.int64)
    for chunk in range(num_chunks):
        starts[path[chunk, 0]] += 1
        ends[path[chunk, num_stages - 1]] += 1
    now = _makespan_at_least(load, starts, ends, idle)
    best = now
    best_path = path.copy()
    for move in range(cooling.num_moves):
        temperature = cooling.hot * (cooling.cold / cooling.hot) ** (move / cooling.num_moves)
        cutoff = now - temperature * np.log(1.0 - np.random.random())
        chunk = np.random.randint(num_chunks)
        first = np.random.randint(costs.phases.shape[0]) * num_dims
        a = first + np.random.randint(num_dims)
        b = first + np.random.randint(num_dims)
        if a == b:
            continue
        old_load[:] = load
        unload(chunk, candidate, stages)
        _swap(path, chunk, a, b, starts, ends)
        cost_chunk(chunk, costs, candidate, stages)
        new = _makespan_at_least(load, starts, ends, idle)
        if new <= cutoff:
            now = new
            if now < best:
                best = now
                best_path[:] = path
            continue
        _swap(path, chunk, a, b, starts, ends)
        cost_chunk(chunk, costs, candidate, stages)
        load[:] = old_load
    path[:] = best_path
    return float(best)
