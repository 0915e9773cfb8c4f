"""The search for the best split of a bandwidth budget: bounds say what is promising, solving says what is best.

The fluid bound of a split is lowest where bandwidth is in proportion to what the cheapest order sends
(`Budget.leanest_split`), but there few chunks leave dimensions idle; where all orders are taken
(`Budget.evenest_split`) few chunks suffice, but the bound is a little higher. Both depend on the number of chunks, and
which number is best is not known: there is a leanest and an evenest split for several. The best split lies between
these and the network's own one. Candidates are mixtures of them, moves of bandwidth from where the bound's duals say
that it is worth least to where it is worth most, and moves between any two dimensions. What a bound rules out is not
solved; the others are solved as pilots (`pilots`), always in the same sequence. The best ones are then solved like the
network's own split, with the same solver, chunks and limits; the best of all that was solved, at whatever length, is
kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations

from themis_opt.problem.bound import Bound
from themis_opt.problem.chunking import Chunking
from themis_opt.problem.instance import Instance
from themis_opt.problem.interruption import INTERRUPTION
from themis_opt.problem.schedule import Schedule
from themis_opt.questions.further_counts import solve_with_further_counts
from themis_opt.questions.provision.budget import Bandwidths, Budget
from themis_opt.questions.provision.pilots import Pilots
from themis_opt.solving.bounds import best_bound, bound_over_counts, has_quick_fluid_bound, quick_bounds
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import SolverParams
from themis_opt.solving.run import run_solver

MAX_COUNTS = 6
"""For how many numbers of chunks there are a leanest and an evenest split at most."""

MAX_STARTS = 3
"""How many of the splits found best begin the next, more thorough round of pilots."""

FIRST_STEP, LAST_STEP = 0.25, 0.05
"""How far a move from the best split so far goes, as a part of the way, at first and at the end."""

NEAR = 0.005
"""Splits whose bandwidths all differ by no more than this part count as the same while looking."""

TIE = 0.01
"""The second-best split, too, is solved thoroughly if it is slower than the best by no more than this part."""

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
        return self.schedule.timed_ps

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
        Its limits and seed, for the network's own split and the final ones; `Pilots` says what candidates get.
    process
        A process of the solver.
    on_split
        Called with the number of each solver run before it starts.

    Attributes
    ----------
    least_ps
        What no split of the budget can be faster than; ``None`` where that would take long to find out.
    num_solved
        How many different splits were solved.
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
        own = budget.shipped
        is_scaled = budget.price_Bps(own) != budget.total_Bps
        self._own = budget.rounded(budget.scaled(own)) if is_scaled else own
        self._found: dict[tuple[Fraction, ...], SolvedSplit] = {}
        self._round: list[tuple[Bandwidths, SolvedSplit | None]] = []
        self._num_runs = 0
        self.least_ps: int | None = None
        self.interruption: KeyboardInterrupt | None = None

    @property
    def shipped(self) -> SolvedSplit:
        """The network's own split, in its own proportions where the budget is another than what it costs."""
        return self._found[_key(self._own)]

    @property
    def proposed(self) -> SolvedSplit | None:
        """The best other split, if it is faster."""
        others = [solved for key, solved in self._found.items() if key != _key(self._own)]
        best = min(others, key=_makespan, default=None)
        return best if best is not None and best.makespan_ps < self.shipped.makespan_ps else None

    @property
    def num_solved(self) -> int:
        """How many different splits were solved."""
        return len(self._found)

    def run(self) -> None:
        """Solve the network's own split, look for better ones, and solve the best as thoroughly."""
        self._solve(self._own, self._params, is_final=True)
        if has_quick_fluid_bound(self._budget.instance):
            counts = range(self._chunking.min_chunks, self._chunking.max_chunks + 1)
            self.least_ps = self._budget.least_time_over_ps(counts, self._chunking.sizing)
        if len(self._own) == 1 or self._is_over:
            return
        with INTERRUPTION.caught() as caught:
            self._look()
            self._finish()
        self.interruption = caught[0] if caught else self.interruption

    def _look(self) -> None:
        """Solve pilots: candidates from bounds and moves from the best, then the same from there with larger ones."""
        # Each round begins again from the best found: a larger pilot may rank the same splits differently.
        pilots = Pilots(self._params)
        for evaluations in pilots.sizes:
            starts = self._best_found() if self._round else self._seeds()
            self._round = []
            if not self._try_all(starts, pilots, evaluations) or not self._move_on(pilots, evaluations):
                return

    def _best_found(self) -> Iterator[Bandwidths]:
        """Yield the splits a more thorough round begins with."""
        yield self._own
        for solved in sorted(self._found.values(), key=_makespan)[:MAX_STARTS]:
            yield solved.bandwidths

    def _seeds(self) -> Iterator[Bandwidths]:
        """Yield the network's own split, leanest and evenest ones, and mixtures of these with the best of those."""
        own = self._own
        lean = [self._leanest(num_chunks) for num_chunks in counts_between(self._chunking)]
        even = [self._budget.evenest_split(num_chunks) for num_chunks in counts_between(self._chunking)]
        yield from (own, *lean, *even)
        ends = [self._best_of(lean), self._best_of(even)]
        for start, end in ((own, ends[0]), (ends[1], ends[0]), (own, ends[1])):
            if start is not None and end is not None:
                for step in (0.25, 0.5, 0.75):
                    yield _towards(start, end, step)

    def _move_on(self, pilots: Pilots, evaluations: int) -> bool:
        """Move from the best pilot in promising directions, in smaller and smaller steps; return whether to go on."""
        step = FIRST_STEP
        while step >= LAST_STEP:
            before = self._best_pilot
            assert before is not None
            for split in self._moves(before, step):
                if not self._try_all([split], pilots, evaluations):
                    return False
                if self._best_pilot is not before:
                    break
            else:
                step /= 2
        return True

    def _moves(self, start: SolvedSplit, step: float) -> Iterator[Bandwidths]:
        """Yield splits a step away: as the duals say, towards those that bounds speak for, between two dimensions."""
        split, num_chunks = start.bandwidths, start.schedule.num_chunks
        yield from self._dual_moves(start, step)
        for count in (num_chunks, self._chunking.max_chunks):
            yield _towards(split, self._leanest(count), step)
        yield _towards(split, self._budget.evenest_split(num_chunks), step)
        yield _towards(split, self._own, step)
        for giver, taker in permutations(split, 2):
            yield self._moved(split, giver, taker, step)

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
        costs = self._budget.costs
        worth = {
            k: bound.certificate[k] * max(start.makespan_ps - loads[k], 0) / (bandwidth * costs[k])
            for k, bandwidth in start.bandwidths.items()
        }
        giver, taker = min(worth, key=worth.__getitem__), max(worth, key=worth.__getitem__)
        if worth[giver] != worth[taker]:
            yield self._moved(start.bandwidths, giver, taker, step)

    def _moved(self, split: Bandwidths, giver: int, taker: int, step: float) -> Bandwidths:
        """Return the split with a part of the giver's bandwidth on the taker, as much as it costs."""
        moved, costs = Fraction(step) * split[giver], self._budget.costs
        gained = moved * costs[giver] / costs[taker]
        return {**split, giver: split[giver] - moved, taker: split[taker] + gained}

    def _leanest(self, num_chunks: int) -> Bandwidths:
        """Return the leanest split; the evenest where so many dimensions make it a matter of minutes."""
        is_quick = has_quick_fluid_bound(self._budget.instance)
        find = self._budget.leanest_split if is_quick else self._budget.evenest_split
        return find(num_chunks)

    def _best_of(self, splits: Sequence[Bandwidths]) -> Bandwidths | None:
        """Return the split whose pilot is shortest; nothing where bounds ruled all of them out."""
        keys = {_key(self._rounded(split)) for split in splits}
        pilots = [pilot for split, pilot in self._round if pilot is not None and _key(split) in keys]
        return min(pilots, key=_makespan).bandwidths if pilots else None

    @property
    def _best_pilot(self) -> SolvedSplit | None:
        return min((pilot for _, pilot in self._round if pilot is not None), key=_makespan, default=None)

    @property
    def _is_over(self) -> bool:
        if self.interruption is not None:
            return True
        shortest_ps = min(map(_makespan, self._found.values()))
        return self.least_ps is not None and shortest_ps <= self.least_ps * (1 + LEAST_GAIN)

    def _rounded(self, split: Bandwidths) -> Bandwidths:
        return split if _key(split) == _key(self._own) else self._budget.rounded(split)

    def _try_all(self, splits: Iterator[Bandwidths] | list[Bandwidths], pilots: Pilots, evaluations: int) -> bool:
        """Solve pilots of splits, but for what bounds rule out and what is near another; return whether to go on.

        A split is ruled out by the best pilot of this round, whatever the thorough run of the network's own split has
        found by the clock, so that the next ones do not depend on that.
        """
        for split in splits:
            if self._is_over or not pilots.have_room_for(evaluations):
                return False
            rounded = self._rounded(split)
            # Splits this near differ by less than what a pilot can tell apart.
            if any(_are_near(rounded, other) for other, _ in self._round):
                continue
            best, solved = self._best_pilot, None
            if best is None or self._bound_over_counts(self._budget.on(rounded)).value_ps < best.makespan_ps:
                solved = self._solve(rounded, pilots.take(evaluations))
            self._round.append((rounded, solved))
        return True

    def _finish(self) -> None:
        """Solve the best other split thoroughly, and the next one if it is nearly as good and not nearly the same."""
        # A pilot is judged against the own split's pilot, too: both are as far from what a thorough run would find.
        own_pilots_ps = [pilot.makespan_ps for split, pilot in self._round if pilot and _key(split) == _key(self._own)]
        promising_ps = max([self.shipped.makespan_ps * (1 + TIE), *own_pilots_ps])
        others = sorted((solved for key, solved in self._found.items() if key != _key(self._own)), key=_makespan)
        others = [solved for solved in others if solved.makespan_ps < promising_ps]
        if not others or self._is_over:
            return
        first = others[0]
        ties = [
            solved
            for solved in others[1:]
            if solved.makespan_ps <= first.makespan_ps * (1 + TIE)
            and not _are_near(solved.bandwidths, first.bandwidths)
        ]
        for solved in (first, *ties[:1]):
            if not self._is_over:
                self._solve(solved.bandwidths, self._params, is_final=True)

    def _bound_over_counts(self, instance: Instance) -> Bound:
        def bound_for(num_chunks: int) -> Bound:
            return best_bound(quick_bounds(instance, self._chunking.scope(num_chunks)))

        return bound_over_counts(instance, self._chunking, bound_for)

    def _solve(self, split: Bandwidths, params: SolverParams, *, is_final: bool = False) -> SolvedSplit:
        """Solve a split, and keep what is found if it is the best for it."""
        self._num_runs += 1
        self._on_split(self._num_runs)
        # The network's own split stays what it is: its links, too.
        is_own = split == self._budget.shipped
        instance = self._budget.instance if is_own else self._budget.on(split)
        params = replace(params, chunking=self._chunking)
        if is_final:
            finished = solve_with_further_counts(instance, self._process, self._solver, params)
            outcome, expected_ps = finished.best, finished.expected_ps
        else:
            outcome = run_solver(instance, self._process, self._solver, params)
            expected_ps = 0 if outcome.schedule.bound is None else outcome.schedule.bound.value_ps
        self.interruption = outcome.interruption
        solved = SolvedSplit(instance, outcome.schedule, outcome.wall_s, expected_ps, outcome.note)
        # A thorough run by the clock may find less than a pilot did.
        before = self._found.get(_key(split))
        if before is None or solved.makespan_ps <= before.makespan_ps:
            self._found[_key(split)] = solved
        return solved


def counts_between(chunking: Chunking) -> tuple[int, ...]:
    """Return numbers of chunks from the least to the most allowed, in about equal ratios, at most `MAX_COUNTS`."""
    least, most = chunking.min_chunks, chunking.max_chunks
    steps = MAX_COUNTS - 1
    return tuple(sorted({round(least * (most / least) ** (step / steps)) for step in range(MAX_COUNTS)}))


def _key(split: Bandwidths) -> tuple[Fraction, ...]:
    return tuple(split.values())


def _makespan(solved: SolvedSplit) -> int:
    return solved.makespan_ps


def _are_near(one: Bandwidths, other: Bandwidths) -> bool:
    return all(abs(bandwidth - other[k]) <= NEAR * float(other[k]) for k, bandwidth in one.items())


def _towards(start: Bandwidths, end: Bandwidths, step: float) -> Bandwidths:
    """Return the split a part of the way from one to another: it costs no more than the dearer of the two."""
    part = Fraction(step)
    return {k: bandwidth + part * (end[k] - bandwidth) for k, bandwidth in start.items()}
