"""Everything there is to explain of a schedule, and of an instance, worked out together."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from themis_opt.problem.bound import Bound
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.proof.certificate import certified_bound_ps, check_weights
from themis_opt.questions.explain.chain import Leg, critical_chain, critical_ps_by_chunk
from themis_opt.questions.explain.idle import Idleness, idleness
from themis_opt.questions.explain.provisioned import Provision, provisioning
from themis_opt.questions.explain.sensitivity import bandwidth_gains, bandwidth_values, gain_everywhere_ps
from themis_opt.questions.explain.visits import Visits
from themis_opt.solving.bounds import best_bound, quick_bounds, scope_of
from themis_opt.timing.sequencing import simulate

ALIKE = 0.999
"""Dimensions whose gains differ by less than rounding may make of it count as equally good."""


@dataclass(frozen=True)
class ScheduleAccount:
    """Why a schedule takes as long as it does.

    Attributes
    ----------
    schedule
        The schedule.
    makespan_ps
        Its makespan under the timing rule, whatever it claims.
    legs
        Its critical path.
    idle
        The idle time of each involved dimension.
    gains_ps
        By how much it ends earlier with 1 % more bandwidth on each involved dimension.
    gain_everywhere_ps
        By how much it ends earlier with 1 % more on all of them.
    chunk_ps
        How much of the critical path each chunk on it takes up.
    bound
        The bound the weights belong to: the schedule's own, or a new one where it has no certificate.
    certified_ps
        What these weights prove, whatever the file states of it; ``None`` without a certificate.
    """

    schedule: Schedule
    makespan_ps: int
    legs: tuple[Leg, ...]
    idle: tuple[Idleness, ...]
    gains_ps: dict[int, int]
    gain_everywhere_ps: int
    chunk_ps: dict[int, int]
    bound: Bound
    certified_ps: int | None

    @property
    def best_dimensions(self) -> tuple[int, ...]:
        """Where more bandwidth gains most; nowhere when it gains nothing."""
        return _best(self.gains_ps)

    @property
    def busiest_chunk(self) -> int:
        """The chunk that takes up most of the critical path."""
        return max(self.chunk_ps, key=lambda chunk: self.chunk_ps[chunk])

    @property
    def binding(self) -> dict[int, Fraction]:
        """The dimensions with positive certificate weights: those whose loads make the bound."""
        weights = self.bound.certificate or ()
        return {k: weight for k, weight in enumerate(weights) if weight > 0}


@dataclass(frozen=True)
class InstanceAccount:
    """Where an instance's network has too much or too little bandwidth.

    Attributes
    ----------
    instance
        The instance.
    provisions
        How each involved dimension is provisioned under the baseline order.
    fluid
        The fluid bound for the instance's number of equal chunks.
    values_ps
        By how much it falls with 1 GB/s more on each involved dimension.
    """

    instance: Instance
    provisions: tuple[Provision, ...]
    fluid: Bound
    values_ps: dict[int, int]

    @property
    def best_dimensions(self) -> tuple[int, ...]:
        """Where 1 GB/s more is worth most; nowhere when it is worth nothing."""
        return _best(self.values_ps)


def explain_schedule(schedule: Schedule) -> ScheduleAccount:
    """Return why a schedule takes as long as it does.

    Raises
    ------
    InputError
        When orders or sequences are incomplete, or its certificate is none.
    DeadlockError
        When it never ends.
    """
    instance = schedule.instance
    timeline = simulate(instance, schedule)
    visits = Visits(schedule, timeline)
    legs = critical_chain(visits)
    bound = schedule.bound
    if bound is None or bound.certificate is None:
        bound = best_bound(quick_bounds(instance, scope_of(schedule)))
    else:
        check_weights(instance, bound.certificate)
    certified_ps = None
    if bound.certificate is not None:
        certified_ps = certified_bound_ps(instance, bound.certificate, bound.scope)
    return ScheduleAccount(
        schedule,
        timeline.makespan_ps,
        legs,
        idleness(visits, timeline.makespan_ps),
        bandwidth_gains(schedule),
        gain_everywhere_ps(schedule),
        critical_ps_by_chunk(legs),
        bound,
        certified_ps,
    )


def explain_instance(instance: Instance) -> InstanceAccount:
    """Return where an instance's network has too much or too little bandwidth."""
    fluid, values_ps = bandwidth_values(instance)
    return InstanceAccount(instance, provisioning(instance), fluid, values_ps)


def _best(gains_ps: dict[int, int]) -> tuple[int, ...]:
    most_ps = max(gains_ps.values())
    return tuple(k for k, gain_ps in gains_ps.items() if 0 < gain_ps >= ALIKE * most_ps)
