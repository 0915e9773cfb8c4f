"""The validator on sequences, times, bounds, other instances and garbage."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from random_instances import AG, RS, dimension, network, path, randoms, schedules
from spoilt import (
    DIM1,
    DIM2,
    HALF,
    INSTANCE,
    SCHEDULE,
    STAGES,
    TWO_EQUAL,
    TWO_FREE,
    forced,
    with_bound,
    with_chunk,
    with_forced_bound,
    with_forced_chunk,
    with_sequences,
    with_stage,
)

from themis_opt.judging.validator import validate
from themis_opt.problem.bound import Bound, BoundScope, Sizing
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance, Known, Occupancy
from themis_opt.problem.network import Algorithm, Network, Topology
from themis_opt.problem.schedule import Chunk, Schedule, Slot, StageTime, Status
from themis_opt.problem.violation import Violation
from themis_opt.problem.violation import ViolationKind as Kind


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
        "import sys, themis_opt.judging\n"
        "print([name for name in sys.modules if name.startswith(('themis_opt.timing', 'themis_opt.schedulers'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
