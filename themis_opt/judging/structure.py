"""Rules that need no times: the instance answered, the chunks' sizes and orders, and complete sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from themis_opt.problem.collective import Phase
from themis_opt.problem.differences import PHYSICAL_FIELDS
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Order, Schedule
from themis_opt.problem.violation import Violation, ViolationKind


def instance_violations(instance: Instance, answered: Instance) -> Iterator[Violation]:
    """Yield where the instance a schedule answers differs from the given one in what matters.

    Names, notes, the number of chunks and what is known of the instance do not.
    """
    for field in ("collective", "size_bytes", "occupancy", "chunk_overhead_ps"):
        yield from _difference(field, getattr(instance, field), getattr(answered, field))
    dimensions, others = instance.network.dimensions, answered.network.dimensions
    yield from _difference("number of dimensions", len(dimensions), len(others))
    if len(dimensions) == len(others):
        for k, (dimension, other) in enumerate(zip(dimensions, others, strict=True)):
            for field in PHYSICAL_FIELDS:
                yield from _difference(f"dim{k + 1} {field}", getattr(dimension, field), getattr(other, field), k)
        yield from _difference("involved dimensions", list(instance.involved), list(answered.involved))


def _difference(what: str, expected: object, found: object, dimension: int | None = None) -> Iterator[Violation]:
    if expected != found:
        message = f"the schedule answers another instance: its {what} is {found}, the instance's is {expected}"
        yield Violation(ViolationKind.INSTANCE, message, dimension=dimension, expected=expected, found=found)


def size_violations(instance: Instance, chunks: Sequence[Chunk]) -> Iterator[Violation]:
    """Yield chunks without bytes, and a total that is not the collective's size."""
    if not chunks:
        yield Violation(ViolationKind.CHUNKS, "the schedule has no chunk; it needs at least 1", expected=1, found=0)
        return
    for index, chunk in enumerate(chunks):
        if chunk.size_bytes < 1:
            message = f"chunk {index} has {chunk.size_bytes} bytes; every chunk needs at least 1"
            yield Violation(ViolationKind.SIZE, message, chunk=index, expected=1, found=chunk.size_bytes)
    total = sum(chunk.size_bytes for chunk in chunks)
    if total != instance.size_bytes:
        message = f"the chunks add up to {total} bytes; the size of the collective is {instance.size_bytes} bytes"
        yield Violation(ViolationKind.TOTAL_SIZE, message, expected=instance.size_bytes, found=total)


def order_violations(instance: Instance, chunks: Sequence[Chunk]) -> Iterator[Violation]:
    """Yield orders that are no permutation of the involved dimensions, or stand where there is no such phase."""
    for index, chunk in enumerate(chunks):
        yield from _order(instance, index, Phase.REDUCE_SCATTER, chunk.rs_order)
        yield from _order(instance, index, Phase.ALL_GATHER, chunk.ag_order)


def _order(instance: Instance, index: int, phase: Phase, order: Order | None) -> Iterator[Violation]:
    found = None if order is None else tuple(order)
    if phase not in instance.phases:
        if found is not None:
            message = f"chunk {index}: {phase}_order is {list(found)}; {instance.collective} chunks have none"
            yield Violation(ViolationKind.ORDER, message, chunk=index, phase=phase, found=found)
    elif found is None or tuple(sorted(found)) != instance.involved:
        shown = None if found is None else list(found)
        message = (
            f"chunk {index}: {phase}_order is {shown}; "
            f"it must visit each of the involved dimensions {list(instance.involved)} exactly once"
        )
        yield Violation(ViolationKind.ORDER, message, chunk=index, phase=phase, expected=instance.involved, found=found)


def sequence_violations(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    """Yield dimensions whose sequence does not name each of their stages exactly once."""
    num_dims = instance.network.num_dimensions
    if len(schedule.sequences) != num_dims:
        message = f"sequences has {len(schedule.sequences)} entries; the network has {num_dims} dimensions, one each"
        yield Violation(ViolationKind.SEQUENCE, message, expected=num_dims, found=len(schedule.sequences))
        return
    stages = [(chunk, phase) for chunk in range(len(schedule.chunks)) for phase in instance.phases]
    for k, sequence in enumerate(schedule.sequences):
        num_left = dict.fromkeys(stages if k in instance.involved else (), 1)
        for chunk, phase in sequence:
            if (chunk, phase) not in num_left:
                message = f"sequences[{k}] names chunk {chunk} {phase}, which has no stage on dim{k + 1}"
                yield Violation(
                    ViolationKind.SEQUENCE, message, chunk=chunk, phase=phase, dimension=k, expected=0, found=1
                )
            else:
                num_left[chunk, phase] -= 1
        for (chunk, phase), left in num_left.items():
            if left:
                message = f"sequences[{k}] names chunk {chunk} {phase} on dim{k + 1} {1 - left} times; it must be once"
                yield Violation(
                    ViolationKind.SEQUENCE,
                    message,
                    chunk=chunk,
                    phase=phase,
                    dimension=k,
                    expected=1,
                    found=1 - left,
                )


def phase_violations(instance: Instance, schedule: Schedule) -> Iterator[Violation]:
    """Yield chunks that a complete sequence serves in All-Gather before it served them in Reduce-Scatter."""
    if instance.phases != (Phase.REDUCE_SCATTER, Phase.ALL_GATHER):
        return
    for k, sequence in enumerate(schedule.sequences):
        place_of = {(chunk, phase): place for place, (chunk, phase) in enumerate(sequence)}
        for (chunk, phase), place in place_of.items():
            scattered = place_of[chunk, Phase.REDUCE_SCATTER]
            if place < scattered:
                message = (
                    f"sequences[{k}] has chunk {chunk} {phase} on dim{k + 1} at place {place}, "
                    f"before the chunk's rs at place {scattered}"
                )
                yield Violation(
                    ViolationKind.PHASE_ORDER,
                    message,
                    chunk=chunk,
                    phase=phase,
                    dimension=k,
                    expected=scattered,
                    found=place,
                )
