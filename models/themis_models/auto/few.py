"""Few chunks of free size: after a part of the time, prove that what was found is the best, or find what is."""

from __future__ import annotations

import time

import numpy as np

from themis_models.auto.best import Best
from themis_models.auto.free import FreeSearch
from themis_models.few_chunks import Sequences, is_provable, prove_few_chunks
from themis_models.search.costing import Candidate
from themis_models.search.rounding import FixedSequences, round_sizes
from themis_models.search.space import schedule_of, search_space
from themis_opt.problem.bound import Bound, BoundKind, Sizing
from themis_opt.problem.chunking import Chunking
from themis_opt.problem.instance import Instance
from themis_opt.solving.bounds import best_bound, quick_bounds
from themis_opt.solving.protocol import SolverParams

WORTH_PROVING = 1e-4
"""A smaller gap is left as it is: rounding to granules costs about as much."""

SEARCH_SHARE = 0.25
"""The part of the time limit that the search gets first."""

PROOF_SHARE = 0.85
"""The part of the time then left that the proof may take."""


def is_worth_proving(instance: Instance, chunking: Chunking, best: Best, lower_ps: int) -> bool:
    """Return whether there is a schedule of few chunks of free size whose gap a proof might close.

    Parameters
    ----------
    instance, chunking
        The problem, and what may be chosen.
    best
        The best schedule so far.
    lower_ps
        The bound known [ps].
    """
    schedule = best.schedule
    return (
        schedule is not None
        and chunking.sizing is Sizing.FREE
        and best.makespan_ps > lower_ps * (1 + WORTH_PROVING)
        and is_provable(instance, schedule.num_chunks)
    )


def prove_best_number(instance: Instance, chunking: Chunking, best: Best, params: SolverParams) -> Bound:
    """Return a bound for the number of chunks of the best schedule; `best` gets what the proof finds to be shorter.

    Parameters
    ----------
    instance, chunking
        The problem, and what may be chosen.
    best
        The best schedule so far.
    params
        Threads, limits and the gap that is good enough.
    """
    schedule = best.schedule
    assert schedule is not None, "there is something to prove"
    bounds = quick_bounds(instance, chunking.scope(schedule.num_chunks))
    fluid = next(bound for bound in bounds if bound.kind == BoundKind.FLUID)

    def offer(found: Sequences) -> None:
        space = search_space(instance)
        sizes = found.sizes * instance.size_bytes
        candidate = Candidate(found.path, sizes, np.ones(found.path.shape))
        whole = round_sizes(FixedSequences(space, candidate, found.served), sizes, chunking)
        best.offer(schedule_of(space, candidate, whole, found.served), "sequences")

    deadline, max_nodes = time.monotonic() + PROOF_SHARE * best.left_s, None
    if best.evaluations is not None:  # a node costs about as much as timing a schedule of few chunks
        deadline, max_nodes = best.deadline, best.evaluations.part(PROOF_SHARE)
    proof, num_nodes = prove_few_chunks(
        instance, fluid, lambda: best.makespan_ps, offer, deadline, params.num_workers, max_nodes=max_nodes
    )
    best.spend(num_nodes)
    return best_bound([*bounds, proof])


def search_fixed_number(
    instance: Instance, chunking: Chunking, best: Best, bound: Bound, search: FreeSearch, params: SolverParams
) -> Bound:
    """Search with a fixed number of chunks, try the proof where they are few, and go on; return the better bound.

    Parameters
    ----------
    instance, chunking
        The problem, and what may be chosen.
    best
        The best schedule so far, and the time left.
    bound
        The bound known.
    search
        The search, which has yet to run.
    params
        Threads, limits and the gap that is good enough.
    """
    if is_provable(instance, chunking.min_chunks):
        with best.narrowed(SEARCH_SHARE * best.left_s, SEARCH_SHARE):
            search.run(params.num_workers)
        if not best.is_over and is_worth_proving(instance, chunking, best, bound.value_ps):
            bound = best_bound([bound, prove_best_number(instance, chunking, best, params)])
            best.target_ps = max(best.target_ps, int(bound.value_ps * (1 + params.gap)))
    search.run(params.num_workers)
    return bound
