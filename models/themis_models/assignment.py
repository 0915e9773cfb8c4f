r"""The assignment bound: whole chunks on orders, and the idle time that orders force upon a dimension.

It is the fluid bound (`fluid`) with two refinements. Each order is taken by a whole number of chunks, so the flow
:math:`f` is integer. And a dimension may have to wait for its first stage, or be through with its last one early:

*Head.* If no chunk's first stage is on :math:`k`, nothing starts there before some chunk has been through at least one
stage elsewhere. :math:`head_k` is the shortest time in which a chunk can reach a stage on :math:`k` that is not its
first.

*Tail.* If no chunk's last stage is on :math:`k`, the chunk that leaves :math:`k` last still has at least one stage
elsewhere to go. :math:`tail_k` is the shortest time from the end of a stage on :math:`k` that is not its chunk's last.

Head, load and tail of a dimension do not overlap: all its holds lie after the head, one after another, and the tail
begins when the last of them is over and (pipelined) its latency has passed, too. So with :math:`u_k = 1` only if a
chunk starts on :math:`k` and :math:`v_k = 1` only if one ends there,

.. math::

    T ≥ head_k·(1-u_k) + load_k + [pipelined] \min_{phase} λ_k + tail_k·(1-v_k)                              (A1)

A chunk's first visit to a dimension lies in the first phase and its last visit in the last phase; so heads are times
through the first phase and tails times through the last one. All times are those of chunks of :math:`⌊S/C⌋` bytes: a
chunk of one byte more never takes less.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

import highspy  # noqa: F401 - here, so that a solver process loads it before its clock starts
import pulp

from themis_models.assignment_terms import AssignmentTerms
from themis_models.evaluation_limits import num_nodes
from themis_models.highs import HighsOptions, solve_with_highs
from themis_models.order_flow import OrderFlow
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.instance import Instance
from themis_opt.proof.order_lattice import Arc
from themis_opt.solving.protocol import SolverParams

MARGIN = 1e-6
"""What is taken off the solver's bound, relative to it; and as many picoseconds.

HiGHS calls a reduced cost, a row or an integer right when it is wrong by at most its tolerance, 1e-9 in units of one
chunk's share of the makespan. Each of some hundred arcs may move the bound by that much per chunk, which makes 1e-7 of
the makespan; ten times as much covers it.
"""


def assignment_bound(instance: Instance, scope: BoundScope, params: SolverParams) -> Bound | None:
    """Return the assignment bound (A1) of `instance` for one number of equal chunks.

    Parameters
    ----------
    instance
        The problem; its own number of chunks does not matter, the scope's does.
    scope
        Sizing and number of chunks.
    params
        Limits, number of threads and seed.

    Returns
    -------
    Bound | None
        The solver's bound less `MARGIN`: floating point, hence without a certificate. ``None`` for chunks of any
        size, for a range of numbers, and when nothing was proven in time.

    Raises
    ------
    SolverError
        When HiGHS fails.
    """
    if scope.sizes is not Sizing.EQUAL or scope.min_chunks != scope.max_chunks:
        return None
    proven_ps = _AssignmentProgram(instance, scope.min_chunks).proven_ps(params)
    value_ps = ceil(proven_ps * (1 - MARGIN) - MARGIN)  # upwards: a makespan is a whole number of picoseconds
    return Bound(value_ps, BoundKind.ASSIGNMENT, scope) if value_ps > 0 else None


class _AssignmentProgram:
    """The integer program (A1) for exactly `num_chunks` equal chunks."""

    def __init__(self, instance: Instance, num_chunks: int) -> None:
        self._instance = instance
        self._num_chunks = num_chunks
        self._terms = AssignmentTerms(instance, num_chunks)
        self._unit_ps = self._attainable_ps() / num_chunks or 1.0
        self._problem = pulp.LpProblem("assignment", pulp.LpMinimize)
        self._flow = OrderFlow(self._problem, self._terms.lattice, num_chunks, self._weights(), integer=True)
        self._starts = self._add_switches("starts", self._terms.first_arcs)
        self._ends = self._add_switches("ends", self._terms.last_arcs)
        self._add_shared_arcs()
        self._add_makespan()

    def proven_ps(self, params: SolverParams) -> float:
        """Return the bound on (A1) that the solver proves in time, in picoseconds; 0 when it proves none."""
        max_nodes = num_nodes(params.max_evaluations)
        options = HighsOptions(params.time_limit_s, params.num_workers, params.seed, max_nodes=max_nodes)
        best_bound = solve_with_highs(self._problem, options).best_bound
        return 0.0 if best_bound is None else best_bound * self._unit_ps

    def _add_switches(self, name: str, arcs: Mapping[int, Arc]) -> Mapping[int, pulp.LpVariable]:
        r"""Let chunks start (end) on a dimension only if there is flow on its first (last) arc.

        .. math::

            u_k ≤ f(∅,k), \qquad v_k ≤ f(all∖k,k)                                                            (A2)
        """
        switches = {k: self._problem.add_variable(f"{name}_{k}", cat=pulp.LpBinary) for k in arcs}
        for k, switch in switches.items():
            self._problem += switch <= self._flow.on(arcs[k])
        return switches

    def _add_shared_arcs(self) -> None:
        r"""Let a unit of flow count as a start or as an end, not as both, where the two phases are folded into one.

        .. math::

            u_k + v_k ≤ f(∅,k) \quad \text{(folded)}                                                         (A3)

        Heads equal tails then, so which of the units are starts and which are ends makes no difference.
        """
        if self._flow.is_folded:
            for k, arc in self._terms.first_arcs.items():
                self._problem += self._starts[k] + self._ends[k] <= self._flow.on(arc)

    def _add_makespan(self) -> None:
        """Require of the makespan at least head, load, latency and tail of each dimension (A1)."""
        makespan = self._problem.add_variable("makespan")
        self._problem += makespan
        for k in self._instance.involved:
            head = self._terms.heads.get(k, 0) / self._unit_ps * (1 - self._starts.get(k, 0))
            tail = self._terms.tails.get(k, 0) / self._unit_ps * (1 - self._ends.get(k, 0))
            self._problem += makespan >= head + self._flow.load(k) + self._terms.latency_ps(k) / self._unit_ps + tail

    def _weights(self) -> Mapping[Arc, float]:
        """Return the holds in units of one chunk's share of an attainable makespan.

        A stage that alone takes longer than that makespan is in no best assignment, so its weight may end there: this
        keeps the coefficients in proportion, and smaller weights never make a bound false.
        """
        most_ps = self._unit_ps * self._num_chunks
        return {arc: min(self._terms.hold_ps(arc), most_ps) / self._unit_ps for arc in self._terms.arcs}

    def _attainable_ps(self) -> int:
        """Return what (A1) demands at most when all chunks go by the orders of least hold."""
        loads = dict.fromkeys(self._instance.involved, 0)
        for phase in self._instance.phases:
            for arc in self._terms.lattice.path(
                phase, self._terms.lattice.cheapest_order(phase, self._terms.hold_ps)[1]
            ):
                loads[arc.dimension] += self._num_chunks * self._terms.hold_ps(arc)
        return max(
            self._terms.heads.get(k, 0) + load + self._terms.latency_ps(k) + self._terms.tails.get(k, 0)
            for k, load in loads.items()
        )
