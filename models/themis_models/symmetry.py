"""Schedules that differ in names only: interchangeable chunks, and time read backwards.

The exact formulations forbid all but one of them, so a schedule that they are to start from is first brought into the
form that they allow.
"""

from __future__ import annotations

from themis_opt.schedule import Chunk, Schedule, Slot

from themis_opt.collective import Phase

_OPPOSITE = {Phase.REDUCE_SCATTER: Phase.ALL_GATHER, Phase.ALL_GATHER: Phase.REDUCE_SCATTER}


def canonical(schedule: Schedule, *, reversible: bool) -> Schedule:
    """Return an equally good schedule in the one form that is not forbidden.

    Its larger chunks come first. Chunks of equal size are numbered by the dimension on which they start, and those that
    start on the same dimension in the sequence in which it serves them. If time may be reversed, the indices of
    the dimensions on which chunks start add up to at least as much as those on which they end.

    Parameters
    ----------
    schedule
        A complete schedule; its claims are dropped.
    reversible
        Whether it may be read backwards (`StageTimes.is_reversible`).
    """
    schedule = schedule.replace(makespan_ps=None, stages=None, bound=None)
    if reversible and sum(_first(schedule, c) - _last(schedule, c) for c in range(schedule.num_chunks)) < 0:
        schedule = reversed_in_time(schedule)
    return _renumbered(schedule)


def reversed_in_time(schedule: Schedule) -> Schedule:
    """Return an All-Reduce schedule read backwards: what was gathered last is reduced first."""
    chunks = tuple(
        Chunk(chunk.size_bytes, (chunk.ag_order or ())[::-1], (chunk.rs_order or ())[::-1]) for chunk in schedule.chunks
    )
    sequences = tuple(
        tuple(Slot(chunk, _OPPOSITE[phase]) for chunk, phase in reversed(sequence)) for sequence in schedule.sequences
    )
    return schedule.replace(chunks=chunks, sequences=sequences)


def _renumbered(schedule: Schedule) -> Schedule:
    first_phase = schedule.instance.phases[0]

    def rank(chunk: int) -> tuple[int, int, int]:
        first = _first(schedule, chunk)
        place = schedule.sequences[first].index(Slot(chunk, first_phase))
        return (-schedule.chunks[chunk].size_bytes, first, place)

    old_numbers = sorted(range(schedule.num_chunks), key=rank)
    new_numbers = {old: new for new, old in enumerate(old_numbers)}
    sequences = tuple(
        tuple(Slot(new_numbers[chunk], phase) for chunk, phase in sequence) for sequence in schedule.sequences
    )
    return schedule.replace(chunks=tuple(schedule.chunks[old] for old in old_numbers), sequences=sequences)


def _first(schedule: Schedule, chunk: int) -> int:
    return schedule.order(chunk, schedule.instance.phases[0])[0]


def _last(schedule: Schedule, chunk: int) -> int:
    return schedule.order(chunk, schedule.instance.phases[-1])[-1]
