"""From fractional chunk sizes to whole granules that add up exactly, losing as little time as possible."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice, permutations

import numpy as np

from themis_models.search.costing import Candidate, FloatArray, IntArray, cost_chunks
from themis_models.search.space import SearchSpace, candidate_costs
from themis_opt.problem.chunking import Chunking
from themis_opt.timing import kernel as simulator_kernel

_MAX_STAGE_ROWS = 100_000
"""How many chunks are costed while rounding: well under a second, and enough for many passes over some dozen chunks."""


class FixedSequences:
    """Times a candidate under fixed orders and sequences for any chunk sizes, to within a picosecond per stage.

    Parameters
    ----------
    space
        The instance.
    candidate
        Gives the orders; its sizes do not matter.
    served
        For each dimension (position) the ``(chunk, stage)`` pairs in sequence; without a deadlock.
    """

    def __init__(self, space: SearchSpace, candidate: Candidate, served: Sequence[Sequence[tuple[int, int]]]) -> None:
        self.space = space
        self.served = served
        self._path, self._ones = candidate.path, np.ones(candidate.path.shape)
        self._stages = candidate_costs(space, candidate)
        width = max(len(sequence) for sequence in served)
        self._served = np.full((len(served), width, 2), -1, np.int64)
        for d, sequence in enumerate(served):
            self._served[d, : len(sequence)] = sequence
        self._counts = np.array([len(sequence) for sequence in served], dtype=np.int64)

    def makespan(self, chunk_bytes: FloatArray) -> int:
        """Return the makespan [ps] with these sizes."""
        path = self._path
        cost_chunks(self.space.costs, Candidate(path, chunk_bytes, self._ones), self._stages)
        _, hold, duration, _ = self._stages
        stages: IntArray = np.rint(np.stack([path, hold, duration], axis=2)).astype(np.int64)
        start = np.zeros(path.shape, np.int64)
        num_done = np.zeros(len(self.served), np.int64)
        simulator_kernel.time_sequences(stages, self._served, self._counts, start, num_done)
        return int((start + stages[:, :, simulator_kernel.DURATION]).max())


def round_sizes(timing: FixedSequences, chunk_bytes: FloatArray, chunking: Chunking) -> tuple[int, ...]:
    """Return whole sizes near `chunk_bytes`: multiples of the granule, adding up to the collective's size.

    Granules and the remainder move between chunks as long as that shortens the makespan.

    Parameters
    ----------
    timing
        Orders and sequences, which stay as they are.
    chunk_bytes
        Size of each chunk, shape (chunks,).
    chunking
        Granule and least size.

    Raises
    ------
    ValueError
        When there are fewer granules than the chunks need.
    """
    total = timing.space.instance.size_bytes
    granule = chunking.granule_bytes
    num_granules, remainder = divmod(total, granule)
    least = chunking.min_granules
    if num_granules < least * len(chunk_bytes):
        raise ValueError("too few granules for this many chunks")
    exact = chunk_bytes * (num_granules / chunk_bytes.sum())
    units = np.maximum(np.floor(exact).astype(np.int64), least)
    while units.sum() > num_granules:
        units[np.argmax(np.where(units > least, units - exact, -np.inf))] -= 1
    for chunk in np.argsort(units - exact)[: num_granules - units.sum()]:
        units[chunk] += 1

    def sizes(units: IntArray, holder: int) -> FloatArray:
        result = (units * granule).astype(np.float64)
        result[holder] += remainder
        return result

    holders = range(len(units)) if remainder else [0]
    holder = min(holders, key=lambda chunk: timing.makespan(sizes(units, chunk)))
    best = timing.makespan(sizes(units, holder))
    num_moves = len(units) * (len(units) - 1)
    unsuccessful = 0
    for giver, taker in islice(cycle(permutations(range(len(units)), 2)), _MAX_STAGE_ROWS // len(units)):
        if unsuccessful == num_moves:
            break
        unsuccessful += 1
        if units[giver] <= least:
            continue
        units[giver] -= 1
        units[taker] += 1
        makespan = timing.makespan(sizes(units, holder))
        if makespan < best:
            best = makespan
            unsuccessful = 0
        else:
            units[giver] += 1
            units[taker] -= 1
    return tuple(int(size) for size in sizes(units, holder))
