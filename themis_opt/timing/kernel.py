"""The compiled hot path of the simulator; `themis_opt.timing.reference` says the same in plain Python.

Arrays are int64, times picoseconds. ``stages`` (chunks, stages, 3) has a stage's dimension, how long it holds that
dimension, and how long it takes its chunk; ``key`` (chunks, stages) what a discipline compares; ``start`` (chunks,
stages) takes the start of each stage; ``served`` (dimensions, stages on it, 2) takes, per dimension, the chunk and the
stage in the order served.
"""

from __future__ import annotations

import numpy as np

from themis_opt.timing.compiled import compiled
from themis_opt.timing.stage_table import IntArray

NEVER = 2**63 - 1

DIM, HOLD, DURATION = range(3)
"""Columns of ``stages``."""

_FREE_AT, _NUM_WAITING, _NUM_SERVED, _HEAD, _NUM_FLYING, _RESERVED = range(6)
"""Columns of the state of the dimensions; a free one is free at `NEVER`, which is no event."""


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
def _all_free(num_dims: int) -> IntArray:
    """Return the state of dimensions that are all free, with nobody waiting."""
    state = np.zeros((num_dims, 6), np.int64)
    state[:, _FREE_AT] = NEVER
    state[:, _RESERVED] = -1
    return state


@compiled
def _begin(
    d: int,
    chunk: int,
    stage: int,
    now: int,
    stages: IntArray,
    start: IntArray,
    served: IntArray,
    state: IntArray,
    flights: IntArray,
) -> None:
    """Let a free dimension serve a stage: it is held for a while, and its chunk is in flight until it lands."""
    start[chunk, stage] = now
    place = state[d, _NUM_SERVED]
    served[d, place, 0] = chunk
    served[d, place, 1] = stage
    state[d, _NUM_SERVED] = place + 1
    state[d, _FREE_AT] = now + stages[chunk, stage, HOLD]
    # A ring, no heap: all stages of a dimension have the same latency, so they land in the order in which they begin.
    tail = (state[d, _HEAD] + state[d, _NUM_FLYING]) % len(stages)
    flights[d, tail, 0] = now + stages[chunk, stage, DURATION]
    flights[d, tail, 1] = chunk
    state[d, _NUM_FLYING] += 1


@compiled
def _land(d: int, state: IntArray, flights: IntArray) -> int:
    """Take the first chunk in flight on a dimension from the ring and return it."""
    chunk = flights[d, state[d, _HEAD], 1]
    state[d, _HEAD] = (state[d, _HEAD] + 1) % flights.shape[1]
    state[d, _NUM_FLYING] -= 1
    return int(chunk)


@compiled
def dispatch_by_key(
    stages: IntArray, key: IntArray, by_arrival: bool, fused: bool, start: IntArray, served: IntArray
) -> int:
    """Dispatch by smallest key (unless `by_arrival`), then earliest arrival, then lower chunk; return the makespan.

    Parameters
    ----------
    stages, key
        What the stages are, and keys that are not negative.
    by_arrival
        Whether keys do not count.
    fused
        Whether a dimension waits for a chunk whose next stage is again its own.
    start, served
        Filled.
    """
    num_chunks, num_stages = key.shape
    num_dims = len(served)
    stage_of = np.zeros(num_chunks, np.int64)
    # Per dimension a heap of (rank, ticket); a ticket is the number of the instant of arrival, then the chunk.
    waiting = np.empty((num_dims, num_chunks, 2), np.int64)
    flights = np.empty((num_dims, num_chunks, 2), np.int64)
    state = _all_free(num_dims)
    for chunk in range(num_chunks):
        d = stages[chunk, 0, DIM]
        rank = 0 if by_arrival else key[chunk, 0]
        _heap_push(waiting[d], state[d, _NUM_WAITING], rank, chunk)
        state[d, _NUM_WAITING] += 1

    now = makespan = instant = 0
    while True:
        for d in range(num_dims):
            if state[d, _FREE_AT] != NEVER or state[d, _NUM_WAITING] == 0:
                continue
            if state[d, _RESERVED] >= 0:
                # Its next stage is here: served as soon as it has landed, and nobody else before.
                if waiting[d, 0, 0] != -1:
                    continue
                state[d, _RESERVED] = -1
            chunk = _heap_pop(waiting[d], state[d, _NUM_WAITING]) % num_chunks
            state[d, _NUM_WAITING] -= 1
            stage = stage_of[chunk]
            _begin(d, chunk, stage, now, stages, start, served, state, flights)
            if fused and stage + 1 < num_stages and stages[chunk, stage + 1, DIM] == d:
                state[d, _RESERVED] = chunk

        before = now
        now = NEVER
        for d in range(num_dims):
            now = min(now, state[d, _FREE_AT])
            if state[d, _NUM_FLYING] > 0:
                now = min(now, flights[d, state[d, _HEAD], 0])
        if now == NEVER:
            return makespan
        # Stages of no length land at the instant they begin: those still count as arriving together.
        instant += int(now != before)

        for d in range(num_dims):
            if state[d, _FREE_AT] <= now:
                state[d, _FREE_AT] = NEVER
            while state[d, _NUM_FLYING] > 0 and flights[d, state[d, _HEAD], 0] <= now:
                chunk = _land(d, state, flights)
                stage = stage_of[chunk] + 1
                stage_of[chunk] = stage
                if stage == num_stages:
                    makespan = now
                    continue
                target = stages[chunk, stage, DIM]
                rank = 0 if by_arrival else key[chunk, stage]
                if fused and state[target, _RESERVED] == chunk:
                    rank = -1
                _heap_push(waiting[target], state[target, _NUM_WAITING], rank, instant * num_chunks + chunk)
                state[target, _NUM_WAITING] += 1


@compiled
def dispatch_by_list(stages: IntArray, key: IntArray, start: IntArray, served: IntArray) -> int:
    """Dispatch as ASTRA-sim's queues do; return the makespan.

    Parameters
    ----------
    stages
        What the stages are.
    key
        A new arrival stands before the first waiting chunk with a key at least its own; a negative key sends it to the
        tail, where it counts with its true key, ``-key - 1``.
    start, served
        Filled.
    """
    num_chunks, num_stages = key.shape
    num_dims = len(served)
    stage_of = np.zeros(num_chunks, np.int64)
    queue = np.empty((num_dims, num_chunks), np.int64)
    flights = np.empty((num_dims, num_chunks, 2), np.int64)
    state = _all_free(num_dims)
    now = makespan = fresh = 0
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
                if state[d, _NUM_FLYING] > 0 and flights[d, state[d, _HEAD], 0] < now:
                    now = flights[d, state[d, _HEAD], 0]
                    source = d
                if state[d, _FREE_AT] < now:
                    now = state[d, _FREE_AT]
                    source = d
            if source < 0:
                return makespan
            if state[source, _NUM_FLYING] > 0 and flights[source, state[source, _HEAD], 0] == now:
                chunk = _land(source, state, flights)
                stage_of[chunk] += 1
            else:
                state[source, _FREE_AT] = NEVER
                target = source
        if chunk >= 0:
            if stage_of[chunk] == num_stages:
                makespan = now
                continue
            target = stages[chunk, stage_of[chunk], DIM]
            _insert(queue[target], state[target, _NUM_WAITING], chunk, key, stage_of)
            state[target, _NUM_WAITING] += 1
        if state[target, _FREE_AT] == NEVER and state[target, _NUM_WAITING] > 0:
            chunk = queue[target, 0]
            state[target, _NUM_WAITING] -= 1
            for place in range(state[target, _NUM_WAITING]):
                queue[target, place] = queue[target, place + 1]
            _begin(target, chunk, stage_of[chunk], now, stages, start, served, state, flights)


@compiled
def _insert(queue: IntArray, length: int, chunk: int, key: IntArray, stage_of: IntArray) -> None:
    """Put a chunk where its key sends it in the first `length` places of a queue."""
    place = length
    own_key = key[chunk, stage_of[chunk]]
    if own_key >= 0:
        place = 0
        while place < length:
            other_key = key[queue[place], stage_of[queue[place]]]
            if (other_key if other_key >= 0 else -other_key - 1) >= own_key:
                break
            place += 1
    for other in range(length, place, -1):
        queue[other] = queue[other - 1]
    queue[place] = chunk


@compiled
def time_sequences(
    stages: IntArray, served: IntArray, num_on_dim: IntArray, start: IntArray, num_done: IntArray
) -> None:
    """Time given sequences.

    Parameters
    ----------
    stages, served
        What the stages are, and the sequences.
    num_on_dim
        How long the sequence of each dimension is.
    start
        Filled.
    num_done
        Zeros; counts, per dimension, the stages timed: fewer than ``num_on_dim`` means deadlock.
    """
    num_chunks, num_stages, _ = stages.shape
    num_dims = len(served)
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
            chunk = served[d, num_done[d], 0]
            stage = served[d, num_done[d], 1]
            if stage_of[chunk] != stage:
                break
            begin = max(chunk_at[chunk], free_at[d])
            start[chunk, stage] = begin
            free_at[d] = begin + stages[chunk, stage, HOLD]
            chunk_at[chunk] = begin + stages[chunk, stage, DURATION]
            stage_of[chunk] = stage + 1
            num_done[d] += 1
            if stage + 1 < num_stages and stages[chunk, stage + 1, DIM] != d:
                stack[depth] = stages[chunk, stage + 1, DIM]
                depth += 1
