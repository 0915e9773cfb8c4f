"""The solver ``milp``: the joint problem through PuLP and HiGHS, for small sizes."""

from __future__ import annotations

import time
from math import ceil

from themis_models.evaluation_limits import num_nodes
from themis_models.highs import HighsOptions, HighsResult, HighsStatus, solve_with_highs
from themis_models.hints import best_hint
from themis_models.milp.milp_model import JointProgram
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Schedule, Slot, Status
from themis_opt.solving.protocol import SolverParams, SolverResult
from themis_opt.solving.result import CLOSE_S, Ending
from themis_opt.timing.sequencing import timeline_of

MAX_DISJUNCTIONS = 400
"""Pairs of stages beyond which the big-M formulation is hopeless."""

MAX_ARCS = 1000
"""Arcs beyond which HiGHS does not look at its clock in time."""

TOLERANCE = 1e-9
"""By how much HiGHS may violate a row or a binary."""

MARGIN_PER_STAGE = 5 * TOLERANCE
"""What HiGHS's bound is lowered by, per stage and relative to the horizon.

The makespan is the length of a path of stages. Each adds its disjunction, off by one tolerance for the row, one for the
hold's binaries and two for a binary times 2H (4 together), or its two rows against level times, off by one each, one
for the duration's binary and one each for a binary times H (5 together).
"""


def solve_milp(instance: Instance, params: SolverParams) -> SolverResult:
    """Joint choice of orders and sequences as a MILP (PuLP with HiGHS), for small sizes.

    Parameters
    ----------
    instance
        The problem; its equal chunks are scheduled.
    params
        Limits, workers, seed and known schedules.

    Returns
    -------
    SolverResult
        The best schedule found or hinted, and HiGHS's bound less a margin for its tolerances. Above
        `MAX_DISJUNCTIONS` pairs of stages or `MAX_ARCS` arcs, the best hint with a note.

    Raises
    ------
    InputError
        When free sizes or a free number of chunks are asked for.
    """
    deadline = time.monotonic() + params.time_limit_s
    params.require_plain_chunks("milp")
    best = best_hint(instance, params)
    horizon_ps = best.makespan_ps or 0
    for count, most, what in (
        (_num_disjunctions(instance), MAX_DISJUNCTIONS, "pairs of stages"),
        (_num_arcs(instance), MAX_ARCS, "arcs"),
    ):
        if count > most:
            note = f"{count} {what} are too many for milp ({most}); returned the best heuristic"
            return SolverResult(Status.FEASIBLE, best, None, note)
    if horizon_ps == 0:
        return SolverResult(Status.OPTIMAL, best, _bound(instance, 0), ending=Ending.PROOF)
    program = JointProgram(instance, horizon_ps)
    left_s = max(0.01, deadline - time.monotonic())
    max_nodes = num_nodes(params.max_evaluations)
    options = HighsOptions(left_s, params.num_workers, params.seed, TOLERANCE, max_nodes)
    result = solve_with_highs(program.problem, options)
    is_in_time = max_nodes is not None and time.monotonic() < deadline - CLOSE_S
    ending = Ending.EVALUATIONS if is_in_time else Ending.TIME
    if result.values:
        found = _read_schedule(program, result)
        if (found.makespan_ps or 0) < horizon_ps:
            best = found
    if result.best_bound is None:
        return SolverResult(Status.FEASIBLE, best, None, ending=ending)
    # The optimum is a whole number of picoseconds, so what is left after the margin is rounded up.
    margin = MARGIN_PER_STAGE * len(program.starts)
    value_ps = max(0, ceil((result.best_bound - margin) * horizon_ps))
    bound = _bound(instance, value_ps)
    if value_ps >= (best.makespan_ps or 0):
        return SolverResult(Status.OPTIMAL, best, bound, ending=Ending.PROOF)
    if result.status is HighsStatus.OPTIMAL:
        ending = Ending.GAP  # what is left is the margin of a bound in floating point
    return SolverResult(Status.FEASIBLE, best, bound, ending=ending)


def _read_schedule(program: JointProgram, result: HighsResult) -> Schedule:
    """Return the schedule of a solution, with its simulated makespan.

    Stages are put in sequence by the middle of their hold, which a tolerance does not disturb, then by their place in
    the chunk's path. Where stages take no time, a tolerance may put a middle before that of an earlier stage of the
    chunk; the later of the two counts, so that the sequences cannot deadlock.
    """
    instance = program.instance
    values = result.values
    chunks = []
    keyed = []
    for c, size in enumerate(instance.equal_chunk_sizes()):
        path = []
        for phase in instance.phases:
            taken = [arc for arc in program.lattice.arcs[phase] if values[program.arcs[c, arc].name] > 0.5]
            path += [(phase, k) for k in program.lattice.order(taken)]
        latest = 0.0
        for position, (phase, k) in enumerate(path):
            middle = values[program.starts[c, phase, k].name] + program.hold(c, phase, k).value() / 2
            latest = max(latest, middle)
            keyed.append((latest, position, c, phase, k))
        chunks.append(Chunk.along(size, path))
    sequences: list[list[Slot]] = [[] for _ in instance.network.dimensions]
    for *_, c, phase, k in sorted(keyed):
        sequences[k].append(Slot(c, phase))
    schedule = Schedule(instance, tuple(chunks), tuple(tuple(sequence) for sequence in sequences), scheduler="milp")
    return schedule.replace(makespan_ps=schedule.derived(timeline_of).makespan_ps)


def _bound(instance: Instance, value_ps: int) -> Bound:
    return Bound(value_ps, BoundKind.JOINT_MILP, BoundScope(Sizing.EQUAL, instance.num_chunks, instance.num_chunks))


def _num_disjunctions(instance: Instance) -> int:
    """Return the pairs of stages of different chunks on one dimension, over all dimensions."""
    pairs_of_chunks = instance.num_chunks * (instance.num_chunks - 1) // 2
    return len(instance.involved) * pairs_of_chunks * len(instance.phases) ** 2


def _num_arcs(instance: Instance) -> int:
    """Return the binaries for orders: one for each chunk, phase and arc of the lattice."""
    num_dims = len(instance.involved)
    arcs = num_dims * 2 ** (num_dims - 1) if instance.collective.has_free_orders else num_dims
    return instance.num_chunks * len(instance.phases) * arcs
