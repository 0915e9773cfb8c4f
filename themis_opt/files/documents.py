"""The shape of every file, as msgspec Structs: what may stand where. JSON Schemas are made from these."""

from __future__ import annotations

from typing import Any

import msgspec

from themis_opt.problem.bound import Sizing
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.instance import Occupancy
from themis_opt.problem.network import Algorithm, Topology
from themis_opt.problem.schedule import Status


class DimensionDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One dimension; either `bandwidth`, or `links` and `bandwidth_per_link`."""

    topology: Topology
    size: int
    bandwidth: str | None = None
    links: int | None = None
    bandwidth_per_link: str | None = None
    latency: str
    algorithm: Algorithm | None = None
    reduction_bandwidth: str | None = None
    note: str = ""


class NetworkDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A network, as it stands inside an instance; a network file has a `format` line besides."""

    name: str
    source: str = ""
    note: str = ""
    dimensions: list[DimensionDocument]


class NetworkFile(NetworkDocument, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A network file, ``themis-opt/network/1``."""

    format: str


class KnownDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What somebody already proved about an instance: times with units."""

    makespan: str | None = None
    bound: str | None = None
    proved_by: str = ""


class InstanceDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """An instance, as it stands inside a schedule; `network` is inline, a shipped name or a path."""

    network: NetworkDocument | str
    collective: Collective = Collective.ALL_REDUCE
    size: str = "100 MB"
    chunks: int = 64
    occupancy: Occupancy = Occupancy.EXCLUSIVE
    chunk_overhead: str | None = None
    dimensions: list[int] | None = None
    known: KnownDocument | None = None


class InstanceFile(InstanceDocument, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """An instance file, ``themis-opt/instance/1``."""

    format: str


class ChunkDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A chunk: its bytes and its orders (0-based dimension indices; null where there is no such phase)."""

    size_bytes: int
    rs_order: list[int] | None = None
    ag_order: list[int] | None = None


class BoundScopeDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """For which schedules the bound holds: their sizing and the range of their chunk counts."""

    sizes: Sizing
    num_chunks: tuple[int, int]


class ScheduleFile(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A schedule file, ``themis-opt/schedule/1``; it embeds its instance, so it can be judged alone."""

    format: str
    instance: InstanceDocument
    chunks: list[ChunkDocument]
    sequences: list[list[tuple[int, Phase]]]
    stages: list[tuple[int, Phase, int, int, int]] | None = None
    makespan_ps: int | None = None
    bound_ps: int | None = None
    bound_kind: str | None = None
    bound_scope: BoundScopeDocument | None = None
    certificate: list[str] | None = None
    certified_bound_ps: int | None = None
    scheduler: str = ""
    status: Status = Status.HEURISTIC
    seed: int | None = None
    themis_opt_version: str | None = None


class StudyFile(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A study file, ``themis-opt/study/1``; what `base` and `axes` may hold stands in docs/studies.md."""

    format: str
    name: str = ""
    note: str = ""
    base: dict[str, Any]
    axes: dict[str, Any]
    zip: list[list[str]] = []
    constraints: list[str] = []
    metrics: list[str] | None = None


FORMATS: dict[str, type[msgspec.Struct]] = {
    "network": NetworkFile,
    "instance": InstanceFile,
    "schedule": ScheduleFile,
    "study": StudyFile,
}
"""The kinds of file; the format line of kind K is ``themis-opt/K/1``."""


def format_line(kind: str) -> str:
    """Return the value of the `format` key of a kind of file."""
    return f"themis-opt/{kind}/1"
