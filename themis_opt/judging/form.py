"""Whether a schedule has the types the data model says, so that the other rules need not ask.

Type annotations bind nobody at run time: a schedule from a third party may hold anything, and judging it must end in a
verdict and not in a traceback.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import TypeGuard

from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.checks import shown
from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Schedule, Status
from themis_opt.problem.violation import Violation, ViolationKind

MAX_BITS = 1024
"""Integers up to the range of a float; Python refuses to print very long ones, and they stand for no quantity here."""

_PHASES = frozenset(Phase)
_KIND = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")


def form_violations(schedule: Schedule) -> Iterator[Violation]:
    """Yield one violation per value that is not what its type says."""
    if not isinstance(schedule.instance, Instance):
        yield Violation(ViolationKind.INSTANCE, f"instance is {shown(schedule.instance)}; it must be an Instance")
    yield from _chunks(schedule.chunks)
    yield from _sequences(schedule.sequences)
    if schedule.stages is not None:
        yield from _stages(schedule.stages)
    if schedule.makespan_ps is not None and not _is_integer(schedule.makespan_ps):
        yield _not_integer(ViolationKind.MAKESPAN, "makespan_ps", schedule.makespan_ps)
    if schedule.status not in list(Status):
        allowed = ", ".join(Status)
        yield Violation(ViolationKind.STATUS, f"status is {shown(schedule.status)}; it must be one of {allowed}")
    if schedule.bound is not None:
        yield from _bound(schedule.bound)


def _chunks(chunks: object) -> Iterator[Violation]:
    """Chunks are a sequence of `Chunk`, sizes are integers, orders sequences of integers or absent."""
    if not _is_sequence(chunks):
        yield Violation(ViolationKind.FORM, f"chunks is {shown(chunks)}; it must be a tuple of chunks")
        return
    for index, chunk in enumerate(chunks):
        if not isinstance(chunk, Chunk):
            message = f"chunk {index} is {shown(chunk)}; it must be a Chunk"
            yield Violation(ViolationKind.FORM, message, chunk=index)
            continue
        if not _is_integer(chunk.size_bytes):
            yield _not_integer(ViolationKind.SIZE, f"chunk {index}: size_bytes", chunk.size_bytes, chunk=index)
        for phase, order in (("rs", chunk.rs_order), ("ag", chunk.ag_order)):
            if order is not None and not (_is_sequence(order) and all(map(_is_integer, order))):
                message = f"chunk {index}: {phase}_order is {shown(order)}; it must be a tuple of dimension indices"
                yield Violation(ViolationKind.ORDER, message, chunk=index, phase=phase)


def _sequences(sequences: object) -> Iterator[Violation]:
    """Sequences are one per dimension, each of ``(chunk, phase)``."""
    if not _is_sequence(sequences):
        yield Violation(ViolationKind.FORM, f"sequences is {shown(sequences)}; it must be a tuple of sequences")
        return
    for k, sequence in enumerate(sequences):
        if not _is_sequence(sequence):
            message = f"sequences[{k}] is {shown(sequence)}; it must be a tuple of (chunk, phase)"
            yield Violation(ViolationKind.SEQUENCE, message, dimension=k)
            continue
        for place, slot in enumerate(sequence):
            if not (_is_sequence(slot, 2) and _is_integer(slot[0]) and _is_phase(slot[1])):
                message = f"sequences[{k}][{place}] is {shown(slot)}; it must be (chunk, phase)"
                yield Violation(ViolationKind.SEQUENCE, message, dimension=k)


def _stages(stages: object) -> Iterator[Violation]:
    """Stage times are ``(chunk, phase, dimension, start_ps, end_ps)``."""
    if not _is_sequence(stages):
        yield Violation(ViolationKind.STAGES, f"stages is {shown(stages)}; it must be a tuple of stage times")
        return
    for place, stage in enumerate(stages):
        if _is_sequence(stage, 5) and _is_phase(stage[1]) and all(map(_is_integer, (stage[0], *stage[2:]))):
            continue
        message = f"stages[{place}] is {shown(stage)}; it must be (chunk, phase, dimension, start_ps, end_ps)"
        yield Violation(ViolationKind.STAGES, message)


def _bound(bound: object) -> Iterator[Violation]:
    """Bounds have integer values, a scope, and exact weights if there is a certificate."""
    if not isinstance(bound, Bound):
        yield Violation(ViolationKind.BOUND, f"bound is {shown(bound)}; it must be a Bound")
        return
    if not _is_integer(bound.value_ps):
        yield _not_integer(ViolationKind.BOUND, "bound_ps", bound.value_ps)
    yield from _kind(bound.kind)
    scope: object = bound.scope
    if not isinstance(scope, BoundScope):
        yield Violation(ViolationKind.SCOPE, f"bound_scope is {shown(scope)}; it must be a BoundScope")
    else:
        if not isinstance(scope.sizes, Sizing):
            message = f"bound_scope.sizes is {shown(scope.sizes)}; it must be Sizing.EQUAL or Sizing.FREE"
            yield Violation(ViolationKind.SCOPE, message)
        for end in (scope.min_chunks, scope.max_chunks):
            if not _is_integer(end):
                yield _not_integer(ViolationKind.SCOPE, "bound_scope.num_chunks", end)
    weights: object = bound.certificate
    if weights is not None and not (_is_sequence(weights) and all(map(_is_exact, weights))):
        message = f"certificate is {shown(weights)}; it must be a tuple of exact fractions"
        yield Violation(ViolationKind.CERTIFICATE, message)
    if bound.certified_ps is not None and not _is_integer(bound.certified_ps):
        yield _not_integer(ViolationKind.CERTIFIED_BOUND, "certified_bound_ps", bound.certified_ps)


def _kind(kind: object) -> Iterator[Violation]:
    """Kinds are words: those of `BoundKind`, or a third party's own that cannot be taken for one of them."""
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        message = f"bound_kind is {shown(kind)}; it must be a word of at most 64 letters, digits and . _ + -"
        yield Violation(ViolationKind.BOUND, message, found=kind)
        return
    for known in BoundKind:
        if kind != known and _letters(kind) == _letters(known):
            message = f"bound_kind is {shown(kind)}; write it {str(known)!r}"
            yield Violation(ViolationKind.BOUND, message, expected=str(known), found=kind)


def _letters(word: str) -> str:
    return "".join(character for character in word.lower() if character.isalnum())


def _is_sequence(value: object, length: int | None = None) -> TypeGuard[tuple[object, ...] | list[object]]:
    return isinstance(value, tuple | list) and length in (None, len(value))


def _is_integer(value: object) -> TypeGuard[int]:
    """Say whether it is a Python integer; numpy's overflow, and ``True`` is no number."""
    return type(value) is int and value.bit_length() <= MAX_BITS


def _is_phase(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and value in _PHASES


def _is_exact(value: object) -> bool:
    if isinstance(value, Fraction):
        return _is_integer(value.numerator) and _is_integer(value.denominator)
    return _is_integer(value)


def _not_integer(rule: ViolationKind, field: str, found: object, chunk: int | None = None) -> Violation:
    return Violation(rule, f"{field} is {shown(found)}; it must be an integer", chunk=chunk)
