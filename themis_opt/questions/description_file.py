"""The JSON of an instance after all conversions (``themis-opt/description/1``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from msgspec import UNSET, Struct, UnsetType

from themis_opt.files.remarks import Imported
from themis_opt.files.results import ResultDocument, result_text
from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Dimension
from themis_opt.timing import metrics
from themis_opt.timing.cost import CostModel


class DescribedDimension(Struct, kw_only=True):
    """A dimension in base units."""

    topology: str
    size: int
    algorithm: str
    num_steps: int
    bandwidth_Bps: float
    links: int | None
    latency_ps: float
    reduction_bandwidth_Bps: float | None
    note: str
    involved: bool


class DescribedStage(Struct, kw_only=True):
    """What a largest chunk's first stage in a phase costs, in the baseline's order; an NPU holds `resident_bytes`."""

    phase: str
    dimension: int
    num_steps: int
    resident_bytes: float
    sent_bytes: float
    latency_ps: int
    transfer_ps: int
    overhead_ps: int
    duration_ps: int
    hold_ps: int


class DescribedRemark(Struct, kw_only=True):
    """What became of a quantity in somebody else's file."""

    kind: str
    key: str
    text: str


class DescriptionDocument(ResultDocument, kw_only=True, tag="themis-opt/description/1"):
    """Every quantity in base units, and the first stage of each phase."""

    network: str
    source: str
    note: str
    num_npus: int
    dimensions: list[DescribedDimension]
    collective: str
    size_bytes: int
    num_chunks: int
    chunk_bytes: tuple[int, int]
    occupancy: str
    chunk_overhead_ps: int
    sent_bytes: float
    bandwidth_Bps: float
    ideal_ps: float
    first_stages: list[DescribedStage]
    remarks: list[DescribedRemark] | UnsetType = UNSET


def description_text(instance: Instance, imports: Sequence[Imported] = ()) -> str:
    """Return the text of a description.

    Where the network is from somebody else's file, `imports` has what was read, and its remarks stand at the end.
    """
    network = instance.network
    sizes = instance.equal_chunk_sizes()
    remarks = [
        DescribedRemark(kind=str(remark.kind), key=remark.key, text=remark.text)
        for imported in imports
        for remark in imported.remarks
    ]
    document = DescriptionDocument(
        network=network.name,
        source=network.source,
        note=network.note,
        num_npus=instance.num_npus,
        dimensions=[_dimension(d, k in instance.involved) for k, d in enumerate(network.dimensions)],
        collective=str(instance.collective),
        size_bytes=instance.size_bytes,
        num_chunks=instance.num_chunks,
        chunk_bytes=(min(sizes), max(sizes)),
        occupancy=str(instance.occupancy),
        chunk_overhead_ps=instance.chunk_overhead_ps,
        sent_bytes=_number(metrics.sent_bytes(instance)),
        bandwidth_Bps=_number(metrics.total_bandwidth_Bps(instance)),
        ideal_ps=metrics.ideal_ps(instance),
        first_stages=list(first_stages(instance)),
        remarks=remarks if imports else UNSET,
    )
    return result_text(document)


def _dimension(dimension: Dimension, involved: bool) -> DescribedDimension:
    reduction = dimension.reduction_bandwidth_Bps
    return DescribedDimension(
        topology=str(dimension.topology),
        size=dimension.size,
        algorithm=str(dimension.algorithm),
        num_steps=dimension.num_steps(),
        bandwidth_Bps=_number(dimension.bandwidth_Bps),
        links=dimension.links,
        latency_ps=_number(dimension.latency_ps),
        reduction_bandwidth_Bps=None if reduction is None else _number(reduction),
        note=dimension.note,
        involved=involved,
    )


def first_stages(instance: Instance) -> Iterator[DescribedStage]:
    """Yield the cost of the first stage of every phase."""
    model = instance.derived(CostModel)
    size_bytes = instance.equal_chunk_sizes()[0]
    for phase in instance.phases:
        k = instance.baseline_order[phase][0]
        cost = model.stage(size_bytes, phase, (), k)
        yield DescribedStage(
            phase=str(phase),
            dimension=k,
            num_steps=1 if phase is Phase.ALL_TO_ALL else instance.network.dimensions[k].num_steps(),
            resident_bytes=_number(size_bytes * model.resident_fraction(phase, ())),
            sent_bytes=_number(cost.sent_bytes),
            latency_ps=cost.latency_ps,
            transfer_ps=cost.transfer_ps,
            overhead_ps=cost.overhead_ps,
            duration_ps=cost.duration_ps,
            hold_ps=model.hold_ps(cost),
        )


def _number(value: Fraction) -> int | float:
    """Return a whole number as it is, and any other as the nearest float."""
    return value.numerator if value.denominator == 1 else float(value)
