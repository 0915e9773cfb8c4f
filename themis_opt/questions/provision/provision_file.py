"""A split of a bandwidth budget as JSON (``themis-opt/provision/1``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from themis_opt.files.network_file import network_document
from themis_opt.files.results import ResultDocument, result_text
from themis_opt.problem.ratios import finite
from themis_opt.problem.units import exact_text
from themis_opt.problem.version import VERSION
from themis_opt.questions.provision.provision import Provisioned
from themis_opt.questions.provision.split_search import SolvedSplit


class BandwidthEntry(Struct, kw_only=True):
    """What a dimension gets."""

    dimension: int
    bandwidth_Bps: float
    bandwidth: str
    cost_Bps: float


class SplitDocument(Struct, kw_only=True):
    """A split that was solved."""

    bandwidths: list[BandwidthEntry]
    cost_Bps: float
    makespan_ps: int
    num_chunks: int
    sizes: str
    bound_ps: int
    bound_kind: str
    gap: float | None
    wall_s: float
    note: str


class ProvisionDocument(ResultDocument, kw_only=True, tag="themis-opt/provision/1"):
    """Everything there is to tell; docs/designing.md explains the keys."""

    themis_opt_version: str
    options: dict[str, Any]
    network: str
    collective: str
    size_bytes: int
    occupancy: str
    chunk_overhead_ps: int
    dimensions: list[int]
    budget_Bps: float
    costs: dict[str, float]
    is_scaled_to_budget: bool
    shipped: SplitDocument
    proposed: SplitDocument | None
    predicted_gain: float | None
    predicted_from: str
    bounds_gain: float | None
    confirmed_gain: float | None
    is_prediction_confirmed: bool
    is_worth_it: bool
    least_ps_of_any_split: int | None
    most_gain_of_any_split: float | None
    most_gain_over_answer: float | None
    answer: dict[str, Any]
    num_splits_solved: int
    wall_s: float
    is_complete: bool


def provision_json(result: Provisioned, options: Mapping[str, Any]) -> str:
    """Return everything there is to tell of a split; `options` are what the user asked for."""
    budget, instance = result.budget, result.budget.instance
    document = ProvisionDocument(
        themis_opt_version=VERSION,
        options=dict(options),
        network=instance.network.name,
        collective=str(instance.collective),
        size_bytes=instance.size_bytes,
        occupancy=str(instance.occupancy),
        chunk_overhead_ps=instance.chunk_overhead_ps,
        dimensions=list(instance.involved),
        budget_Bps=float(budget.total_Bps),
        costs={f"dim{k + 1}": float(cost) for k, cost in budget.costs.items()},
        is_scaled_to_budget=result.is_scaled,
        shipped=_split(result, result.shipped),
        proposed=None if result.proposed is None else _split(result, result.proposed),
        predicted_gain=finite(result.predicted_gain),
        predicted_from="both bounds" if result.is_shipped_bound_tight else "shipped makespan and proposed bound",
        bounds_gain=finite(result.bounds_gain),
        confirmed_gain=finite(result.confirmed_gain),
        is_prediction_confirmed=result.is_prediction_confirmed,
        is_worth_it=result.is_worth_it,
        least_ps_of_any_split=result.least_ps,
        most_gain_of_any_split=None if result.most_gain is None else finite(result.most_gain),
        most_gain_over_answer=None if result.most_gain_over_answer is None else finite(result.most_gain_over_answer),
        answer=network_document(result.network),
        num_splits_solved=result.num_solved,
        wall_s=round(result.wall_s, 6),
        is_complete=result.interruption is None,
    )
    return result_text(document)


def _split(result: Provisioned, solved: SolvedSplit) -> SplitDocument:
    schedule = solved.schedule
    assert schedule.bound is not None
    return SplitDocument(
        bandwidths=[
            BandwidthEntry(
                dimension=k,
                bandwidth_Bps=float(bandwidth),
                bandwidth=exact_text(bandwidth / 10**9, "GB/s"),
                cost_Bps=float(bandwidth * result.budget.costs[k]),
            )
            for k, bandwidth in solved.bandwidths.items()
        ],
        cost_Bps=float(result.budget.price_Bps(solved.bandwidths)),
        makespan_ps=solved.makespan_ps,
        num_chunks=schedule.num_chunks,
        sizes=str(schedule.sizing),
        bound_ps=schedule.bound.value_ps,
        bound_kind=str(schedule.bound.kind),
        gap=None if schedule.gap is None else finite(schedule.gap),
        wall_s=round(solved.wall_s, 6),
        note=solved.note,
    )
