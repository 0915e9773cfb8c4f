"""The one row of results: a schedule, its makespan, the best bound, gap and speedup; or a time without a schedule.

Comparisons, tuning tables, reports, pictures and studies all show rows. Make one with `Row` where the schedule's bound
is known to be the best, and with `Row.of` where a schedule comes from a file or a scheduler. `PredictedRow` is for
algorithms of which there is a formula alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from themis_opt.problem.bound import Bound
from themis_opt.problem.instance import Instance
from themis_opt.problem.ratios import gap, ratio
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.questions.speedup_reference import reference_of
from themis_opt.schedulers.registry import get_scheduler
from themis_opt.solving.bounds import best_bound, quick_bounds, scope_of
from themis_opt.timing import metrics
from themis_opt.timing.sequencing import timeline_of
from themis_opt.timing.timeline import Timeline


@dataclass(frozen=True, slots=True)
class DimensionUse:
    """What one network dimension does in a schedule.

    Attributes
    ----------
    bytes
        What one NPU sends into it.
    busy_ps
        How long it is held.
    utilization
        The bytes over what it could have sent until the makespan.
    """

    bytes: float
    busy_ps: int
    utilization: float


@dataclass(frozen=True)
class Timed(ABC):
    """What takes a time on an instance, with the figures that need nothing else.

    Attributes
    ----------
    name
        What the row is called.
    """

    name: str

    @property
    @abstractmethod
    def instance(self) -> Instance:
        """The problem it answers."""

    @property
    @abstractmethod
    def makespan_ps(self) -> int:
        """When it ends."""

    @property
    @abstractmethod
    def speedup(self) -> float:
        """How many times as fast as the reference it is."""

    @property
    def bw_utilization(self) -> float:
        """The part of all bandwidth that is used until the makespan."""
        return metrics.bw_utilization(self.instance, self.makespan_ps)

    @property
    def algbw_Bps(self) -> float:
        """The algorithm bandwidth [bytes/s]."""
        return metrics.algbw_Bps(self.instance, self.makespan_ps)

    @property
    def busbw_Bps(self) -> float:
        """The bus bandwidth of nccl-tests [bytes/s]."""
        return metrics.busbw_Bps(self.instance, self.makespan_ps)


@dataclass(frozen=True)
class PredictedRow(Timed):
    """An algorithm that is known by its time alone: nothing is simulated, and no bound speaks of it.

    Attributes
    ----------
    problem
        The instance.
    predicted_ps
        What the formula gives.
    reference_ps
        As of `Row`.
    """

    problem: Instance
    predicted_ps: int
    reference_ps: int

    @property
    def instance(self) -> Instance:
        """The problem it answers."""
        return self.problem

    @property
    def makespan_ps(self) -> int:
        """When it ends, by its formula."""
        return self.predicted_ps

    @property
    def speedup(self) -> float:
        """As of `Row`."""
        return ratio(self.reference_ps, self.makespan_ps)


@dataclass(frozen=True)
class Row(Timed):
    """One schedule on one instance, with its figures.

    Attributes
    ----------
    name
        What the row is called: the scheduler, the solver or a file.
    schedule
        The schedule; its bound is for its own sizing and number of chunks.
    reference_ps
        The time on the same instance that its speedup refers to (`questions.speedup_reference`) [ps].
    wall_s
        Seconds it took to make.
    note
        A sentence for the user, or nothing.
    bound_any
        Where the number of chunks was free: a bound for all numbers allowed.
    """

    schedule: Schedule
    reference_ps: int
    wall_s: float = 0.0
    note: str = ""
    bound_any: Bound | None = None

    @classmethod
    def of(cls, name: str, schedule: Schedule) -> Row:
        """Return the row of a schedule whose claims do not count but for its bound.

        It is timed anew. Without a bound it gets the best one that takes no solver; its speedup is over the default
        reference.

        Raises
        ------
        InputError, DeadlockError
            When the schedule cannot be simulated.
        """
        instance = schedule.instance
        bound = schedule.bound or best_bound(quick_bounds(instance, scope_of(schedule)))
        makespan_ps = schedule.derived(timeline_of).makespan_ps
        return cls(name, schedule.replace(bound=bound, makespan_ps=makespan_ps), reference_of(instance).makespan_ps)

    @property
    def instance(self) -> Instance:
        """The problem it answers."""
        return self.schedule.instance

    @property
    def status(self) -> Status:
        """How good the schedule is known to be."""
        return self.schedule.status

    @property
    def bound(self) -> Bound:
        """The bound its gap refers to."""
        assert self.schedule.bound is not None
        return self.schedule.bound

    @property
    def timeline(self) -> Timeline:
        """When every stage runs."""
        return self.schedule.derived(timeline_of)

    @property
    def makespan_ps(self) -> int:
        """The simulated makespan."""
        # What the timing rule gives, not what the schedule states.
        return self.timeline.makespan_ps

    @property
    def gap(self) -> float:
        """``makespan / bound - 1``; 0 where both are 0."""
        return gap(self.makespan_ps, self.bound.value_ps)

    @property
    def gap_any(self) -> float | None:
        """``makespan / bound - 1`` with the bound for all numbers of chunks allowed, where that number was free."""
        return None if self.bound_any is None else gap(self.makespan_ps, self.bound_any.value_ps)

    @property
    def speedup(self) -> float:
        """The reference's time over this one's; 1 where both are 0."""
        return ratio(self.reference_ps, self.makespan_ps)

    @property
    def dimension_uses(self) -> tuple[DimensionUse, ...]:
        """What every network dimension does, by index."""
        return tuple(
            DimensionUse(
                float(use.sent_bytes),
                use.busy_ps,
                metrics.dimension_utilization(self.instance, k, use.sent_bytes, self.makespan_ps),
            )
            for k, use in enumerate(self.timeline.dimensions)
        )


def baseline_makespan_ps(instance: Instance) -> int:
    """Return the baseline's makespan with the instance's number of chunks; the schedule itself is shown to nobody."""
    return get_scheduler("baseline")(instance).derived(timeline_of).makespan_ps
