r"""The times of every stage a chunk can have, as small whole numbers: what the exact formulations are written in.

All durations and holds are multiples of their greatest common divisor, the *unit*. In a schedule in which every stage
starts as early as it can, every time is a sum of them, hence a whole number of units, and so is the least makespan:
counting in units loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import gcd

from themis_opt.collective import Phase
from themis_opt.cost import CostModel
from themis_opt.instance import Instance
from themis_opt.lattice import Arc, OrderLattice, Vertex


class StageTimes:
    """Durations and holds of all arcs of the order lattice for the instance's equal chunks, in units.

    Attributes
    ----------
    instance
        The problem.
    lattice
        Its order lattice.
    sizes
        Bytes of each chunk, by index; larger ones first.
    unit_ps
        Picoseconds per unit, at least 1.
    """

    def __init__(self, instance: Instance, costs: CostModel | None = None) -> None:
        costs = costs or CostModel(instance)
        self.instance = instance
        self.lattice = OrderLattice(instance)
        self.sizes = instance.equal_chunk_sizes()
        arcs = [arc for phase_arcs in self.lattice.arcs.values() for arc in phase_arcs]
        stages = {(size, arc): costs.stage(size, *arc) for size in sorted(set(self.sizes)) for arc in arcs}
        holds_ps = {key: costs.hold_ps(stage) for key, stage in stages.items()}
        self.unit_ps = gcd(*(stage.duration_ps for stage in stages.values()), *holds_ps.values()) or 1
        self._durations = {key: stage.duration_ps // self.unit_ps for key, stage in stages.items()}
        self._holds = {key: hold_ps // self.unit_ps for key, hold_ps in holds_ps.items()}
        self._reach: dict[tuple[int, Phase], Mapping[Vertex, int]] = {}
        self._finish: dict[tuple[int, Phase], Mapping[Vertex, int]] = {}

    def duration(self, size_bytes: int, arc: Arc) -> int:
        """Return the time from a stage's start until its chunk has arrived."""
        return self._durations[size_bytes, arc]

    def hold(self, size_bytes: int, arc: Arc) -> int:
        """Return how long a stage holds its dimension."""
        return self._holds[size_bytes, arc]

    def lag(self, dimension: int) -> int:
        """Return the least time from the end of a hold of this dimension until the chunk has arrived."""
        return min(
            duration - self._holds[key] for key, duration in self._durations.items() if key[1].dimension == dimension
        )

    def least_duration(self, arcs: list[Arc]) -> int:
        """Return the shortest duration of any chunk's stage on any of these arcs."""
        return min(self._durations[size, arc] for size in set(self.sizes) for arc in arcs)

    def time_to_reach(self, size_bytes: int, phase: Phase) -> Mapping[Vertex, int]:
        """Return the least time from the start of a phase until a chunk has visited exactly a vertex's dimensions."""
        key = (size_bytes, phase)
        if key not in self._reach:
            reach: dict[Vertex, int] = {frozenset(): 0}
            for arc in self.lattice.arcs[phase]:
                arrival = reach[arc.visited] + self.duration(size_bytes, arc)
                reach[arc.target] = min(arrival, reach.get(arc.target, arrival))
            self._reach[key] = reach
        return self._reach[key]

    def time_to_finish(self, size_bytes: int, phase: Phase) -> Mapping[Vertex, int]:
        """Return the least time a chunk that has visited exactly a vertex's dimensions needs to finish the phase."""
        key = (size_bytes, phase)
        if key not in self._finish:
            finish: dict[Vertex, int] = {frozenset(self.instance.involved): 0}
            for arc in reversed(self.lattice.arcs[phase]):
                remaining = self.duration(size_bytes, arc) + finish[arc.target]
                finish[arc.visited] = min(remaining, finish.get(arc.visited, remaining))
            self._finish[key] = finish
        return self._finish[key]

    @cached_property
    def is_reversible(self) -> bool:
        """Whether a schedule read backwards is a schedule as well.

        So it is when each All-Gather stage lasts as long as the Reduce-Scatter stage that it becomes (and holds its
        dimension as long): always, unless reduction takes time or a phase is missing.
        """
        return len(self.instance.phases) == 2 and all(
            (self._durations[size, arc], self._holds[size, arc])
            == (self._durations[size, mirror], self._holds[size, mirror])
            for size in set(self.sizes)
            for arc in self.lattice.arcs[Phase.REDUCE_SCATTER]
            for mirror in [self.mirror_image(arc)]
        )

    def mirror_image(self, arc: Arc) -> Arc:
        """Return what an arc of an All-Reduce becomes when time runs backwards."""
        phase = Phase.ALL_GATHER if arc.phase is Phase.REDUCE_SCATTER else Phase.REDUCE_SCATTER
        return Arc(phase, frozenset(self.instance.involved) - arc.target, arc.dimension)

    @property
    def sum_of_durations(self) -> int:
        """The durations of all arcs of all chunks added up: no sum in a formulation can be larger."""
        return sum(self.sizes.count(size) * duration for (size, _), duration in self._durations.items())
