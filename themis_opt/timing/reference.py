"""The timing rule in plain Python, written for reading; tests hold the compiled kernel equal to it.

It is also what runs when durations are too long for 64-bit integers.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from themis_opt.timing.policy import DispatchPolicy
from themis_opt.timing.stage_table import StageTable

Starts = list[list[int]]
Served = list[list[tuple[int, int]]]


class ReferenceDispatcher:
    """Runs one dispatch of a stage table under a policy; build it, call `run` once.

    Attributes
    ----------
    starts
        Start of each stage [ps], by chunk and stage.
    served
        For each dimension the ``(chunk, stage)`` pairs in the order served.
    """

    def __init__(self, table: StageTable, policy: DispatchPolicy, keys: Sequence[Sequence[int]], num_dims: int) -> None:
        self.table = table
        self.policy = policy
        self.keys = keys
        self.starts: Starts = [[-1] * table.num_stages for _ in table.chunks]
        self.served: Served = [[] for _ in range(num_dims)]
        self._stage_of = [0] * len(table.chunks)
        self._waiting: list[list[int]] = [[] for _ in range(num_dims)]
        self._arrived = [0] * len(table.chunks)
        self._busy = [False] * num_dims
        self._reserved: list[int | None] = [None] * num_dims
        # (time, dimension, 0 = a chunk has arrived | 1 = the dimension is free, place in the sequence, chunk)
        self._events: list[tuple[int, int, int, int, int]] = []

    def run(self) -> int:
        """Dispatch everything and return the makespan [ps]."""
        # ASTRA-sim starts a chunk as soon as it is enqueued; the paper's rule lets all of an instant arrive first.
        for chunk in range(len(self.table.chunks)):
            self._join(chunk, 0)
            if self.policy.is_astra:
                self._choose(self._dimension(chunk), 0)
        self._choose_everywhere(0)
        makespan = 0
        while self._events:
            now = self._events[0][0]
            if self.policy.is_astra:
                makespan = max(makespan, self._apply(heapq.heappop(self._events)))
                continue
            while self._events and self._events[0][0] == now:
                makespan = max(makespan, self._apply(heapq.heappop(self._events)))
            self._choose_everywhere(now)
        return makespan

    def _apply(self, event: tuple[int, int, int, int, int]) -> int:
        """Apply one completion; return its time when a chunk is complete, else 0."""
        now, k, kind, _, chunk = event
        if kind == 1:
            self._busy[k] = False
        else:
            self._stage_of[chunk] += 1
            if self._stage_of[chunk] == self.table.num_stages:
                return now
            self._join(chunk, now)
            k = self._dimension(chunk)
        if self.policy.is_astra:
            self._choose(k, now)
        return 0

    def _dimension(self, chunk: int) -> int:
        return self.table.paths[chunk][self._stage_of[chunk]][1]

    def _join(self, chunk: int, now: int) -> None:
        """Put a chunk that has arrived into the queue of its next dimension."""
        queue = self._waiting[self._dimension(chunk)]
        self._arrived[chunk] = now
        place = len(queue)
        if self.policy is DispatchPolicy.ASTRA_SCF and self._stage_of[chunk] != self.table.num_stages - 2:
            key = self._key(chunk)
            place = next((i for i, other in enumerate(queue) if self._key(other) >= key), place)
        queue.insert(place, chunk)

    def _key(self, chunk: int) -> int:
        return self.keys[chunk][self._stage_of[chunk]]

    def _choose_everywhere(self, now: int) -> None:
        for k in range(len(self._waiting)):
            self._choose(k, now)

    def _choose(self, k: int, now: int) -> None:
        """Let dimension `k`, if free, start the chunk its policy prefers."""
        queue = self._waiting[k]
        if self._busy[k] or not queue:
            return
        if self._reserved[k] is not None:
            if self._reserved[k] not in queue:  # still in flight: nobody else may slip in between
                return
            chunk, self._reserved[k] = self._reserved[k], None
            assert chunk is not None
        elif self.policy.is_astra:
            chunk = queue[0]
        elif self.policy is DispatchPolicy.SCF:
            chunk = min(queue, key=lambda waiting: (self._key(waiting), self._arrived[waiting], waiting))
        else:
            chunk = min(queue, key=lambda waiting: (self._arrived[waiting], waiting))
        queue.remove(chunk)
        stage = self._stage_of[chunk]
        self.starts[chunk][stage] = now
        self.served[k].append((chunk, stage))
        self._busy[k] = True
        place = len(self.served[k])
        heapq.heappush(self._events, (now + self.table.holds[chunk][stage], k, 1, place, chunk))
        heapq.heappush(self._events, (now + self.table.costs[chunk][stage].duration_ps, k, 0, place, chunk))
        path = self.table.paths[chunk]
        if self.policy is DispatchPolicy.FUSED_FIFO and stage + 1 < len(path) and path[stage + 1][1] == k:
            self._reserved[k] = chunk


def time_sequences(table: StageTable, sequences: Sequence[Sequence[tuple[int, int]]]) -> tuple[Starts, list[int]]:
    """Time given sequences of ``(chunk, stage)`` per dimension.

    Returns
    -------
    starts
        Start of each stage [ps]; -1 where a deadlock kept it from starting.
    num_done
        Stages timed per dimension.
    """
    starts: Starts = [[-1] * table.num_stages for _ in table.chunks]
    stage_of = [0] * len(table.chunks)
    chunk_at = [0] * len(table.chunks)
    free_at = [0] * len(sequences)
    num_done = [0] * len(sequences)
    # As long as one dimension can serve the head of its sequence; quadratic at worst, and plain to see right.
    progress = True
    while progress:
        progress = False
        for k, sequence in enumerate(sequences):
            while num_done[k] < len(sequence):
                chunk, stage = sequence[num_done[k]]
                if stage_of[chunk] != stage:
                    break
                starts[chunk][stage] = begin = max(chunk_at[chunk], free_at[k])
                free_at[k] = begin + table.holds[chunk][stage]
                chunk_at[chunk] = begin + table.costs[chunk][stage].duration_ps
                stage_of[chunk] += 1
                num_done[k] += 1
                progress = True
    return starts, num_done
