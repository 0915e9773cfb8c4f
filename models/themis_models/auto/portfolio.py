"""The solver ``auto``: the portfolio of search, sizing and exact models, for equal or free chunk sizes and counts."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from math import floor

from themis_models.auto.best import Best
from themis_models.auto.compiling import compile_search
from themis_models.auto.counts import search_counts
from themis_models.auto.equal import EqualSearch
from themis_models.auto.evaluations import Evaluations
from themis_models.auto.few import search_fixed_number
from themis_models.auto.free import FreeSearch
from themis_models.evaluation_limits import EVALUATIONS_PER_S
from themis_models.search.space import search_space
from themis_opt.problem.bound import Bound, Sizing
from themis_opt.problem.chunking import Chunking, make_chunking
from themis_opt.problem.errors import SolverError
from themis_opt.problem.instance import Instance
from themis_opt.problem.parameters import DEFAULT_GAP
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.solving.bounds import best_bound, quick_bounds
from themis_opt.solving.protocol import Progress, SolverParams, SolverResult
from themis_opt.solving.result import CLOSE_S, Ending

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
    import themis_models.cp_sat.cp_sat_solver  # noqa: F401


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
        ending = _stopped_by(best)
        bound = _proven_number(instance, chunking, params, best, proven)
        return _result(best, bound, ending, is_for_all=_is_proven_for_all(chunking, best, proven))
    bound = _known_bound(instance, chunking, params)
    best = _new_best(instance, chunking, floor(bound.value_ps * (1 + params.gap)), deadline, params)
    if chunking.sizing is Sizing.FREE:
        search = FreeSearch(search_space(instance), chunking.min_chunks, chunking, best, params.seed)
        bound = search_fixed_number(instance, chunking, best, bound, search, params)
        return _result(best, bound, _stopped_by(best))
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
    search = EqualSearch(search_space(counted), best, _equal_hints(params, chunking), params.seed)
    search_s = min(SEARCH_MAX_S, SEARCH_SHARE * params.time_limit_s)
    with best.narrowed(search_s, SEARCH_SHARE) if few else nullcontext():
        bound = _search_and_prove(counted, search, params, best, bound)
        ending = _stopped_by(best)
    left_s = best.left_s
    is_enough = best.is_over if params.gap > DEFAULT_GAP else best.makespan_ps <= bound.value_ps
    if not few or is_enough or left_s <= 0:
        return _result(best, bound, ending)
    from themis_models.cp_sat.cp_sat_solver import solve_cp_sat

    known = (best.schedule,) if best.schedule is not None else ()
    left = None if best.evaluations is None else max(1, best.evaluations.left)
    exact_params = replace(
        params, time_limit_s=left_s, hints=known + params.hints, bound=bound, chunking=None, max_evaluations=left
    )
    exact = solve_cp_sat(counted, exact_params)
    if exact.schedule is not None:
        best.offer(exact.schedule, "cp-sat")
    stronger = bound if exact.bound is None else best_bound([bound, exact.bound])
    if not exact.note:
        return _result(best, stronger, exact.ending)
    # The joint model was too large to be tried, so what is left goes to the search.
    stronger = _search_and_prove(counted, search, params, best, stronger)
    note = f"{exact.note.partition(';')[0]}; the search had the rest"
    return _result(best, stronger, _stopped_by(best), note)


def _search_and_prove(counted: Instance, search: EqualSearch, params: SolverParams, best: Best, bound: Bound) -> Bound:
    """Search to within the margin of a floating-point bound, prove what is found, and search on if that fails."""
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
    if best.evaluations is None:
        limited = replace(params, time_limit_s=max(MIN_PROOF_S, min(MAX_PROOF_S, best.left_s)))
    else:
        least, most = (round(seconds * EVALUATIONS_PER_S) for seconds in (MIN_PROOF_S, MAX_PROOF_S))
        evaluations = max(least, min(most, best.evaluations.left))
        limited = replace(params, time_limit_s=max(MIN_PROOF_S, best.left_s), max_evaluations=evaluations)
    proof = prove_by_assignment(counted, bound.scope, makespan_ps, limited)
    return bound if proof is None else best_bound([bound, proof])


def _new_best(instance: Instance, chunking: Chunking, target_ps: int, deadline: float, params: SolverParams) -> Best:
    evaluations = None if params.max_evaluations is None else Evaluations(params.max_evaluations)
    best = Best(instance, target_ps, deadline, params.on_progress, evaluations=evaluations)
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


def _stopped_by(best: Best) -> Ending:
    """Return what has just stopped a search."""
    if best.is_reached or not best.is_spent:
        return Ending.GAP
    return Ending.EVALUATIONS if best.evaluations is not None and not best.evaluations.left else Ending.TIME


def _is_proven_for_all(chunking: Chunking, best: Best, proven: Mapping[int, Bound]) -> bool:
    """Return whether no other number of chunks allows a shorter schedule than the best one either."""
    chosen = 0 if best.schedule is None else best.schedule.num_chunks
    others = set(range(chunking.min_chunks, chunking.max_chunks + 1)) - {chosen}
    return all(count in proven and proven[count].value_ps >= best.makespan_ps for count in others)


def _result(
    best: Best, bound: Bound | None, ending: Ending, note: str = "", *, is_for_all: bool = True
) -> SolverResult:
    """Return the result of a run that was stopped so, unless by a proof, or by the time where evaluations are limited.

    A clock only goes forward: if the deadline lies ahead now, nothing before was stopped by it. A bound that is met is
    a proof if it is the only one or the numbers of chunks left out allow nothing shorter (`is_for_all`).
    """
    if best.evaluations is not None and best.left_s <= CLOSE_S:
        ending = Ending.TIME
    spent = None if best.evaluations is None else best.evaluations.spent
    schedule = best.schedule
    if schedule is not None and bound is not None and bound.value_ps == schedule.makespan_ps:
        return SolverResult(Status.OPTIMAL, schedule, bound, note, Ending.PROOF if is_for_all else ending, spent)
    return SolverResult(Status.FEASIBLE, schedule, bound, note, ending, spent)
