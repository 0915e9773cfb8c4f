"""Simulated annealing, compiled: change one or two chunks, time the result, keep it or take it back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from themis_models.search.costing import (
    Candidate,
    Costs,
    FloatArray,
    IntArray,
    Stages,
    cost_chunk,
    cost_chunks,
    make_stages,
    unload,
)
from themis_models.search.search_kernel import NEVER, dispatch, make_scratch
from themis_opt.timing.compiled import compiled, inlined

FLIP, EXCHANGE, CROSS, PRIORITIZE, RESIZE = 0, 1, 2, 3, 4
"""The neighbourhoods: swap two dimensions in one order of a chunk; exchange one order between two chunks; where two
chunks have visited the same dimensions, exchange what remains of their orders; draw a new priority for one stage (or
defer it); move bytes from one chunk to another. Of equal chunks, `EXCHANGE` and `CROSS` keep the loads as they are."""

NEIGHBOURHOODS_EQUAL = np.array([0.4, 0.2, 0.2, 0.2, 0.0])
NEIGHBOURHOODS_FEW = np.array([0.3, 0.15, 0.15, 0.4, 0.0])
NEIGHBOURHOODS_KEEPING = np.array([0.02, 0.5, 0.48, 0.0, 0.0])
NEIGHBOURHOODS_FREE = np.array([0.3, 0.15, 0.1, 0.15, 0.3])
"""How often each is tried: where sizes are fixed, the same with few chunks, the same where the loads are balanced and
are to stay so, and where sizes are free."""

DEFERRING = 1e220
"""A priority that makes any stage a deferred one."""


@compiled
def meeting_stage(one: IntArray, other: IntArray) -> int:
    """Return a random place where two orders have visited the same dimensions and go on differently, or 0."""
    seen = 0
    chosen = 0
    found = 0
    for place in range(one.shape[0] - 2):
        seen ^= (1 << one[place]) ^ (1 << other[place])
        if seen == 0 and one[place + 1] != other[place + 1]:
            found += 1
            if np.random.random() * found < 1.0:
                chosen = place + 1
    return chosen


class Rules(NamedTuple):
    """Which moves there are.

    Attributes
    ----------
    shares
        How often each neighbourhood is tried, in proportion, shape (neighbourhoods,).
    fixed_orders
        Whether the orders are given, and only priorities and sizes may change.
    min_bytes
        The least size of a chunk.
    granule
        Bytes move in multiples of it, or in any amounts where it is 0.
    """

    shares: FloatArray
    fixed_orders: bool = False
    min_bytes: float = 1.0
    granule: float = 0.0


class Cooling(NamedTuple):
    """How long it is tried, and what is accepted meanwhile.

    Attributes
    ----------
    num_moves
        How many moves are made.
    hot, cold
        The temperature falls from one to the other [ps].
    target
        It ends early at this makespan [ps].
    """

    num_moves: int
    hot: float
    cold: float
    target: float = 0.0


@compiled
def anneal(costs: Costs, candidate: Candidate, rules: Rules, cooling: Cooling, seed: int) -> float:
    """Anneal a candidate in place; return the best makespan. The candidate is the one that has it.

    Parameters
    ----------
    costs
        The instance.
    candidate
        Where to begin, and what is changed.
    rules
        Which moves there are.
    cooling
        How many, and which are accepted.
    seed
        Of all random numbers.
    """
    np.random.seed(seed)
    num_dims = costs.group_sizes.shape[0]
    num_chunks = candidate.path.shape[0]
    stages = make_stages(candidate.path.shape, num_dims)
    load = stages[3]
    scratch = make_scratch(candidate.path.shape, num_dims)
    touched = np.empty(2, np.int64)
    before = Candidate(candidate.path[:2].copy(), candidate.chunk_bytes[:2].copy(), candidate.priority[:2].copy())
    old_load = np.empty(num_dims)
    limits = np.cumsum(rules.shares) / np.sum(rules.shares)

    cost_chunks(costs, candidate, stages)
    now = dispatch(candidate.path, stages, costs.pipelined, NEVER, scratch, False)
    best = now
    best_candidate = Candidate(candidate.path.copy(), candidate.chunk_bytes.copy(), candidate.priority.copy())
    for move in range(cooling.num_moves):
        if best <= cooling.target:
            break
        temperature = cooling.hot * (cooling.cold / cooling.hot) ** (move / cooling.num_moves)
        # What is accepted is drawn before the move is timed, so that timing most bad moves ends early.
        cutoff = now - temperature * np.log(1.0 - np.random.random())
        kind = _draw_kind(limits, rules.fixed_orders)
        num_touched = 2 if kind in (EXCHANGE, CROSS, RESIZE) else 1
        if num_touched > num_chunks or (kind == FLIP and num_dims < 2):
            continue
        _draw_chunks(touched, num_touched, num_chunks)
        first = np.random.randint(costs.phases.shape[0]) * num_dims
        last = first + num_dims
        if kind == CROSS:
            path = candidate.path
            meeting = meeting_stage(path[touched[0], first:last], path[touched[1], first:last])
            if meeting == 0:
                continue
            first += meeting
        old_load[:] = load
        _set_aside(touched, num_touched, candidate, before, stages)
        _change(candidate, kind, touched, first, last, rules)
        _cost_again(touched, num_touched, costs, candidate, stages)
        new = dispatch(candidate.path, stages, costs.pipelined, cutoff, scratch, False)
        if new <= cutoff:
            now = new
            if now < best:
                best = now
                _copy_all(candidate, best_candidate)
            continue
        _put_back(touched, num_touched, before, candidate)
        _cost_again(touched, num_touched, costs, candidate, stages)
        # Adding and taking away would leave rounding errors, and more of them with every move.
        load[:] = old_load
    _copy_all(best_candidate, candidate)
    return best


@compiled
def _draw_kind(limits: FloatArray, fixed_orders: bool) -> int:
    """Return a random neighbourhood; where orders are fixed, one that changes none."""
    draw = np.random.random()
    kind = 0
    while kind < RESIZE and draw >= limits[kind]:
        kind += 1
    return PRIORITIZE if fixed_orders and kind < PRIORITIZE else kind


@compiled
def _draw_chunks(touched: IntArray, num_touched: int, num_chunks: int) -> None:
    """Fill in one random chunk, or two different ones."""
    touched[0] = np.random.randint(num_chunks)
    if num_touched == 2:
        touched[1] = np.random.randint(num_chunks - 1)
        if touched[1] >= touched[0]:
            touched[1] += 1


@inlined
def _change(candidate: Candidate, kind: int, touched: IntArray, first: int, last: int, rules: Rules) -> None:
    """Make a move of this kind; those about orders change the stages from `first` to `last` of the chunks touched."""
    path, chunk_bytes = candidate.path, candidate.chunk_bytes
    one, other = touched[0], touched[1]
    if kind == FLIP:
        a = np.random.randint(last - first)
        b = np.random.randint(last - first - 1)
        if b >= a:
            b += 1
        path[one, first + a], path[one, first + b] = path[one, first + b], path[one, first + a]
    elif kind in (EXCHANGE, CROSS):
        for stage in range(first, last):
            path[one, stage], path[other, stage] = path[other, stage], path[one, stage]
    elif kind == PRIORITIZE:
        stage = np.random.randint(path.shape[1])
        factor = np.exp(np.random.normal()) if np.random.random() < 0.7 else 1.0
        if np.random.random() < 0.2:
            factor *= DEFERRING
        candidate.priority[one, stage] = factor
    else:
        spare = chunk_bytes[one] - rules.min_bytes
        moved = spare * np.random.random()
        # Half of the time only a little, which is what helps when the sizes are nearly right.
        if np.random.random() < 0.5:
            moved *= 0.03
        if rules.granule > 0.0:
            moved = rules.granule * min(np.ceil(moved / rules.granule), np.floor(spare / rules.granule))
        chunk_bytes[one] -= moved
        chunk_bytes[other] += moved


@inlined
def _set_aside(touched: IntArray, num_touched: int, candidate: Candidate, before: Candidate, stages: Stages) -> None:
    """Copy the chunks touched to the first places of `before`, and take their holds off the loads."""
    for i in range(num_touched):
        before.path[i] = candidate.path[touched[i]]
        before.priority[i] = candidate.priority[touched[i]]
        before.chunk_bytes[i] = candidate.chunk_bytes[touched[i]]
        unload(touched[i], candidate, stages)


@inlined
def _put_back(touched: IntArray, num_touched: int, before: Candidate, candidate: Candidate) -> None:
    """Copy the chunks touched back to their places."""
    for i in range(num_touched):
        candidate.path[touched[i]] = before.path[i]
        candidate.priority[touched[i]] = before.priority[i]
        candidate.chunk_bytes[touched[i]] = before.chunk_bytes[i]


@inlined
def _cost_again(touched: IntArray, num_touched: int, costs: Costs, candidate: Candidate, stages: Stages) -> None:
    """Fill the rows of the chunks touched, and add their holds to the loads."""
    for i in range(num_touched):
        cost_chunk(touched[i], costs, candidate, stages)


@compiled
def _copy_all(source: Candidate, target: Candidate) -> None:
    """Copy a candidate over another."""
    target.path[:] = source.path
    target.chunk_bytes[:] = source.chunk_bytes
    target.priority[:] = source.priority
