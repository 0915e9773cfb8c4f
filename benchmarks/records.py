"""The corpus of solved instances: what is known best of each, read from and written to ``instances/solved/``.

An instance ``NAME.yaml`` says what is to be scheduled, its record ``records/NAME.yaml`` what a solver may choose about
the chunks and the best that is known. ``instances/README.md`` describes the format.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import yaml

from themis_opt.bound import Bound, BoundKind, Sizing
from themis_opt.certificate import certified_bound_ps
from themis_opt.certifying import certify
from themis_opt.chunking import Chunking, make_chunking
from themis_opt.critical_path import critical_path_bound
from themis_opt.errors import InputError, InvalidScheduleError
from themis_opt.formats.atomic import write_text
from themis_opt.formats.instance_file import load_instance
from themis_opt.formats.plain import read_plain
from themis_opt.formats.strict import decode
from themis_opt.instance import Instance
from themis_opt.schedules import Schedule, Status

CORPUS = Path(__file__).parent.parent / "instances" / "solved"
FORMAT = "themis-opt/record/1"
SEARCHLESS = (BoundKind.FLUID, BoundKind.CRITICAL_PATH)
"""Bounds that are computed, not searched for: no clock decides how good they are."""


class Origin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What found or proved something: solver, version of the program, seed, threads, time taken and day."""

    solver: str
    version: str
    seed: int
    workers: int
    time: str
    date: str


class Proof(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A lower bound.

    Attributes
    ----------
    bound_ps
        Its value.
    kind
        The argument that proves it, as in a schedule file (`BoundKind`).
    certificate
        One weight per network dimension as ``p/q``, or ``None``.
    certified_ps
        What the certificate alone proves.
    proved
        Who computed it, and when.
    """

    bound_ps: int
    kind: str
    certificate: list[str] | None = None
    certified_ps: int | None = None
    proved: Origin

    @property
    def searchless_ps(self) -> int:
        """The part that does not depend on what a solver comes to in its time."""
        return self.bound_ps if self.kind in SEARCHLESS else self.certified_ps or 0

    @property
    def weights(self) -> tuple[Fraction, ...] | None:
        """The certificate as numbers."""
        return None if self.certificate is None else tuple(map(Fraction, self.certificate))


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
        proof=_proof(bound, origin),
        proof_any=None if bound_any is None else _proof(bound_any, origin),
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
    entry.record_path.parent.mkdir(exist_ok=True)
    write_text(entry.record_path, yaml.dump(_block(msgspec.to_builtins(file)), Dumper=_Dumper, sort_keys=False))
    return replace(entry, record=record)


def check_record(entry: Entry, record: Record) -> None:
    """Raise unless the numbers of a record can be true together.

    Raises
    ------
    InputError
        Naming the key.
    """
    chunking = entry.chunking
    if not chunking.min_chunks <= record.num_chunks <= chunking.max_chunks:
        raise InputError(
            f"best.num_chunks: {record.num_chunks} is not allowed; "
            f"{chunking.min_chunks} to {chunking.max_chunks} are asked for"
        )
    if (record.proof_any is None) != chunking.has_fixed_count:
        what = "belongs to a number of chunks that is free" if record.proof_any else "is missing: max_chunks is given"
        raise InputError(f"best.proof_any: {what}")
    _check_proof(entry, record)
    if record.is_contradicted_by(record):
        raise InputError(f"best: a bound is above makespan_ps ({record.makespan_ps}); one of them is false")
    is_proven = record.proof.bound_ps == record.makespan_ps
    if (record.status is Status.OPTIMAL) != is_proven or record.status is Status.HEURISTIC:
        right = Status.OPTIMAL if is_proven else Status.FEASIBLE
        raise InputError(
            f"best.status: {str(record.status)!r} is not allowed; with a bound of {record.proof.bound_ps} ps and a "
            f"makespan of {record.makespan_ps} ps it is {str(right)!r}"
        )


def _check_proof(entry: Entry, record: Record) -> None:
    """Prove again what needs no search: the certificate, and a bound by the critical path."""
    instance, proof, scope = entry.instance, record.proof, entry.chunking.scope(record.num_chunks)
    try:
        weights = proof.weights
        proven_ps = None if weights is None else certified_bound_ps(instance, weights, scope)
    except (ValueError, ZeroDivisionError):
        raise InputError("best.proof.certificate: holds what is no fraction such as '3/7'") from None
    except InputError as error:
        raise error.at("best.proof") from None
    if proof.certified_ps != proven_ps:
        raise InputError(
            f"best.proof.certified_ps: {proof.certified_ps} is not what the certificate proves, {proven_ps}"
        )
    if proof.kind == BoundKind.CRITICAL_PATH:
        proven_ps = max(proven_ps or 0, critical_path_bound(instance, scope).value_ps)
    if (proof.kind in SEARCHLESS and proof.bound_ps != proven_ps) or (proven_ps or 0) > proof.bound_ps:
        raise InputError(f"best.proof.bound_ps: {proof.bound_ps} is not what is proven here, {proven_ps}")


def _load_entry(path: Path) -> Entry:
    entry = Entry(path, load_instance(path))
    if not entry.record_path.exists():
        return entry
    try:
        data = read_plain(entry.record_path)
        if data.get("format") != FORMAT:
            raise InputError(f"format: {data.get('format')!r} is not allowed; {FORMAT!r} is expected here")
        file = decode(data, RecordFile)
        entry = replace(entry, sizing=file.sizes, max_chunks=file.max_chunks, record=file.best)
        if file.best is not None:
            check_record(entry, file.best)
    except InputError as error:
        place = str(entry.record_path)
        raise error if str(error).startswith(place) else error.at(place) from None
    return entry


def _proof(bound: Bound, origin: Origin) -> Proof:
    weights = bound.certificate
    return Proof(
        bound_ps=bound.value_ps,
        kind=str(bound.kind),
        certificate=None if weights is None else [f"{weight.numerator}/{weight.denominator}" for weight in weights],
        certified_ps=bound.certified_ps,
        proved=origin,
    )


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
