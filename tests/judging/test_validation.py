"""The validator, rule by rule, on the schedule of `spoilt`: what it says of one thing that is wrong."""

from __future__ import annotations

from fractions import Fraction

import pytest
from random_instances import AG, RS
from spoilt import (
    DIM1,
    DIM2,
    HALF,
    INSTANCE,
    SCHEDULE,
    STAGES,
    TWO_EQUAL,
    with_bound,
    with_chunk,
    with_sequences,
    with_stage,
)

from themis_opt.judging.validator import check, validate
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.errors import InvalidScheduleError
from themis_opt.problem.schedule import Chunk, Schedule, Slot, StageTime, Status
from themis_opt.problem.violation import Violation
from themis_opt.problem.violation import ViolationKind as Kind


def test_a_right_schedule_has_no_violation() -> None:
    assert validate(INSTANCE, SCHEDULE) == ()
    assert validate(INSTANCE, SCHEDULE.replace(stages=None)) == ()
    check(INSTANCE, SCHEDULE)


def test_claims_are_optional() -> None:
    assert validate(INSTANCE, SCHEDULE.replace(makespan_ps=None, stages=None, bound=None)) == ()


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
