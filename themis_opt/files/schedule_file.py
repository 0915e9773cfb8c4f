"""Schedule files (``themis-opt/schedule/1``): an answer with its question, so that it can be judged alone."""

from __future__ import annotations

import json
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from themis_opt.files.atomic import write_text
from themis_opt.files.documents import ScheduleFile, format_line
from themis_opt.files.importing import OnImport, read_own_or_foreign
from themis_opt.files.instance_file import instance_document, instance_from_document
from themis_opt.files.kinds import expect_kind
from themis_opt.files.remarks import Imported
from themis_opt.files.strict import decode
from themis_opt.problem.bound import Bound, BoundKind, BoundScope
from themis_opt.problem.errors import InputError
from themis_opt.problem.schedule import Chunk, Schedule, Slot, StageTime

_MAX_WEIGHT_LENGTH = 4000
_WEIGHT = re.compile(r"-?[0-9]+(?:/[0-9]+)?")


def load_schedule(path: str | os.PathLike[str]) -> Schedule:
    """Return the schedule in a file. What it claims is not checked here: see `themis_opt.validate`.

    Raises
    ------
    InputError
        When there is no such file or it is not a well-formed schedule file.
    """
    data = read_own_or_foreign(path, small=False)
    if isinstance(data, Imported):
        raise InputError(f"{os.fspath(path)}: is {data.format_name}, no schedule; 'themis-opt solve' makes one for it")
    return schedule_from_data(data, path)


def schedule_from_data(
    data: dict[str, Any], path: str | os.PathLike[str], on_import: OnImport | None = None
) -> Schedule:
    """Return the schedule in the plain data of a schedule file; `path` is for messages.

    `on_import` is called when it names an ASTRA-sim network file, as by `load_instance`.

    Raises
    ------
    InputError
        When the data is no well-formed schedule.
    """
    try:
        expect_kind(data, "schedule")
        return _schedule(decode(data, ScheduleFile), Path(path).parent, on_import)
    except InputError as error:
        raise error.at(os.fspath(path)) from None


def save_schedule(schedule: Schedule, path: str | os.PathLike[str]) -> None:
    """Write a schedule file, whole or not at all; ``-`` is standard output.

    Raises
    ------
    InputError
        When it cannot be written.
    """
    write_text(path, schedule_text(schedule))


def schedule_text(schedule: Schedule) -> str:
    """Return the text of a schedule file, one chunk or sequence a line."""
    return _json_text(schedule_document(schedule))


def schedule_document(schedule: Schedule) -> dict[str, Any]:
    """Return a schedule as plain data that reads back as the same schedule."""
    bound = schedule.bound
    data: dict[str, Any] = {
        "format": format_line("schedule"),
        "instance": instance_document(schedule.instance),
        "chunks": [
            {
                "size_bytes": chunk.size_bytes,
                "rs_order": None if chunk.rs_order is None else list(chunk.rs_order),
                "ag_order": None if chunk.ag_order is None else list(chunk.ag_order),
            }
            for chunk in schedule.chunks
        ],
        "sequences": [[[slot.chunk, str(slot.phase)] for slot in sequence] for sequence in schedule.sequences],
    }
    if schedule.stages is not None:
        data["stages"] = [[c, str(phase), k, start, end] for c, phase, k, start, end in schedule.stages]
    data["makespan_ps"] = schedule.makespan_ps
    data["bound_ps"] = None if bound is None else bound.value_ps
    data["bound_kind"] = None if bound is None else str(bound.kind)
    data["bound_scope"] = None if bound is None else _scope_document(bound.scope)
    certificate = None if bound is None else bound.certificate
    data["certificate"] = (
        None if certificate is None else [f"{weight.numerator}/{weight.denominator}" for weight in certificate]
    )
    data["certified_bound_ps"] = None if bound is None else bound.certified_ps
    data["scheduler"] = schedule.scheduler
    data["status"] = str(schedule.status)
    data["seed"] = schedule.seed
    data["themis_opt_version"] = schedule.version
    return data


def _schedule(document: ScheduleFile, folder: Path, on_import: OnImport | None) -> Schedule:
    try:
        instance = instance_from_document(document.instance, folder, on_import)
    except InputError as error:
        raise InputError(f"instance.{error}") from None
    return Schedule(
        instance,
        tuple(Chunk(c.size_bytes, _order(c.rs_order), _order(c.ag_order)) for c in document.chunks),
        tuple(tuple(Slot(*slot) for slot in sequence) for sequence in document.sequences),
        document.makespan_ps,
        document.scheduler,
        document.status,
        _bound(document),
        None if document.stages is None else tuple(StageTime(*stage) for stage in document.stages),
        document.seed,
        document.themis_opt_version,
    )


def _order(order: list[int] | None) -> tuple[int, ...] | None:
    return None if order is None else tuple(order)


def _bound(document: ScheduleFile) -> Bound | None:
    """Return the claimed bound; its parts stand together or not at all."""
    if document.bound_ps is None:
        for key in ("bound_kind", "bound_scope", "certificate", "certified_bound_ps"):
            if getattr(document, key) is not None:
                raise InputError(f"bound_ps: is missing beside {key}")
        return None
    if document.bound_scope is None:
        raise InputError(
            "bound_scope: is missing beside bound_ps; a bound holds for stated sizes and chunk counts only"
        )
    return Bound(
        document.bound_ps,
        str(BoundKind.OTHER) if document.bound_kind is None else document.bound_kind,
        BoundScope(document.bound_scope.sizes, *document.bound_scope.num_chunks),
        _certificate(document.certificate),
        document.certified_bound_ps,
    )


def _certificate(weights: list[str] | None) -> tuple[Fraction, ...] | None:
    if weights is None:
        return None
    parsed = []
    for k, text in enumerate(weights):
        try:
            # Not whatever Fraction takes: 1e999999999 is a fraction too, with a billion digits.
            if len(text) > _MAX_WEIGHT_LENGTH or not _WEIGHT.fullmatch(text):
                raise ValueError
            parsed.append(Fraction(text))
        except (ValueError, ZeroDivisionError):
            raise InputError(f"certificate[{k}]: {text[:40]!r} is not a fraction such as '3/7'") from None
    return tuple(parsed)


def _scope_document(scope: BoundScope) -> dict[str, Any]:
    return {"sizes": str(scope.sizes), "num_chunks": [scope.min_chunks, scope.max_chunks]}


def _json_text(data: dict[str, Any]) -> str:
    """Return JSON that people can read: long lists with one entry a line, everything else on one line per key."""
    lines = []
    for key, value in data.items():
        if key in ("chunks", "sequences", "stages") and value:
            entries = ",\n".join("  " + json.dumps(entry) for entry in value)
            lines.append(f" {json.dumps(key)}: [\n{entries}\n ]")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
