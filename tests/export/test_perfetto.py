"""Chrome trace events for Perfetto: the format's rules, exact times, and utilisations that add up."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_instances import AG, RS, dimension, network, random_instance, random_schedule, randoms, schedules

import themis_opt.export.perfetto as perfetto
from themis_opt import load_instance, schedule
from themis_opt.export.perfetto import perfetto_text, utilization_steps
from themis_opt.export.stage_rows import stage_rows
from themis_opt.files.shipped import shipped_networks
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import DeadlockError, InputError
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.schedule import Chunk, Schedule, Slot
from themis_opt.problem.units import PS_PER_S
from themis_opt.timing import metrics
from themis_opt.timing.sequencing import simulate

Event = dict[str, Any]

# Trace Event Format (Google, "Trace Event Format", sections on each phase): what an event of each kind must have.
REQUIRED = {
    "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
    "M": {"name", "pid", "args"},
    "C": {"name", "pid", "ts", "args"},
    "s": {"name", "cat", "id", "pid", "tid", "ts"},
    "f": {"name", "cat", "id", "pid", "tid", "ts", "bp"},
    "b": {"name", "cat", "id", "pid", "tid", "ts", "args"},
    "e": {"name", "cat", "id", "pid", "tid", "ts"},
}
METADATA = {
    "process_name": ("name", str),
    "process_labels": ("labels", str),
    "process_sort_index": ("sort_index", int),
    "thread_name": ("name", str),
    "thread_sort_index": ("sort_index", int),
}


def read(text: str) -> list[Event]:
    """Return the events of a trace, decimals as the fractions they are, after checking it against the format."""
    document = json.loads(text, parse_float=Fraction)
    assert list(document) == ["traceEvents", "displayTimeUnit"]
    assert document["displayTimeUnit"] == "ns"
    events: list[Event] = document["traceEvents"]
    for event in events:
        assert event.keys() == {"ph", *REQUIRED[event["ph"]]} | (event.keys() & {"tid"}), event
        for key in ("ts", "dur"):
            value = event.get(key, 0)
            assert value >= 0
            assert value * 10**6 == int(value * 10**6)  # picoseconds, in microseconds
        if event["ph"] == "M":
            key, kind = METADATA[event["name"]]
            assert isinstance(event["args"][key], kind)
        if event["ph"] == "C":
            assert all(isinstance(value, int | Fraction) for value in event["args"].values())
    return events


def slices(events: list[Event]) -> list[Event]:
    return [event for event in events if event["ph"] == "X"]


def ps(microseconds: Fraction | int) -> int:
    return int(microseconds * 10**6)


def check_nesting(events: list[Event]) -> None:
    """Slices of a thread are disjoint or nested; ours are disjoint, and in the file in the order they happen."""
    by_thread = defaultdict(list)
    for event in slices(events):
        by_thread[event["pid"], event["tid"]].append(event)
    for row in by_thread.values():
        for before, after in pairwise(row):
            assert before["ts"] + before["dur"] <= after["ts"]


def arrows(events: list[Event]) -> list[tuple[Event, Event]]:
    """Return the slices that the flow events bind to, as a viewer does that reads events by time, then by place."""
    open_slice: dict[int, Event] = {}
    sources: dict[int, tuple[Event, Event]] = {}
    bound = []
    for event in sorted(events, key=lambda event: event.get("ts", -1)):
        if event["ph"] == "X":
            open_slice[event["tid"]] = event
        elif event["ph"] in "sf":
            slice_ = open_slice[event["tid"]]
            # Before its end, at which another slice may begin: not all viewers break a tie as the file does.
            assert slice_["ts"] <= event["ts"]
            assert event["ts"] < slice_["ts"] + slice_["dur"] or not slice_["dur"]
            if event["ph"] == "s":
                assert event["id"] not in sources
                sources[event["id"]] = event, slice_
            else:
                start, source = sources.pop(event["id"])
                assert (start["name"], start["cat"], start["pid"]) == (event["name"], event["cat"], event["pid"])
                assert event["bp"] == "e"
                bound.append((source, slice_))
    assert not sources
    return bound


def check_against_simulator(schedule: Schedule, events: list[Event]) -> None:
    """Slices are the simulator's stages and holds, arrows follow the chunks, latencies fill what is left."""
    timeline = simulate(schedule.instance, schedule)
    seen = sorted(tuple(slice_["args"][key] for key in ("chunk", "phase", "dimension", "start_ps", "end_ps"))
                  for slice_ in slices(events))  # fmt: skip
    assert seen == sorted((c, str(phase), k, start, end) for c, phase, k, start, end in timeline.stages)
    held: Counter[int] = Counter()
    for slice_ in slices(events):
        assert ps(slice_["ts"]) == slice_["args"]["start_ps"]
        held[slice_["args"]["dimension"]] += ps(slice_["dur"])
    assert [held[k] for k in range(len(timeline.dimensions))] == [use.busy_ps for use in timeline.dimensions]

    ways = defaultdict(list)
    for chunk, phase, k, *_ in timeline.stages:
        ways[chunk].append((chunk, str(phase), k))
    expected = [step for way in ways.values() for step in pairwise(way)]
    keys = "chunk", "phase", "dimension"
    assert sorted(expected) == sorted(
        (tuple(source["args"][key] for key in keys), tuple(target["args"][key] for key in keys))
        for source, target in arrows(events)
    )

    begins = {event["id"]: event for event in events if event["ph"] == "b"}
    ends = {event["id"]: event for event in events if event["ph"] == "e"}
    assert begins.keys() == ends.keys()
    stage_of = {tuple(slice_["args"][key] for key in keys): slice_ for slice_ in slices(events)}
    late = {key for key, slice_ in stage_of.items() if ps(slice_["ts"] + slice_["dur"]) < slice_["args"]["end_ps"]}
    assert late == {tuple(begin["args"][key] for key in keys) for begin in begins.values()}
    for number, begin in begins.items():
        slice_ = stage_of[tuple(begin["args"][key] for key in keys)]
        assert begin["ts"] == slice_["ts"] + slice_["dur"]
        assert ps(ends[number]["ts"]) == slice_["args"]["end_ps"]
        assert (begin["name"], begin["cat"]) == (ends[number]["name"], ends[number]["cat"])


def one_dimension(size_bytes: int, num_chunks: int, latency_ps: int, occupancy: str) -> Schedule:
    """Return the Reduce-Scatter of equal chunks between 2 NPUs at 1 byte/ps: half a chunk's bytes in picoseconds."""
    instance = Instance(
        network(dimension(2, latency_ps=latency_ps)), Collective.REDUCE_SCATTER, size_bytes, num_chunks,
        Occupancy(occupancy),
    )  # fmt: skip
    chunks = tuple(Chunk(size, (0,)) for size in instance.equal_chunk_sizes())
    return Schedule(instance, chunks, (tuple(Slot(chunk, RS) for chunk in range(num_chunks)),), scheduler="mine")


def test_microseconds_are_microseconds() -> None:
    # 2,469,134 bytes among 2 NPUs at 1 byte/ps: half of them are sent, in 1,234,567 ps = 1.234567 us.
    text = perfetto_text([("a", one_dimension(2_469_134, 1, 0, "exclusive"))])
    assert '"ts": 0, "dur": 1.234567, ' in text
    # Two chunks of 2 bytes: 1 ps each. No exponents: some viewers read 1e-06 as something else.
    text = perfetto_text([("a", one_dimension(4, 2, 0, "exclusive"))])
    assert '"ts": 0.000001, "dur": 0.000001, ' in text


def test_times_beyond_the_digits_of_a_float_survive() -> None:
    # 2·10^18 + 2 bytes take 10^18 + 1 ps, which a float would make 10^18.
    (slice_,) = slices(read(perfetto_text([("a", one_dimension(2 * 10**18 + 2, 1, 0, "exclusive"))])))
    assert slice_["dur"] == Fraction(10**18 + 1, 10**6)


def test_pipelined_latencies_are_beside_the_slices() -> None:
    """By hand: chunks of 8 bytes hold for 4 ps and are there 5 ps later, so stages overlap but slices do not."""
    events = read(perfetto_text([("a", one_dimension(16, 2, 5, "pipelined"))]))
    assert [(ps(s["ts"]), ps(s["dur"])) for s in slices(events)] == [(0, 4), (4, 4)]
    tails = [(event["ph"], ps(event["ts"])) for event in events if event["ph"] in "be"]
    assert tails == [("b", 4), ("e", 9), ("b", 8), ("e", 13)]
    # Exclusively, the latency is part of the hold: 9 ps each, and there are no tails.
    events = read(perfetto_text([("a", one_dimension(16, 2, 5, "exclusive"))]))
    assert [(ps(s["ts"]), ps(s["dur"])) for s in slices(events)] == [(0, 9), (9, 9)]
    assert not [event for event in events if event["ph"] in "be"]


def test_counters_by_hand() -> None:
    """8 bytes in a chunk: 4 are sent in 4 ps at full rate, or exclusively in 9 ps at 4/9 of it."""

    def counted(occupancy: str) -> list[tuple[int, Fraction]]:
        events = read(perfetto_text([("a", one_dimension(16, 2, 5, occupancy))]))
        counters = [event for event in events if event["ph"] == "C"]
        assert {event["name"] for event in counters} == {"dim1 utilization"}
        return [(ps(event["ts"]), event["args"]["utilization"]) for event in counters]

    assert counted("pipelined") == [(0, 1), (4, 1), (8, 0), (13, 0)]
    rounded = Fraction("0.444444444444444444")
    assert counted("exclusive") == [(0, rounded), (9, rounded), (18, 0)]


def test_stages_that_take_no_time_have_slices_and_arrows_too() -> None:
    # 10^6 bytes per picosecond: one byte takes 0 ps on both dimensions, in both phases.
    fast = dimension(2, 10**6)
    instance = Instance(network(fast, fast), Collective.ALL_REDUCE, 2, 2)
    chunks = (Chunk(1, (0, 1), (0, 1)), Chunk(1, (1, 0), (1, 0)))
    sequences = (
        (Slot(0, RS), Slot(1, RS), Slot(0, AG), Slot(1, AG)),
        (Slot(1, RS), Slot(0, RS), Slot(1, AG), Slot(0, AG)),
    )
    mine = Schedule(instance, chunks, sequences)
    events = read(perfetto_text([("a", mine)]))
    assert {slice_["dur"] for slice_ in slices(events)} == {0}
    check_against_simulator(mine, events)


def test_a_stage_that_takes_no_time_stands_before_the_one_that_follows_it() -> None:
    """Chunk 1 (1 byte: 0 ps) is served before chunk 0 (10^7 bytes: 5 ps), both at 0 ps; the slice of 0 ps is first."""
    instance = Instance(network(dimension(2, 10**6)), Collective.REDUCE_SCATTER, 10**7 + 1, 2)
    chunks = (Chunk(10**7, (0,)), Chunk(1, (0,)))
    events = read(perfetto_text([("a", Schedule(instance, chunks, ((Slot(1, RS), Slot(0, RS)),)))]))
    assert [(s["name"], ps(s["ts"]), ps(s["dur"])) for s in slices(events)] == [
        ("chunk 1 rs", 0, 0),
        ("chunk 0 rs", 0, 5),
    ]


@given(randoms(), st.sampled_from(Collective), st.sampled_from(Occupancy), st.sampled_from([0, 1, 12_345]))
def test_any_schedule_keeps_the_rules(
    random: Random, collective: Collective, occupancy: Occupancy, overhead_ps: int
) -> None:
    instance = replace(random_instance(random, collective=collective), occupancy=occupancy)
    mine = random_schedule(random, replace(instance, chunk_overhead_ps=overhead_ps))
    events = read(perfetto_text([("a", mine)]))
    check_nesting(events)
    check_against_simulator(mine, events)


@given(schedules())
def test_counters_integrate_to_the_simulators_utilisation(mine: Schedule) -> None:
    instance, timeline = mine.instance, simulate(mine.instance, mine)
    rows = stage_rows(timeline)
    written = defaultdict(list)
    for event in read(perfetto_text([("a", mine)])):
        if event["ph"] == "C":
            written[event["name"]].append((ps(event["ts"]), event["args"]["utilization"]))
    for k, use in enumerate(timeline.dimensions):
        steps = utilization_steps(timeline, rows, k)
        assert (steps[0][0], steps[-1]) == (0, (timeline.makespan_ps, 0))
        area = sum((value * (later - now) for (now, value), (later, _) in pairwise(steps)), Fraction(0))
        bandwidth_Bps = instance.network.dimensions[k].bandwidth_Bps
        lost = sum(row.cost.sent_bytes for row in rows if row.dimension == k and not row.hold_ps)
        assert area == (use.sent_bytes - lost) * PS_PER_S / bandwidth_Bps
        if not lost and timeline.makespan_ps:
            reported = metrics.dimension_utilization(instance, k, use.sent_bytes, timeline.makespan_ps)
            assert float(area / timeline.makespan_ps) == reported
        texts = written.get(f"dim{k + 1} utilization", [(now, Fraction(0)) for now, _ in steps])
        assert [now for now, _ in texts] == [now for now, _ in steps]
        for (_, text), (_, value) in zip(texts, steps, strict=True):
            assert abs(text - value) <= Fraction(1, 2 * 10**18)


@pytest.mark.parametrize("name", shipped_networks())
def test_slices_do_not_overlap_either_as_perfetto_reads_them(name: str) -> None:
    """It cuts microseconds to whole nanoseconds by floats, and drops a slice that overlaps the one before."""

    def nanoseconds(microseconds: Fraction | int) -> int:
        return int(float(microseconds) * 1000.0)

    for scheduler in ("baseline", "themis-scf"):
        by_thread = defaultdict(list)
        for event in slices(read(perfetto_text([(name, schedule(load_instance(name), scheduler))]))):
            by_thread[event["tid"]].append((nanoseconds(event["ts"]), nanoseconds(event["dur"])))
        assert by_thread
        for row in by_thread.values():
            assert all(start + length <= next_start for (start, length), (next_start, _) in pairwise(row))


def test_several_schedules_are_processes_side_by_side() -> None:
    instance = replace(load_instance("3d-fc-ring-sw"), num_chunks=4, dimensions=(0, 2))
    names = ["baseline", "themis-scf", "baseline"]
    named = [(name, schedule(instance, name)) for name in names]
    events = read(perfetto_text(named))
    check_nesting(events)
    metadata = [event for event in events if event["ph"] == "M"]
    assert [event["args"]["name"] for event in metadata if event["name"] == "process_name"] == names
    assert {event["pid"] for event in events} == {1, 2, 3}
    threads = [(e["pid"], e["tid"], e["args"]["name"]) for e in metadata if e["name"] == "thread_name"]
    # Only the dimensions that take part; no thread id twice.
    assert [name for *_, name in threads] == ["dim1 fully-connected, 8 NPUs", "dim3 switch, 8 NPUs"] * 3
    assert len({tid for _, tid, _ in threads}) == 6
    for pid, (_, mine) in enumerate(named, start=1):
        check_against_simulator(mine, [event for event in events if event["pid"] == pid])
    numbers = [event["id"] for event in events if event["ph"] == "s"]
    assert len(set(numbers)) == len(numbers)


@given(st.text())
def test_any_name_is_escaped(name: str) -> None:
    text = perfetto_text([(name, one_dimension(4, 2, 1, "pipelined"))])
    assert text.isascii()
    assert read(text)[0]["args"]["name"] == name


def test_half_a_character_in_a_name_is_a_question_mark() -> None:
    assert read(perfetto_text([("a\ud800b", one_dimension(4, 2, 1, "pipelined"))]))[0]["args"]["name"] == "a?b"


def test_bytes_are_exact() -> None:
    # 10 bytes among 3: every NPU sends 20/3 of them, which no decimal is; of 9 bytes it sends 6; of 4 among 2, 2.
    for size, num_npus, expected in ((10, 3, "20/3"), (9, 3, 6), (5, 2, Fraction(5, 2))):
        instance = Instance(network(dimension(num_npus)), Collective.REDUCE_SCATTER, size, 1)
        mine = Schedule(instance, (Chunk(size, (0,)),), ((Slot(0, RS),),))
        (slice_,) = slices(read(perfetto_text([("a", mine)])))
        assert slice_["args"]["bytes"] == expected


def test_a_deadlock_is_told() -> None:
    instance = Instance(network(dimension(2), dimension(2)), Collective.REDUCE_SCATTER, 8, 2)
    chunks = (Chunk(4, (0, 1)), Chunk(4, (1, 0)))
    crossed = ((Slot(1, RS), Slot(0, RS)), (Slot(0, RS), Slot(1, RS)))
    with pytest.raises(DeadlockError, match="in a circle"):
        perfetto_text([("a", Schedule(instance, chunks, crossed))])


def test_too_many_stages_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perfetto, "MAX_STAGES", 3)
    assert slices(read(perfetto_text([("a", one_dimension(6, 3, 0, "exclusive"))])))
    two = [("a", one_dimension(4, 2, 0, "exclusive"))] * 2
    with pytest.raises(InputError, match=r"^4 stages are too many for a trace; at most 3 .* fewer schedules at once"):
        perfetto_text(two)
