"""The search for the best split of a bandwidth budget: bounds say what is promising, solving says what is best.

The fluid bound of a split is lowest where bandwidth is in proportion to what the cheapest order sends
(`Budget.leanest_split`), but there few chunks leave dimensions idle; where all orders are taken
(`Budget.evenest_split`) few chunks suffice, but the bound is a little higher. The best split lies between these and the
shipped one. Candidates are mixtures of them, and moves of bandwidth from where the bound's duals say that it is worth
least to where it is worth most. What a bound rules out is not solved; the others are solved with a part of the limits.
The best one is then solved like the shipped split, with the same solver, chunks and limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from themis_opt.bound import Bound
from themis_opt.chunking import Chunking
from themis_opt.designing.budget import Bandwidths, Budget
from themis_opt.designing.further_counts import solve_with_further_counts
from themis_opt.designing.makespans import makespan_of
from themis_opt.instance import Instance
from themis_opt.interruption import INTERRUPTION
from themis_opt.schedules import Schedule
from themis_opt.solving.bounds import best_bound, bound_over_counts, has_quick_fluid_bound, quick_bounds
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import SolverParams
from themis_opt.solving.run import run_solver

PILOT_SHARE = 0.15
"""The part of the time limit, and of the evaluation limit, for which a candidate is solved while looking for one."""

MAX_PILOTS = 24
"""How many candidates are solved at most."""

FIRST_STEP, LAST_STEP = 0.25, 0.05
"""How far a move from the best split so far goes, as a part of the way, at first and at the end."""

LEAST_GAIN = 1e-3
"""A split that is not faster by more than this part is no reason to change anything."""


@dataclass(frozen=True)
class SolvedSplit:
    """A split of the budget with the best schedule found for it.

    Attributes
    ----------
    instance
        The instance with these bandwidths.
    schedule
        The best schedule found, with the best bound for its number of chunks.
    wall_s
        Seconds of solving.
    expected_ps
        What bounds let it take: the highest bound for a number of chunks that is as good as the best one.
    note
        A sentence from the solver, or nothing.
    """

    instance: Instance
    schedule: Schedule
    wall_s: float
    expected_ps: int
    note: str = ""

    @property
    def bandwidths(self) -> Bandwidths:
        """The bandwidth of each involved dimension."""
        return {k: self.instance.network.dimensions[k].bandwidth_Bps for k in self.instance.involved}

    @property
    def makespan_ps(self) -> int:
        """The makespan found."""
        return makespan_of(self.schedule)

    @property
    def bound_ps(self) -> int:
        """What no schedule with as many chunks can be faster than."""
        assert self.schedule.bound is not None
        return self.schedule.bound.value_ps


class SplitSearch:
    """The search for a split: what was solved, and what is tried next.

    Parameters
    ----------
    budget
        The budget, the costs and the instance.
    chunking
        What the solver may choose about the chunks.
    solver
        Its name.
    params
        Its limits and seed, for the shipped split and the final one; candidates get a part of the limits.
    process
        A process of the solver.
    on_split
        Called with the number of each split before it is solved.

    Attributes
    ----------
    shipped
        The shipped split, in its own proportions where the budget is another than what it costs; set by `run`.
    proposed
        The best other split, or ``None``.
    least_ps
        What no split of the budget can be faster than; ``None`` where that would take long to find out.
    num_solved
        How many splits were solved.
    interruption
        The exception of Ctrl-C or a termination signal, or ``None``.
    """

    def __init__(
        self,
        budget: Budget,
        chunking: Chunking,
        solver: str,
        params: SolverParams,
        process: SolverProcess,
        on_split: Callable[[int], None],
    ) -> None:
        self._budget = budget
        self._chunking = chunking
        self._solver = solver
        self._params = params
        self._process = process
        self._on_split = on_split
        self._tried: set[tuple[Fraction, ...]] = set()
        self._lean: dict[int, Bandwidths] = {}
        self.num_solved = 0
        self.proposed: SolvedSplit | None = None
        self.least_ps: int | None = None
        self.interruption: KeyboardInterrupt | None = None

    def run(self) -> None:
        """Solve the shipped split, look for a better one, and solve that as thoroughly."""
        shipped = self._budget.shipped
        if self._budget.price_Bps(shipped) != self._budget.total_Bps:
            shipped = self._budget.rounded(self._budget.scaled(shipped))
        self._tried.add(tuple(shipped.values()))
        self.shipped = self._solve(shipped, self._params, is_final=True)
        if has_quick_fluid_bound(self._budget.instance):
            counts = range(self._chunking.min_chunks, self._chunking.max_chunks + 1)
            self.least_ps = self._budget.least_time_over_ps(counts, self._chunking.sizing)
        if len(shipped) == 1 or self._is_over:
            return
        try:
            self._improve()
        except KeyboardInterrupt as error:
            # What was found until then is worth keeping; a second signal waits until it is saved.
            INTERRUPTION.hold()
            self.interruption = error

    def _improve(self) -> None:
        self._look_around()
        self._move_on()
        if self.interruption is None and self.proposed is not None:
            final = self._solve(self.proposed.bandwidths, self._params, is_final=True)
            self.proposed = min(final, self.proposed, key=lambda solved: solved.makespan_ps)

    def _look_around(self) -> None:
        """Try mixtures of the shipped, the leanest and the evenest split."""
        shipped, num_chunks = self.shipped.bandwidths, self.shipped.schedule.num_chunks
        lean, even = self._leanest(num_chunks), self._budget.evenest_split(num_chunks)
        for step in (0.5, 1.0):
            self._try(_towards(shipped, even, step))
        for step in (0.25, 0.5, 0.75):
            self._try(_towards(shipped, lean, step))
            self._try(_towards(even, lean, step))

    def _move_on(self) -> None:
        """Move from the best split so far in promising directions, in smaller and smaller steps."""
        step = FIRST_STEP
        while step >= LAST_STEP and not self._is_over:
            before = self._best
            for split in self._moves(before, step):
                self._try(split)
                if self._best is not before:
                    break
            if self._best is before:
                step /= 2

    def _moves(self, start: SolvedSplit, step: float) -> Iterator[Bandwidths]:
        """Yield splits a step away: as the duals say, then towards the splits that bounds speak for."""
        split, num_chunks = start.bandwidths, start.schedule.num_chunks
        yield from self._dual_moves(start, step)
        yield _towards(split, self._leanest(num_chunks), step)
        yield _towards(split, self._budget.evenest_split(num_chunks), step)
        yield _towards(split, self.shipped.bandwidths, step)

    def _dual_moves(self, start: SolvedSplit, step: float) -> Iterator[Bandwidths]:
        r"""Yield the split with bandwidth moved from where it is worth least to where it is worth most.

        With the duals :math:`y` of the fluid bound and busy dimensions, :math:`b_k = B_k(T - L_k)`, more bandwidth is
        worth

        .. math::

            -\frac{∂T}{∂B_k} = y_k \frac{b_k}{B_k^2} = y_k \frac{T - L_k}{B_k}, \qquad \text{per cost: } / c_k    (P4)
        """
        bound = start.schedule.bound
        if bound is None or bound.certificate is None:
            return
        loads = self._budget.latency_loads_ps(start.schedule.num_chunks)
        split, costs = dict(start.bandwidths), self._budget.costs
        worth = {
            k: bound.certificate[k] * max(start.makespan_ps - loads[k], 0) / (bandwidth * costs[k])
            for k, bandwidth in split.items()
        }
        giver, taker = min(worth, key=worth.__getitem__), max(worth, key=worth.__getitem__)
        if worth[giver] == worth[taker]:
            return
        moved = Fraction(step) * split[giver]
        split[giver] -= moved
        split[taker] += moved * costs[giver] / costs[taker]
        yield split

    def _leanest(self, num_chunks: int) -> Bandwidths:
        """Return the leanest split; the evenest where so many dimensions make it a matter of minutes."""
        if num_chunks not in self._lean:
            is_quick = has_quick_fluid_bound(self._budget.instance)
            find = self._budget.leanest_split if is_quick else self._budget.evenest_split
            self._lean[num_chunks] = find(num_chunks)
        return self._lean[num_chunks]

    @property
    def _best(self) -> SolvedSplit:
        return self.shipped if self.proposed is None else self.proposed

    @property
    def _is_over(self) -> bool:
        if self.interruption is not None or self.num_solved > MAX_PILOTS:
            return True
        return self.least_ps is not None and self._best.makespan_ps <= self.least_ps * (1 + LEAST_GAIN)

    def _try(self, split: Bandwidths) -> None:
        """Solve a split with a part of the limits unless its bound rules it out; keep it if it is the best so far."""
        if self._is_over:
            return
        rounded = self._budget.rounded(split)
        key = tuple(rounded.values())
        if key in self._tried:
            return
        self._tried.add(key)
        if self._bound_over_counts(self._budget.on(rounded)).value_ps >= self._best.makespan_ps:
            return
        solved = self._solve(rounded, self._pilot_params())
        if solved.makespan_ps < self._best.makespan_ps:
            self.proposed = solved

    def _pilot_params(self) -> SolverParams:
        evaluations = self._params.max_evaluations
        return replace(
            self._params,
            time_limit_s=PILOT_SHARE * self._params.time_limit_s,
            max_evaluations=None if evaluations is None else max(1, int(PILOT_SHARE * evaluations)),
        )

    def _bound_over_counts(self, instance: Instance) -> Bound:
        def bound_for(num_chunks: int) -> Bound:
            return best_bound(quick_bounds(instance, self._chunking.scope(num_chunks)))

        return bound_over_counts(instance, self._chunking, bound_for)

    def _solve(self, split: Bandwidths, params: SolverParams, *, is_final: bool = False) -> SolvedSplit:
        self.num_solved += 1
        self._on_split(self.num_solved)
        # The shipped split stays what it is: its links, too.
        is_shipped = split == self._budget.shipped
        instance = self._budget.instance if is_shipped else self._budget.on(split)
        params = replace(params, chunking=self._chunking)
        if is_final:
            solved = solve_with_further_counts(instance, self._process, self._solver, params)
            outcome, expected_ps = solved.best, solved.expected_ps
        else:
            outcome = run_solver(instance, self._process, self._solver, params)
            expected_ps = 0 if outcome.schedule.bound is None else outcome.schedule.bound.value_ps
        self.interruption = outcome.interruption
        return SolvedSplit(instance, outcome.schedule, outcome.wall_s, expected_ps, outcome.note)


def _towards(start: Bandwidths, end: Bandwidths, step: float) -> Bandwidths:
    """Return the split a part of the way from one to another: it costs no more than the dearer of the two."""
    part = Fraction(step)
    return {k: bandwidth + part * (end[k] - bandwidth) for k, bandwidth in start.items()}
