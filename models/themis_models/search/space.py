"""An instance and its candidates as the arrays the kernel works on, and the way back to a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from themis_models.search.costing import (
    ALL_GATHER,
    ALL_TO_ALL,
    REDUCE_SCATTER,
    Candidate,
    Costs,
    Stages,
    cost_chunks,
    make_stages,
)
from themis_models.search.search_kernel import NEVER, Scratch, dispatch, make_scratch
from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.schedule import Chunk, Schedule, Slot
from themis_opt.timing.cost import CostModel

_PHASE_CODES = {
    Phase.REDUCE_SCATTER: REDUCE_SCATTER,
    Phase.ALL_GATHER: ALL_GATHER,
    Phase.ALL_TO_ALL: ALL_TO_ALL,
}


@dataclass(frozen=True)
class SearchSpace:
    """An instance, and what the kernel has to know of it.

    Attributes
    ----------
    instance
        The instance.
    costs
        What stages cost; dimensions are positions among the involved ones.
    """

    instance: Instance
    costs: Costs

    @property
    def num_dims(self) -> int:
        """Involved dimensions."""
        return len(self.costs.group_sizes)

    @property
    def num_phases(self) -> int:
        """Phases of the collective."""
        return len(self.costs.phases)

    @property
    def num_stages(self) -> int:
        """Stages of one chunk."""
        return self.num_phases * self.num_dims


def search_space(instance: Instance) -> SearchSpace:
    """Return the search space of an instance."""
    model = instance.derived(CostModel)
    involved, phases = instance.involved, instance.phases
    costs = Costs(
        np.array([float(instance.network.dimensions[k].size) for k in involved]),
        np.array([[float(model.transfer_rate(phase, k)) for k in involved] for phase in phases]),
        np.array([[float(model.latency_ps(phase, k)) for k in involved] for phase in phases]),
        np.array([_PHASE_CODES[phase] for phase in phases]),
        float(instance.num_npus),
        instance.occupancy is Occupancy.PIPELINED,
        float(instance.chunk_overhead_ps),
    )
    return SearchSpace(instance, costs)


def random_candidate(space: SearchSpace, chunk_bytes: Sequence[float], random: np.random.Generator) -> Candidate:
    """Return a candidate with random orders (All-Gather mirrored) and all priorities 1.

    Parameters
    ----------
    space
        The instance.
    chunk_bytes
        Size of each chunk.
    random
        Where the orders come from.
    """
    num_dims = space.num_dims
    rows = []
    for _ in chunk_bytes:
        order = random.permutation(num_dims) if space.instance.collective.has_free_orders else np.arange(num_dims)
        rows.append(np.concatenate([order, order[::-1]][: space.num_phases]))
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
    key = candidate_costs(space, candidate)[0]
    for c, stages in enumerate(paths):
        for stage, (phase, k) in enumerate(stages):
            candidate.priority[c, stage] = rank[c, phase, k] / key[c, stage]
    return candidate


def served_sequences(space: SearchSpace, candidate: Candidate) -> list[list[tuple[int, int]]]:
    """Return, for each dimension (position), the ``(chunk, stage)`` pairs in the order the kernel serves them."""
    scratch = kernel_scratch(space, candidate)
    dispatch(candidate.path, candidate_costs(space, candidate), space.costs.pipelined, NEVER, scratch, True)
    _, codes, served, _ = scratch
    counts = codes[-1]
    return [[divmod(int(code), space.num_stages) for code in served[d, : counts[d]]] for d in range(space.num_dims)]


def schedule_of(
    space: SearchSpace,
    candidate: Candidate,
    sizes: Sequence[int],
    served: Sequence[Sequence[tuple[int, int]]] | None = None,
) -> Schedule:
    """Return the schedule a candidate stands for, its chunks of these whole sizes; no times are claimed.

    Parameters
    ----------
    space, candidate
        What it is made of.
    sizes
        Of the chunks, in bytes.
    served
        The sequences; default: those the kernel serves with the candidate's own sizes.
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


def kernel_scratch(space: SearchSpace, candidate: Candidate) -> Scratch:
    """Return what `dispatch` works on for candidates of this many chunks."""
    return make_scratch(candidate.path.shape, space.num_dims)


def candidate_costs(space: SearchSpace, candidate: Candidate) -> Stages:
    """Return what every stage costs, and the dimensions' loads."""
    stages = make_stages(candidate.path.shape, space.num_dims)
    cost_chunks(space.costs, candidate, stages)
    return stages
