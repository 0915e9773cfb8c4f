"""The validator, rule by rule, on a schedule small enough to check by hand.

Two chunks of 8 bytes, All-Reduce on 2 × 2 NPUs, 1 byte per picosecond on both dimensions, no latency. Reduce-Scatter
sends half of what is there, All-Gather as much as is there: 8/2 = 4 ps on dim1, 4/2 = 2 ps on dim2, then 2 ps on dim2
and 4 ps on dim1. Both chunks in the order 1 2, 2 1, first come first served::

    dim1  | 0 rs | 1 rs | 0 ag | 1 ag |           0-4, 4-8, 8-12, 12-16
    dim2  .      |0 rs|0 ag|1 rs|1 ag|            4-6, 6-8, 8-10, 10-12

Weights (1/2, 1/2) prove 12 ps: in whatever order, each phase of a chunk takes 4 + 2 ps, half of which is 3 ps, twice
per chunk.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from strategies import AG, RS, dimension, network, path, randoms, schedules

from themis_opt.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.collective import Collective
from themis_opt.errors import InvalidScheduleError
from themis_opt.instance import Instance, Known, Occupancy
from themis_opt.network import Algorithm, Network, Topology
from themis_opt.schedules import Chunk, Schedule, Slot, StageTime, Status
from themis_opt.validation import Violation, check, validate
from themis_opt.validation import ViolationKind as Kind

HALF = Fraction(1, 2)
TWO_EQUAL = BoundScope(Sizing.EQUAL, 2, 2)
TWO_FREE = BoundScope(Sizing.FREE, 2, 2)
INSTANCE = Instance(network(dimension(2), dimension(2)), size_bytes=16, num_chunks=2)
STAGES = (
    StageTime(0, RS, 0, 0, 4),
    StageTime(0, RS, 1, 4, 6),
    StageTime(0, AG, 1, 6, 8),
    StageTime(0, AG, 0, 8, 12),
    StageTime(1, RS, 0, 4, 8),
    StageTime(1, RS, 1, 8, 10),
    StageTime(1, AG, 1, 10, 12),
    StageTime(1, AG, 0, 12, 16),
)
SCHEDULE = Schedule(
    INSTANCE,
    chunks=(Chunk(8, (0, 1), (1, 0)), Chunk(8, (0, 1), (1, 0))),
    sequences=(
        (Slot(0, RS), Slot(1, RS), Slot(0, AG), Slot(1, AG)),
        (Slot(0, RS), Slot(0, AG), Slot(1, RS), Slot(1, AG)),
    ),
    makespan_ps=16,
    stages=STAGES,
    bound=Bound(12, "fluid", TWO_EQUAL, (HALF, HALF), 12),
)


def with_chunk(index: int, **changes: object) -> Schedule:
    chunks = list(SCHEDULE.chunks)
    chunks[index] = replace(chunks[index], **changes)  # type: ignore[arg-type]
    return SCHEDULE.replace(chunks=tuple(chunks))


def with_sequences(*sequences: tuple[Slot, ...]) -> Schedule:
    return SCHEDULE.replace(sequences=sequences)


def with_stage(index: int, **changes: int) -> Schedule:
    stages = list(STAGES)
    stages[index] = stages[index]._replace(**changes)  # type: ignore[arg-type]
    return SCHEDULE.replace(stages=tuple(stages))


def with_bound(**changes: object) -> Schedule:
    assert SCHEDULE.bound is not None
    return SCHEDULE.replace(bound=replace(SCHEDULE.bound, **changes))  # type: ignore[arg-type]


def forced(thing: Any, **fields: object) -> Any:
    """Return a copy with values that its own constructor refuses; code that circumvents it is judged all the same."""
    changed = copy(thing)
    for field, value in fields.items():
        object.__setattr__(changed, field, value)
    return changed


def with_forced_chunk(**fields: object) -> Schedule:
    return SCHEDULE.replace(chunks=(forced(SCHEDULE.chunks[0], **fields), SCHEDULE.chunks[1]))


def with_forced_bound(**fields: object) -> Schedule:
    return SCHEDULE.replace(bound=forced(SCHEDULE.bound, **fields))


def test_a_right_schedule_has_no_violation() -> None:
    assert validate(INSTANCE, SCHEDULE) == ()
    assert validate(INSTANCE, SCHEDULE.replace(stages=None)) == ()
    check(INSTANCE, SCHEDULE)


def test_claims_are_optional() -> None:
    assert validate(INSTANCE, SCHEDULE.replace(makespan_ps=None, stages=None, bound=None)) == ()


DIM1, DIM2 = SCHEDULE.sequences

ONE_THING_WRONG: dict[str, tuple[Schedule, Violation]] = {
    "no chunk": (
        SCHEDULE.replace(chunks=(), sequences=((), ()), stages=None, bound=None),
        Violation(Kind.CHUNKS, "the schedule has no chunk; it needs at least 1", expected=1, found=0),
    ),
    "a chunk without bytes": (
        SCHEDULE.replace(chunks=(Chunk(0, (0, 1), (1, 0)), Chunk(16, (0, 1), (1, 0))), stages=None, bound=None),
        Violation(Kind.SIZE, "chunk 0 has 0 bytes; every chunk needs at least 1", chunk=0, expected=1, found=0),
    ),
    "a byte lost": (
        # One byte less is rounded away: 7/2 = 3.5 ps becomes 4 ps, 1.75 ps becomes 2 ps.
        with_chunk(1, size_bytes=7).replace(bound=None),
        Violation(
            Kind.TOTAL_SIZE,
            "the chunks add up to 15 bytes; the size of the collective is 16 bytes",
            expected=16,
            found=15,
        ),
    ),
    "a dimension visited twice": (
        with_chunk(1, rs_order=(0, 0)),
        Violation(
            Kind.ORDER,
            "chunk 1: rs_order is [0, 0]; it must visit each of the involved dimensions [0, 1] exactly once",
            chunk=1,
            phase="rs",
            expected=(0, 1),
            found=(0, 0),
        ),
    ),
    "a dimension visited once too often": (
        with_chunk(1, ag_order=(0, 1, 1)),
        Violation(
            Kind.ORDER,
            "chunk 1: ag_order is [0, 1, 1]; it must visit each of the involved dimensions [0, 1] exactly once",
            chunk=1,
            phase="ag",
            expected=(0, 1),
            found=(0, 1, 1),
        ),
    ),
    "a dimension that does not exist": (
        with_chunk(0, ag_order=(1, 2)),
        Violation(
            Kind.ORDER,
            "chunk 0: ag_order is [1, 2]; it must visit each of the involved dimensions [0, 1] exactly once",
            chunk=0,
            phase="ag",
            expected=(0, 1),
            found=(1, 2),
        ),
    ),
    "a phase left out": (
        with_chunk(0, ag_order=None),
        Violation(
            Kind.ORDER,
            "chunk 0: ag_order is None; it must visit each of the involved dimensions [0, 1] exactly once",
            chunk=0,
            phase="ag",
            expected=(0, 1),
        ),
    ),
    "a sequence missing": (
        with_sequences(DIM1),
        Violation(
            Kind.SEQUENCE,
            "sequences has 1 entries; the network has 2 dimensions, one each",
            expected=2,
            found=1,
        ),
    ),
    "a stage not served": (
        with_sequences(DIM1, DIM2[:-1]),
        Violation(
            Kind.SEQUENCE,
            "sequences[1] names chunk 1 ag on dim2 0 times; it must be once",
            chunk=1,
            phase="ag",
            dimension=1,
            expected=1,
            found=0,
        ),
    ),
    "a stage served twice": (
        with_sequences((*DIM1, Slot(0, AG)), DIM2),
        Violation(
            Kind.SEQUENCE,
            "sequences[0] names chunk 0 ag on dim1 2 times; it must be once",
            chunk=0,
            phase="ag",
            dimension=0,
            expected=1,
            found=2,
        ),
    ),
    "a chunk that does not exist": (
        with_sequences((*DIM1, Slot(-1, AG)), DIM2),
        Violation(
            Kind.SEQUENCE,
            "sequences[0] names chunk -1 ag, which has no stage on dim1",
            chunk=-1,
            phase="ag",
            dimension=0,
            expected=0,
            found=1,
        ),
    ),
    "a stage without time": (
        SCHEDULE.replace(stages=STAGES[:-1]),
        Violation(
            Kind.STAGES,
            "stages has 0 times of chunk 1 ag on dim1; it must have exactly 1",
            chunk=1,
            phase="ag",
            dimension=0,
            expected=1,
            found=0,
        ),
    ),
    "a stage with two times": (
        SCHEDULE.replace(stages=(*STAGES, STAGES[0])),
        Violation(
            Kind.STAGES,
            "stages has 2 times of chunk 0 rs on dim1; it must have exactly 1",
            chunk=0,
            phase="rs",
            dimension=0,
            expected=1,
            found=2,
        ),
    ),
    "the time of a stage that does not exist": (
        SCHEDULE.replace(stages=(*STAGES, StageTime(0, RS, -1, 0, 4))),
        Violation(
            Kind.STAGES,
            "stages has times of chunk 0 rs on dim0, and there is no such stage",
            chunk=0,
            phase="rs",
            dimension=-1,
            expected=0,
            found=1,
        ),
    ),
    "a stage too short": (
        with_stage(2, end_ps=7),
        Violation(
            Kind.DURATION,
            "chunk 0 ag on dim2 takes 1 ps (6 to 7); it costs 2 ps",
            chunk=0,
            phase="ag",
            dimension=1,
            expected=2,
            found=1,
        ),
    ),
    "a start before time 0": (
        with_stage(0, start_ps=-1, end_ps=3),
        Violation(
            Kind.TOO_EARLY,
            "chunk 0 rs on dim1 starts at -1 ps; no stage starts before 0 ps",
            chunk=0,
            phase="rs",
            dimension=0,
            expected=0,
            found=-1,
        ),
    ),
    "a stage before its chunk is there": (
        with_stage(1, start_ps=3, end_ps=5),
        Violation(
            Kind.TOO_EARLY,
            "chunk 0 rs on dim2 starts at 3 ps; the chunk is there at 4 ps, after chunk 0 rs on dim1",
            chunk=0,
            phase="rs",
            dimension=1,
            expected=4,
            found=3,
        ),
    ),
    "a false makespan": (
        SCHEDULE.replace(makespan_ps=15),
        Violation(Kind.MAKESPAN, "the claimed makespan is 15 ps; the schedule ends at 16 ps", expected=16, found=15),
    ),
    "optimal without a bound": (
        SCHEDULE.replace(status=Status.OPTIMAL, bound=None),
        Violation(Kind.STATUS, "the status is optimal, and there is no bound that says so"),
    ),
    "optimal above its bound": (
        SCHEDULE.replace(status=Status.OPTIMAL),
        Violation(
            Kind.STATUS,
            "the status is optimal, but the makespan is 16 ps and the bound 12 ps",
            expected=12,
            found=16,
        ),
    ),
    "a negative bound": (
        SCHEDULE.replace(bound=Bound(-1, "cp-sat", TWO_EQUAL)),
        Violation(Kind.BOUND, "the bound is -1 ps; a time is at least 0 ps", expected=0, found=-1),
    ),
    "a bound above the makespan": (
        SCHEDULE.replace(bound=Bound(17, "cp-sat", TWO_EQUAL)),
        Violation(Kind.BOUND, "the bound is 17 ps, but the schedule ends at 16 ps", expected=16, found=17),
    ),
    "a bound for another number of chunks": (
        # Which may well be above 16 ps, the end of this one.
        SCHEDULE.replace(bound=Bound(17, "cp-sat", BoundScope(Sizing.EQUAL, 3, 5))),
        Violation(
            Kind.SCOPE,
            "the bound holds for exactly 3 to 5 chunks of equal size; the schedule has 2 chunks",
            expected=(3, 5),
            found=2,
        ),
    ),
    "a bound for fewer chunks": (
        SCHEDULE.replace(bound=Bound(9, "cp-sat", BoundScope(Sizing.FREE, 1, 1))),
        Violation(
            Kind.SCOPE,
            "the bound holds for exactly 1 chunk of any size; the schedule has 2 chunks",
            expected=(1, 1),
            found=2,
        ),
    ),
    "a bound for no number of chunks": (
        SCHEDULE.replace(bound=Bound(9, "cp-sat", BoundScope(Sizing.EQUAL, 2, 1))),
        Violation(
            Kind.SCOPE,
            "bound_scope.num_chunks is [2, 1]; it must be a range within 1 to 16 (one byte per chunk)",
            expected=(1, 16),
            found=(2, 1),
        ),
    ),
    "weights that do not add up to 1": (
        with_bound(certificate=(HALF, Fraction(1, 3))),
        Violation(
            Kind.CERTIFICATE,
            "certificate adds up to 5/6; the weights must add up to exactly 1",
            found=(HALF, Fraction(1, 3)),
        ),
    ),
    "other weights": (
        # On dim1 alone a chunk takes at least 2 ps per phase: half of it is there when dim2 comes first. 2 · 2 · 2 = 8.
        with_bound(certificate=(Fraction(1), Fraction(0))),
        Violation(
            Kind.CERTIFIED_BOUND,
            "the certified bound is 12 ps; the certificate proves 8 ps",
            expected=8,
            found=12,
        ),
    ),
    "certified above the bound": (
        SCHEDULE.replace(bound=Bound(11, "cp-sat", TWO_EQUAL, (HALF, HALF), 12)),
        Violation(
            Kind.CERTIFIED_BOUND,
            "the certified bound is 12 ps, above the bound of 11 ps",
            expected=11,
            found=12,
        ),
    ),
    "certified without a certificate": (
        SCHEDULE.replace(bound=Bound(12, "cp-sat", TWO_EQUAL, None, 12)),
        Violation(Kind.CERTIFICATE, "the certified bound is 12 ps, and there is no certificate", found=12),
    ),
    "a fluid bound above what is certified": (
        with_bound(value_ps=13),
        Violation(
            Kind.BOUND,
            "the bound of 13 ps is fluid, but the certified bound is 12 ps",
            expected=12,
            found=13,
        ),
    ),
    "a critical-path bound above the critical path": (
        # 4 + 2 + 2 + 4 ps for one of two chunks; with up to 4 chunks the largest may have 4 bytes, which take 6 ps.
        SCHEDULE.replace(bound=Bound(7, BoundKind.CRITICAL_PATH, BoundScope(Sizing.EQUAL, 2, 4))),
        Violation(
            Kind.BOUND,
            "the critical-path bound is 7 ps; the critical path takes 6 ps",
            expected=6,
            found=7,
        ),
    ),
}


@pytest.mark.parametrize("what", ONE_THING_WRONG)
def test_a_violation_names_the_place_and_both_values(what: str) -> None:
    schedule, expected = ONE_THING_WRONG[what]

    violations = validate(INSTANCE, schedule)

    assert violations[0] == expected
    assert str(violations[0]) == expected.message


@pytest.mark.parametrize(
    "what",
    [
        "a byte lost",
        "a false makespan",
        "other weights",
        "a stage with two times",
        "a bound for another number of chunks",
    ],
)
def test_nothing_else_is_said_of_what_is_right(what: str) -> None:
    schedule, _ = ONE_THING_WRONG[what]
    assert len(validate(INSTANCE, schedule)) == 1


def test_check_raises_with_all_violations() -> None:
    schedule = SCHEDULE.replace(makespan_ps=15, status=Status.OPTIMAL)

    with pytest.raises(InvalidScheduleError, match="claimed makespan is 15 ps") as caught:
        check(INSTANCE, schedule)

    assert [violation.rule for violation in caught.value.violations] == [Kind.MAKESPAN, Kind.STATUS]


class TestSequences:
    def test_a_circle_is_named(self) -> None:
        # Chunk 0 goes 1 2 and chunk 1 goes 2 1, but dim1 wants chunk 1 first and dim2 chunk 0.
        instance = replace(INSTANCE, collective=Collective.REDUCE_SCATTER)
        chunks = (Chunk(8, (0, 1)), Chunk(8, (1, 0)))
        schedule = Schedule(instance, chunks, ((Slot(1, RS), Slot(0, RS)), (Slot(0, RS), Slot(1, RS))))

        (violation,) = validate(instance, schedule)

        assert violation.rule is Kind.DEADLOCK
        stages = ["chunk 0 rs dim2", "chunk 0 rs dim1", "chunk 1 rs dim1", "chunk 1 rs dim2"]
        turns = [" -> ".join(stages[turn:] + stages[:turn]) for turn in range(4)]
        assert any(violation.message.endswith(f"in a circle: {turn}") for turn in turns)

    def test_a_circle_has_no_detours(self) -> None:
        # Chunk 0 is first on dim1, which it visits last, and last on dim2, after 19 chunks that wait for it on dim1.
        # Any of those 19 is reason enough.
        instance = Instance(network(dimension(2), dimension(2)), Collective.REDUCE_SCATTER, 20, 20)
        chunks = (Chunk(1, (1, 0)),) + (Chunk(1, (0, 1)),) * 19
        forward = tuple(Slot(chunk, RS) for chunk in range(20))

        (violation,) = validate(instance, Schedule(instance, chunks, (forward, forward[::-1])))

        assert violation.rule is Kind.DEADLOCK
        assert violation.message.count("chunk") == 4

    @settings(max_examples=100, deadline=None)
    @given(random=randoms(), schedule=schedules(max_chunks=8))
    def test_each_stage_of_a_circle_waits_for_the_next(self, random: Random, schedule: Schedule) -> None:
        instance = schedule.instance
        shuffled = tuple(tuple(random.sample(sequence, len(sequence))) for sequence in schedule.sequences)
        violations = validate(instance, schedule.replace(sequences=shuffled))
        circles: list[Any] = [violation.found for violation in violations if violation.rule is Kind.DEADLOCK]
        assume(circles)
        (circle,) = circles

        assert len(circle) == len(set(circle)) > 1
        place = {(*slot, k): i for k, sequence in enumerate(shuffled) for i, slot in enumerate(sequence)}
        step = {
            (index, *stage): i
            for index, chunk in enumerate(schedule.chunks)
            for i, stage in enumerate(path(instance, chunk))
        }
        for stage, waits_for in pairwise([*circle, circle[0]]):
            later_in_its_chunk = stage[0] == waits_for[0] and step[stage] > step[waits_for]
            later_in_its_dimension = stage[2] == waits_for[2] and place[stage] > place[waits_for]
            assert later_in_its_chunk or later_in_its_dimension

    def test_a_deadlock_of_stages_that_take_no_time_is_one(self) -> None:
        # One byte at 1000 bytes/ps rounds to 0 ps, so even "everything at time 0" keeps every inequality.
        fast = dimension(2, 1000)
        instance = Instance(network(fast, fast), Collective.REDUCE_SCATTER, 2, 2)
        chunks = (Chunk(1, (0, 1)), Chunk(1, (1, 0)))
        stages = tuple(StageTime(chunk, RS, k, 0, 0) for chunk in range(2) for k in range(2))
        sequences = ((Slot(1, RS), Slot(0, RS)), (Slot(0, RS), Slot(1, RS)))
        schedule = Schedule(instance, chunks, sequences, makespan_ps=0, stages=stages)

        assert [violation.rule for violation in validate(instance, schedule)] == [Kind.DEADLOCK]

    def test_all_gather_before_reduce_scatter(self) -> None:
        schedule = with_sequences(DIM1, (Slot(0, AG), Slot(0, RS), *DIM2[2:]))

        phase_order, deadlock = validate(INSTANCE, schedule.replace(stages=None))

        assert phase_order == Violation(
            Kind.PHASE_ORDER,
            "sequences[1] has chunk 0 ag on dim2 at place 0, before the chunk's rs at place 1",
            chunk=0,
            phase="ag",
            dimension=1,
            expected=1,
            found=0,
        )
        assert deadlock.rule is Kind.DEADLOCK

    def test_a_dimension_that_is_not_involved_serves_nobody(self) -> None:
        instance = Instance(network(dimension(2), dimension(1)), Collective.ALL_GATHER, 4, 1)
        schedule = Schedule(instance, (Chunk(4, ag_order=(0,)),), ((Slot(0, AG),), ()), makespan_ps=2)
        assert validate(instance, schedule) == ()

        (violation,) = validate(instance, schedule.replace(sequences=((Slot(0, AG),), (Slot(0, AG),))))

        assert (violation.rule, violation.dimension) == (Kind.SEQUENCE, 1)

    def test_all_to_all_chunks_have_no_orders(self) -> None:
        # Half of 4 bytes on each dimension: 2 + 2 ps.
        instance = replace(INSTANCE, collective=Collective.ALL_TO_ALL, size_bytes=4, num_chunks=1)
        slot = Slot(0, instance.phases[0])
        schedule = Schedule(instance, (Chunk(4),), ((slot,), (slot,)), makespan_ps=4)
        assert validate(instance, schedule) == ()

        (violation,) = validate(instance, schedule.replace(chunks=(Chunk(4, rs_order=(0, 1)),)))

        assert violation.rule is Kind.ORDER
        assert violation.message == "chunk 0: rs_order is [0, 1]; all-to-all chunks have none"


class TestStageTimes:
    def test_they_need_not_be_the_earliest(self) -> None:
        later = tuple(stage._replace(start_ps=stage.start_ps + 5, end_ps=stage.end_ps + 5) for stage in STAGES)
        assert validate(INSTANCE, SCHEDULE.replace(stages=later, makespan_ps=21)) == ()

    def test_their_latest_end_is_the_makespan(self) -> None:
        later = with_stage(7, start_ps=13, end_ps=17)
        assert validate(INSTANCE, later.replace(makespan_ps=17)) == ()

        (violation,) = validate(INSTANCE, later)

        assert (violation.rule, violation.expected, violation.found) == (Kind.MAKESPAN, 17, 16)

    def test_a_bound_lies_below_the_earliest_end_too(self) -> None:
        # Nobody who waits makes a bound true: the same sequences can end at 16 ps.
        later = with_stage(7, start_ps=13, end_ps=17).replace(makespan_ps=17)

        (violation,) = validate(INSTANCE, later.replace(bound=Bound(17, "cp-sat", TWO_EQUAL), status=Status.OPTIMAL))

        assert (violation.rule, violation.expected, violation.found) == (Kind.BOUND, 16, 17)

    def test_no_two_stages_hold_a_dimension(self) -> None:
        # Chunk 1 starts on dim1 at 3 ps, when chunk 0 has it until 4 ps.
        (violation,) = validate(INSTANCE, with_stage(4, start_ps=3, end_ps=7))

        assert violation.rule is Kind.OVERLAP
        assert violation.message == "chunk 1 rs on dim1 starts at 3 ps; chunk 0 rs on dim1 holds it from 0 to 4 ps"

    def test_they_follow_the_sequence(self) -> None:
        # The times serve chunk 0 before chunk 1 on dim1; a sequence that says otherwise is another schedule's.
        schedule = with_sequences((DIM1[1], DIM1[0], *DIM1[2:]), DIM2)

        violation = validate(INSTANCE, schedule)[0]

        assert violation.rule is Kind.SEQUENCE
        assert (
            violation.message
            == "chunk 0 rs on dim1 starts at 0 ps; by the sequence chunk 1 rs on dim1 is first, at 4 ps"
        )

    def test_an_all_gather_stage_waits_for_the_last_reduce_scatter_stage(self) -> None:
        stages = [*STAGES[:2], STAGES[2]._replace(start_ps=5, end_ps=7), *STAGES[3:]]

        phase_order, overlap = validate(INSTANCE, SCHEDULE.replace(stages=tuple(stages)))

        assert (phase_order.rule, phase_order.expected, phase_order.found) == (Kind.PHASE_ORDER, 6, 5)
        assert overlap.rule is Kind.OVERLAP

    @pytest.mark.parametrize(("occupancy", "second_start_ps"), [(Occupancy.EXCLUSIVE, 7), (Occupancy.PIPELINED, 4)])
    def test_how_long_a_dimension_is_held(self, occupancy: Occupancy, second_start_ps: int) -> None:
        # 8 bytes among 2 NPUs with 3 ps latency: 4 ps of transfer, 7 ps until the chunk is there.
        instance = Instance(network(dimension(2, latency_ps=3)), Collective.REDUCE_SCATTER, 16, 2, occupancy)
        stages = (StageTime(0, RS, 0, 0, 7), StageTime(1, RS, 0, second_start_ps, second_start_ps + 7))
        schedule = Schedule(
            instance, (Chunk(8, (0,)),) * 2, ((Slot(0, RS), Slot(1, RS)),), second_start_ps + 7, stages=stages
        )
        assert validate(instance, schedule) == ()
        assert validate(instance, schedule.replace(stages=None)) == ()

        too_early = stages[1]._replace(start_ps=second_start_ps - 1, end_ps=second_start_ps + 6)
        overlap, makespan = validate(instance, schedule.replace(stages=(stages[0], too_early)))

        assert (overlap.rule, overlap.expected, overlap.found) == (Kind.OVERLAP, second_start_ps, second_start_ps - 1)
        assert makespan.rule is Kind.MAKESPAN


class TestBounds:
    @pytest.mark.parametrize(
        "bound",
        [
            Bound(11, "fluid", TWO_EQUAL, (HALF, HALF), 11),
            Bound(16, "cp-sat", TWO_EQUAL, (HALF, HALF), 12),
            Bound(16, "a-third-party", TWO_FREE),
            # 12 ps less half a picosecond of rounding for each of 2 chunks in each of 2 phases.
            Bound(10, "fluid", TWO_FREE, (HALF, HALF), 10),
            # One chunk of 16 bytes takes 8 + 4 + 4 + 8 ps, half of it 12 ps; 16 chunks of a byte round down:
            # 1/2 and 1/4 ps are 0 ps (half to even), so a range up to 16 proves nothing.
            Bound(12, "fluid", BoundScope(Sizing.EQUAL, 1, 2), (HALF, HALF), 12),
            Bound(0, "fluid", BoundScope(Sizing.EQUAL, 1, 16), (HALF, HALF), 0),
            Bound(12, "critical-path", TWO_EQUAL),
        ],
        ids=lambda bound: f"{bound.kind} {bound.value_ps} ps, {bound.scope}",
    )
    def test_true_ones_pass(self, bound: Bound) -> None:
        assert validate(INSTANCE, SCHEDULE.replace(bound=bound)) == ()

    @pytest.mark.parametrize(
        "bound",
        [
            Bound(11, "fluid", TWO_FREE, (HALF, HALF), 11),
            Bound(1, "fluid", BoundScope(Sizing.EQUAL, 1, 16), (HALF, HALF), 1),
        ],
        ids=lambda bound: f"{bound.kind} {bound.value_ps} ps, {bound.scope}",
    )
    def test_one_picosecond_more_than_the_certificate_proves(self, bound: Bound) -> None:
        (violation,) = validate(INSTANCE, SCHEDULE.replace(bound=bound))

        assert (violation.rule, violation.expected) == (Kind.CERTIFIED_BOUND, bound.value_ps - 1)

    def test_a_bound_for_equal_chunks_says_nothing_of_others(self) -> None:
        chunks = (Chunk(10, (0, 1), (1, 0)), Chunk(6, (0, 1), (1, 0)))
        unequal = SCHEDULE.replace(chunks=chunks, stages=None, makespan_ps=None)

        (violation,) = validate(INSTANCE, unequal)

        assert violation.rule is Kind.SCOPE
        assert violation.message.endswith("the schedule's 2 chunks are not of equal size")
        assert validate(INSTANCE, unequal.replace(bound=Bound(10, "fluid", TWO_FREE, (HALF, HALF), 10))) == ()

    def test_equal_to_the_makespan_makes_optimal(self) -> None:
        assert validate(INSTANCE, SCHEDULE.replace(bound=Bound(16, "cp-sat", TWO_EQUAL), status=Status.OPTIMAL)) == ()

    def test_a_fluid_bound_has_a_certificate(self) -> None:
        rules = [violation.rule for violation in validate(INSTANCE, with_bound(certificate=None, certified_ps=None))]
        assert rules == [Kind.CERTIFICATE, Kind.BOUND]

    def test_a_range_too_wide_to_re_prove_is_refused(self) -> None:
        instance = replace(INSTANCE, size_bytes=10**6)
        chunk = Chunk(10**6, (0, 1), (1, 0))
        slots = (Slot(0, RS), Slot(0, AG))
        bound = Bound(0, "fluid", BoundScope(Sizing.EQUAL, 1, 10**6), (HALF, HALF), 0)

        (violation,) = validate(instance, Schedule(instance, (chunk,), (slots, slots), bound=bound))

        assert (violation.rule, violation.found) == (Kind.SCOPE, 10**6)


class TestOtherInstances:
    @pytest.mark.parametrize(
        "same",
        [
            replace(INSTANCE, num_chunks=7),
            replace(INSTANCE, known=Known(16, 12, "nobody")),
            replace(INSTANCE, dimensions=(0, 1)),
            replace(INSTANCE, network=Network("other name", INSTANCE.network.dimensions, "other source")),
            replace(INSTANCE, network=network(dimension(2, note="seen", links=3), dimension(2))),
        ],
        ids=["number of chunks", "known", "all dimensions named", "network name", "notes"],
    )
    def test_what_does_not_matter(self, same: Instance) -> None:
        assert validate(same, SCHEDULE) == ()

    @pytest.mark.parametrize(
        ("other", "message"),
        [
            (replace(INSTANCE, size_bytes=17), "its size_bytes is 16, the instance's is 17"),
            (
                replace(INSTANCE, collective=Collective.ALL_GATHER),
                "its collective is all-reduce, the instance's is all-gather",
            ),
            (
                replace(INSTANCE, occupancy=Occupancy.PIPELINED),
                "its occupancy is exclusive, the instance's is pipelined",
            ),
            (replace(INSTANCE, dimensions=(1,)), "its involved dimensions is [0, 1], the instance's is [1]"),
            (replace(INSTANCE, network=network(dimension(4))), "its number of dimensions is 2, the instance's is 1"),
            (replace(INSTANCE, network=network(dimension(2), dimension(4))), "its dim2 size is 2, the instance's is 4"),
        ],
        ids=["size", "collective", "occupancy", "subset", "dimensions", "group size"],
    )
    def test_what_matters(self, other: Instance, message: str) -> None:
        violation = validate(other, SCHEDULE)[0]

        assert violation.rule is Kind.INSTANCE
        assert violation.message == f"the schedule answers another instance: {message}"

    @pytest.mark.parametrize(
        ("field", "value", "message"),
        [
            ("topology", Topology.RING, "its dim1 topology is fully-connected, the instance's is ring"),
            ("algorithm", Algorithm.BRUCK, "its dim1 algorithm is direct, the instance's is bruck"),
            ("bandwidth_Bps", 7, "its dim1 bandwidth_Bps is 1000000000000, the instance's is 7"),
            ("latency_ps", 9, "its dim1 latency_ps is 0, the instance's is 9"),
            ("reduction_bandwidth_Bps", 7, "its dim1 reduction_bandwidth_Bps is None, the instance's is 7"),
        ],
    )
    def test_every_physical_quantity_matters(self, field: str, value: object, message: str) -> None:
        dim1, dim2 = INSTANCE.network.dimensions
        other = replace(INSTANCE, network=network(replace(dim1, **{field: value}), dim2))  # type: ignore[arg-type]

        (violation,) = validate(other, SCHEDULE)

        assert (violation.rule, violation.dimension) == (Kind.INSTANCE, 0)
        assert violation.message == f"the schedule answers another instance: {message}"


HUGE = 10**5000
GARBAGE: dict[str, tuple[Callable[[], Schedule], Kind]] = {
    "no instance": (lambda: SCHEDULE.replace(instance=None), Kind.INSTANCE),
    "chunks are a number": (lambda: SCHEDULE.replace(chunks=3), Kind.FORM),
    "a chunk is a number": (lambda: SCHEDULE.replace(chunks=(3, 4)), Kind.FORM),
    "a fractional size": (lambda: with_forced_chunk(size_bytes=8.0), Kind.SIZE),
    "a size too long to print": (lambda: with_chunk(0, size_bytes=HUGE), Kind.SIZE),
    "a size that is a truth value": (lambda: with_forced_chunk(size_bytes=True), Kind.SIZE),
    "an order of words": (lambda: with_forced_chunk(rs_order=("dim1", 0)), Kind.ORDER),
    "an order that is a number": (lambda: with_forced_chunk(rs_order=1), Kind.ORDER),
    "sequences are missing": (lambda: SCHEDULE.replace(sequences=None), Kind.FORM),
    "a sequence is missing": (lambda: SCHEDULE.replace(sequences=(DIM1, None)), Kind.SEQUENCE),
    "a slot of three": (lambda: SCHEDULE.replace(sequences=(((0, RS, 1),), DIM2)), Kind.SEQUENCE),
    "a slot that cannot be hashed": (lambda: forced(SCHEDULE, sequences=((([], {}),), DIM2)), Kind.SEQUENCE),
    "a phase that does not exist": (lambda: SCHEDULE.replace(sequences=(((0, "up"),), DIM2)), Kind.SEQUENCE),
    "a phase that fills a page": (lambda: SCHEDULE.replace(sequences=(((0, "rs" * 999),), DIM2)), Kind.SEQUENCE),
    "stages are a word": (lambda: SCHEDULE.replace(stages="all"), Kind.STAGES),
    "a stage without end": (lambda: SCHEDULE.replace(stages=((0, RS, 0, 0),)), Kind.STAGES),
    "a start that is no number": (lambda: forced(SCHEDULE, stages=((0, RS, 0, float("nan"), 4),)), Kind.STAGES),
    "a fractional makespan": (lambda: forced(SCHEDULE, makespan_ps=16.0), Kind.MAKESPAN),
    "an unknown status": (lambda: SCHEDULE.replace(status="good"), Kind.STATUS),
    "a bound that is a number": (lambda: SCHEDULE.replace(bound=12), Kind.BOUND),
    "an infinite bound": (lambda: with_forced_bound(value_ps=float("inf")), Kind.BOUND),
    "a kind that is a number": (lambda: with_bound(kind=3), Kind.BOUND),
    "a bound without scope": (lambda: with_bound(scope=None), Kind.SCOPE),
    "a scope of unknown sizing": (lambda: with_bound(scope=BoundScope("odd", 2, 2)), Kind.SCOPE),  # type: ignore[arg-type]
    "a scope without end": (lambda: with_forced_bound(scope=forced(TWO_EQUAL, max_chunks=None)), Kind.SCOPE),
    "floating-point weights": (lambda: with_bound(certificate=(0.5, 0.5)), Kind.CERTIFICATE),
    "too few weights": (lambda: with_bound(certificate=()), Kind.CERTIFICATE),
    "weights too long to print": (lambda: with_bound(certificate=(Fraction(1, HUGE), HALF)), Kind.CERTIFICATE),
    "a fractional certified bound": (lambda: with_forced_bound(certified_ps=12.0), Kind.CERTIFIED_BOUND),
}


@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_is_judged_and_never_raises(what: str) -> None:
    make, rule = GARBAGE[what]

    violations = validate(INSTANCE, make())

    assert rule in {violation.rule for violation in violations}
    assert all(len(str(violation)) < 400 for violation in violations)


def test_times_beyond_64_bits_are_exact() -> None:
    # Half of 10^30 bytes at one byte/ps; the times do not fit a double either.
    instance = Instance(network(dimension(2)), Collective.REDUCE_SCATTER, 10**30, 1)
    schedule = Schedule(instance, (Chunk(10**30, (0,)),), ((Slot(0, RS),),), makespan_ps=5 * 10**29)
    assert validate(instance, schedule) == ()

    (violation,) = validate(instance, schedule.replace(makespan_ps=5 * 10**29 + 1))

    assert (violation.rule, violation.expected) == (Kind.MAKESPAN, 5 * 10**29)


def test_the_judge_knows_no_simulator_and_no_scheduler() -> None:
    code = (
        "import sys, themis_opt.validation\n"
        "print([name for name in sys.modules if name.startswith(('themis_opt.simulator', 'themis_opt.schedulers'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
