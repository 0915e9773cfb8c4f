"""Schedule files (``themis-opt/schedule/1``): an answer with its question, so that it can be judged alone."""

from __future__ import annotations

import json
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from themis_opt.files.atomic import write_text
from themis_opt.files.documents import ScheduleFile, expect_kind, format_line
from themis_opt.files.importing import OnImport, read_own_or_foreign
from themis_opt.files.instance_file import instance_document, instance_from_document
from themis_opt.files.remarks import Imported
from themis_opt.files.results import json_safe
from themis_opt.files.strict import decode
from themis_opt.problem.bound import Bound, BoundKind, BoundScope
from themis_opt.problem.errors import InputError, located
from themis_opt.problem.network import MAX_DIMENSIONS
from themis_opt.problem.schedule import Chunk, Schedule, Slot, StageTime

_MANY_STAGES = 100_000
"""So many are judged one by one, however few chunks there are: the verdict says more than a refusal."""
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
    """Return the schedule in the plain data of a schedule file.

    Parameters
    ----------
    data
        What the file holds.
    path
        The file, for messages and for networks named relative to it.
    on_import
        Called when it names an ASTRA-sim network file, as by `load_instance`.

    Raises
    ------
    InputError
        When the data is no well-formed schedule.
    """
    with located(os.fspath(path)):
        expect_kind(data, "schedule")
        _require_no_flood(data)
        return _schedule(decode(data, ScheduleFile), Path(path).parent, on_import)


def _require_no_flood(data: dict[str, Any]) -> None:
    """Raise when there are far more stages than the chunks can have: judging each would take minutes and a GB."""
    chunks, sequences, stages = (data.get(key) for key in ("chunks", "sequences", "stages"))
    if not isinstance(chunks, list):
        return
    most = max(_MANY_STAGES, 2 * MAX_DIMENSIONS * len(chunks))
    named = (
        sum(len(sequence) for sequence in sequences if isinstance(sequence, list)) if isinstance(sequences, list) else 0
    )
    timed = len(stages) if isinstance(stages, list) else 0
    for key, count in (("sequences", named), ("stages", timed)):
        if count > most:
            raise InputError(f"{key}: has {count} entries for {len(chunks)} chunks; at most {most} are read")


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
    # In the order of the first version: files of the same schedule stay the same bytes.
    return {
        **data,
        "makespan_ps": schedule.makespan_ps,
        **_bound_document(schedule.bound),
        "scheduler": schedule.scheduler,
        "status": str(schedule.status),
        "seed": schedule.seed,
        "themis_opt_version": schedule.version,
    }


def _bound_document(bound: Bound | None) -> dict[str, Any]:
    """Return the keys of a claimed bound, which are null without one."""
    if bound is None:
        return dict.fromkeys(("bound_ps", "bound_kind", "bound_scope", "certificate", "certified_bound_ps"))
    weights, scope = bound.certificate, bound.scope
    return {
        "bound_ps": bound.value_ps,
        "bound_kind": str(bound.kind),
        "bound_scope": {"sizes": str(scope.sizes), "num_chunks": [scope.min_chunks, scope.max_chunks]},
        "certificate": None if weights is None else [f"{w.numerator}/{w.denominator}" for w in weights],
        "certified_bound_ps": bound.certified_ps,
    }


def _schedule(document: ScheduleFile, folder: Path, on_import: OnImport | None) -> Schedule:
    with located("instance", "."):
        instance = instance_from_document(document.instance, folder, on_import)
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


def _json_text(data: dict[str, Any]) -> str:
    """Return JSON that people can read: long lists with one entry a line, everything else on one line per key."""
    lines = []
    for key, value in data.items():
        if key in ("chunks", "sequences", "stages") and value:
            entries = ",\n".join("  " + json.dumps(entry) for entry in value)
            lines.append(f" {json.dumps(key)}: [\n{entries}\n ]")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return json_safe("{\n" + ",\n".join(lines) + "\n}\n")
