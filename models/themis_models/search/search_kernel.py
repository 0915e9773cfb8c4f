"""The compiled core of the local search: time a candidate fast.

Dimensions serve the waiting stage with the smallest product of bytes before the stage and priority (smallest chunk
first when all priorities are 1), and never idle while a stage waits, unless it is a deferred one (`DEFERRED`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from themis_models.search.costing import FloatArray, IntArray, Stages
from themis_opt.timing.compiled import compiled

CodeArray = NDArray[np.uint32]

NEVER = 1e300

DEFERRED = 1e200
"""A stage whose key is at least this waits for all stages of its dimension whose keys are less, even while it idles."""

_FREE_AT, _LEFT = 0, 1
_NUM_WAITING, _PENDING, _SERVING, _FIRST_FLYING, _NUM_FLYING, _NUM_SERVED = 0, 1, 2, 2, 3, 4
"""Rows of a `Scratch` by dimension, counted from behind its queues: two for each dimension."""


Scratch = tuple[FloatArray, CodeArray, IntArray, FloatArray]
"""What `dispatch` works on, and what it records; a stage's code is ``chunk·stages + stage``.

Floats and codes: a row for each dimension's stages that wait (keys and codes), one for those on their way (times and
codes), and rows of numbers by dimension; the last row of codes is how many stages of each were served. Then the codes
in the order served, shape (dims, stages on it), and when each stage starts [ps], shape (chunks, stages)."""


@compiled
def make_scratch(shape: tuple[int, int], num_dims: int) -> Scratch:
    """Return what `dispatch` works on, for so many chunks with so many stages each, on so many dimensions."""
    num_chunks, num_stages = shape
    width = max(num_chunks, num_dims)
    return (
        np.empty((2 * num_dims + _LEFT + 1, width)),
        np.empty((2 * num_dims + _NUM_SERVED + 1, width), np.uint32),
        np.empty((num_dims, num_chunks * (num_stages // num_dims)), np.int64),
        np.empty(shape),
    )


@compiled
def dispatch(path: IntArray, stages: Stages, pipelined: bool, cutoff: float, scratch: Scratch, record: bool) -> float:
    """Return the makespan, or `NEVER` as soon as it is certain to exceed `cutoff`.

    It is certain when a dimension cannot even serve what it still has to serve without a pause, or when deferred stages
    wait for each other for ever.

    Parameters
    ----------
    path
        The dimensions of the stages, shape (chunks, stages).
    stages
        What they cost.
    pipelined
        Whether a dimension is held for the transfer only.
    cutoff
        The longest makespan of interest [ps].
    scratch
        What is worked on.
    record
        Whether to keep in it what was served when.
    """
    if pipelined:
        return _dispatch_pipelined(path, stages, cutoff, scratch, record)
    return _dispatch_exclusive(path, stages, cutoff, scratch, record)


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
def _is_held_back(key: float, pending: CodeArray, d: int) -> bool:
    """Return whether the first stage that waits is deferred and others come first; if not deferred, it is one of those.

    What has been served is waited for no more.
    """
    if key < DEFERRED:
        pending[d] -= 1
        return False
    return bool(pending[d] > 0)


@compiled
def _begin(path: IntArray, stages: Stages, cutoff: float, scratch: Scratch) -> int:
    """Let every chunk wait for its first dimension; return 1 if any stage is deferred, 0 if none, -1 if it is too late.

    Where some are deferred, count the stages of each dimension that they wait for.
    """
    num_chunks, num_stages = path.shape
    key, _, _, load = stages
    floats, codes, _, _ = scratch
    num_dims = load.shape[0]
    dim_of, keys = path.reshape(-1), key.reshape(-1)
    wait_key, wait_code, width = floats.reshape(-1), codes.reshape(-1), floats.shape[1]
    counts = codes[2 * num_dims :]
    for d in range(num_dims):
        if load[d] > cutoff:
            return -1
        floats[2 * num_dims + _LEFT, d] = load[d]
        floats[2 * num_dims + _FREE_AT, d] = NEVER
        for row in range(counts.shape[0]):
            counts[row, d] = 0
    for chunk in range(num_chunks):
        code = chunk * num_stages
        d = _index(dim_of[code])
        _push(wait_key, wait_code, d * width, _index(counts[_NUM_WAITING, d]), keys[code], code)
        counts[_NUM_WAITING, d] += 1
    is_any_deferred = False
    for code in range(keys.shape[0]):
        is_any_deferred |= keys[code] >= DEFERRED
    if is_any_deferred:
        for code in range(keys.shape[0]):
            if keys[code] < DEFERRED:
                counts[_PENDING, dim_of[code]] += 1
    return int(is_any_deferred)


@compiled
def _note(code: int, d: int, now: float, served: IntArray, num_served: CodeArray, start: FloatArray) -> None:
    """Record that a stage is served."""
    served[d, _index(num_served[d])] = code
    num_served[d] += 1
    start[code] = now


@compiled
def _dispatch_exclusive(path: IntArray, stages: Stages, cutoff: float, scratch: Scratch, record: bool) -> float:
    """Dispatch where a dimension is held until its chunk has left: each serves one chunk at a time."""
    num_chunks, num_stages = path.shape
    key, hold, _, load = stages
    floats, codes, served, starts = scratch
    num_dims = load.shape[0]
    begun = _begin(path, stages, cutoff, scratch)
    if begun < 0:
        return NEVER
    # Plain arrays: passing the tuples on counts references, which takes longer than a stage.
    dim_of, keys, holds = path.reshape(-1), key.reshape(-1), hold.reshape(-1)
    wait_key, wait_code, width = floats.reshape(-1), codes.reshape(-1), floats.shape[1]
    free_at, left = floats[2 * num_dims + _FREE_AT], floats[2 * num_dims + _LEFT]
    num_waiting, pending = codes[2 * num_dims + _NUM_WAITING], codes[2 * num_dims + _PENDING]
    serving, num_served = codes[2 * num_dims + _SERVING], codes[2 * num_dims + _NUM_SERVED]
    start = starts.reshape(-1)
    now = 0.0
    num_done = 0
    while True:
        following = NEVER
        for d in range(num_dims):
            if free_at[d] == NEVER and num_waiting[d] > 0:
                if now + left[d] > cutoff:
                    return NEVER
                if begun and _is_held_back(wait_key[d * width], pending, d):
                    continue
                code = _pop(wait_key, wait_code, d * width, _index(num_waiting[d]))
                num_waiting[d] -= 1
                if record:
                    _note(code, d, now, served, num_served, start)
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
            else:
                target = _index(dim_of[code])
                _push(wait_key, wait_code, target * width, _index(num_waiting[target]), keys[code], code)
                num_waiting[target] += 1


@compiled
def _dispatch_pipelined(path: IntArray, stages: Stages, cutoff: float, scratch: Scratch, record: bool) -> float:
    """Dispatch where a dimension is held for the transfer only: chunks may be on their way from it, in turn."""
    num_chunks, num_stages = path.shape
    key, hold, duration, load = stages
    floats, codes, served, starts = scratch
    num_dims = load.shape[0]
    begun = _begin(path, stages, cutoff, scratch)
    if begun < 0:
        return NEVER
    dim_of, keys, holds = path.reshape(-1), key.reshape(-1), hold.reshape(-1)
    durations = duration.reshape(-1)
    wait_key, wait_code, width = floats.reshape(-1), codes.reshape(-1), floats.shape[1]
    fly_time, fly_code = floats[num_dims : 2 * num_dims], codes[num_dims : 2 * num_dims]
    free_at, left = floats[2 * num_dims + _FREE_AT], floats[2 * num_dims + _LEFT]
    num_waiting, pending = codes[2 * num_dims + _NUM_WAITING], codes[2 * num_dims + _PENDING]
    first, num_flying = codes[2 * num_dims + _FIRST_FLYING], codes[2 * num_dims + _NUM_FLYING]
    num_served, start = codes[2 * num_dims + _NUM_SERVED], starts.reshape(-1)
    now = makespan = 0.0
    num_done = 0
    while True:
        following = NEVER
        for d in range(num_dims):
            if free_at[d] == NEVER and num_waiting[d] > 0:
                if now + left[d] > cutoff:
                    return NEVER
                if not begun or not _is_held_back(wait_key[d * width], pending, d):
                    code = _pop(wait_key, wait_code, d * width, _index(num_waiting[d]))
                    num_waiting[d] -= 1
                    if record:
                        _note(code, d, now, served, num_served, start)
                    free_at[d] = now + holds[code]
                    left[d] -= holds[code]
                    tail = _index(first[d]) + _index(num_flying[d])
                    if tail >= num_chunks:
                        tail -= num_chunks
                    fly_time[d, tail] = now + durations[code]
                    fly_code[d, tail] = code
                    num_flying[d] += 1
            following = min(following, free_at[d])
            if num_flying[d] > 0:
                following = min(following, fly_time[d, _index(first[d])])
        if following == NEVER:
            return makespan if num_done == num_chunks else NEVER
        now = following
        for d in range(num_dims):
            if free_at[d] <= now:
                free_at[d] = NEVER
            while num_flying[d] > 0 and fly_time[d, _index(first[d])] <= now:
                code = _index(fly_code[d, _index(first[d])]) + 1
                first[d] = 0 if first[d] + 1 == num_chunks else first[d] + 1
                num_flying[d] -= 1
                if code % num_stages == 0:
                    makespan = now
                    num_done += 1
                else:
                    target = _index(dim_of[code])
                    _push(wait_key, wait_code, target * width, _index(num_waiting[target]), keys[code], code)
                    num_waiting[target] += 1
