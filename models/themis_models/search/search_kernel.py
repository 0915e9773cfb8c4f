"""The compiled core of the local search: time a candidate fast, and anneal.

A candidate is, for every chunk, its bytes, the dimensions of its stages in order (``path``, as positions among the
involved dimensions) and a priority per stage. Dimensions serve the waiting stage with the smallest product of bytes
before the stage and priority (smallest chunk first when all priorities are 1), and never idle while a stage waits,
unless it is a deferred one (`DEFERRED`). Times are floats in picoseconds: this is a search, and what it finds is timed
exactly by the simulator before it counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from themis_opt.timing.compiled import compiled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
CodeArray = NDArray[np.uint32]

REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL = 0, 1, 2
"""How the kernel writes the phases."""

NEVER = 1e300

MORE_FLOAT_ROWS, MORE_INT_ROWS = 2, 5
"""Rows that the scratch arrays of `dispatch` have in addition to two for each dimension."""

DEFERRED = 1e200
"""A stage whose key is at least this waits for all stages of its dimension whose keys are less, even while it idles."""


@compiled
def cost_chunk(
    chunk: int,
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
    key: FloatArray,
    hold: FloatArray,
    duration: FloatArray,
    load: FloatArray,
) -> None:
    """Fill a chunk's rows of key, hold and duration (chunks, stages), and add its holds to the dimensions' loads."""
    num_dims = group_sizes.shape[0]
    resident = chunk_bytes[chunk]
    if phases[0] == ALL_GATHER:
        resident /= num_npus
    stage = 0
    for p in range(phases.shape[0]):
        for _ in range(num_dims):
            d = path[chunk, stage]
            sent = resident * (group_sizes[d] - 1.0)
            if phases[p] != ALL_GATHER:
                sent /= group_sizes[d]
            transfer = np.rint(sent * rates[p, d])
            key[chunk, stage] = resident * priority[chunk, stage]
            if stage == 0:
                transfer += overhead
            duration[chunk, stage] = transfer + latencies[p, d]
            hold[chunk, stage] = transfer if pipelined else duration[chunk, stage]
            load[d] += hold[chunk, stage]
            if phases[p] == REDUCE_SCATTER:
                resident /= group_sizes[d]
            elif phases[p] == ALL_GATHER:
                resident *= group_sizes[d]
            stage += 1


@compiled
def _index(value: int) -> int:
    """Return a small number as an index of which the compiler knows that it is not negative.

    Negative indices count from the end, and allowing for them takes more time than the access itself.
    """
    return int(np.int64(np.uint32(value)))


@compiled
def _push(keys: FloatArray, codes: CodeArray, base: int, length: int, key: float, code: int) -> None:
    """Add an entry to the binary heap in the `length` places from `base` of two parallel arrays."""
    place = length
    while place > 0:
        parent = (place - 1) >> 1
        above = keys[base + parent]
        if above <= key:
            break
        keys[base + place] = above
        codes[base + place] = codes[base + parent]
        place = parent
    keys[base + place] = key
    codes[base + place] = code


@compiled
def _pop(keys: FloatArray, codes: CodeArray, base: int, length: int) -> int:
    """Remove the first entry of a heap and return its code."""
    first = codes[base]
    last = length - 1
    key = keys[base + last]
    code = codes[base + last]
    place = 0
    child = 1
    while child < last:
        right = child + 1
        if right < last and keys[base + right] < keys[base + child]:
            child = right
        below = keys[base + child]
        if key <= below:
            break
        keys[base + place] = below
        codes[base + place] = codes[base + child]
        place = child
        child = 2 * place + 1
    keys[base + place] = key
    codes[base + place] = code
    return _index(first)


@compiled
def dispatch(
    path: IntArray,
    key: FloatArray,
    hold: FloatArray,
    duration: FloatArray,
    load: FloatArray,
    pipelined: bool,
    cutoff: float,
    float_space: FloatArray,
    int_space: CodeArray,
    served: IntArray,
    start: FloatArray,
    record: bool,
) -> float:
    """Return the makespan, or `NEVER` as soon as it is certain to exceed `cutoff`.

    It is certain when a dimension cannot even serve what it still has to serve without a pause, or when deferred stages
    wait for each other for ever. A stage's code is ``chunk·stages + stage``, its place in the contiguous arrays of
    shape (chunks, stages). ``float_space`` and ``int_space`` are scratch (`space.kernel_scratch`);
    with `record`, ``served`` (dims, stages on it) gets the codes in the order served, the last row of ``int_space`` how
    many, and ``start`` (chunks, stages) the start times [ps].
    """
    if pipelined:
        return _dispatch_pipelined(
            path, key, hold, duration, load, cutoff, float_space, int_space, served, start, record
        )  # fmt: skip
    return _dispatch_exclusive(path, key, hold, load, cutoff, float_space, int_space, served, start, record)


@compiled
def _count_pending(dim_of: IntArray, keys: FloatArray, pending: CodeArray) -> bool:
    """Return whether any stage is deferred; if so, count the stages of each dimension that deferred ones wait for."""
    is_any_deferred = False
    for code in range(keys.shape[0]):
        is_any_deferred |= keys[code] >= DEFERRED
    if is_any_deferred:
        for code in range(keys.shape[0]):
            if keys[code] < DEFERRED:
                pending[dim_of[code]] += 1
    return is_any_deferred


@compiled
def _dispatch_exclusive(
    path: IntArray,
    key: FloatArray,
    hold: FloatArray,
    load: FloatArray,
    cutoff: float,
    float_space: FloatArray,
    int_space: CodeArray,
    served: IntArray,
    start: FloatArray,
    record: bool,
) -> float:
    """Dispatch where a dimension is held until its chunk has left: each serves one chunk at a time."""
    num_chunks, num_stages = path.shape
    num_dims = load.shape[0]
    width = float_space.shape[1]
    dim_of, keys, holds = path.reshape(-1), key.reshape(-1), hold.reshape(-1)
    wait_key, wait_code = float_space.reshape(-1), int_space.reshape(-1)
    free_at, left = float_space[2 * num_dims], float_space[2 * num_dims + 1]
    num_waiting, pending, serving = int_space[2 * num_dims], int_space[2 * num_dims + 1], int_space[2 * num_dims + 2]
    count = int_space[2 * num_dims + 4]
    for d in range(num_dims):
        if load[d] > cutoff:
            return NEVER
        left[d] = load[d]
        free_at[d] = NEVER
        num_waiting[d] = 0
        pending[d] = 0
        count[d] = 0
    for chunk in range(num_chunks):
        code = chunk * num_stages
        d = _index(dim_of[code])
        _push(wait_key, wait_code, d * width, _index(num_waiting[d]), keys[code], code)
        num_waiting[d] += 1
    is_any_deferred = _count_pending(dim_of, keys, pending)
    now = 0.0
    num_done = 0
    while True:
        following = NEVER
        for d in range(num_dims):
            if free_at[d] == NEVER and num_waiting[d] > 0:
                if now + left[d] > cutoff:
                    return NEVER
                if is_any_deferred:
                    if wait_key[d * width] < DEFERRED:
                        pending[d] -= 1
                    elif pending[d] > 0:
                        continue
                code = _pop(wait_key, wait_code, d * width, _index(num_waiting[d]))
                num_waiting[d] -= 1
                if record:
                    served[d, _index(count[d])] = code
                    start[code // num_stages, code % num_stages] = now
                    count[d] += 1
                serving[d] = code
                free_at[d] = now + holds[code]
                left[d] -= holds[code]
            following = min(following, free_at[d])
        if following == NEVER:
            return now if num_done == num_chunks else NEVER
        now = following
        for d in range(num_dims):
            if free_at[d] > now:
                continue
            free_at[d] = NEVER
            code = _index(serving[d]) + 1
            if code % num_stages == 0:
                num_done += 1
                continue
            target = _index(dim_of[code])
            _push(wait_key, wait_code, target * width, _index(num_waiting[target]), keys[code], code)
            num_waiting[target] += 1


@compiled
def _dispatch_pipelined(
    path: IntArray,
    key: FloatArray,
    hold: FloatArray,
    duration: FloatArray,
    load: FloatArray,
    cutoff: float,
    float_space: FloatArray,
    int_space: CodeArray,
    served: IntArray,
    start: FloatArray,
    record: bool,
) -> float:
    """Dispatch where a dimension is held for the transfer only: chunks may be on their way from it, in turn."""
    num_chunks, num_stages = path.shape
    num_dims = load.shape[0]
    width = float_space.shape[1]
    dim_of, keys, holds, durations = path.reshape(-1), key.reshape(-1), hold.reshape(-1), duration.reshape(-1)
    wait_key, wait_code = float_space.reshape(-1), int_space.reshape(-1)
    fly_time, fly_code = float_space[num_dims : 2 * num_dims], int_space[num_dims : 2 * num_dims]
    free_at, left = float_space[2 * num_dims], float_space[2 * num_dims + 1]
    num_waiting, pending, fly_head = int_space[2 * num_dims], int_space[2 * num_dims + 1], int_space[2 * num_dims + 2]
    num_flying = int_space[2 * num_dims + 3]
    count = int_space[2 * num_dims + 4]
    for d in range(num_dims):
        if load[d] > cutoff:
            return NEVER
        left[d] = load[d]
        free_at[d] = -1.0
        num_waiting[d] = 0
        pending[d] = 0
        fly_head[d] = 0
        num_flying[d] = 0
        count[d] = 0
    for chunk in range(num_chunks):
        code = chunk * num_stages
        d = _index(dim_of[code])
        _push(wait_key, wait_code, d * width, _index(num_waiting[d]), keys[code], code)
        num_waiting[d] += 1
    is_any_deferred = _count_pending(dim_of, keys, pending)
    now = 0.0
    makespan = 0.0
    num_done = 0
    while True:
        for d in range(num_dims):
            if free_at[d] >= 0.0 or num_waiting[d] == 0:
                continue
            if now + left[d] > cutoff:
                return NEVER
            if is_any_deferred:
                if wait_key[d * width] < DEFERRED:
                    pending[d] -= 1
                elif pending[d] > 0:
                    continue
            code = _pop(wait_key, wait_code, d * width, _index(num_waiting[d]))
            num_waiting[d] -= 1
            if record:
                served[d, _index(count[d])] = code
                start[code // num_stages, code % num_stages] = now
                count[d] += 1
            free_at[d] = now + holds[code]
            left[d] -= holds[code]
            tail = _index(fly_head[d]) + _index(num_flying[d])
            if tail >= num_chunks:
                tail -= num_chunks
            fly_time[d, tail] = now + durations[code]
            fly_code[d, tail] = code
            num_flying[d] += 1
        following = NEVER
        for d in range(num_dims):
            if 0.0 <= free_at[d] < following:
                following = free_at[d]
            if num_flying[d] > 0:
                following = min(following, fly_time[d, _index(fly_head[d])])
        if following == NEVER:
            return makespan if num_done == num_chunks else NEVER
        now = following
        for d in range(num_dims):
            if 0.0 <= free_at[d] <= now:
                free_at[d] = -1.0
            while num_flying[d] > 0 and fly_time[d, _index(fly_head[d])] <= now:
                code = _index(fly_code[d, _index(fly_head[d])]) + 1
                fly_head[d] += 1
                if fly_head[d] == num_chunks:
                    fly_head[d] = 0
                num_flying[d] -= 1
                if code % num_stages == 0:
                    makespan = now
                    num_done += 1
                    continue
                target = _index(dim_of[code])
                _push(wait_key, wait_code, target * width, _index(num_waiting[target]), keys[code], code)
                num_waiting[target] += 1
