"""The shape of every file, as msgspec Structs: what may stand where, which kind a file is, and its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from themis_opt.files.strict import show
from themis_opt.problem.bound import Sizing
from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.errors import InputError
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

WRITTEN_ONLY = (
    "bounds",
    "certification",
    "description",
    "explained-instance",
    "explained-schedule",
    "list",
    "provision",
    "simulation",
    "tuning",
    "validation",
    "when",
)
"""The kinds of JSON that verbs write and none reads."""


def format_line(kind: str) -> str:
    """Return the value of the `format` key of a kind of file."""
    return f"themis-opt/{kind}/1"


def kind_of(data: Mapping[str, Any]) -> str:
    """Return the kind named by the `format` line: ``network``, ``instance`` or ``schedule``.

    Raises
    ------
    InputError
        When the line is missing or names no kind or version this program reads.
    """
    known = {format_line(kind): kind for kind in FORMATS}
    value = data.get("format")
    if value is None:
        raise InputError(f"format: is missing; the file must say what it is, one of: {', '.join(known)}")
    if isinstance(value, str) and value.startswith("themis-opt/comparison/"):
        raise InputError("format: this is a comparison; 'themis-opt report' and 'themis-opt plot' show it")
    if isinstance(value, str) and value.removeprefix("themis-opt/").rpartition("/")[0] in WRITTEN_ONLY:
        raise InputError(f"format: {value!r} is written for other programs, and read by none of these verbs")
    if not isinstance(value, str) or value not in known:
        raise InputError(
            f"format: {show(value)} is not allowed; one of: {', '.join(known)}{did_you_mean(value, known)}"
        )
    return known[value]


def expect_kind(data: Mapping[str, Any], kind: str) -> None:
    """Raise unless the `format` line names this kind.

    Raises
    ------
    InputError
        When it is missing or another one.
    """
    found = kind_of(data)
    if found != kind:
        raise InputError(f"format: this is a {found} file; expected here is {format_line(kind)!r}")


def json_schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a kind of file.

    Raises
    ------
    InputError
        When there is no such kind.
    """
    if kind not in FORMATS:
        raise InputError(f"no format {kind!r}; there are: {', '.join(FORMATS)}{did_you_mean(kind, FORMATS)}")
    schema = msgspec.json.schema(FORMATS[kind])
    name = schema["$ref"].rpartition("/")[2]
    schema["$defs"][name]["properties"]["format"] = {"const": format_line(kind)}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": format_line(kind), **schema}
