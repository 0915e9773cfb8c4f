"""Where baseline, Themis and the optimum part ways, over message sizes: a second look at what `tune` finds.

For each size: the baseline and Themis, each at its best number of chunks, the best schedule known, and a lower bound.
The times of the heuristics are exact. A schedule known proves how much faster the optimum is than a heuristic at least,
the bound how much at most; in between it is open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any, Unpack

from msgspec import Struct

from themis_opt.files.results import ResultDocument, result_text
from themis_opt.problem.bound import Bound
from themis_opt.problem.instance import Instance
from themis_opt.problem.parameters import DEFAULT_MAX_CHUNKS
from themis_opt.problem.ratios import finite, ratio
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.units import format_size
from themis_opt.problem.version import VERSION
from themis_opt.questions.explain.supply import Provision
from themis_opt.questions.tune import TunedSize, tune
from themis_opt.solving.keywords import Limits
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import DEFAULT_SOLVER, SolverParams

THEMIS = ("themis-fifo", "themis-scf")
"""Themis: the better of its two flavours."""


class Verdict(StrEnum):
    """Whether one is faster than another by more than a threshold."""

    YES = "yes"
    NO = "no"
    OPEN = "open"


@dataclass(frozen=True)
class Parting:
    """Baseline, Themis and the optimum at one message size.

    Attributes
    ----------
    baseline, themis
        The shortest schedule of each over 1, 2, 4 … 512 chunks.
    best
        The shortest schedule known of any scheduler and the solver.
    bound
        What no schedule with any number of chunks of any size is faster than, as far as numbers were looked at.
    note
        A sentence from the solver, or nothing.
    interruption
        The exception of Ctrl-C or a termination signal that cut the solver short, or ``None``.
    """

    baseline: Schedule
    themis: Schedule
    best: Schedule
    bound: Bound
    note: str = ""
    interruption: KeyboardInterrupt | None = None

    @classmethod
    def of(cls, row: TunedSize) -> Parting:
        """Return what a row of a tuning table says of the three."""
        assert row.bound_any is not None
        return cls(row.baseline, row.best_of(*THEMIS), row.schedule, row.bound_any, row.note, row.interruption)

    @property
    def size_bytes(self) -> int:
        """The message size."""
        return self.best.instance.size_bytes

    @property
    def themis_gain(self) -> float:
        """How much faster Themis is than the baseline (0.1 is 10 %; below 0: slower). Exact."""
        return ratio(self.baseline.timed_ps, self.themis.timed_ps) - 1

    def least_gain(self, over: Schedule) -> float:
        """Return how much faster than a schedule the optimum is at least: what is known is."""
        return ratio(over.timed_ps, self.best.timed_ps) - 1

    def most_gain(self, over: Schedule) -> float:
        """Return how much faster than a schedule the optimum is at most: the bound says so."""
        return ratio(over.timed_ps, self.bound.value_ps) - 1

    def optimum_gains(self, over: Schedule, threshold: float) -> Verdict:
        """Return whether the optimum is faster than a schedule by more than a threshold."""
        if _is_longer(over.timed_ps, self.best.timed_ps, threshold):
            return Verdict.YES
        return Verdict.OPEN if _is_longer(over.timed_ps, self.bound.value_ps, threshold) else Verdict.NO


def _is_longer(longer_ps: int, shorter_ps: int, threshold: float) -> bool:
    """Return whether one time is longer than another by more than a part of that."""
    return longer_ps > shorter_ps * (1 + threshold)


def when(
    instance: Instance,
    sizes: Sequence[int],
    *,
    solver: str | None = DEFAULT_SOLVER,
    params: SolverParams | None = None,
    max_chunks: int = DEFAULT_MAX_CHUNKS,
    process: SolverProcess | None = None,
    **limits: Unpack[Limits],
) -> Iterator[Parting]:
    """Yield where the three stand for each message size, in the order given; `findings` puts it into words.

    Parameters
    ----------
    instance
        Network, collective and the rest; its size and number of chunks do not matter.
    sizes
        Message sizes [bytes per NPU].
    solver
        The name of a solver, or ``None``: then the best schedule known is that of a heuristic.
    params, limits
        The solver's limits, per size, as `SolverParams`, as keywords (see `Limits`), or both; the seed also goes to the
        schedulers.
    max_chunks
        The most chunks that the solver may choose.
    process
        A process of this solver that was started before; its starter ends it.

    Raises
    ------
    InputError
        When there is no such solver.
    SchedulerError
        When a scheduler fails.
    """
    tuned = tune(instance, sizes, solver=solver, params=params, max_chunks=max_chunks, process=process, **limits)
    yield from map(Parting.of, tuned)


def findings(partings: Sequence[Parting], themis_threshold: float, optimum_threshold: float) -> list[str]:
    """Return sentences on where the three part ways, and on what that rests.

    Parameters
    ----------
    partings
        One for each size, ascending.
    themis_threshold
        Themis has to be faster than the baseline by more than this part to count.
    optimum_threshold
        The optimum has to be faster than either by more than this part to count.
    """
    more, much_more = f"{100 * themis_threshold:g} %", f"{100 * optimum_threshold:g} %"

    def where(holds: Callable[[Parting], bool], what: str) -> list[str]:
        found = spans(partings, holds)
        return [f"{' and '.join(found)}: {what}"] if found else []

    def is_ahead(one: Schedule, other: Schedule) -> bool:
        return _is_longer(other.timed_ps, one.timed_ps, themis_threshold)

    beats = f"Themis beats the baseline by more than {more}"
    lines = where(lambda at: is_ahead(at.themis, at.baseline), beats) or [f"at no size: {beats}"]
    lines += where(lambda at: is_ahead(at.baseline, at.themis), f"the baseline beats Themis by more than {more}")
    heuristics: dict[str, Callable[[Parting], Schedule]] = {
        "Themis": lambda at: at.themis,
        "the baseline": lambda at: at.baseline,
    }
    for name, of in heuristics.items():
        verdicts = {
            Verdict.YES: f"the optimum beats {name} by more than {much_more} (proven by a schedule)",
            Verdict.NO: f"no schedule beats {name} by more than {much_more} (proven by the bound)",
            Verdict.OPEN: f"it is open whether the optimum beats {name} by more than {much_more}",
        }
        for verdict, what in verdicts.items():
            lines += where(lambda at: at.optimum_gains(of(at), optimum_threshold) is verdict, what)  # noqa: B023
    return lines


def spans(partings: Sequence[Parting], holds: Callable[[Parting], bool]) -> list[str]:
    """Return in words the runs of neighbouring sizes, of those looked at, of which something is true.

    Parameters
    ----------
    partings
        One for each size, ascending.
    holds
        What is asked of each.
    """
    last = len(partings) - 1
    places = [place for place, parting in enumerate(partings) if holds(parting)]
    texts = []
    # Neighbours differ from their rank among the places found by the same number.
    for _, neighbours in groupby(enumerate(places), lambda ranked: ranked[1] - ranked[0]):
        run = [place for _, place in neighbours]
        start, end = (format_size(partings[place].size_bytes) for place in (run[0], run[-1]))
        if run[0] == 0 and run[-1] == last:
            texts.append("at every size")
        elif start == end:
            texts.append(f"at {start}")
        elif run[-1] == last:
            texts.append(f"from {start} on")
        else:
            texts.append(f"up to {end}" if run[0] == 0 else f"from {start} to {end}")
    return texts


class KnownSchedule(Struct, kw_only=True):
    """One of the three at one size."""

    scheduler: str
    num_chunks: int
    sizes: str
    makespan_ps: int

    @classmethod
    def of(cls, schedule: Schedule) -> KnownSchedule:
        """Return the figures of a schedule."""
        return cls(
            scheduler=schedule.scheduler,
            num_chunks=schedule.num_chunks,
            sizes=str(schedule.sizing),
            makespan_ps=schedule.timed_ps,
        )


class OptimumGain(Struct, kw_only=True):
    """How much faster the optimum is than a heuristic."""

    at_least: float | None
    at_most: float | None
    is_above_threshold: Verdict


class PartingRow(Struct, kw_only=True):
    """One size."""

    size_bytes: int
    baseline: KnownSchedule
    themis: KnownSchedule
    best_known: KnownSchedule
    bound_ps: int
    bound_kind: str
    bound_chunks: tuple[int, int]
    themis_over_baseline: float | None
    optimum_over_themis: OptimumGain
    optimum_over_baseline: OptimumGain
    note: str


class SuppliedDimension(Struct, kw_only=True):
    """How a dimension is provisioned for the baseline order."""

    dimension: int
    bandwidth_Bps: float
    needed_Bps: float
    ratio: float
    supply: str


class WhenDocument(ResultDocument, kw_only=True, tag="themis-opt/when/1"):
    """Everything there is to tell; docs/designing.md explains the keys."""

    themis_opt_version: str
    options: dict[str, Any]
    network: str
    collective: str
    occupancy: str
    chunk_overhead_ps: int
    dimensions: list[SuppliedDimension]
    is_complete: bool
    rows: list[PartingRow]
    findings: list[str]


def when_json(
    instance: Instance, provisions: Sequence[Provision], partings: Sequence[Parting], options: Mapping[str, Any]
) -> str:
    """Return everything there is to tell.

    Parameters
    ----------
    instance
        Network and collective.
    provisions
        How each involved dimension is provisioned.
    partings
        One for each message size, ascending.
    options
        What the user asked for, the thresholds and sizes among them.
    """
    document = WhenDocument(
        themis_opt_version=VERSION,
        options=dict(options),
        network=instance.network.name,
        collective=str(instance.collective),
        occupancy=str(instance.occupancy),
        chunk_overhead_ps=instance.chunk_overhead_ps,
        dimensions=[
            SuppliedDimension(
                dimension=provision.dimension,
                bandwidth_Bps=float(provision.bandwidth_Bps),
                needed_Bps=float(provision.needed_Bps),
                ratio=float(provision.ratio),
                supply=str(provision.supply),
            )
            for provision in provisions
        ],
        is_complete=len(partings) == len(options["sizes_bytes"]),
        rows=[_row(parting, options["optimum_gain"]) for parting in partings],
        findings=findings(partings, options["themis_gain"], options["optimum_gain"]),
    )
    return result_text(document)


def _row(parting: Parting, threshold: float) -> PartingRow:
    def gain(over: Schedule) -> OptimumGain:
        return OptimumGain(
            at_least=finite(parting.least_gain(over)),
            at_most=finite(parting.most_gain(over)),
            is_above_threshold=parting.optimum_gains(over, threshold),
        )

    scope = parting.bound.scope
    return PartingRow(
        size_bytes=parting.size_bytes,
        baseline=KnownSchedule.of(parting.baseline),
        themis=KnownSchedule.of(parting.themis),
        best_known=KnownSchedule.of(parting.best),
        bound_ps=parting.bound.value_ps,
        bound_kind=str(parting.bound.kind),
        bound_chunks=(scope.min_chunks, scope.max_chunks),
        themis_over_baseline=finite(parting.themis_gain),
        optimum_over_themis=gain(parting.themis),
        optimum_over_baseline=gain(parting.baseline),
        note=parting.note,
    )
