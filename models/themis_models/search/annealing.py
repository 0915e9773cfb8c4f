"""Simulated annealing, compiled: change one or two chunks, time the result, keep it or take it back."""

from __future__ import annotations

import numpy as np

from themis_models.search.search_kernel import (
    MORE_FLOAT_ROWS,
    MORE_INT_ROWS,
    FloatArray,
    IntArray,
    cost_chunk,
    dispatch,
)
from themis_opt.timing.compiled import compiled

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


@compiled
def anneal(
    path: IntArray,
    chunk_bytes: FloatArray,
    priority: FloatArray,
    group_sizes: FloatArray,
    rates: FloatArray,
    latencies: FloatArray,
    phases: IntArray,
    num_npus: float,
    pipelined: bool,
    overhead: float,
    fixed_orders: bool,
    min_bytes: float,
    granule: float,
    shares: FloatArray,
    num_moves: int,
    hot: float,
    cold: float,
    target: float,
    seed: int,
) -> float:
    """Anneal a candidate in place, temperature falling from `hot` to `cold` [ps]; return the best makespan.

    The arrays hold the best candidate at the end. It stops early at a makespan of `target`. A move is accepted up to a
    makespan drawn *before* it is timed (``now - temperature·ln u``), so that most bad moves are given up early.
    Bytes move in multiples of `granule`, or in any amounts when it is 0.
    """
    np.random.seed(seed)
    num_chunks, num_stages = path.shape
    num_dims = group_sizes.shape[0]
    num_phases = phases.shape[0]
    key = np.empty((num_chunks, num_stages))
    hold = np.empty((num_chunks, num_stages))
    duration = np.empty((num_chunks, num_stages))
    load = np.zeros(num_dims)
    old_load = np.zeros(num_dims)
    width = max(num_chunks, num_dims)
    float_space = np.empty((2 * num_dims + MORE_FLOAT_ROWS, width))
    int_space = np.empty((2 * num_dims + MORE_INT_ROWS, width), np.uint32)
    served = np.empty((1, 1), np.int64)
    start = np.empty((1, 1))
    touched = np.empty(2, np.int64)
    old_path = np.empty((2, num_stages), np.int64)
    old_priority = np.empty((2, num_stages))
    old_bytes = np.empty(2)
    limits = np.cumsum(shares) / np.sum(shares)

    for chunk in range(num_chunks):
        cost_chunk(
            chunk, path, chunk_bytes, priority, group_sizes, rates, latencies, phases, num_npus, pipelined, overhead,
            key, hold, duration, load,
        )  # fmt: skip
    now = dispatch(path, key, hold, duration, load, pipelined, 1e300, float_space, int_space, served, start, False)
    best = now
    best_path = path.copy()
    best_bytes = chunk_bytes.copy()
    best_priority = priority.copy()

    for move in range(num_moves):
        if best <= target:
            break
        temperature = hot * (cold / hot) ** (move / num_moves)
        cutoff = now - temperature * np.log(1.0 - np.random.random())
        draw = np.random.random()
        kind = 0
        while kind < RESIZE and draw >= limits[kind]:
            kind += 1
        if fixed_orders and kind < PRIORITIZE:
            kind = PRIORITIZE
        pair = kind in (EXCHANGE, CROSS, RESIZE)
        if (pair and num_chunks < 2) or (kind == FLIP and num_dims < 2):
            continue

        touched[0] = np.random.randint(num_chunks)
        num_touched = 1
        if pair:
            touched[1] = np.random.randint(num_chunks - 1)
            if touched[1] >= touched[0]:
                touched[1] += 1
            num_touched = 2
        first = np.random.randint(num_phases) * num_dims
        last = first + num_dims
        if kind == CROSS:
            meeting = meeting_stage(path[touched[0], first:last], path[touched[1], first:last])
            if meeting == 0:
                continue
            first += meeting
        old_load[:] = load
        for i in range(num_touched):
            chunk = touched[i]
            old_path[i] = path[chunk]
            old_priority[i] = priority[chunk]
            old_bytes[i] = chunk_bytes[chunk]
            for stage in range(num_stages):
                load[path[chunk, stage]] -= hold[chunk, stage]

        one = touched[0]
        if kind == FLIP:
            a = np.random.randint(num_dims)
            b = np.random.randint(num_dims - 1)
            if b >= a:
                b += 1
            path[one, first + a], path[one, first + b] = path[one, first + b], path[one, first + a]
        elif pair and kind != RESIZE:
            for i in range(first, last):
                path[one, i], path[touched[1], i] = path[touched[1], i], path[one, i]
        elif kind == PRIORITIZE:
            stage = np.random.randint(num_stages)
            priority[one, stage] = np.exp(np.random.normal()) if np.random.random() < 0.7 else 1.0
            if np.random.random() < 0.2:
                priority[one, stage] *= DEFERRING
        else:
            spare = chunk_bytes[one] - min_bytes
            moved = spare * np.random.random()
            if np.random.random() < 0.5:
                moved *= 0.03
            if granule > 0.0:
                moved = granule * min(np.ceil(moved / granule), np.floor(spare / granule))
            chunk_bytes[one] -= moved
            chunk_bytes[touched[1]] += moved

        for i in range(num_touched):
            cost_chunk(
                touched[i], path, chunk_bytes, priority, group_sizes, rates, latencies, phases, num_npus,
                pipelined, overhead, key, hold, duration, load,
            )  # fmt: skip
        new = dispatch(path, key, hold, duration, load, pipelined, cutoff, float_space, int_space, served, start, False)
        if new <= cutoff:
            now = new
            if now < best:
                best = now
                best_path[:] = path
                best_bytes[:] = chunk_bytes
                best_priority[:] = priority
            continue
        for i in range(num_touched):
            path[touched[i]] = old_path[i]
            priority[touched[i]] = old_priority[i]
            chunk_bytes[touched[i]] = old_bytes[i]
            cost_chunk(
                touched[i], path, chunk_bytes, priority, group_sizes, rates, latencies, phases, num_npus,
                pipelined, overhead, key, hold, duration, load,
            )  # fmt: skip
        load[:] = old_load

    path[:] = best_path
    chunk_bytes[:] = best_bytes
    priority[:] = best_priority
    return best
