"""The corpus of solved instances: what is known best of each, read from and written to ``instances/solved/``.

An instance ``NAME.yaml`` says what is to be scheduled, its record ``records/NAME.yaml`` what a solver may choose about
the chunks and the best that is known. ``instances/README.md`` describes the format.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import yaml
from proofs import Origin, Proof, check_origin, check_proof, check_proof_any, check_time, check_within, proof_of

from themis_opt.files.atomic import write_text
from themis_opt.files.instance_file import load_instance
from themis_opt.files.plain import plain_mapping, read_text
from themis_opt.files.strict import decode
from themis_opt.judging.certify import certify
from themis_opt.problem.bound import Bound, Sizing
from themis_opt.problem.chunking import Chunking, make_chunking
from themis_opt.problem.errors import InputError, InvalidScheduleError
from themis_opt.problem.instance import MAX_CHUNKS, Instance
from themis_opt.problem.schedule import Schedule, Status

CORPUS = Path(__file__).parent.parent / "instances" / "solved"
FORMAT = "themis-opt/record/1"


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The best that is known of an instance.

    Attributes
    ----------
    status
        `OPTIMAL` where the bound equals the makespan: no schedule with as many chunks is shorter.
    num_chunks
        How many chunks the best schedule has.
    makespan_ps
        Its makespan.
    found
        Who found it, and when.
    proof
        The best bound for exactly `num_chunks` chunks.
    proof_any
        The best bound for every number of chunks allowed; ``None`` where the number is fixed.
    """

    status: Status
    num_chunks: int
    makespan_ps: int
    found: Origin
    proof: Proof
    proof_any: Proof | None = None

    @property
    def gap(self) -> float:
        """How far the makespan is above the bound, as a part of it."""
        return self.makespan_ps / self.proof.bound_ps - 1

    @property
    def gap_any(self) -> float | None:
        """How far the makespan is above the bound for every number of chunks allowed, where there is one."""
        return None if self.proof_any is None else self.makespan_ps / self.proof_any.bound_ps - 1

    def is_contradicted_by(self, other: Record) -> bool:
        """Whether a bound of the other is above this makespan, so that one of the two is false."""
        same_count = other.num_chunks == self.num_chunks
        proofs = [other.proof if same_count else None, other.proof_any]
        return any(proof is not None and proof.bound_ps > self.makespan_ps for proof in proofs)

    def joined_with(self, other: Record) -> Record:
        """Return the best of both: the shorter makespan, and the highest bounds that speak of its number of chunks."""
        best = other if other.makespan_ps < self.makespan_ps else self
        proof = best.proof
        for record in (self, other):
            if record.num_chunks == best.num_chunks and record.proof.bound_ps > proof.bound_ps:
                proof = record.proof
        proofs_any = [record.proof_any for record in (self, other) if record.proof_any is not None]
        proof_any = max(proofs_any, key=lambda one: one.bound_ps, default=None)
        status = Status.OPTIMAL if proof.bound_ps == best.makespan_ps else Status.FEASIBLE
        return msgspec.structs.replace(best, status=status, proof=proof, proof_any=proof_any)


class RecordFile(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A record file; `best` is missing until a first schedule is recorded."""

    format: str
    sizes: Sizing = Sizing.EQUAL
    max_chunks: int | None = None
    best: Record | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """An instance of the corpus.

    Attributes
    ----------
    path
        Its file.
    instance
        The problem.
    sizing, max_chunks
        What the solver may choose; ``None``: exactly the instance's number of chunks.
    record
        The best known, or ``None``.
    """

    path: Path
    instance: Instance
    sizing: Sizing = Sizing.EQUAL
    max_chunks: int | None = None
    record: Record | None = None

    @property
    def name(self) -> str:
        """The name of its file."""
        return self.path.stem

    @property
    def record_path(self) -> Path:
        """Where its record is."""
        return self.path.parent / "records" / self.path.name

    @property
    def chunking(self) -> Chunking:
        """The choices."""
        return make_chunking(self.instance, self.sizing, self.max_chunks)

    @property
    def options(self) -> str:
        """The options of ``themis-opt solve`` that leave as much to choose."""
        sizes = "" if self.sizing is Sizing.EQUAL else " --sizes free"
        return sizes + ("" if self.max_chunks is None else f" --chunks auto:{self.max_chunks}")


def load_corpus(folder: Path = CORPUS) -> list[Entry]:
    """Return the instances in a folder with their records, by name.

    Raises
    ------
    InputError
        When there are none, a file is wrong, or a record belongs to no instance.
    """
    entries = [_load_entry(path) for path in sorted(folder.glob("*.yaml"))]
    if not entries:
        raise InputError(f"{folder}: holds no instance (*.yaml)")
    names = {entry.name for entry in entries}
    for path in sorted((folder / "records").glob("*.yaml")):
        if path.stem not in names:
            raise InputError(f"{path}: is the record of no instance; add {folder / path.name} or remove the record")
    return entries


def record_of(schedule: Schedule, bound_any: Bound | None, num_workers: int, wall_s: float) -> Record:
    """Return what a solve came to as a record; the schedule is validated and its certificate proven again first.

    Raises
    ------
    InvalidScheduleError
        When the schedule breaks a rule or states something false.
    InputError
        When it states no makespan or no bound.
    """
    certification = certify(schedule)
    if certification.violations:
        raise InvalidScheduleError(certification.violations)
    bound = schedule.bound
    if bound is None or schedule.makespan_ps is None:
        raise InputError(f"a schedule of {schedule.scheduler!r} states no makespan or no bound; it makes no record")
    origin = Origin(
        solver=schedule.scheduler,
        version=schedule.version or "",
        seed=schedule.seed or 0,
        workers=num_workers,
        time=f"{wall_s:.1f} s",
        date=date.today().isoformat(),
    )
    return Record(
        status=schedule.status,
        num_chunks=schedule.num_chunks,
        makespan_ps=schedule.makespan_ps,
        found=origin,
        proof=proof_of(bound, origin),
        proof_any=None if bound_any is None else proof_of(bound_any, origin),
    )


def save_record(entry: Entry, record: Record) -> Entry:
    """Write the record of an instance and return the instance with it.

    Raises
    ------
    InputError
        When the record contradicts itself or cannot be written.
    """
    check_record(entry, record)
    file = RecordFile(format=FORMAT, sizes=entry.sizing, max_chunks=entry.max_chunks, best=record)
    folder = entry.record_path.parent
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be created: {error.strerror or error}") from None
    write_text(entry.record_path, yaml.dump(_block(msgspec.to_builtins(file)), Dumper=_Dumper, sort_keys=False))
    return replace(entry, record=record)


def check_can_save(folder: Path) -> None:
    """Raise early if records of a corpus could not be written, so that nobody waits for lost results.

    Raises
    ------
    InputError
        Naming the folder.
    """
    records = folder / "records"
    place = records if records.exists() else folder
    if not place.is_dir():
        raise InputError(f"{place}: is no folder; records are written into a folder of that name")
    if not os.access(place, os.W_OK | os.X_OK):
        raise InputError(f"{place}: is not writable, so no record can be saved; allow it, or copy {folder} elsewhere")


def check_record(entry: Entry, record: Record) -> None:
    """Raise unless the numbers of a record can be true together.

    Raises
    ------
    InputError
        Naming the key.
    """
    check_time("best.makespan_ps", record.makespan_ps)
    check_origin("best.found", record.found)
    chunking = entry.chunking
    if not chunking.min_chunks <= record.num_chunks <= chunking.max_chunks:
        raise InputError(
            f"best.num_chunks: {record.num_chunks} is not allowed; "
            f"{chunking.min_chunks} to {chunking.max_chunks} are asked for"
        )
    if (record.proof_any is None) != chunking.has_fixed_count:
        what = "belongs to a number of chunks that is free" if record.proof_any else "is missing: max_chunks is given"
        raise InputError(f"best.proof_any: {what}")
    check_proof("best.proof", record.proof, entry.instance, chunking.scope(record.num_chunks))
    if record.proof_any is not None:
        check_proof_any("best.proof_any", record.proof_any, entry.instance, chunking)
    if record.is_contradicted_by(record):
        raise InputError(f"best: a bound is above makespan_ps ({record.makespan_ps}); one of them is false")
    is_proven = record.proof.bound_ps == record.makespan_ps
    if (record.status is Status.OPTIMAL) != is_proven or record.status is Status.HEURISTIC:
        right = Status.OPTIMAL if is_proven else Status.FEASIBLE
        raise InputError(
            f"best.status: {str(record.status)!r} is not allowed; with a bound of {record.proof.bound_ps} ps and a "
            f"makespan of {record.makespan_ps} ps it is {str(right)!r}"
        )


def _load_entry(path: Path) -> Entry:
    entry = Entry(path, load_instance(path))
    if not entry.record_path.exists():
        return entry
    try:
        data = plain_mapping(entry.record_path, read_text(entry.record_path))
        if data.get("format") != FORMAT:
            raise InputError(f"format: {data.get('format')!r} is not allowed; {FORMAT!r} is expected here")
        file = decode(data, RecordFile)
        if file.max_chunks is not None:
            check_within("max_chunks", file.max_chunks, 1, MAX_CHUNKS)
        entry = replace(entry, sizing=file.sizes, max_chunks=file.max_chunks, record=file.best)
        if file.best is not None:
            check_record(entry, file.best)
    except InputError as error:
        place = str(entry.record_path)
        raise error if str(error).startswith(place) else error.at(place) from None
    return entry


class _OneLine(dict[str, Any]):
    """A mapping that is written on one line."""


class _Dumper(yaml.SafeDumper):
    """YAML with every origin and certificate on one line."""


_Dumper.add_representer(
    _OneLine, lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data, flow_style=True)
)
_Dumper.add_representer(
    list, lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True)
)


def _block(data: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _OneLine(value) if key in ("found", "proved") else _block(value) if isinstance(value, dict) else value
        for key, value in data.items()
    }
