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

from themis_opt.compiled import compiled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL = 0, 1, 2
"""How the kernel writes the phases."""

NEVER = 1e300

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
def _push(keys: FloatArray, chunks: IntArray, base: int, length: int, key: float, chunk: int) -> None:
    """Add an entry to the binary heap in the `length` places from `base` of two parallel arrays."""
    place = length
    while place > 0:
        parent = (place - 1) >> 1
        above = keys[base + parent]
        if above <= key:
            break
        keys[base + place] = above
        chunks[base + place] = chunks[base + parent]
        place = parent
    keys[base + place] = key
    chunks[base + place] = chunk


@compiled
def _pop(keys: FloatArray, chunks: IntArray, base: int, length: int) -> int:
    """Remove the first entry of a heap and return its chunk."""
    first = chunks[base]
    last = length - 1
    key = keys[base + last]
    chunk = chunks[base + last]
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
        chunks[base + place] = chunks[base + child]
        place = child
        child = 2 * place + 1
    keys[base + place] = key
    chunks[base + place] = chunk
    return int(first)


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
    int_space: IntArray,
    served: IntArray,
    start: FloatArray,
    record: bool,
) -> float:
    """Return the makespan, or `NEVER` as soon as it is certain to exceed `cutoff`.

    It is certain when a dimension cannot even serve what it still has to serve without a pause, or when deferred stages
    wait for each other for ever. ``float_space`` and ``int_space`` are scratch (`space.kernel_scratch`);
    with `record`, ``served`` (dims, stages on it) gets ``chunk·stages + stage`` in the order served, the last row of
    ``int_space`` how many, and ``start`` (chunks, stages) the start times [ps].
    """
    if pipelined:
        return _dispatch_pipelined(
            path, key, hold, duration, load, cutoff, float_space, int_space, served, start, record
        )  # fmt: skip
    return _dispatch_exclusive(path, key, hold, load, cutoff, float_space, int_space, served, start, record)


@compiled
def _count_pending(path: IntArray, key: FloatArray, pending: IntArray) -> None:
    """Count the stages of each dimension that deferred ones wait for; leave zeros where nothing is deferred."""
    num_chunks, num_stages = path.shape
    is_any_deferred = False
    for chunk in range(num_chunks):
        for stage in range(num_stages):
            is_any_deferred |= key[chunk, stage] >= DEFERRED
    if is_any_deferred:
        for chunk in range(num_chunks):
            for stage in range(num_stages):
                if key[chunk, stage] < DEFERRED:
                    pending[path[chunk, stage]] += 1


@compiled
def _dispatch_exclusive(
    path: IntArray,
    key: FloatArray,
    hold: FloatArray,
    load: FloatArray,
    cutoff: float,
    float_space: FloatArray,
    int_space: IntArray,
    served: IntArray,
    start: FloatArray,
    record: bool,
) -> float:
    """Dispatch where a dimension is held until its chunk has left: each serves one chunk at a time."""
    num_chunks, num_stages = path.shape
    num_dims = load.shape[0]
    width = float_space.shape[1]
    stage_of = int_space[2 * num_dims]
    count = int_space[2 * num_dims + 1]
    wait_key = float_space.reshape(-1)
    wait_chunk = int_space.reshape(-1)
    num_waiting = np.zeros(num_dims, np.int64)
    free_at = np.full(num_dims, NEVER)
    serving = np.zeros(num_dims, np.int64)
    left = load.copy()
    pending = np.zeros(num_dims, np.int64)
    for d in range(num_dims):
        if left[d] > cutoff:
            return NEVER
        count[d] = 0
    for chunk in range(num_chunks):
        stage_of[chunk] = 0
        d = path[chunk, 0]
        _push(wait_key, wait_chunk, d * width, num_waiting[d], key[chunk, 0], chunk)
        num_waiting[d] += 1
    _count_pending(path, key, pending)
    now = 0.0
    num_done = 0
    while True:
        following = NEVER
        for d in range(num_dims):
            if free_at[d] == NEVER and num_waiting[d] > 0:
                if now + left[d] > cutoff:
                    return NEVER
                if wait_key[d * width] < DEFERRED:
                    pending[d] -= 1
                elif pending[d] > 0:
                    continue
                chunk = _pop(wait_key, wait_chunk, d * width, num_waiting[d])
                num_waiting[d] -= 1
                stage = stage_of[chunk]
                if record:
                    served[d, count[d]] = chunk * num_stages + stage
                    start[chunk, stage] = now
                    count[d] += 1
                serving[d] = chunk
                free_at[d] = now + hold[chunk, stage]
                left[d] -= hold[chunk, stage]
            following = min(following, free_at[d])
        if following == NEVER:
            return now if num_done == num_chunks else NEVER
        now = following
        for d in range(num_dims):
            if free_at[d] > now:
                continue
            free_at[d] = NEVER
            chunk = serving[d]
            stage = stage_of[chunk] + 1
            stage_of[chunk] = stage
            if stage == num_stages:
                num_done += 1
                continue
            target = path[chunk, stage]
            _push(wait_key, wait_chunk, target * width, num_waiting[target], key[chunk, stage], chunk)
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
    int_space: IntArray,
    served: IntArray,
    start: FloatArray,
    record: bool,
) -> float:
    """Dispatch where a dimension is held for the transfer only: chunks may be on their way from it, in turn."""
    num_chunks, num_stages = path.shape
    num_dims = load.shape[0]
    stage_of = int_space[2 * num_dims]
    count = int_space[2 * num_dims + 1]
    width = float_space.shape[1]
    wait_key = float_space.reshape(-1)
    wait_chunk = int_space.reshape(-1)
    fly_time = float_space[num_dims : 2 * num_dims]
    fly_chunk = int_space[num_dims : 2 * num_dims]
    num_waiting = np.zeros(num_dims, np.int64)
    fly_head = np.zeros(num_dims, np.int64)
    num_flying = np.zeros(num_dims, np.int64)
    free_at = np.full(num_dims, -1.0)
    left = load.copy()
    pending = np.zeros(num_dims, np.int64)
    for d in range(num_dims):
        if left[d] > cutoff:
            return NEVER
        count[d] = 0
    for chunk in range(num_chunks):
        stage_of[chunk] = 0
        d = path[chunk, 0]
        _push(wait_key, wait_chunk, d * width, num_waiting[d], key[chunk, 0], chunk)
        num_waiting[d] += 1
    _count_pending(path, key, pending)
    now = 0.0
    makespan = 0.0
    num_done = 0
    while True:
        for d in range(num_dims):
            if free_at[d] >= 0.0 or num_waiting[d] == 0:
                continue
            if now + left[d] > cutoff:
                return NEVER
            if wait_key[d * width] < DEFERRED:
                pending[d] -= 1
            elif pending[d] > 0:
                continue
            chunk = _pop(wait_key, wait_chunk, d * width, num_waiting[d])
            num_waiting[d] -= 1
            stage = stage_of[chunk]
            if record:
                served[d, count[d]] = chunk * num_stages + stage
                start[chunk, stage] = now
                count[d] += 1
            free_at[d] = now + hold[chunk, stage]
            left[d] -= hold[chunk, stage]
            tail = fly_head[d] + num_flying[d]
            if tail >= num_chunks:
                tail -= num_chunks
            fly_time[d, tail] = now + duration[chunk, stage]
            fly_chunk[d, tail] = chunk
            num_flying[d] += 1
        following = NEVER
        for d in range(num_dims):
            if 0.0 <= free_at[d] < following:
                following = free_at[d]
            if num_flying[d] > 0 and fly_time[d, fly_head[d]] < following:
                following = fly_time[d, fly_head[d]]
        if following == NEVER:
            return makespan if num_done == num_chunks else NEVER
        now = following
        for d in range(num_dims):
            if 0.0 <= free_at[d] <= now:
                free_at[d] = -1.0
            while num_flying[d] > 0 and fly_time[d, fly_head[d]] <= now:
                chunk = fly_chunk[d, fly_head[d]]
                fly_head[d] += 1
                if fly_head[d] == num_chunks:
                    fly_head[d] = 0
                num_flying[d] -= 1
                stage = stage_of[chunk] + 1
                stage_of[chunk] = stage
                if stage == num_stages:
                    makespan = now
                    num_done += 1
                    continue
                target = path[chunk, stage]
                _push(wait_key, wait_chunk, target * width, num_waiting[target], key[chunk, stage], chunk)
                num_waiting[target] += 1
