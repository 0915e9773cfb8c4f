"""The solver ``auto``: the portfolio of search, sizing and exact models, for equal or free chunk sizes and counts."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from math import floor

from themis_models.auto.best import Best
from themis_models.auto.compiling import compile_search
from themis_models.auto.counts import search_counts
from themis_models.auto.equal import EqualSearch
from themis_models.auto.few import search_fixed_number
from themis_models.auto.free import FreeSearch
from themis_opt.bound import Bound, Sizing
from themis_opt.chunking import Chunking, make_chunking
from themis_opt.errors import SolverError
from themis_opt.instance import Instance
from themis_opt.schedules import Schedule, Status
from themis_opt.search.space import search_space
from themis_opt.solving.bounds import best_bound, quick_bounds
from themis_opt.solving.protocol import DEFAULT_GAP, Progress, SolverParams, SolverResult

MOST_BYTES = 2**53
"""From here on floating point has no place for every number of bytes."""

EXACT_MAX_CHUNKS = 8
"""The joint model has a chance of closing up to this many chunks."""

SEARCH_SHARE = 0.25
"""The part of the time limit that the search gets before the joint model, where that has a chance."""

SEARCH_MAX_S = 5.0
"""And at most so many seconds."""


PROVABLE = 3e-6
"""So near a bound that was lowered by a margin the search stops, for then no assignment may allow less."""

WORTH_PROVING = 1e-3
"""With a schedule this near its bound CP-SAT is asked whether any assignment allows less."""

MIN_PROOF_S, MAX_PROOF_S = 0.2, 2.0
"""How long it may take for that: a little even when the time limit is over."""


def prepare() -> None:
    """Compile what the portfolio runs; the solver's process does so before any time limit counts.

    OR-Tools, which takes as long to load as everything else together, loads while the search is already at work.
    """
    compile_search()
    threading.Thread(target=_load_exact_models, daemon=True).start()


def _load_exact_models() -> None:
    import themis_models.assignment_proof
    import themis_models.cp_sat.solver  # noqa: F401


def solve_auto(instance: Instance, params: SolverParams) -> SolverResult:
    """Portfolio: annealing, sizing program and CP-SAT, with chunk sizes and counts as asked for.

    Parameters
    ----------
    instance
        The problem.
    params
        Limits, workers, seed, known schedules and bound, and what may be chosen about the chunks.

    Returns
    -------
    SolverResult
        The best schedule, and the best bound for its number of chunks.

    Raises
    ------
    SolverError
        When the collective is too large.
    """
    if instance.size_bytes >= MOST_BYTES:
        raise SolverError("the search counts bytes in floating point, below 2^53")
    chunking = params.chunking or make_chunking(instance)
    deadline = time.monotonic() + params.time_limit_s
    if not chunking.has_fixed_count:
        best = _new_best(instance, chunking, 0, deadline, params)
        proven = search_counts(instance, chunking, best, params)
        return _result(best, _proven_number(instance, chunking, params, best, proven))
    bound = _known_bound(instance, chunking, params)
    best = _new_best(instance, chunking, floor(bound.value_ps * (1 + params.gap)), deadline, params)
    if chunking.sizing is Sizing.FREE:
        search = FreeSearch(search_space(instance), chunking.min_chunks, chunking, best, params.seed)
        return _result(best, search_fixed_number(instance, chunking, best, bound, search, params))
    return _solve_equal(instance, chunking, params, best, bound)


def _proven_number(
    instance: Instance, chunking: Chunking, params: SolverParams, best: Best, proven: dict[int, Bound]
) -> Bound | None:
    """Return the best bound for the number of chunks chosen; ``None`` when there is no schedule."""
    if best.schedule is None:
        return None
    num_chunks = best.schedule.num_chunks
    bound = proven.get(num_chunks) or best_bound(quick_bounds(instance, chunking.scope(num_chunks)))
    return _with_proof(replace(instance, num_chunks=num_chunks), params, best, bound)


def _solve_equal(
    instance: Instance, chunking: Chunking, params: SolverParams, best: Best, bound: Bound
) -> SolverResult:
    """Search; with few chunks then let the joint model prove or improve what was found.

    A proof of optimality is worth the seconds it takes there, so the default gap does not do without it.
    """
    counted = replace(instance, num_chunks=chunking.min_chunks)
    few = chunking.min_chunks <= EXACT_MAX_CHUNKS
    deadline = best.deadline
    if few:
        best.deadline = min(deadline, time.monotonic() + min(SEARCH_MAX_S, SEARCH_SHARE * params.time_limit_s))
    bound = _search_and_prove(counted, chunking, params, best, bound)
    best.deadline = deadline
    left_s = best.left_s
    is_enough = best.is_over if params.gap > DEFAULT_GAP else best.makespan_ps <= bound.value_ps
    if not few or is_enough or left_s <= 0:
        return _result(best, bound)
    from themis_models.cp_sat.solver import solve_cp_sat

    known = (best.schedule,) if best.schedule is not None else ()
    exact_params = replace(params, time_limit_s=left_s, hints=known + params.hints, bound=bound, chunking=None)
    exact = solve_cp_sat(counted, exact_params)
    if exact.schedule is not None:
        best.offer(exact.schedule, "cp-sat")
    stronger = bound if exact.bound is None else best_bound([bound, exact.bound])
    return _result(best, stronger, exact.note)


def _search_and_prove(counted: Instance, chunking: Chunking, params: SolverParams, best: Best, bound: Bound) -> Bound:
    """Search to within the margin of a floating-point bound, prove what is found, and search on if that fails."""
    search = EqualSearch(search_space(counted), best, _equal_hints(params, chunking), params.seed)
    wanted_ps = best.target_ps
    best.target_ps = max(wanted_ps, floor(bound.value_ps * (1 + PROVABLE)))
    search.run(params.num_workers)
    stronger = _with_proof(counted, params, best, bound)
    if stronger.value_ps < best.makespan_ps:
        best.target_ps = wanted_ps
        search.run(params.num_workers)
    return stronger


def _with_proof(counted: Instance, params: SolverParams, best: Best, bound: Bound) -> Bound:
    """Return the bound, or where one is found and worth looking for the proof that no assignment allows less."""
    from themis_models.assignment_proof import prove_by_assignment

    makespan_ps = None if best.schedule is None else best.schedule.makespan_ps
    if makespan_ps is None or not bound.value_ps < makespan_ps <= bound.value_ps * (1 + WORTH_PROVING):
        return bound
    time_limit_s = max(MIN_PROOF_S, min(MAX_PROOF_S, best.left_s))
    proof = prove_by_assignment(counted, bound.scope, makespan_ps, replace(params, time_limit_s=time_limit_s))
    return bound if proof is None else best_bound([bound, proof])


def _new_best(instance: Instance, chunking: Chunking, target_ps: int, deadline: float, params: SolverParams) -> Best:
    best = Best(instance, target_ps, deadline, params.on_progress)
    for hint in params.hints:
        if chunking.allows(instance, [chunk.size_bytes for chunk in hint.chunks]):
            best.offer(hint, "hint")
    return best


def _known_bound(instance: Instance, chunking: Chunking, params: SolverParams) -> Bound:
    """Return the best bound for the fixed number of chunks: the one given, or one that costs milliseconds."""
    scope = chunking.scope(chunking.min_chunks)
    quick = best_bound(quick_bounds(instance, scope))
    if params.bound is not None and params.bound.scope == scope:
        return best_bound([quick, params.bound])
    params.on_progress(Progress("bounds", None, quick))
    return quick


def _equal_hints(params: SolverParams, chunking: Chunking) -> list[Schedule]:
    return [hint for hint in params.hints if hint.num_chunks == chunking.min_chunks and hint.sizing is Sizing.EQUAL]


def _result(best: Best, bound: Bound | None, note: str = "") -> SolverResult:
    schedule = best.schedule
    if schedule is None:
        return SolverResult(Status.FEASIBLE, None, bound, note)
    proven = bound is not None and bound.value_ps == schedule.makespan_ps
    return SolverResult(Status.OPTIMAL if proven else Status.FEASIBLE, schedule, bound, note)
