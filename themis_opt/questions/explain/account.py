"""Why a schedule takes as long as it does, and where a network has too much or too little bandwidth: all there is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import overload

from msgspec import Struct

from themis_opt.files.results import ResultDocument, result_text
from themis_opt.problem.bound import Bound
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.proof.certificate import certified_bound_ps, check_weights
from themis_opt.questions.explain.critical_chain import Leg, Visits, critical_chain, critical_ps_by_chunk
from themis_opt.questions.explain.idle import Idleness, Wait, idleness
from themis_opt.questions.explain.supply import (
    Provision,
    bandwidth_gains,
    bandwidth_values,
    gain_everywhere_ps,
    provisioning,
)
from themis_opt.solving.bounds import best_bound, quick_bounds, scope_of
from themis_opt.timing.sequencing import timeline_of

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


@overload
def explain(subject: Schedule) -> ScheduleAccount: ...


@overload
def explain(subject: Instance) -> InstanceAccount: ...


def explain(subject: Schedule | Instance) -> ScheduleAccount | InstanceAccount:
    """Return why a schedule takes as long as it does, or where an instance's network has too much or little bandwidth.

    Raises
    ------
    InputError
        When orders or sequences are incomplete, or its certificate is none.
    DeadlockError
        When it never ends.
    """
    if isinstance(subject, Schedule):
        return _schedule_account(subject)
    fluid, values_ps = bandwidth_values(subject)
    return InstanceAccount(subject, provisioning(subject), fluid, values_ps)


def _schedule_account(schedule: Schedule) -> ScheduleAccount:
    instance = schedule.instance
    timeline = schedule.derived(timeline_of)
    visits = Visits(schedule, timeline)
    legs = critical_chain(visits)
    bound = schedule.bound
    if bound is None or bound.certificate is None:
        bound = best_bound(quick_bounds(instance, scope_of(schedule)))
    else:
        # The file's own weights may be anything.
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


def _best(gains_ps: dict[int, int]) -> tuple[int, ...]:
    most_ps = max(gains_ps.values())
    return tuple(k for k, gain_ps in gains_ps.items() if 0 < gain_ps >= ALIKE * most_ps)


class LegDocument(Struct, kw_only=True):
    """A part of the critical path; its stages are told as chunk, phase, start and end."""

    dimension: int
    start_ps: int
    end_ps: int
    stages: list[tuple[int, str, int, int]]


class IdleDocument(Struct, kw_only=True):
    """What a dimension waits for."""

    dimension: int
    total_ps: int
    start_up: Wait | None
    between: tuple[Wait, ...]
    drained_ps: int


class ExplainedSchedule(ResultDocument, kw_only=True, tag="themis-opt/explained-schedule/1"):
    """A schedule's account: dimensions are indices, exact numbers fractions in text."""

    makespan_ps: int
    critical_path: list[LegDocument]
    idle: list[IdleDocument]
    one_percent_more_bandwidth_gains_ps: dict[str, int]
    one_percent_more_everywhere_gains_ps: int
    best_dimensions: tuple[int, ...]
    critical_ps_by_chunk: dict[str, int]
    bound_ps: int
    bound_kind: str
    certified_bound_ps: int | None
    binding_dimensions: dict[str, str]


class ExplainedDimension(Struct, kw_only=True):
    """How a dimension is provisioned."""

    dimension: int
    baseline_bytes: str
    baseline_transfer_ps: str
    bandwidth_Bps: str
    needed_Bps: str
    ratio: float
    supply: str
    value_of_1_GBps_ps: int


class ExplainedInstance(ResultDocument, kw_only=True, tag="themis-opt/explained-instance/1"):
    """An instance's account."""

    dimensions: list[ExplainedDimension]
    fluid_bound_ps: int
    best_dimensions: tuple[int, ...]


def explained_text(account: ScheduleAccount | InstanceAccount) -> str:
    """Return an account as JSON."""
    document = _schedule_document(account) if isinstance(account, ScheduleAccount) else _instance_document(account)
    return result_text(document)


def _schedule_document(account: ScheduleAccount) -> ExplainedSchedule:
    return ExplainedSchedule(
        makespan_ps=account.makespan_ps,
        critical_path=[
            LegDocument(
                dimension=leg.dimension,
                start_ps=leg.start_ps,
                end_ps=leg.end_ps,
                stages=[(visit.chunk, str(visit.phase), visit.start_ps, visit.end_ps) for visit in leg.visits],
            )
            for leg in account.legs
        ],
        idle=[
            IdleDocument(
                dimension=idle.dimension,
                total_ps=idle.total_ps,
                start_up=idle.start_up,
                between=idle.between,
                drained_ps=idle.drained_ps,
            )
            for idle in account.idle
        ],
        one_percent_more_bandwidth_gains_ps={str(k): gain_ps for k, gain_ps in account.gains_ps.items()},
        one_percent_more_everywhere_gains_ps=account.gain_everywhere_ps,
        best_dimensions=account.best_dimensions,
        critical_ps_by_chunk={str(chunk): taken_ps for chunk, taken_ps in sorted(account.chunk_ps.items())},
        bound_ps=account.bound.value_ps,
        bound_kind=str(account.bound.kind),
        certified_bound_ps=account.certified_ps,
        binding_dimensions={str(k): str(weight) for k, weight in account.binding.items()},
    )


def _instance_document(account: InstanceAccount) -> ExplainedInstance:
    return ExplainedInstance(
        dimensions=[
            ExplainedDimension(
                dimension=provision.dimension,
                baseline_bytes=str(provision.sent_bytes),
                baseline_transfer_ps=str(provision.transfer_ps),
                bandwidth_Bps=str(provision.bandwidth_Bps),
                needed_Bps=str(provision.needed_Bps),
                ratio=float(provision.ratio),
                supply=str(provision.supply),
                value_of_1_GBps_ps=account.values_ps[provision.dimension],
            )
            for provision in account.provisions
        ],
        fluid_bound_ps=account.fluid.value_ps,
        best_dimensions=account.best_dimensions,
    )
