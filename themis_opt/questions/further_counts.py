"""Solving with a free number of chunks, and again with a few more chunks where the bound was left far away.

With few chunks of free size dimensions may idle whatever the orders are, and the bound does not see it. Then a solver
cannot tell from its bounds that some more chunks would do better, and may spend its time on too few of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from themis_opt.problem.chunking import Chunking, make_chunking
from themis_opt.problem.instance import Instance
from themis_opt.problem.interruption import INTERRUPTION
from themis_opt.problem.schedule import Schedule
from themis_opt.solving.bounds import best_bound, quick_bounds
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import SolverParams
from themis_opt.solving.result import Result
from themis_opt.solving.run import run_solver

FAR = 0.005
"""With a larger gap than this to the bound for its own number of chunks, larger numbers are tried."""

FURTHER_SHARE = 0.3
"""The part of the limits that each of them gets."""

MAX_FURTHER = 6
"""How many of them are tried at most."""

AS_GOOD = 2.5e-3
"""Numbers of chunks whose makespans differ by no more than this part count as equally good."""


@dataclass(frozen=True)
class Solved:
    """What came of solving with several numbers of chunks.

    Attributes
    ----------
    best
        The outcome with the shortest schedule; its seconds are those of all solver calls.
    expected_ps
        The highest bound for a number of chunks that is as good as the best one: with that number nothing is faster.
    """

    best: Result
    expected_ps: int

    @property
    def schedule(self) -> Schedule:
        """The shortest schedule found."""
        return self.best.schedule


def solve_with_further_counts(instance: Instance, process: SolverProcess, solver: str, params: SolverParams) -> Solved:
    """Return the best of what the solver finds with the numbers of chunks allowed, then with each of a few larger ones.

    Parameters
    ----------
    instance
        The problem.
    process
        A process of the solver.
    solver
        Its name.
    params
        Limits, seed and what may be chosen; larger numbers of chunks than the solver's own choice are tried only if
        they may be chosen, if its gap is larger than `FAR`, and if their bounds allow them to be as good as the best.
    """
    outcomes = [run_solver(instance, process, solver, params)]
    interruption = outcomes[0].interruption
    chunking = params.chunking or make_chunking(instance)
    first = outcomes[0].schedule
    # Near its bound no dimension idles for long: more chunks would mostly add latency.
    if not chunking.has_fixed_count and (first.gap or 0.0) > FAR:
        last = min(chunking.max_chunks, first.num_chunks + MAX_FURTHER)
        for num_chunks in range(first.num_chunks + 1, last + 1):
            if interruption is not None or not _may_be_as_good(instance, chunking, num_chunks, outcomes):
                break
            fixed = replace(chunking, min_chunks=num_chunks, max_chunks=num_chunks)
            with INTERRUPTION.caught() as caught:
                outcomes.append(run_solver(instance, process, solver, _with_part(params, fixed)))
            interruption = caught[0] if caught else outcomes[-1].interruption
    best = min(outcomes, key=lambda outcome: outcome.schedule.timed_ps)
    shortest_ps = best.schedule.timed_ps
    # A number of chunks that is as good but has a lower bound only shows that its bound is loose.
    expected_ps = max(
        outcome.schedule.bound.value_ps
        for outcome in outcomes
        if outcome.schedule.bound is not None and outcome.schedule.timed_ps <= shortest_ps * (1 + AS_GOOD)
    )
    whole = replace(
        best,
        bound_any=outcomes[0].bound_any,
        interruption=interruption,
        wall_s=sum(outcome.wall_s for outcome in outcomes),
        has_failed=any(outcome.has_failed for outcome in outcomes),
    )
    return Solved(whole, expected_ps)


def _may_be_as_good(instance: Instance, chunking: Chunking, num_chunks: int, outcomes: list[Result]) -> bool:
    """Return whether the bound for a number of chunks allows it to be as good as the best one so far."""
    bound = best_bound(quick_bounds(instance, chunking.scope(num_chunks)))
    return bound.value_ps <= (1 + AS_GOOD) * min(outcome.schedule.timed_ps for outcome in outcomes)


def _with_part(params: SolverParams, chunking: Chunking) -> SolverParams:
    evaluations = params.max_evaluations
    return replace(
        params,
        chunking=chunking,
        time_limit_s=FURTHER_SHARE * params.time_limit_s,
        max_evaluations=None if evaluations is None else max(1, int(FURTHER_SHARE * evaluations)),
    )
