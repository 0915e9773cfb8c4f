r"""The joint model: which order each chunk takes in each phase, and when each of its stages starts.

Symbols: chunk :math:`c`, phase :math:`p`, arc :math:`a = (V,k)` of the order lattice; :math:`x_{c,p,a} ∈ \{0,1\}` says
that the chunk takes the arc, :math:`s_{c,p,k}` is when its stage on dimension :math:`k` starts, :math:`t_{c,i}` when
:math:`i` of its stages are over. :math:`dur` and :math:`hold` are the integers of the cost model, so that on dimension
:math:`k` a stage takes :math:`Σ_{a=(V,k)} dur_a·x_a`. All times lie between 0 and the horizon: the makespan of a
schedule that is already known, since a longer one is of no use.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ortools.sat.python import cp_model

from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.proof.order_lattice import Arc, OrderLattice, Vertex
from themis_opt.timing.cost import CostModel, StageCost

StageKey = tuple[int, Phase, int]
"""Chunk, phase, dimension."""


class JointModel:
    """The CP-SAT model of an instance with its equal chunks.

    Parameters
    ----------
    instance
        The problem.
    horizon_ps
        The makespan of a known schedule.
    lower_bound_ps
        A proven lower bound.

    Attributes
    ----------
    model
        The CP-SAT model.
    arcs
        :math:`x`, by chunk and arc.
    starts, holds
        :math:`s` and the hold, by chunk, phase and dimension.
    levels
        :math:`t`, by chunk and number of stages that are over.
    makespan
        The objective.
    lattice
        The order lattice its arcs are of.
    """

    def __init__(self, instance: Instance, horizon_ps: int, lower_bound_ps: int = 0) -> None:
        self.instance = instance
        self.model = cp_model.CpModel()
        self._horizon = horizon_ps
        self._costs = instance.derived(CostModel)
        self.lattice = instance.derived(OrderLattice)
        self._sizes = instance.equal_chunk_sizes()
        self._num_dims = len(instance.involved)
        self.arcs: dict[tuple[int, Arc], cp_model.IntVar] = {}
        self.starts: dict[StageKey, cp_model.IntVar] = {}
        self.holds: dict[StageKey, cp_model.IntVar] = {}
        self.levels: dict[tuple[int, int], cp_model.IntVar] = {}
        self.makespan = self.model.new_int_var(min(lower_bound_ps, horizon_ps), horizon_ps, "makespan")
        self._add_variables()
        self._add_constraints()
        self.model.minimize(self.makespan)

    def stage_cost(self, chunk: int, arc: Arc) -> StageCost:
        """Return what the stage of a chunk on an arc costs."""
        return self._costs.stage(self._sizes[chunk], *arc)

    def _add_variables(self) -> None:
        for c in range(len(self._sizes)):
            for level in range(len(self.instance.phases) * self._num_dims + 1):
                self.levels[c, level] = self.model.new_int_var(0, self._horizon, f"level_{c}_{level}")
            for phase in self.instance.phases:
                for arc in self.lattice.arcs[phase]:
                    self.arcs[c, arc] = self.model.new_bool_var(
                        f"arc_{c}_{phase}_{sorted(arc.visited)}_{arc.dimension}"
                    )
                for k in self.instance.involved:
                    holds = [self._hold_of(c, arc) for arc in self._arcs_on(phase, k)]
                    self.starts[c, phase, k] = self.model.new_int_var(0, self._horizon, f"start_{c}_{phase}_{k}")
                    self.holds[c, phase, k] = self.model.new_int_var(min(holds), max(holds), f"hold_{c}_{phase}_{k}")

    def _add_constraints(self) -> None:
        """State the problem; everything from `_add_loads` on only helps the proof."""
        self._add_orders()
        self._add_holds()
        self._add_no_overlap()
        self._add_levels()
        self._add_makespan()
        self._add_loads()
        self._add_detours()
        self._add_heads_and_tails()
        self._add_chunk_symmetry()
        self._add_time_symmetry()

    def _add_orders(self) -> None:
        r"""Require that each chunk's arcs in a phase are one path through the lattice, once over each dimension.

        .. math::

            Σ_{k} x_{(∅,k)} = 1, \qquad Σ_{k∈V} x_{(V∖k,k)} = Σ_{k∉V} x_{(V,k)}, \qquad Σ_V x_{(V,k)} = 1       (J1)
        """
        for c, phase in self._chunk_phases():
            leaving: dict[Vertex, list[cp_model.IntVar]] = {}
            entering: dict[Vertex, list[cp_model.IntVar]] = {}
            for arc in self.lattice.arcs[phase]:
                leaving.setdefault(arc.visited, []).append(self.arcs[c, arc])
                entering.setdefault(arc.target, []).append(self.arcs[c, arc])
            for vertex, outgoing in leaving.items():
                if vertex:
                    self.model.add(sum(outgoing) == sum(entering[vertex]))
                else:
                    self.model.add_exactly_one(outgoing)
            for k in self.instance.involved:
                self.model.add_exactly_one(self.arcs[c, arc] for arc in self._arcs_on(phase, k))

    def _add_holds(self) -> None:
        r"""Require that a stage's hold is that of its arc: :math:`h_{c,p,k} = Σ_V hold_{(V,k)}·x_{(V,k)}` (J2)."""
        for c, phase in self._chunk_phases():
            for k in self.instance.involved:
                self.model.add(self.holds[c, phase, k] == self._hold_taken(c, phase, k))

    def _add_no_overlap(self) -> None:
        r"""Require that a dimension serves one stage at a time: intervals :math:`[s, s + h)` are disjoint (J3)."""
        for k in self.instance.involved:
            intervals = []
            for c, phase in self._chunk_phases():
                start, hold = self.starts[c, phase, k], self.holds[c, phase, k]
                end = self.model.new_int_var(0, self._horizon, f"free_{c}_{phase}_{k}")
                intervals.append(self.model.new_interval_var(start, hold, end, f"interval_{c}_{phase}_{k}"))
            self.model.add_no_overlap(intervals)

    def _add_levels(self) -> None:
        r"""Require that an arc of level :math:`i` runs between the ends of the stages before and after it.

        .. math::

            x_a = 1, |V| = i ⟹ t_{c,i} ≤ s_{c,p,k}, \; s_{c,p,k} + dur_a ≤ t_{c,i+1}; \qquad
            t_{c,i+1} - t_{c,i} ≥ Σ_{|V|=i} dur_a·x_a                                                           (J4)
        """
        for c, phase in self._chunk_phases():
            offset = self._offset(phase)
            spans: dict[int, list[cp_model.LinearExpr]] = {}
            for arc in self.lattice.arcs[phase]:
                taken = self.arcs[c, arc]
                duration = self._duration_of(c, arc)
                level = offset + len(arc.visited)
                start = self.starts[c, phase, arc.dimension]
                self.model.add(start >= self.levels[c, level]).only_enforce_if(taken)
                self.model.add(start + duration <= self.levels[c, level + 1]).only_enforce_if(taken)
                spans.setdefault(level, []).append(duration * taken)
            for level, terms in spans.items():
                self.model.add(self.levels[c, level + 1] - self.levels[c, level] >= sum(terms))

    def _add_makespan(self) -> None:
        r"""Require that the makespan covers every chunk: :math:`T ≥ t_{c,last}` (J5)."""
        last = len(self.instance.phases) * self._num_dims
        for c in range(len(self._sizes)):
            self.model.add(self.levels[c, last] <= self.makespan)

    def _add_loads(self) -> None:
        r"""Require that the makespan covers what each dimension carries: :math:`T ≥ Σ h_{c,p,k} + λ_k` (J6)."""
        for k in self.instance.involved:
            load = sum(self.holds[c, phase, k] for c, phase in self._chunk_phases())
            self.model.add(load + self._latency_after(k) <= self.makespan)

    def _add_detours(self) -> None:
        r"""Require that a stage leaves time for the fastest way through the dimensions before and after it.

        .. math::

            s_{c,p,k} ≥ t_{c,0(p)} + Σ_V from(V)·x_{(V,k)}, \qquad
            s_{c,p,k} + Σ_V (dur + to(V∪k))·x_{(V,k)} ≤ t_{c,D(p)}                                              (J7)

        with :math:`from(V)` and :math:`to(V)` the shortest paths from ∅ to V and from V to the full set.
        """
        for c, phase in self._chunk_phases():
            before, after = self._fastest_ways(c, phase)
            offset = self._offset(phase)
            for k in self.instance.involved:
                start = self.starts[c, phase, k]
                arrival = sum(before[arc.visited] * self.arcs[c, arc] for arc in self._arcs_on(phase, k))
                departure = sum(
                    (self._duration_of(c, arc) + after[arc.target]) * self.arcs[c, arc]
                    for arc in self._arcs_on(phase, k)
                )
                self.model.add(start >= self.levels[c, offset] + arrival)
                self.model.add(start + departure <= self.levels[c, offset + self._num_dims])

    def _add_heads_and_tails(self) -> None:
        r"""Require that a dimension's load fits between its first start and its last release.

        A dimension on which no chunk starts cannot begin before the fastest first stage elsewhere is over; one on which
        no chunk ends must leave time for the fastest last stage elsewhere.

        .. math::

            head_k ≥ (1 - u_k) \min_{j≠k} first_j, \quad head_k + Σ h_{c,p,k} ≤ tail_k, \quad
            tail_k + λ_k + (1 - v_k) \min_{j≠k} last_j ≤ T                                                      (J8)
        """
        if self._num_dims < 2 or not self.instance.collective.has_free_orders:
            return
        first_phase, last_phase = self.instance.phases[0], self.instance.phases[-1]
        firsts, lasts = self._first_arcs(), self._last_arcs()
        chunks = range(len(self._sizes))
        for k in self.instance.involved:
            head = self.model.new_int_var(0, self._horizon, f"head_{k}")
            tail = self.model.new_int_var(0, self._horizon, f"tail_{k}")
            for c in chunks:
                self.model.add(head <= self.starts[c, first_phase, k])
                self.model.add(self.starts[c, last_phase, k] + self.holds[c, last_phase, k] <= tail)
            load = sum(self.holds[c, phase, k] for c, phase in self._chunk_phases())
            self.model.add(tail - head >= load)
            starts_here = self._any([self.arcs[c, arc] for c in chunks for arc in firsts if arc.dimension == k])
            ends_here = self._any([self.arcs[c, arc] for c in chunks for arc in lasts if arc.dimension == k])
            fastest_first = min(self._duration_of(c, arc) for c in chunks for arc in firsts if arc.dimension != k)
            fastest_last = min(self._duration_of(c, arc) for c in chunks for arc in lasts if arc.dimension != k)
            self.model.add(head >= fastest_first - fastest_first * starts_here)
            # Where chunks go on after k they have left it one latency after it is free.
            self.model.add(tail + self._latency_after(k) + fastest_last - fastest_last * ends_here <= self.makespan)

    def _add_chunk_symmetry(self) -> None:
        r"""Require that chunks of the same size stand in the order of their first dimension, then of their start on it.

        .. math::

            Σ_k k·x_{c,(∅,k)} ≤ Σ_k k·x_{c+1,(∅,k)}, \qquad
            x_{c,(∅,k)} = x_{c+1,(∅,k)} = 1 ⟹ s_{c,k} ≤ s_{c+1,k}                                               (J9)
        """
        phase = self.instance.phases[0]
        for c in range(len(self._sizes) - 1):
            if self._sizes[c] == self._sizes[c + 1]:
                self.model.add(self._first_dimension(c) <= self._first_dimension(c + 1))
                for arc in self._first_arcs():
                    start, next_start = (self.starts[chunk, phase, arc.dimension] for chunk in (c, c + 1))
                    both = (self.arcs[c, arc], self.arcs[c + 1, arc])
                    self.model.add(start <= next_start).only_enforce_if(*both)

    def _add_time_symmetry(self) -> None:
        r"""Require, of a schedule and the same one read backwards, the one whose chunks start on later dimensions.

        .. math::

            Σ_c Σ_k k·x_{c,(∅,k)} ≥ Σ_c Σ_k k·x_{c,(all∖k,k)}                                                  (J10)
        """
        if self.is_reversible:
            chunks = range(len(self._sizes))
            starts = sum(self._first_dimension(c) for c in chunks)
            self.model.add(
                starts >= sum(arc.dimension * self.arcs[c, arc] for c in chunks for arc in self._last_arcs())
            )

    @cached_property
    def is_reversible(self) -> bool:
        """Whether a schedule read backwards is one as well: both phases, and each stage as long as its mirror image."""
        if self.instance.collective is not Collective.ALL_REDUCE:
            return False
        everything = frozenset(self.instance.involved)
        return all(
            self.stage_cost(c, arc)[1:]
            == self.stage_cost(c, Arc(Phase.ALL_GATHER, everything - arc.target, arc.dimension))[1:]
            for c in {len(self._sizes) - 1, 0}
            for arc in self.lattice.arcs[Phase.REDUCE_SCATTER]
        )

    def _first_dimension(self, chunk: int) -> cp_model.LinearExpr:
        return sum(arc.dimension * self.arcs[chunk, arc] for arc in self._first_arcs())  # type: ignore[return-value]

    def _first_arcs(self) -> list[Arc]:
        """Return the arcs on which a chunk can start."""
        return [arc for arc in self.lattice.arcs[self.instance.phases[0]] if not arc.visited]

    def _last_arcs(self) -> list[Arc]:
        """Return the arcs on which a chunk can end."""
        return [arc for arc in self.lattice.arcs[self.instance.phases[-1]] if len(arc.visited) == self._num_dims - 1]

    def _any(self, literals: list[cp_model.IntVar]) -> cp_model.IntVar:
        """Return a Boolean that is true exactly when one of the literals is."""
        result = self.model.new_bool_var("")
        self.model.add_max_equality(result, literals)
        return result

    def _fastest_ways(self, chunk: int, phase: Phase) -> tuple[dict[Vertex, int], dict[Vertex, int]]:
        """Return the shortest times from the empty set to each vertex, and from each vertex to the full set."""
        arcs = self.lattice.arcs[phase]
        before: dict[Vertex, int] = {frozenset(): 0}
        after: dict[Vertex, int] = {frozenset(self.instance.involved): 0}
        for arc in arcs:
            time_ps = before[arc.visited] + self._duration_of(chunk, arc)
            before[arc.target] = min(time_ps, before.get(arc.target, time_ps))
        for arc in reversed(arcs):
            time_ps = after[arc.target] + self._duration_of(chunk, arc)
            after[arc.visited] = min(time_ps, after.get(arc.visited, time_ps))
        return before, after

    def _latency_after(self, dimension: int) -> int:
        """Return the least time from the release of a dimension until its chunk is there."""
        if self.instance.occupancy is Occupancy.EXCLUSIVE:
            return 0
        return min(self._costs.latency_ps(phase, dimension) for phase in self.instance.phases)

    def _duration_of(self, chunk: int, arc: Arc) -> int:
        """Return an arc's duration, cut to just beyond the horizon: no more is needed to rule the arc out.

        Sums over arcs then stay within CP-SAT's integers.
        """
        return min(self.stage_cost(chunk, arc).duration_ps, self._horizon + 1)

    def _hold_of(self, chunk: int, arc: Arc) -> int:
        return min(self._costs.hold_ps(self.stage_cost(chunk, arc)), self._horizon + 1)

    def _hold_taken(self, chunk: int, phase: Phase, dimension: int) -> cp_model.LinearExpr:
        arcs = self._arcs_on(phase, dimension)
        return sum(self._hold_of(chunk, arc) * self.arcs[chunk, arc] for arc in arcs)  # type: ignore[return-value]

    def _arcs_on(self, phase: Phase, dimension: int) -> list[Arc]:
        return [arc for arc in self.lattice.arcs[phase] if arc.dimension == dimension]

    def _chunk_phases(self) -> Iterator[tuple[int, Phase]]:
        for c in range(len(self._sizes)):
            for phase in self.instance.phases:
                yield c, phase

    def _offset(self, phase: Phase) -> int:
        """Return the level at which a phase begins."""
        return self.instance.phases.index(phase) * self._num_dims
