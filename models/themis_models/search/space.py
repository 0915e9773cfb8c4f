"""An instance and its candidates as the arrays the kernel works on, and the way back to a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from themis_models.search import search_kernel as kernel
from themis_models.search.search_kernel import CodeArray, FloatArray, IntArray
from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.schedule import Chunk, Schedule, Slot
from themis_opt.timing.cost import CostModel

_PHASE_CODES = {
    Phase.REDUCE_SCATTER: kernel.REDUCE_SCATTER,
    Phase.ALL_GATHER: kernel.ALL_GATHER,
    Phase.ALL_TO_ALL: kernel.ALL_TO_ALL,
}


@dataclass(frozen=True)
class SearchSpace:
    """What the kernel has to know of an instance; dimensions are positions among the involved ones.

    Attributes
    ----------
    instance
        The instance.
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

    instance: Instance
    group_sizes: FloatArray
    rates: FloatArray
    latencies: FloatArray
    phases: IntArray
    num_npus: float
    pipelined: bool
    overhead: float

    @property
    def arrays(self) -> tuple[FloatArray, FloatArray, FloatArray, IntArray, float, bool, float]:
        """The kernel's arguments, in its order."""
        return (
            self.group_sizes,
            self.rates,
            self.latencies,
            self.phases,
            self.num_npus,
            self.pipelined,
            self.overhead,
        )

    @property
    def num_stages(self) -> int:
        """Stages of one chunk."""
        return len(self.phases) * len(self.group_sizes)


@dataclass(frozen=True)
class Candidate:
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


def search_space(instance: Instance) -> SearchSpace:
    """Return the search space of an instance."""
    model = instance.derived(CostModel)
    involved, phases = instance.involved, instance.phases
    return SearchSpace(
        instance,
        np.array([float(instance.network.dimensions[k].size) for k in involved]),
        np.array([[float(model.transfer_rate(phase, k)) for k in involved] for phase in phases]),
        np.array([[float(model.latency_ps(phase, k)) for k in involved] for phase in phases]),
        np.array([_PHASE_CODES[phase] for phase in phases]),
        float(instance.num_npus),
        instance.occupancy is Occupancy.PIPELINED,
        float(instance.chunk_overhead_ps),
    )


def random_candidate(space: SearchSpace, chunk_bytes: Sequence[float], random: np.random.Generator) -> Candidate:
    """Return a candidate with random orders (All-Gather mirrored) and all priorities 1."""
    num_dims = len(space.group_sizes)
    rows = []
    for _ in chunk_bytes:
        order = random.permutation(num_dims) if space.instance.collective.has_free_orders else np.arange(num_dims)
        rows.append(np.concatenate([order, order[::-1]][: len(space.phases)]))
    sizes = np.array(chunk_bytes, dtype=np.float64)
    return Candidate(np.array(rows, dtype=np.int64), sizes, np.ones((len(sizes), space.num_stages)))


def candidate_of(space: SearchSpace, schedule: Schedule) -> Candidate:
    """Return the candidate of a schedule; its priorities make each dimension prefer the schedule's sequence."""
    involved = space.instance.involved
    position = {k: place for place, k in enumerate(involved)}
    paths = [chunk.path(space.instance) for chunk in schedule.chunks]
    path = [[position[k] for _, k in stages] for stages in paths]
    rank = {
        (slot.chunk, slot.phase, k): 1.0 + place
        for k, sequence in enumerate(schedule.sequences)
        for place, slot in enumerate(sequence)
    }
    sizes = np.array([float(chunk.size_bytes) for chunk in schedule.chunks])
    candidate = Candidate(np.array(path, dtype=np.int64), sizes, np.ones((len(sizes), space.num_stages)))
    key, *_ = candidate_costs(space, candidate)
    for c, stages in enumerate(paths):
        for stage, (phase, k) in enumerate(stages):
            candidate.priority[c, stage] = rank[c, phase, k] / key[c, stage]
    return candidate


def served_sequences(space: SearchSpace, candidate: Candidate) -> list[list[tuple[int, int]]]:
    """Return, for each dimension (position), the ``(chunk, stage)`` pairs in the order the kernel serves them."""
    num_chunks, num_stages = candidate.path.shape
    num_dims = len(space.group_sizes)
    scratch = kernel_scratch(num_chunks, num_dims, len(space.phases))
    _, int_space, served, _ = scratch
    kernel.dispatch(candidate.path, *candidate_costs(space, candidate), space.pipelined, kernel.NEVER, *scratch, True)
    counts = int_space[-1]
    return [[divmod(int(code), num_stages) for code in served[d, : counts[d]]] for d in range(num_dims)]


def schedule_of(
    space: SearchSpace,
    candidate: Candidate,
    sizes: Sequence[int],
    served: Sequence[Sequence[tuple[int, int]]] | None = None,
) -> Schedule:
    """Return the schedule a candidate stands for, its chunks of these whole sizes; no times are claimed.

    The sequences are `served`, or those the kernel serves with the candidate's own sizes.
    """
    instance = space.instance
    involved = instance.involved
    phase_of = [phase for phase in instance.phases for _ in involved]
    chunks = tuple(
        Chunk.along(size, [(phase, involved[d]) for phase, d in zip(phase_of, places, strict=True)])
        for size, places in zip(sizes, candidate.path.tolist(), strict=True)
    )
    sequences: list[tuple[Slot, ...]] = [()] * instance.network.num_dimensions
    for d, sequence in enumerate(served_sequences(space, candidate) if served is None else served):
        sequences[involved[d]] = tuple(Slot(c, phase_of[stage]) for c, stage in sequence)
    return Schedule(instance, chunks, tuple(sequences))


def kernel_scratch(
    num_chunks: int, num_dims: int, num_phases: int
) -> tuple[FloatArray, CodeArray, IntArray, FloatArray]:
    """Return the arrays `kernel.dispatch` wants: floats, integers, the sequences served, and start times."""
    width = max(num_chunks, num_dims)
    return (
        np.empty((2 * num_dims + kernel.MORE_FLOAT_ROWS, width)),
        np.empty((2 * num_dims + kernel.MORE_INT_ROWS, width), np.uint32),
        np.empty((num_dims, num_chunks * num_phases), np.int64),
        np.empty((num_chunks, num_dims * num_phases)),
    )


def candidate_costs(space: SearchSpace, candidate: Candidate) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return key, hold and duration of every stage, and the dimensions' loads."""
    shape = candidate.path.shape
    key, hold, duration, load = np.empty(shape), np.empty(shape), np.empty(shape), np.zeros(len(space.group_sizes))
    for chunk in range(shape[0]):
        kernel.cost_chunk(
            chunk, candidate.path, candidate.chunk_bytes, candidate.priority, *space.arrays, key, hold, duration, load
        )
    return key, hold, duration, load
