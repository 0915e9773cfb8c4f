"""The optimum of a small instance by trying every order and every sequence, with timing code of its own.

A schedule that never delays a stage without need is fixed by the order in which stages are appended: each step takes
any chunk, gives its next stage any dimension it has not visited in this phase, and starts it when chunk and dimension
are ready. All such sequences of steps are tried, except those that can no longer beat the best.
"""

from __future__ import annotations

from collections.abc import Sequence

from themis_opt.problem.instance import Instance
from themis_opt.timing.cost import CostModel


class BruteForce:
    """Finds `optimum_ps`, the least makespan for chunks of these sizes (default: equal ones), if below `at_most_ps`."""

    def __init__(self, instance: Instance, sizes: Sequence[int] | None = None, at_most_ps: int = 2**100) -> None:
        self._instance = instance
        self._model = CostModel(instance)
        self._sizes = instance.equal_chunk_sizes() if sizes is None else tuple(sizes)
        self._num_stages = len(instance.phases) * len(instance.involved)
        self.optimum_ps = at_most_ps
        # Per chunk: stages done, dimensions visited in this phase, when it is there.
        chunks = tuple((0, frozenset[int](), 0) for _ in self._sizes)
        self._extend(chunks, dict.fromkeys(instance.involved, 0), 0)

    def _extend(self, chunks: tuple[tuple[int, frozenset[int], int], ...], free_at: dict[int, int], last: int) -> None:
        if last >= self.optimum_ps:
            return
        if all(done == self._num_stages for done, _, _ in chunks):
            self.optimum_ps = last
            return
        tried = set()
        for c, (done, visited, there_at) in enumerate(chunks):
            twin = (self._sizes[c], done, visited, there_at)
            if done == self._num_stages or twin in tried:
                continue
            tried.add(twin)  # a chunk in the same state would lead to the same schedules
            phase = self._instance.phases[done // len(self._instance.involved)]
            for k in self._choices(visited):
                cost = self._model.stage(self._sizes[c], phase, visited, k)
                start = max(there_at, free_at[k])
                after = frozenset() if len(visited) + 1 == len(self._instance.involved) else visited | {k}
                moved = (done + 1, after, start + cost.duration_ps)
                self._extend(
                    (*chunks[:c], moved, *chunks[c + 1 :]),
                    {**free_at, k: start + self._model.hold_ps(cost)},
                    max(last, start + cost.duration_ps),
                )

    def _choices(self, visited: frozenset[int]) -> list[int]:
        left = [k for k in self._instance.involved if k not in visited]
        return left if self._instance.collective.has_free_orders else left[:1]
