r"""That no assignment of equal chunks to orders is better than a schedule found: (A1) in integers, by CP-SAT.

The assignment bound (`themis_models.assignment`) comes from a solver that calculates in floating point, so a margin is
taken off, and a schedule that meets it seems a millionth too long. Here the question is asked the other way round: is
there a flow of whole chunks for which (A1) holds with one picosecond less than the makespan of a schedule at hand?

.. math::

    head_k·(1-u_k) + load_k + [pipelined] \min_{phase} λ_k + tail_k·(1-v_k) ≤ makespan - 1                     (A4)

with (A2), (A3) and (F2). All numbers are whole, CP-SAT calculates with whole numbers, and where it finds that there is
none, the makespan is a lower bound itself: the schedule is optimal. Most such questions take milliseconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ortools.sat.python import cp_model

from themis_models.assignment_terms import AssignmentTerms
from themis_models.evaluation_limits import deterministic_s
from themis_models.order_flow import mirrored
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.instance import Instance
from themis_opt.proof.order_lattice import Arc, Vertex
from themis_opt.solving.protocol import SolverParams

MOST_LOAD = 2**50
"""What chunks times makespan [ps] may come to, so that all sums stay far below 2^63."""

Variables = Mapping[Arc, cp_model.IntVar]


def prove_by_assignment(instance: Instance, scope: BoundScope, makespan_ps: int, params: SolverParams) -> Bound | None:
    """Return `makespan_ps` as a bound, if no assignment allows less (A4).

    Parameters
    ----------
    instance
        The problem; its own number of chunks does not matter, the scope's does.
    scope
        Sizing and number of chunks.
    makespan_ps
        The makespan of a schedule.
    params
        Limits, number of workers and seed.

    Returns
    -------
    Bound | None
        ``None`` when there is an assignment that allows less, when time runs out, and for chunks of any size or a
        range of numbers.
    """
    if scope.sizes is not Sizing.EQUAL or scope.min_chunks != scope.max_chunks or makespan_ps < 1:
        return None
    if makespan_ps * scope.max_chunks >= MOST_LOAD:
        return None
    model = _assignment_model(instance, scope.min_chunks, makespan_ps - 1)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = params.time_limit_s
    if params.max_evaluations is not None:
        solver.parameters.max_deterministic_time = deterministic_s(params.max_evaluations)
    solver.parameters.num_workers = params.num_workers
    solver.parameters.random_seed = params.seed % 2**31
    if solver.solve(model) != cp_model.INFEASIBLE:
        return None
    return Bound(makespan_ps, BoundKind.ASSIGNMENT_EXACT, scope)


def _assignment_model(instance: Instance, num_chunks: int, most_ps: int) -> cp_model.CpModel:
    """Return (A4) with `most_ps` for its right side."""
    terms = AssignmentTerms(instance, num_chunks)
    # No assignment that fits has a stage longer than `most_ps`, so that is where a weight may end, and so for the rest.
    holds = {arc: min(terms.hold_ps(arc), most_ps + 1) for arc in terms.arcs}
    phases = instance.phases
    is_folded = len(phases) == 2 and all(holds[arc] == holds[mirrored(instance, arc)] for arc in holds)
    amount = num_chunks * (2 if is_folded else 1)
    model = cp_model.CpModel()
    flow: dict[Arc, cp_model.IntVar] = {}
    for phase in phases[:1] if is_folded else phases:
        for arc in terms.lattice.arcs[phase]:
            flow[arc] = model.new_int_var(0, amount, f"flow_{len(flow)}")
        _conserve(model, {arc: flow[arc] for arc in terms.lattice.arcs[phase]}, amount)

    def on(arc: Arc) -> cp_model.IntVar:
        return flow[arc] if arc in flow else flow[mirrored(instance, arc)]

    starts = {k: model.new_bool_var(f"starts_{k}") for k in terms.first_arcs}
    ends = {k: model.new_bool_var(f"ends_{k}") for k in terms.last_arcs}
    for switches, arcs in ((starts, terms.first_arcs), (ends, terms.last_arcs)):
        for k, switch in switches.items():
            model.add(switch <= on(arcs[k]))
    if is_folded:
        for k, arc in terms.first_arcs.items():
            model.add(starts[k] + ends[k] <= on(arc))
    for k in instance.involved:
        load = sum(holds[arc] * variable for arc, variable in flow.items() if arc.dimension == k)
        head, tail, latency = (
            min(term, most_ps + 1) for term in (terms.heads.get(k, 0), terms.tails.get(k, 0), terms.latency_ps(k))
        )
        idle = head * (1 - starts.get(k, 0)) + tail * (1 - ends.get(k, 0))
        model.add(load + idle + latency <= most_ps)
    return model


def _conserve(model: cp_model.CpModel, flow: Variables, amount: int) -> None:
    """Require (F2) of one phase's flow."""
    leaving: dict[Vertex, list[cp_model.IntVar]] = defaultdict(list)
    entering: dict[Vertex, list[cp_model.IntVar]] = defaultdict(list)
    for arc, variable in flow.items():
        leaving[arc.visited].append(variable)
        entering[arc.target].append(variable)
    for vertex, variables in leaving.items():
        model.add(sum(variables) == (sum(entering[vertex]) if vertex else amount))
