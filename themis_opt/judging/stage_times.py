"""Claimed stage times: a feasible timing, not necessarily the earliest one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from themis_opt.judging.precedence import Precedence, Work
from themis_opt.problem.schedule import StageTime
from themis_opt.problem.violation import Violation, ViolationKind

Times = Sequence[int]
"""A claimed time [ps] of each stage, in the order of the works."""


def stage_violations(
    works: Sequence[Work], precedence: Precedence | None, stages: Sequence[StageTime]
) -> Iterator[Violation]:
    """Yield what is wrong with claimed times; when the list itself is incomplete, nothing else is judged.

    Parameters
    ----------
    works
        All stages there have to be.
    precedence
        What each waits for; ``None`` where the sequences are wrong, and then nothing is said about dimensions.
    stages
        The times claimed.
    """
    incomplete = list(_completeness(works, stages))
    yield from incomplete
    if incomplete:
        return
    times = {(chunk, phase, k): (start_ps, end_ps) for chunk, phase, k, start_ps, end_ps in stages}
    in_order = [times[work.key] for work in works]
    starts, ends = [start_ps for start_ps, _ in in_order], [end_ps for _, end_ps in in_order]
    yield from _durations(works, starts, ends)
    yield from _arrivals(works, starts)
    if precedence is not None:
        yield from _occupancy(precedence, starts)


def _completeness(works: Sequence[Work], stages: Sequence[StageTime]) -> Iterator[Violation]:
    """Yield stages whose times are missing, given more than once, or of a stage that does not exist."""
    given = Counter((chunk, phase, k) for chunk, phase, k, _, _ in stages)
    for work in works:
        num_given = given.pop(work.key, 0)
        if num_given != 1:
            message = f"stages has {num_given} times of {work}; it must have exactly 1"
            yield _at(work, ViolationKind.STAGES, message, 1, num_given)
    for (chunk, phase, k), num_given in given.items():
        message = f"stages has times of chunk {chunk} {phase} on dim{k + 1}, and there is no such stage"
        yield Violation(
            ViolationKind.STAGES, message, chunk=chunk, phase=phase, dimension=k, expected=0, found=num_given
        )


def _durations(works: Sequence[Work], starts: Times, ends: Times) -> Iterator[Violation]:
    """Yield stages that start before time 0 or whose length is not what the stage costs."""
    for work, start_ps, end_ps in zip(works, starts, ends, strict=True):
        if start_ps < 0:
            message = f"{work} starts at {start_ps} ps; no stage starts before 0 ps"
            yield _at(work, ViolationKind.TOO_EARLY, message, 0, start_ps)
        if end_ps - start_ps != work.duration_ps:
            message = f"{work} takes {end_ps - start_ps} ps ({start_ps} to {end_ps}); it costs {work.duration_ps} ps"
            yield _at(work, ViolationKind.DURATION, message, work.duration_ps, end_ps - start_ps)


def _arrivals(works: Sequence[Work], starts: Times) -> Iterator[Violation]:
    """Yield stages that start before their chunk has left the stage before."""
    for (before, before_ps), (work, start_ps) in pairwise(zip(works, starts, strict=True)):
        if before.chunk != work.chunk:
            continue
        arrival_ps = before_ps + before.duration_ps
        if start_ps < arrival_ps:
            rule = ViolationKind.TOO_EARLY if before.phase == work.phase else ViolationKind.PHASE_ORDER
            message = f"{work} starts at {start_ps} ps; the chunk is there at {arrival_ps} ps, after {before}"
            yield _at(work, rule, message, arrival_ps, start_ps)


def _occupancy(precedence: Precedence, starts: Times) -> Iterator[Violation]:
    """Yield stages that start while their dimension is held, or do not follow its sequence."""
    for sequence in precedence.sequences:
        for vertex, next_vertex in pairwise(sequence):
            before, work = precedence.works[vertex], precedence.works[next_vertex]
            start_ps, before_ps = starts[next_vertex], starts[vertex]
            free_ps = before_ps + before.hold_ps
            if start_ps >= free_ps:
                continue
            if start_ps + work.hold_ps <= before_ps:
                message = f"{work} starts at {start_ps} ps; by the sequence {before} is first, at {before_ps} ps"
                yield _at(work, ViolationKind.SEQUENCE, message, free_ps, start_ps)
            else:
                message = f"{work} starts at {start_ps} ps; {before} holds it from {before_ps} to {free_ps} ps"
                yield _at(work, ViolationKind.OVERLAP, message, free_ps, start_ps)


def _at(work: Work, rule: ViolationKind, message: str, expected: int, found: int) -> Violation:
    return Violation(
        rule,
        message,
        chunk=work.chunk,
        phase=work.phase,
        dimension=work.dimension,
        expected=expected,
        found=found,
    )
