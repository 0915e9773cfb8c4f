"""A candidate of the search as arrays, and what its stages cost, compiled.

A candidate is, for every chunk, its bytes, the dimensions of its stages in order (as positions among the involved
dimensions) and a priority per stage. Times are floats in picoseconds: this is a search, and what it finds is timed
exactly by the simulator before it counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from themis_opt.timing.compiled import compiled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL = 0, 1, 2
"""How the kernel writes the phases."""


class Costs(NamedTuple):
    """What the kernel has to know of an instance; dimensions are positions among the involved ones.

    Attributes
    ----------
    group_sizes
        NPUs per group, shape (dims,).
    rates
        Picoseconds per byte sent, shape (phases, dims).
    latencies
        Latency of a stage [ps], shape (phases, dims).
    phases
        Codes of the phases, shape (phases,).
    num_npus
        All involved NPUs.
    pipelined
        Whether a stage holds its dimension for the transfer only.
    overhead
        What launching a chunk costs [ps].
    """

    group_sizes: FloatArray
    rates: FloatArray
    latencies: FloatArray
    phases: IntArray
    num_npus: float
    pipelined: bool
    overhead: float


class Candidate(NamedTuple):
    """A point of the search: what the kernel turns into a schedule.

    Attributes
    ----------
    path
        Dimension (position) of each stage of each chunk, shape (chunks, stages).
    chunk_bytes
        Size of each chunk, shape (chunks,); may be fractional.
    priority
        By what the bytes before a stage are multiplied before dimensions compare them, shape (chunks, stages).
    """

    path: IntArray
    chunk_bytes: FloatArray
    priority: FloatArray

    def copy(self) -> Candidate:
        """Return an independent copy."""
        return Candidate(self.path.copy(), self.chunk_bytes.copy(), self.priority.copy())


Stages = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
"""What the stages of a candidate cost: key, by what a dimension compares the stages that wait for it; hold and
duration, how long a stage holds its dimension and its chunk [ps]; each of shape (chunks, stages); and load, the holds
of each dimension together [ps], shape (dims,). A plain tuple: Python takes 2 µs longer to hand over a named one."""


@compiled
def make_stages(shape: tuple[int, int], num_dims: int) -> Stages:
    """Return arrays for so many chunks, with so many stages each, on so many dimensions; `cost_chunks` fills them."""
    return np.empty(shape), np.empty(shape), np.empty(shape), np.empty(num_dims)


@compiled
def cost_chunks(costs: Costs, candidate: Candidate, stages: Stages) -> None:
    """Fill the rows of all chunks, and the loads of the dimensions.

    Parameters
    ----------
    costs, candidate
        What is costed.
    stages
        Takes the costs.
    """
    stages[3][:] = 0.0
    for chunk in range(candidate.path.shape[0]):
        cost_chunk(chunk, costs, candidate, stages)


@compiled
def cost_chunk(chunk: int, costs: Costs, candidate: Candidate, stages: Stages) -> None:
    """Fill the rows of one chunk, and add its holds to the loads of the dimensions.

    Parameters
    ----------
    chunk
        Which.
    costs, candidate
        What is costed.
    stages
        Takes the costs.
    """
    group_sizes, phases = costs.group_sizes, costs.phases
    key, hold, duration, load = stages
    resident = candidate.chunk_bytes[chunk]
    # An All-Gather begins with what a Reduce-Scatter over all NPUs would have left of the chunk.
    if phases[0] == ALL_GATHER:
        resident /= costs.num_npus
    stage = 0
    for p in range(phases.shape[0]):
        for _ in range(group_sizes.shape[0]):
            d = candidate.path[chunk, stage]
            sent = resident * (group_sizes[d] - 1.0)
            if phases[p] != ALL_GATHER:
                sent /= group_sizes[d]
            # The simulator's times are whole picoseconds: whoever wins by less than one here would lose there.
            transfer = np.rint(sent * costs.rates[p, d])
            key[chunk, stage] = resident * candidate.priority[chunk, stage]
            if stage == 0:
                transfer += costs.overhead
            duration[chunk, stage] = transfer + costs.latencies[p, d]
            hold[chunk, stage] = transfer if costs.pipelined else duration[chunk, stage]
            load[d] += hold[chunk, stage]
            if phases[p] == REDUCE_SCATTER:
                resident /= group_sizes[d]
            elif phases[p] == ALL_GATHER:
                resident *= group_sizes[d]
            stage += 1


@compiled
def unload(chunk: int, candidate: Candidate, stages: Stages) -> None:
    """Take the holds of one chunk off the loads of the dimensions.

    Parameters
    ----------
    chunk
        Which.
    candidate
        What was costed.
    stages
        Its costs.
    """
    _, hold, _, load = stages
    for stage in range(candidate.path.shape[1]):
        load[candidate.path[chunk, stage]] -= hold[chunk, stage]
