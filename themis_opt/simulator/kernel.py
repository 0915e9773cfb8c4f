"""The compiled hot path of the simulator; `themis_opt.simulator.reference` says the same in plain Python.

Arrays are int64 of shape (chunks, stages): ``dim_of`` the dimension of each stage, ``hold`` how long it holds that
dimension, ``duration`` how long it takes its chunk. Times are picoseconds.
"""

from __future__ import annotations

import numpy as np

from themis_opt.compiled import compiled
from themis_opt.simulator.stage_table import IntArray

NEVER = 2**63 - 1


@compiled
def _before(heap: IntArray, i: int, j: int) -> bool:
    """Return whether entry i of a heap (rows: key, arrival, chunk) comes before entry j."""
    if heap[i, 0] != heap[j, 0]:
        return bool(heap[i, 0] < heap[j, 0])
    if heap[i, 1] != heap[j, 1]:
        return bool(heap[i, 1] < heap[j, 1])
    return bool(heap[i, 2] < heap[j, 2])


@compiled
def _swap(heap: IntArray, i: int, j: int) -> None:
    """Exchange two entries of a heap."""
    for field in range(3):
        value = heap[i, field]
        heap[i, field] = heap[j, field]
        heap[j, field] = value


@compiled
def _heap_push(heap: IntArray, length: int, key: int, arrival: int, chunk: int) -> None:
    """Add an entry to the binary heap in the first `length` rows."""
    heap[length, 0] = key
    heap[length, 1] = arrival
    heap[length, 2] = chunk
    child = length
    while child > 0:
        parent = (child - 1) >> 1
        if _before(heap, parent, child):
            break
        _swap(heap, parent, child)
        child = parent


@compiled
def _heap_pop(heap: IntArray, length: int) -> int:
    """Remove the least entry from the first `length` rows and return its chunk."""
    chunk = heap[0, 2]
    last = length - 1
    _swap(heap, 0, last)
    parent = 0
    while True:
        child = 2 * parent + 1
        if child >= last:
            break
        if child + 1 < last and _before(heap, child + 1, child):
            child += 1
        if _before(heap, parent, child):
            break
        _swap(heap, parent, child)
        parent = child
    return int(chunk)


@compiled
def dispatch_by_key(
    dim_of: IntArray,
    hold: IntArray,
    duration: IntArray,
    key: IntArray,
    by_arrival: bool,
    fused: bool,
    num_dims: int,
    start: IntArray,
    served_chunk: IntArray,
    served_stage: IntArray,
) -> int:
    """Dispatch by smallest key (unless `by_arrival`), then earliest arrival, then lower chunk index; return the makespan.

    Fills ``start`` (chunks, stages) and, per dimension, the sequence served: ``served_*`` (dimensions, stages on it).
    With `fused`, a dimension waits for a chunk whose next stage is again its own.
    """
    num_chunks, num_stages = dim_of.shape
    stage_of = np.zeros(num_chunks, np.int64)
    waiting = np.empty((num_dims, num_chunks, 3), np.int64)
    num_waiting = np.zeros(num_dims, np.int64)
    fly_time = np.empty((num_dims, num_chunks), np.int64)
    fly_chunk = np.empty((num_dims, num_chunks), np.int64)
    fly_head = np.zeros(num_dims, np.int64)
    num_flying = np.zeros(num_dims, np.int64)
    free_at = np.full(num_dims, NEVER, np.int64)
    reserved = np.full(num_dims, -1, np.int64)
    num_served = np.zeros(num_dims, np.int64)

    for chunk in range(num_chunks):
        d = dim_of[chunk, 0]
        rank = 0 if by_arrival else key[chunk, 0]
        _heap_push(waiting[d], num_waiting[d], rank, 0, chunk)
        num_waiting[d] += 1

    now = 0
    makespan = 0
    while True:
        for d in range(num_dims):
            if free_at[d] != NEVER or num_waiting[d] == 0:
                continue
            if reserved[d] >= 0:
                # Its next stage is here: served as soon as it has landed, and nobody else before.
                if waiting[d, 0, 2] != reserved[d] or waiting[d, 0, 0] != -1:
                    continue
                reserved[d] = -1
            chunk = _heap_pop(waiting[d], num_waiting[d])
            num_waiting[d] -= 1
            stage = stage_of[chunk]
            start[chunk, stage] = now
            served_chunk[d, num_served[d]] = chunk
            served_stage[d, num_served[d]] = stage
            num_served[d] += 1
            free_at[d] = now + hold[chunk, stage]
            tail = (fly_head[d] + num_flying[d]) % num_chunks
            fly_time[d, tail] = now + duration[chunk, stage]
            fly_chunk[d, tail] = chunk
            num_flying[d] += 1
            if fused and stage + 1 < num_stages and dim_of[chunk, stage + 1] == d:
                reserved[d] = chunk

        now = NEVER
        for d in range(num_dims):
            now = min(now, free_at[d])
            if num_flying[d] > 0:
                now = min(now, fly_time[d, fly_head[d]])
        if now == NEVER:
            return makespan

        for d in range(num_dims):
            if free_at[d] <= now:
                free_at[d] = NEVER
            while num_flying[d] > 0 and fly_time[d, fly_head[d]] <= now:
                chunk = fly_chunk[d, fly_head[d]]
                fly_head[d] = (fly_head[d] + 1) % num_chunks
                num_flying[d] -= 1
                stage = stage_of[chunk] + 1
                stage_of[chunk] = stage
                if stage == num_stages:
                    makespan = now
                    continue
                target = dim_of[chunk, stage]
                rank = 0 if by_arrival else key[chunk, stage]
                if fused and reserved[target] == chunk:
                    rank = -1
                _heap_push(waiting[target], num_waiting[target], rank, now, chunk)
                num_waiting[target] += 1


@compiled
def dispatch_by_list(
    dim_of: IntArray,
    hold: IntArray,
    duration: IntArray,
    key: IntArray,
    num_dims: int,
    start: IntArray,
    served_chunk: IntArray,
    served_stage: IntArray,
) -> int:
    """Dispatch as ASTRA-sim's queues do; return the makespan and fill the arrays as `dispatch_by_key` does.

    A new arrival stands before the first waiting chunk with a key at least its own; a negative key sends it to the
    tail, where it counts with its true key, ``-key - 1``.
    """
    num_chunks, num_stages = dim_of.shape
    stage_of = np.zeros(num_chunks, np.int64)
    queue = np.empty((num_dims, num_chunks), np.int64)
    num_waiting = np.zeros(num_dims, np.int64)
    fly_time = np.empty((num_dims, num_chunks), np.int64)
    fly_chunk = np.empty((num_dims, num_chunks), np.int64)
    fly_head = np.zeros(num_dims, np.int64)
    num_flying = np.zeros(num_dims, np.int64)
    free_at = np.full(num_dims, NEVER, np.int64)
    num_served = np.zeros(num_dims, np.int64)
    now = 0
    makespan = 0
    fresh = 0
    while True:
        # One arrival or release at a time: first all chunks at time 0, then completions in dimension order.
        chunk = -1
        target = -1
        if fresh < num_chunks:
            chunk = fresh
            fresh += 1
        else:
            now = NEVER
            source = -1
            for d in range(num_dims):
                if num_flying[d] > 0 and fly_time[d, fly_head[d]] < now:
                    now = fly_time[d, fly_head[d]]
                    source = d
                if free_at[d] < now:
                    now = free_at[d]
                    source = d
            if source < 0:
                return makespan
            if num_flying[source] > 0 and fly_time[source, fly_head[source]] == now:
                chunk = fly_chunk[source, fly_head[source]]
                fly_head[source] = (fly_head[source] + 1) % num_chunks
                num_flying[source] -= 1
                stage_of[chunk] += 1
            else:
                free_at[source] = NEVER
                target = source
        if chunk >= 0:
            stage = stage_of[chunk]
            if stage == num_stages:
                makespan = now
                continue
            target = dim_of[chunk, stage]
            place = num_waiting[target]
            if key[chunk, stage] >= 0:
                place = 0
                while place < num_waiting[target]:
                    other = queue[target, place]
                    other_key = key[other, stage_of[other]]
                    if other_key < 0:
                        other_key = -other_key - 1
                    if other_key >= key[chunk, stage]:
                        break
                    place += 1
            for i in range(num_waiting[target], place, -1):
                queue[target, i] = queue[target, i - 1]
            queue[target, place] = chunk
            num_waiting[target] += 1
        if free_at[target] == NEVER and num_waiting[target] > 0:
            chunk = queue[target, 0]
            num_waiting[target] -= 1
            for i in range(num_waiting[target]):
                queue[target, i] = queue[target, i + 1]
            stage = stage_of[chunk]
            start[chunk, stage] = now
            served_chunk[target, num_served[target]] = chunk
            served_stage[target, num_served[target]] = stage
            num_served[target] += 1
            free_at[target] = now + hold[chunk, stage]
            tail = (fly_head[target] + num_flying[target]) % num_chunks
            fly_time[target, tail] = now + duration[chunk, stage]
            fly_chunk[target, tail] = chunk
            num_flying[target] += 1


@compiled
def time_sequences(
    dim_of: IntArray,
    hold: IntArray,
    duration: IntArray,
    served_chunk: IntArray,
    served_stage: IntArray,
    num_on_dim: IntArray,
    start: IntArray,
    num_done: IntArray,
) -> int:
    """Time given sequences (dimensions, stages on it); return the makespan.

    ``num_done`` counts, per dimension, the stages timed: fewer than ``num_on_dim`` means deadlock.
    """
    num_chunks, num_stages = dim_of.shape
    num_dims = num_on_dim.shape[0]
    stage_of = np.zeros(num_chunks, np.int64)
    chunk_at = np.zeros(num_chunks, np.int64)
    free_at = np.zeros(num_dims, np.int64)
    # A dimension is pushed once at the start and once after each stage elsewhere that may unblock it.
    stack = np.empty(num_dims + num_chunks * num_stages, np.int64)
    depth = 0
    for d in range(num_dims - 1, -1, -1):
        stack[depth] = d
        depth += 1
    makespan = 0
    while depth > 0:
        depth -= 1
        d = stack[depth]
        while num_done[d] < num_on_dim[d]:
            chunk = served_chunk[d, num_done[d]]
            stage = served_stage[d, num_done[d]]
            if stage_of[chunk] != stage:
                break
            begin = max(chunk_at[chunk], free_at[d])
            start[chunk, stage] = begin
            free_at[d] = begin + hold[chunk, stage]
            chunk_at[chunk] = begin + duration[chunk, stage]
            makespan = max(makespan, chunk_at[chunk])
            stage_of[chunk] = stage + 1
            num_done[d] += 1
            if stage + 1 < num_stages and dim_of[chunk, stage + 1] != d:
                stack[depth] = dim_of[chunk, stage + 1]
                depth += 1
    return makespan
