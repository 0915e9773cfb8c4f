r"""The joint problem as a mixed-integer linear program, with times as parts of the horizon.

Symbols as in the CP-SAT model: arcs :math:`x` (binary), starts :math:`s`, level times :math:`t`, and for each pair of
stages :math:`i, j` of different chunks on one dimension a binary :math:`y_{ij}` that says which is first.

The horizon :math:`H` is the makespan of a known schedule. In a schedule that ends by :math:`H` all times lie in
:math:`[0, H]` and stages are no longer than :math:`H`, so a difference of two of them is at least :math:`-H` and a
constraint relaxed by :math:`M = 2H` (:math:`H` for the start of a stage against a level time) says nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.proof.order_lattice import Arc, OrderLattice, Vertex
from themis_opt.timing.cost import CostModel

if TYPE_CHECKING:
    import pulp

StageKey = tuple[int, Phase, int]
"""Chunk, phase, dimension."""


class JointProgram:
    """The MILP of an instance with its equal chunks.

    Parameters
    ----------
    instance
        The problem.
    horizon_ps
        The makespan of a known schedule, above 0.

    Attributes
    ----------
    problem
        The PuLP problem; its objective is the makespan as a part of the horizon.
    lattice
        The order lattice.
    arcs, starts
        :math:`x` by chunk and arc, :math:`s` by chunk, phase and dimension.
    """

    def __init__(self, instance: Instance, horizon_ps: int) -> None:
        import pulp

        self.instance = instance
        self.lattice = instance.derived(OrderLattice)
        self.problem = pulp.LpProblem("joint", pulp.LpMinimize)
        self._horizon = horizon_ps
        self._costs = instance.derived(CostModel)
        self._sizes = instance.equal_chunk_sizes()
        self._num_dims = len(instance.involved)
        self._makespan = self.problem.add_variable("makespan", 0, 1)
        self.problem += self._makespan
        self.arcs: dict[tuple[int, Arc], pulp.LpVariable] = {}
        self.starts: dict[StageKey, pulp.LpVariable] = {}
        self._levels: dict[tuple[int, int], pulp.LpVariable] = {}
        self._add_variables()
        self._add_orders()
        self._add_levels()
        self._add_disjunctions()
        self._add_makespan()
        self._add_loads()

    def hold(self, chunk: int, phase: Phase, dimension: int) -> pulp.LpAffineExpression:
        r"""Return the hold of a stage as a part of the horizon: :math:`Σ_V hold_{(V,k)}·x_{(V,k)}` (J2).

        Parameters
        ----------
        chunk, phase, dimension
            Which stage.
        """
        import pulp

        return pulp.lpSum(
            self._costs.hold_ps(self._costs.stage(self._sizes[chunk], *arc)) / self._horizon * self.arcs[chunk, arc]
            for arc in self.lattice.arcs[phase]
            if arc.dimension == dimension
        )

    def _add_variables(self) -> None:
        import pulp

        for c, phase in self._chunk_phases():
            for number, arc in enumerate(self.lattice.arcs[phase]):
                self.arcs[c, arc] = self.problem.add_variable(f"arc_{c}_{phase}_{number}", cat=pulp.LpBinary)
            for k in self.instance.involved:
                self.starts[c, phase, k] = self.problem.add_variable(f"start_{c}_{phase}_{k}", 0, 1)
        for c in range(len(self._sizes)):
            for level in range(len(self.instance.phases) * self._num_dims + 1):
                self._levels[c, level] = self.problem.add_variable(f"level_{c}_{level}", 0, 1)

    def _add_orders(self) -> None:
        """Require that each chunk's arcs in a phase are one path through the lattice (J1)."""
        import pulp

        for c, phase in self._chunk_phases():
            leaving: dict[Vertex, list[pulp.LpVariable]] = defaultdict(list)
            entering: dict[Vertex, list[pulp.LpVariable]] = defaultdict(list)
            for arc in self.lattice.arcs[phase]:
                leaving[arc.visited].append(self.arcs[c, arc])
                entering[arc.target].append(self.arcs[c, arc])
            for vertex, outgoing in leaving.items():
                self.problem += pulp.lpSum(outgoing) == (pulp.lpSum(entering[vertex]) if vertex else 1)

    def _add_levels(self) -> None:
        r"""Require that an arc of level :math:`i` runs between the ends of the stages before and after it.

        .. math::

            s ≥ t_i - H(1 - x_a), \qquad s + dur_a·x_a ≤ t_{i+1} + H(1 - x_a)                                 (J4m)
        """
        for c, phase in self._chunk_phases():
            offset = self.instance.phases.index(phase) * self._num_dims
            for arc in self.lattice.arcs[phase]:
                taken = self.arcs[c, arc]
                duration = self._costs.stage(self._sizes[c], *arc).duration_ps / self._horizon
                level = offset + len(arc.visited)
                start = self.starts[c, phase, arc.dimension]
                self.problem += start - self._levels[c, level] + (1 - taken) >= 0
                self.problem += start + duration * taken <= self._levels[c, level + 1] + (1 - taken)

    def _add_disjunctions(self) -> None:
        r"""Require of two stages of different chunks on a dimension that one is over before the other starts.

        .. math::

            s_j ≥ s_i + h_i - 2H(1 - y_{ij}), \qquad s_i ≥ s_j + h_j - 2H·y_{ij}                              (J3m)

        Two stages of one chunk need no variable: Reduce-Scatter is over before All-Gather starts.
        """
        import pulp

        for k in self.instance.involved:
            for (c, phase), (d, other) in combinations(list(self._chunk_phases()), 2):
                if c == d:
                    continue
                first = self.problem.add_variable(f"first_{k}_{c}_{phase}_{d}_{other}", cat=pulp.LpBinary)
                one, two = self.starts[c, phase, k], self.starts[d, other, k]
                self.problem += two - one - self.hold(c, phase, k) + 2 * (1 - first) >= 0
                self.problem += one - two - self.hold(d, other, k) + 2 * first >= 0

    def _add_makespan(self) -> None:
        """Require that the makespan covers every chunk (J5)."""
        last = len(self.instance.phases) * self._num_dims
        for c in range(len(self._sizes)):
            self.problem += self._makespan - self._levels[c, last] >= 0

    def _add_loads(self) -> None:
        """Require that the makespan covers what each dimension carries (J6)."""
        import pulp

        for k in self.instance.involved:
            load = pulp.lpSum(self.hold(c, phase, k) for c, phase in self._chunk_phases())
            latency = 0
            if self.instance.occupancy is Occupancy.PIPELINED:
                latency = min(self._costs.latency_ps(phase, k) for phase in self.instance.phases)
            self.problem += self._makespan - load >= latency / self._horizon

    def _chunk_phases(self) -> Iterator[tuple[int, Phase]]:
        for c in range(len(self._sizes)):
            for phase in self.instance.phases:
                yield c, phase
