"""The compiled hot path of the simulator; `themis_opt.timing.reference` says the same in plain Python.

Arrays are int64 of shape (chunks, stages): ``dim_of`` the dimension of each stage, ``hold`` how long it holds that
dimension, ``duration`` how long it takes its chunk. Times are picoseconds.
"""

from __future__ import annotations

import numpy as np

from themis_opt.timing.compiled import compiled
from themis_opt.timing.stage_table import IntArray

NEVER = 2**63 - 1


@compiled
def _before(rank: int, ticket: int, other_rank: int, other_ticket: int) -> bool:
    """Return whether one waiting chunk comes before another; without branches, which nobody could predict."""
    return bool((rank < other_rank) | ((rank == other_rank) & (ticket < other_ticket)))


@compiled
def _heap_push(heap: IntArray, length: int, rank: int, ticket: int) -> None:
    """Add an entry to the binary heap in the first `length` rows: (rank, ticket)."""
    place = length
    while place > 0:
        parent = (place - 1) >> 1
        if _before(heap[parent, 0], heap[parent, 1], rank, ticket):
            break
        heap[place, 0] = heap[parent, 0]
        heap[place, 1] = heap[parent, 1]
        place = parent
    heap[place, 0] = rank
    heap[place, 1] = ticket


@compiled
def _heap_pop(heap: IntArray, length: int) -> int:
    """Remove the first entry from the first `length` rows and return its ticket."""
    first = heap[0, 1]
    last = length - 1
    rank = heap[last, 0]
    ticket = heap[last, 1]
    # The last entry is to move up; what it leaves behind never wins against a sibling.
    heap[last, 0] = NEVER
    place = 0
    child = 1
    while child < last:
        child += int(_before(heap[child + 1, 0], heap[child + 1, 1], heap[child, 0], heap[child, 1]))
        if _before(rank, ticket, heap[child, 0], heap[child, 1]):
            break
        heap[place, 0] = heap[child, 0]
        heap[place, 1] = heap[child, 1]
        place = child
        child = 2 * place + 1
    heap[place, 0] = rank
    heap[place, 1] = ticket
    return int(first)


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
    """Dispatch by smallest key (unless `by_arrival`), then earliest arrival, then lower chunk; return the makespan.

    Fills ``start`` (chunks, stages) and, per dimension, the sequence served: ``served_*`` (dimensions, stages on it).
    With `fused`, a dimension waits for a chunk whose next stage is again its own. Keys are not negative.
    """
    num_chunks, num_stages = dim_of.shape
    stage_of = np.zeros(num_chunks, np.int64)
    # Per dimension a heap of (rank, ticket); a ticket is the number of the instant of arrival, then the chunk.
    waiting = np.empty((num_dims, num_chunks, 2), np.int64)
    instant = 0
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
        _heap_push(waiting[d], num_waiting[d], rank, chunk)
        num_waiting[d] += 1

    now = 0
    makespan = 0
    while True:
        for d in range(num_dims):
            if free_at[d] != NEVER or num_waiting[d] == 0:
                continue
            if reserved[d] >= 0:
                # Its next stage is here: served as soon as it has landed, and nobody else before.
                if waiting[d, 0, 0] != -1:
                    continue
                reserved[d] = -1
            chunk = _heap_pop(waiting[d], num_waiting[d]) % num_chunks
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

        before = now
        now = NEVER
        for d in range(num_dims):
            now = min(now, free_at[d])
            if num_flying[d] > 0:
                now = min(now, fly_time[d, fly_head[d]])
        if now == NEVER:
            return makespan
        instant += int(now != before)

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
                _heap_push(waiting[target], num_waiting[target], rank, instant * num_chunks + chunk)
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
) -> None:
    """Time given sequences (dimensions, stages on it): fill ``start``.

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
            stage_of[chunk] = stage + 1
            num_done[d] += 1
            if stage + 1 < num_stages and dim_of[chunk, stage + 1] != d:
                stack[depth] = dim_of[chunk, stage + 1]
                depth += 1
