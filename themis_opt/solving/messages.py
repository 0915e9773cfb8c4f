"""What parent and solver process tell each other: one JSON object a line, made of the file formats' own documents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from themis_opt.files.documents import InstanceDocument
from themis_opt.files.instance_file import instance_document, instance_from_document
from themis_opt.files.schedule_file import schedule_document, schedule_from_data
from themis_opt.problem.bound import Bound, BoundScope, Sizing
from themis_opt.problem.chunking import Chunking
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.solving.ending import Ending
from themis_opt.solving.protocol import Progress, SolverParams, SolverResult


def encode(message: Mapping[str, Any]) -> bytes:
    """Return a message as one line."""
    return json.dumps(message).encode() + b"\n"


def params_message(params: SolverParams) -> dict[str, Any]:
    """Return the parameters as plain data; the progress callback stays behind."""
    return {
        "time_limit_s": params.time_limit_s,
        "num_workers": params.num_workers,
        "seed": params.seed,
        "hints": [schedule_document(hint) for hint in params.hints],
        "bound": bound_message(params.bound),
        "chunking": None if params.chunking is None else msgspec.to_builtins(params.chunking),
        "gap": params.gap,
        "max_evaluations": params.max_evaluations,
    }


def params_from(data: Mapping[str, Any]) -> SolverParams:
    """Return the parameters in a message."""
    hints = tuple(schedule_from(hint) for hint in data["hints"])
    return SolverParams(
        data["time_limit_s"],
        data["num_workers"],
        data["seed"],
        tuple(filter(None, hints)),
        bound_from(data["bound"]),
        None if data["chunking"] is None else msgspec.convert(data["chunking"], Chunking),
        data["gap"],
        max_evaluations=data["max_evaluations"],
    )


def instance_message(instance: Instance) -> dict[str, Any]:
    """Return an instance as plain data."""
    return instance_document(instance)


def instance_from(data: Mapping[str, Any]) -> Instance:
    """Return the instance in a message."""
    return instance_from_document(msgspec.convert(data, InstanceDocument), Path())


def schedule_from(data: dict[str, Any] | None) -> Schedule | None:
    """Return the schedule in a message, if there is one."""
    return None if data is None else schedule_from_data(data, "message")


def bound_message(bound: Bound | None) -> dict[str, Any] | None:
    """Return a bound as plain data."""
    if bound is None:
        return None
    certificate = bound.certificate
    return {
        "value_ps": bound.value_ps,
        "kind": str(bound.kind),
        "scope": scope_message(bound.scope),
        "certificate": None if certificate is None else [str(weight) for weight in certificate],
        "certified_ps": bound.certified_ps,
    }


def bound_from(data: Mapping[str, Any] | None) -> Bound | None:
    """Return the bound in a message, if there is one."""
    if data is None:
        return None
    certificate = data["certificate"]
    weights = None if certificate is None else tuple(Fraction(weight) for weight in certificate)
    return Bound(data["value_ps"], data["kind"], scope_from(data["scope"]), weights, data["certified_ps"])


def known_bounds_message(known: Mapping[BoundScope, list[Bound]]) -> list[list[dict[str, Any] | None]]:
    """Return bounds by scope as plain data."""
    return [[bound_message(bound) for bound in bounds] for bounds in known.values()]


def known_bounds_from(data: list[list[dict[str, Any]]]) -> dict[BoundScope, list[Bound]]:
    """Return the bounds by scope in a message."""
    lists = [[bound for bound in map(bound_from, bounds) if bound is not None] for bounds in data]
    return {bounds[0].scope: bounds for bounds in lists if bounds}


def scope_message(scope: BoundScope) -> list[Any]:
    """Return a scope as plain data."""
    return [str(scope.sizes), scope.min_chunks, scope.max_chunks]


def scope_from(data: list[Any]) -> BoundScope:
    """Return the scope in a message."""
    return BoundScope(Sizing(data[0]), data[1], data[2])


def progress_message(progress: Progress) -> dict[str, Any]:
    """Return a progress report as plain data."""
    incumbent = progress.incumbent
    return {
        "phase": progress.phase,
        "incumbent": None if incumbent is None else schedule_document(incumbent),
        "bound": bound_message(progress.bound),
    }


def progress_from(data: Mapping[str, Any]) -> Progress:
    """Return the progress report in a message."""
    return Progress(data["phase"], schedule_from(data["incumbent"]), bound_from(data["bound"]))


def result_message(result: SolverResult) -> dict[str, Any]:
    """Return a solver's result as plain data."""
    return {
        "status": str(result.status),
        "schedule": None if result.schedule is None else schedule_document(result.schedule),
        "bound": bound_message(result.bound),
        "note": result.note,
        "ending": str(result.ending),
    }


def result_from(data: Mapping[str, Any]) -> SolverResult:
    """Return the solver's result in a message."""
    return SolverResult(
        Status(data["status"]),
        schedule_from(data["schedule"]),
        bound_from(data["bound"]),
        str(data["note"]),
        Ending(data["ending"]),
    )
