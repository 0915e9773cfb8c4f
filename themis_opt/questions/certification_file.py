"""What of schedule files is proven, as JSON (``themis-opt/certification/1``); exact numbers are fractions in text."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from themis_opt.files.results import ResultDocument, result_text
from themis_opt.judging.certify import Certification, why_lines
from themis_opt.proof.certificate import LoadArgument


class CertifiedViolation(Struct, kw_only=True):
    """A rule that is broken, or what is stated and false."""

    rule: str
    message: str


class CheapestOrderDocument(Struct, kw_only=True):
    """The order in which a phase costs least weighted dimension time."""

    phase: str
    order: list[int]
    stage_costs_ps: list[str]
    cost_ps: str


class LoadArgumentDocument(Struct, kw_only=True):
    """What the certificate's weights prove, and how their parts add up."""

    num_chunks: int
    sizes: str
    units: int
    unit_bytes: int
    cheapest_orders: list[CheapestOrderDocument]
    latency_per_chunk_ps: str
    launch_per_chunk_ps: str
    rounding_per_chunk_ps: str
    paid_once_ps: str
    load_ps: str


class CertifiedFile(Struct, kw_only=True):
    """One schedule file."""

    file: str
    true: bool
    violations: list[CertifiedViolation]
    makespan_ps: int | None
    bound_ps: int | None
    bound_kind: str | None
    certificate: list[str] | None
    certified_ps: int | None
    critical_path_ps: int | None
    proven_ps: int | None
    trusted_ps: int | None
    argument: LoadArgumentDocument | None
    why: list[str]


class CertificationDocument(ResultDocument, kw_only=True, tag="themis-opt/certification/1"):
    """What `certify` says of each file."""

    schedules: list[CertifiedFile]


def certification_text(certified: Iterable[tuple[str, Certification]]) -> str:
    """Return what is proven of schedules, each with its file's name."""
    return result_text(CertificationDocument(schedules=[_file(name, result) for name, result in certified]))


def _file(name: str, result: Certification) -> CertifiedFile:
    bound = result.schedule.bound
    weights = None if bound is None else bound.certificate
    return CertifiedFile(
        file=name,
        true=not result.violations,
        violations=[CertifiedViolation(rule=str(found.rule), message=str(found)) for found in result.violations],
        makespan_ps=result.schedule.makespan_ps,
        bound_ps=None if bound is None else bound.value_ps,
        bound_kind=None if bound is None else str(bound.kind),
        certificate=None if weights is None else list(map(str, weights)),
        certified_ps=result.certified_ps,
        critical_path_ps=result.critical_path_ps,
        proven_ps=result.proven_ps,
        trusted_ps=result.trusted_ps,
        argument=None if result.argument is None else _argument(result.argument),
        why=why_lines(result),
    )


def _argument(argument: LoadArgument) -> LoadArgumentDocument:
    return LoadArgumentDocument(
        num_chunks=argument.num_chunks,
        sizes=str(argument.sizing),
        units=argument.units,
        unit_bytes=argument.unit_bytes,
        cheapest_orders=[
            CheapestOrderDocument(
                phase=str(cheapest.phase),
                order=list(cheapest.order),
                stage_costs_ps=list(map(str, cheapest.stage_costs)),
                cost_ps=str(cheapest.cost),
            )
            for cheapest in argument.cheapest
        ],
        latency_per_chunk_ps=str(argument.latency_ps),
        launch_per_chunk_ps=str(argument.launch_ps),
        rounding_per_chunk_ps=str(argument.rounding_ps),
        paid_once_ps=str(argument.paid_once_ps),
        load_ps=str(argument.load_ps),
    )
