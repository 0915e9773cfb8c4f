"""The numbers in the assignment bound: holds, heads and tails of a number of equal chunks, in whole picoseconds.

They are (A1)'s, which `themis_models.assignment` states; that module solves it in floating point, and
`themis_models.assignment_proof` in integers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.proof.order_lattice import Arc, OrderLattice, Vertex
from themis_opt.timing.cost import CostModel, StageCost


class AssignmentTerms:
    """What (A1) needs to know of `instance` with `num_chunks` equal chunks.

    Attributes
    ----------
    lattice
        The instance's order lattice.
    heads, tails
        By dimension, the shortest time before a stage there that is not its chunk's first, and after one that is not
        its last [ps]; nothing where there is none.
    first_arcs, last_arcs
        By dimension, the arc on which a chunk starts there, and on which it ends there.
    """

    def __init__(self, instance: Instance, num_chunks: int) -> None:
        self._instance = instance
        self._num_chunks = num_chunks
        self._costs = instance.derived(CostModel)
        self.lattice = instance.derived(OrderLattice)
        first_phase, last_phase = (self.lattice.arcs[instance.phases[end]] for end in (0, -1))
        self.heads = _least_delays(first_phase, self.duration_ps)
        self.tails = _least_delays(last_phase, self.duration_ps, from_end=True)
        self.first_arcs = {arc.dimension: arc for arc in first_phase if not arc.visited}
        self.last_arcs = {arc.dimension: arc for arc in last_phase if arc.target == last_phase[-1].target}

    @property
    def arcs(self) -> list[Arc]:
        """All arcs of all phases."""
        return [arc for arcs in self.lattice.arcs.values() for arc in arcs]

    def latency_ps(self, dimension: int) -> int:
        """Return the latency after a dimension's last hold, where holds do not contain it."""
        if self._instance.occupancy is Occupancy.EXCLUSIVE:
            return 0
        return min(self._costs.latency_ps(phase, dimension) for phase in self._instance.phases)

    def hold_ps(self, arc: Arc) -> int:
        """Return how long a chunk holds the arc's dimension."""
        return self._costs.hold_ps(self._stage(arc))

    def duration_ps(self, arc: Arc) -> int:
        """Return how long a chunk's stage on the arc takes."""
        return self._stage(arc).duration_ps

    def _stage(self, arc: Arc) -> StageCost:
        return self._costs.stage(self._instance.size_bytes // self._num_chunks, *arc)


def _least_delays(arcs: Sequence[Arc], time_ps: Callable[[Arc], int], *, from_end: bool = False) -> Mapping[int, int]:
    """Return, by dimension, the least time a chunk needs to reach a stage there that is not its first.

    Parameters
    ----------
    arcs
        One phase's arcs, smaller visited sets first.
    time_ps
        The time of an arc's stage.
    from_end
        Whether to go backwards: then it is the least time from a stage that is not a chunk's last to the end.
    """
    source = arcs[-1].target if from_end else arcs[0].visited
    reached: dict[Vertex, int] = {source: 0}
    delays: dict[int, int] = {}
    for arc in reversed(arcs) if from_end else arcs:
        near, far = (arc.target, arc.visited) if from_end else (arc.visited, arc.target)
        if near != source:
            delays[arc.dimension] = min(reached[near], delays.get(arc.dimension, reached[near]))
        arrival = reached[near] + time_ps(arc)
        reached[far] = min(arrival, reached.get(far, arrival))
    return delays
