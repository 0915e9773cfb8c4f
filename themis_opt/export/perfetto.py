"""Schedules as Chrome trace events, for ui.perfetto.dev: one process per schedule, one thread per dimension.

Times are in microseconds, as the format demands, and written as decimals: 1 ps is ``0.000001``, and nothing is lost to
floats here (a viewer may cut it to whole nanoseconds). The slices of a thread are the times in which stages *hold* the
dimension, so that they never overlap; the latency that follows under pipelined occupancy, in which the next stage
holds the dimension already, is an asynchronous event.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction

from themis_opt.export.stage_rows import StageRow, name_text, number_text, stage_rows
from themis_opt.judging.validator import runnable_works
from themis_opt.problem.errors import InputError
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.units import PS_PER_S, format_size, format_time
from themis_opt.timing.sequencing import timeline_of
from themis_opt.timing.timeline import Timeline

MAX_STAGES = 1_000_000
"""About 600 MB of text, which is more than a browser opens."""
_PS_PER_US = 10**6
_PLACES = 18
"""Decimals of a utilisation, more than a float holds."""
_THREADS_PER_PROCESS = 100
"""Thread ids are unique in the whole trace, since some viewers know no other ones."""


class _Number(str):
    """A number in decimals, written as it stands."""


Event = dict[str, object]


def perfetto_text(schedules: Sequence[tuple[str, Schedule]]) -> str:
    """Return a trace of named schedules, side by side.

    Parameters
    ----------
    schedules
        What to call each one, and the schedule. Their times are those of the timing rule.

    Raises
    ------
    InputError
        When a schedule is incomplete, or they have more than `MAX_STAGES` stages together.
    DeadlockError
        When a schedule never ends.
    """
    num_stages = sum(len(sequence) for _, schedule in schedules for sequence in schedule.sequences)
    if num_stages > MAX_STAGES:
        raise InputError(
            f"{num_stages} stages are too many for a trace; at most {MAX_STAGES} are written, since no browser opens "
            "more. Export fewer schedules at once, or ones of fewer chunks"
        )
    events: list[str] = []
    num_links = 0
    for pid, (name, schedule) in enumerate(schedules, start=1):
        trace = _ScheduleTrace(pid, name, schedule, num_links)
        events.extend(map(_json, trace.events()))
        num_links = trace.num_links
    # The unit stands last: old versions of Perfetto took it for the unit of the times if they met it first.
    return '{"traceEvents": [\n' + ",\n".join(events) + '\n], "displayTimeUnit": "ns"}\n'


def utilization_steps(timeline: Timeline, rows: Sequence[StageRow], dimension: int) -> list[tuple[int, Fraction]]:
    """Return the utilisation of a dimension over time: from each time [ps] on it has this value, 0 to 1.

    While a stage holds the dimension it is the stage's mean, ``bytes / (B · hold)``, so that the integral from 0 to the
    makespan, divided by the makespan, is exactly the simulator's utilisation. (But for stages whose hold is rounded to
    0 ps: they have no time in which to count. A hold that is rounded down makes it a little more than 1.)

    Parameters
    ----------
    timeline, rows
        The timed schedule, and its stages.
    dimension
        Its network index.
    """
    bandwidth_Bps = timeline.table.instance.network.dimensions[dimension].bandwidth_Bps
    held = sorted((row for row in rows if row.dimension == dimension and row.hold_ps), key=lambda row: row.start_ps)
    changes = {0: Fraction(0)}
    for row in held:
        changes[row.start_ps] = row.cost.sent_bytes * PS_PER_S / (bandwidth_Bps * row.hold_ps)
        changes[row.release_ps] = Fraction(0)
    changes.setdefault(timeline.makespan_ps, Fraction(0))
    return sorted(changes.items())


class _ScheduleTrace:
    """The events of one schedule, with the process id and the numbers of the arrows that are its own."""

    def __init__(self, pid: int, name: str, schedule: Schedule, num_links: int) -> None:
        self._pid = pid
        self._name = name
        self._schedule = schedule
        self._timeline = schedule.derived(timeline_of)
        self._rows = stage_rows(self._timeline)
        self.num_links = num_links
        """The arrows and latencies numbered so far, in the whole trace."""

    def events(self) -> Iterator[Event]:
        """Yield names, then slices with their arrows in an order in which causes precede effects, then counters."""
        yield from self._names()
        arrivals: dict[int, int] = {}
        for index in self._in_time_order():
            row = self._rows[index]
            yield self._slice(row)
            if index in arrivals:
                yield {**self._link("f", arrivals[index], row), "bp": "e"}
            if row.release_ps < row.end_ps:
                yield from self._latency(row)
            if index + 1 < len(self._rows) and self._rows[index + 1].chunk == row.chunk:
                self.num_links += 1
                arrivals[index + 1] = self.num_links
                yield self._link("s", self.num_links, row)
        for k in self._schedule.instance.involved:
            for time_ps, value in utilization_steps(self._timeline, self._rows, k):
                args = {"utilization": _decimal(value)}
                name = f"dim{k + 1} utilization"
                yield {"ph": "C", "name": name, "pid": self._pid, "ts": _microseconds(time_ps), "args": args}

    def _names(self) -> Iterator[Event]:
        instance = self._schedule.instance
        labels = (
            f"{instance.network.name}, {instance.collective}, {format_size(instance.size_bytes)}, "
            f"{self._schedule.num_chunks} chunks, {instance.occupancy}, {format_time(self._timeline.makespan_ps)}"
        )
        yield self._metadata("process_name", {"name": name_text(self._name)})
        yield self._metadata("process_labels", {"labels": labels})
        yield self._metadata("process_sort_index", {"sort_index": self._pid})
        for k in instance.involved:
            dimension = instance.network.dimensions[k]
            name = f"dim{k + 1} {dimension.topology}, {dimension.size} NPUs"
            yield self._metadata("thread_name", {"name": name}, k)
            yield self._metadata("thread_sort_index", {"sort_index": k}, k)

    def _metadata(self, name: str, args: Event, dimension: int | None = None) -> Event:
        thread: Event = {} if dimension is None else {"tid": self._tid(dimension)}
        return {"ph": "M", "name": name, "pid": self._pid, **thread, "args": args}

    def _in_time_order(self) -> list[int]:
        """Return the places of the stages by start, and each one after those it waits for even if no time passes."""
        place = {(row.chunk, row.phase, row.dimension): index for index, row in enumerate(self._rows)}
        runnable = [place[work.key] for work in runnable_works(self._schedule.instance, self._schedule)]
        return sorted(runnable, key=lambda index: self._rows[index].start_ps)

    def _slice(self, row: StageRow) -> Event:
        args = {
            **_stage(row),
            "bytes": _exact(row.cost.sent_bytes),
            "start_ps": row.start_ps,
            "end_ps": row.end_ps,
            "hold_ps": row.hold_ps,
            "latency_ps": row.cost.latency_ps,
        }
        name, at = f"chunk {row.chunk} {row.phase}", self._at(row.start_ps, row)
        return {"ph": "X", "name": name, "cat": str(row.phase), **at, "dur": _microseconds(row.hold_ps), "args": args}

    def _link(self, end: str, number: int, row: StageRow) -> Event:
        """Return one end of the arrow between a chunk's stages: from the middle of a slice to the start of the next.

        Not from its end, where another slice may have begun.
        """
        time_ps = row.start_ps if end == "f" else row.start_ps + row.hold_ps // 2
        return {"ph": end, "name": f"chunk {row.chunk}", "cat": "chunk", "id": number, **self._at(time_ps, row)}

    def _latency(self, row: StageRow) -> Iterator[Event]:
        self.num_links += 1
        kind: Event = {"name": f"dim{row.dimension + 1} latency", "cat": "latency", "id": self.num_links}
        yield {"ph": "b", **kind, **self._at(row.release_ps, row), "args": _stage(row)}
        yield {"ph": "e", **kind, **self._at(row.end_ps, row)}

    def _at(self, time_ps: int, row: StageRow) -> Event:
        return {"pid": self._pid, "tid": self._tid(row.dimension), "ts": _microseconds(time_ps)}

    def _tid(self, dimension: int) -> int:
        return self._pid * _THREADS_PER_PROCESS + dimension + 1


def _stage(row: StageRow) -> Event:
    return {"chunk": row.chunk, "phase": str(row.phase), "dimension": row.dimension}


def _microseconds(time_ps: int) -> _Number:
    """Return whole picoseconds as microseconds, with no more decimals than there are."""
    whole, rest = divmod(time_ps, _PS_PER_US)
    return _Number(f"{whole}.{rest:06d}".rstrip("0") if rest else whole)


def _decimal(value: Fraction) -> _Number:
    """Return a share with no more decimals than there are: never as a fraction, which JSON does not know."""
    whole, rest = divmod(round(value * 10**_PLACES), 10**_PLACES)
    return _Number(f"{whole}.{rest:0{_PLACES}d}".rstrip("0") if rest else whole)


def _exact(value: Fraction) -> str:
    """Return a number, or the text of a fraction where decimals do not end."""
    text = number_text(value)
    return text if "/" in text else _Number(text)


def _json(value: object) -> str:
    """Return JSON on one line, in ASCII, its decimals untouched; the keys are plain words."""
    if isinstance(value, _Number | int):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}": {_json(entry)}' for key, entry in value.items()) + "}"
    return json.dumps(value)
