"""How to split a bandwidth budget over the dimensions so that the best schedule is fastest."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Unpack

from themis_opt.problem.chunking import ChunkingChoice
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Dimension, Network
from themis_opt.problem.ratios import ratio
from themis_opt.problem.units import format_bandwidth
from themis_opt.questions.further_counts import FAR
from themis_opt.questions.provision.budget import Budget
from themis_opt.questions.provision.split_search import LEAST_GAIN, SolvedSplit, SplitSearch
from themis_opt.solving.keywords import ChunkLimits, choice_of, params_of
from themis_opt.solving.process import SolverProcess, process_of
from themis_opt.solving.protocol import DEFAULT_SOLVER, SolverParams

AGREEMENT = 0.01
"""How far the predicted gain may be from the one found by solving to count as confirmed."""


@dataclass(frozen=True)
class Provisioned:
    """A split of a bandwidth budget, compared with the network's own one.

    Attributes
    ----------
    budget
        The budget and the costs.
    shipped
        The network's own split, in its own proportions where the budget is another than what it costs.
    proposed
        The best other split of all that were solved; ``None`` where none is faster.
    least_ps
        What no split of the budget can be faster than, for the numbers of chunks allowed; ``None`` for networks of so
        many dimensions that it would take long.
    num_solved
        How many different splits were solved.
    wall_s
        Seconds it all took.
    interruption
        The exception of Ctrl-C or a termination signal that cut the search short, or ``None``.
    """

    budget: Budget
    shipped: SolvedSplit
    proposed: SolvedSplit | None
    least_ps: int | None
    num_solved: int
    wall_s: float
    interruption: KeyboardInterrupt | None = None

    @property
    def is_scaled(self) -> bool:
        """Whether the network costs another sum than the budget, so that its proportions stand for its split."""
        return self.budget.price_Bps(self.budget.shipped) != self.budget.total_Bps

    @property
    def is_shipped_bound_tight(self) -> bool:
        """Whether the bound of the shipped split says how fast it is, to within `FAR`."""
        return self.shipped.makespan_ps <= self.shipped.expected_ps * (1 + FAR)

    @property
    def predicted_gain(self) -> float:
        """How much faster bounds let the proposed split be (0.1 is 10 %), each for a number of chunks that does.

        Where the shipped split's bound is not tight, the makespan found stands in its place.
        """
        if self.proposed is None:
            return 0.0
        shipped_ps = self.shipped.expected_ps if self.is_shipped_bound_tight else self.shipped.makespan_ps
        return ratio(shipped_ps, self.proposed.expected_ps) - 1

    @property
    def bounds_gain(self) -> float:
        """The ratio of the two bounds, less 1, tight or not."""
        return 0.0 if self.proposed is None else ratio(self.shipped.expected_ps, self.proposed.expected_ps) - 1

    @property
    def confirmed_gain(self) -> float:
        """How much faster the schedule found for the proposed split is."""
        return 0.0 if self.proposed is None else ratio(self.shipped.makespan_ps, self.proposed.makespan_ps) - 1

    @property
    def is_prediction_confirmed(self) -> bool:
        """Whether the two gains differ by no more than `AGREEMENT`, as a part of the makespan."""
        return abs((1 + self.predicted_gain) / (1 + self.confirmed_gain) - 1) <= AGREEMENT

    @property
    def is_worth_it(self) -> bool:
        """Whether solving found the proposed split faster by more than `LEAST_GAIN`."""
        return self.confirmed_gain > LEAST_GAIN

    @property
    def answer(self) -> SolvedSplit:
        """The proposed split where solving found it worth it, else the shipped one: never slower than that."""
        return self.proposed if self.proposed is not None and self.is_worth_it else self.shipped

    @property
    def most_gain(self) -> float | None:
        """What any split of the budget can gain at most over the schedule found for the shipped one."""
        return None if self.least_ps is None else ratio(self.shipped.makespan_ps, self.least_ps) - 1

    @property
    def most_gain_over_answer(self) -> float | None:
        """What any split of the budget can gain at most over the schedule found for the answer."""
        return None if self.least_ps is None else ratio(self.answer.makespan_ps, self.least_ps) - 1

    @property
    def network(self) -> Network:
        """The network with the answer's bandwidths, and a note on where they come from."""
        network = self.answer.instance.network
        verb = "proposed" if self.is_worth_it else "proportions kept" if self.is_scaled else "kept"
        stopped = "" if self.interruption is None else "; the search was stopped"
        note = (
            f"Bandwidths: {verb} by 'themis-opt provision' for {self.budget.instance.collective} of "
            f"{self.budget.instance.size_bytes} bytes; they cost "
            f"{format_bandwidth(self.budget.price_Bps(self.answer.bandwidths))}{stopped}."
        )
        before = self.budget.instance.network.dimensions
        dimensions = tuple(
            dimension
            if dimension.bandwidth_Bps == old.bandwidth_Bps
            else replace(dimension, note=f"bandwidth: themis-opt provision; before: {_described(old)}")
            for dimension, old in zip(network.dimensions, before, strict=True)
        )
        name = f"{network.name}-provisioned"
        return replace(network, name=name, dimensions=dimensions, note=f"{_sentence(network.note)} {note}".strip())


def _sentence(note: str) -> str:
    """Return a note that another sentence can follow."""
    note = note.rstrip()
    return note if not note or note[-1] in ".!?;:" else f"{note}."


def _described(dimension: Dimension) -> str:
    """Return what a dimension had before."""
    links = "" if dimension.links is None else f" over {dimension.links} links"
    note = f" ({dimension.note})" if dimension.note else ""
    return f"{format_bandwidth(dimension.bandwidth_Bps)}{links}{note}"


def provision(
    instance: Instance,
    *,
    total_Bps: Fraction | None = None,
    costs: Mapping[int, Fraction] | None = None,
    solver: str = DEFAULT_SOLVER,
    params: SolverParams | None = None,
    choice: ChunkingChoice | None = None,
    process: SolverProcess | None = None,
    on_split: Callable[[int], None] = lambda number: None,
    **limits: Unpack[ChunkLimits],
) -> Provisioned:
    """Return the best split found of a bandwidth budget over the involved dimensions.

    At equal budget the answer is never slower than the network's own split, solved with the same solver, chunks and
    limits. It is the best split found; `Provisioned.most_gain_over_answer` says what another one could gain at most.

    Parameters
    ----------
    instance
        The collective, on a network whose bandwidths are up for choice; everything else of it stays.
    total_Bps
        The budget: the sum of cost times bandwidth may not be above it. Default: what the network costs as it is.
    costs
        What a unit of bandwidth costs, by dimension index; default: 1 everywhere.
    solver
        The name of a solver.
    params, limits
        The solver's limits for the splits compared in the end, as `SolverParams`, as keywords (see `Limits`), or both;
        `Pilots` says what others get.
    choice
        What the solver may choose about the chunks, as a `ChunkingChoice` or as keywords (see `ChunkLimits`); default:
        nothing, the instance's equal chunks.
    process
        A process of this solver that was started before; its starter ends it.
    on_split
        Called with the number of each solver run before it starts; the first one solves the network's own split.

    Raises
    ------
    InputError
        When budget or costs are not above zero, or a cost is for a dimension that is not involved.
    SolverError
        When the solver fails before there is a schedule.
    """
    started = time.perf_counter()
    budget = make_budget(instance, total_Bps, costs)
    choice, others = choice_of(choice, limits)
    params = params_of(params, others)
    chunking = choice.on(instance)
    with process_of(solver, process) as running:
        search = SplitSearch(budget, chunking, solver, params, running, on_split)
        search.run()
    return Provisioned(
        budget,
        search.shipped,
        search.proposed,
        search.least_ps,
        search.num_solved,
        time.perf_counter() - started,
        search.interruption,
    )


def make_budget(
    instance: Instance, total_Bps: Fraction | None = None, costs: Mapping[int, Fraction] | None = None
) -> Budget:
    """Return a budget; without arguments what the network costs at a cost of 1 everywhere.

    Parameters
    ----------
    instance
        The collective, on the network whose bandwidths are up for choice.
    total_Bps
        The budget; default: what the network costs as it is.
    costs
        What a unit of bandwidth costs, by dimension index; default: 1.

    Raises
    ------
    InputError
        When budget or costs are not above zero, or a cost is for a dimension that is not involved.
    """
    full = dict.fromkeys(instance.involved, Fraction(1))
    for k, cost in (costs or {}).items():
        if not 0 <= k < instance.network.num_dimensions:
            raise InputError(f"dim{k + 1} has a cost, and the network has dim1 to dim{instance.network.num_dimensions}")
        if k not in instance.involved:
            raise InputError(f"dim{k + 1} has a cost, but takes no part in the collective: its bandwidth is not split")
        if cost <= 0:
            raise InputError(f"dim{k + 1} costs {float(cost):g}; a cost must be above zero")
        full[k] = Fraction(cost)
    if total_Bps is not None and total_Bps <= 0:
        raise InputError(f"budget is {format_bandwidth(total_Bps)}; it must be above zero")
    budget = Budget(instance, full, Fraction(1))
    total = budget.price_Bps(budget.shipped) if total_Bps is None else Fraction(total_Bps)
    return replace(budget, total_Bps=total)
