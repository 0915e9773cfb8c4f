"""The timing rule, worked by hand and against a naive simulation; the compiled kernel against the plain reference."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import assume, given, settings
from plain_judge import end_ps, hold, plain_path, plain_times
from random_instances import AG, RS, dimension, instances, network, random_chunks, random_schedule, randoms, schedules

from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.errors import DeadlockError, InputError
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.schedule import Chunk, Schedule, Slot
from themis_opt.timing.dispatch import dispatch
from themis_opt.timing.engine import Engine
from themis_opt.timing.policy import DispatchPolicy
from themis_opt.timing.sequencing import simulate
from themis_opt.timing.timeline import Timeline

ENGINES = [Engine.COMPILED, Engine.REFERENCE]
BACK_AND_FORTH = Chunk(8, (0, 1), (1, 0))


def times(timeline: Timeline) -> dict[tuple[int, Phase, int], tuple[int, int]]:
    """Return start and end of every stage."""
    return {(chunk, phase, k): (start, end) for chunk, phase, k, start, end in timeline.stages}


def square(occupancy: Occupancy = Occupancy.EXCLUSIVE, latency_ps: int = 0) -> Instance:
    """Return All-Reduce of 2 chunks of 8 bytes on 2 × 2 NPUs at 1 byte/ps."""
    side = dimension(2, latency_ps=latency_ps)
    return Instance(network(side, side), size_bytes=16, num_chunks=2, occupancy=occupancy)


def line(occupancy: Occupancy = Occupancy.EXCLUSIVE, latency_ps: int = 0, size_bytes: int = 14) -> Instance:
    """Return Reduce-Scatter on 2 NPUs at 1 byte/ps: x bytes take x/2 ps and the latency."""
    return Instance(network(dimension(2, latency_ps=latency_ps)), Collective.REDUCE_SCATTER, size_bytes, 1, occupancy)


@pytest.mark.parametrize("engine", ENGINES)
class TestByHand:
    def test_fifo(self, engine: Engine) -> None:
        # Reduce-Scatter: 8/2 = 4 ps on dim1, then 4/2 = 2 ps on dim2. All-Gather: 2 bytes are there, sent once: 2 ps
        # on dim2, then 4 ps on dim1. At 8 ps dim1 is free and chunk 0 is back from dim2.
        instance = square()

        result = dispatch(instance, (BACK_AND_FORTH,) * 2, engine=engine)

        assert result.timeline.makespan_ps == 16
        assert times(result.timeline) == {
            (0, RS, 0): (0, 4),
            (1, RS, 0): (4, 8),
            (0, RS, 1): (4, 6),
            (0, AG, 1): (6, 8),
            (0, AG, 0): (8, 12),
            (1, RS, 1): (8, 10),
            (1, AG, 1): (10, 12),
            (1, AG, 0): (12, 16),
        }
        assert result.sequences == (
            (Slot(0, RS), Slot(1, RS), Slot(0, AG), Slot(1, AG)),
            (Slot(0, RS), Slot(0, AG), Slot(1, RS), Slot(1, AG)),
        )

    def test_smallest_chunk_first(self, engine: Engine) -> None:
        # 2, 8 and 4 bytes take 1, 4 and 2 ps; all are there at 0.
        chunks = (Chunk(2, (0,)), Chunk(8, (0,)), Chunk(4, (0,)))

        first_come = dispatch(line(), chunks, DispatchPolicy.FIFO, engine=engine)
        smallest = dispatch(line(), chunks, DispatchPolicy.SCF, engine=engine)

        assert [start for (start,) in first_come.timeline.starts] == [0, 1, 5]
        assert [start for (start,) in smallest.timeline.starts] == [0, 3, 1]

    def test_the_smallest_chunk_is_the_one_with_the_fewest_bytes_there(self, engine: Engine) -> None:
        # Chunk 1 of 12 bytes spends 6 ps on dim2 and comes to dim1 with 6 bytes. There 8 bytes run from 0 to 4 ps, then
        # 10 bytes (fewer than 16) to 9 ps, then chunk 1's 6 (fewer than 16) to 12 ps, then 16 bytes.
        instance = Instance(network(dimension(2), dimension(2)), Collective.REDUCE_SCATTER, 46, 4)
        chunks = (Chunk(16, (0, 1)), Chunk(12, (1, 0)), Chunk(8, (0, 1)), Chunk(10, (0, 1)))

        smallest = dispatch(instance, chunks, DispatchPolicy.SCF, engine=engine)

        assert [chunk for chunk, _ in smallest.sequences[0]] == [2, 3, 1, 0]
        assert [smallest.timeline.starts[chunk][stage] for chunk, stage in ((2, 0), (3, 0), (1, 1), (0, 0))] == [
            0,
            4,
            9,
            12,
        ]

    def test_ties_go_to_the_lower_index(self, engine: Engine) -> None:
        chunks = (Chunk(4, (0,)), Chunk(4, (0,)), Chunk(6, (0,)))
        for policy in (DispatchPolicy.FIFO, DispatchPolicy.SCF):
            assert [slot.chunk for slot in dispatch(line(), chunks, policy, engine=engine).sequences[0]] == [0, 1, 2]

    def test_ties_between_equal_chunks_go_to_the_earlier_arrival(self, engine: Engine) -> None:
        # Chunk 2 holds dim1 until 20 ps. Chunk 1 comes from dim2 at 4 ps, chunk 0 from the slower dim3 at 8 ps; 4 bytes
        # are left of each.
        instance = Instance(
            network(dimension(2), dimension(2), dimension(2, Fraction(1, 2))), Collective.REDUCE_SCATTER, 56, 3
        )
        chunks = (Chunk(8, (2, 0, 1)), Chunk(8, (1, 0, 2)), Chunk(40, (0, 1, 2)))
        for policy in (DispatchPolicy.FIFO, DispatchPolicy.SCF):
            assert [slot.chunk for slot in dispatch(instance, chunks, policy, engine=engine).sequences[0]] == [2, 1, 0]

    def test_all_completions_of_an_instant_come_before_any_choice(self, engine: Engine) -> None:
        # At 4 ps chunk 0 (on dim1) and chunk 1 (on dim2) swap places; each meets chunk 2 or 3, waiting there since 0.
        instance = Instance(network(dimension(2), dimension(2)), Collective.REDUCE_SCATTER, 36, 4)
        chunks = (Chunk(8, (0, 1)), Chunk(8, (1, 0)), Chunk(10, (0, 1)), Chunk(10, (1, 0)))

        smallest = dispatch(instance, chunks, DispatchPolicy.SCF, engine=engine)

        # Chunk 1 arrives on dim1 with 4 bytes at the very instant dim1 chooses, and is smaller than chunk 2's 10.
        assert [slot.chunk for slot in smallest.sequences[0]] == [0, 1, 2, 3]
        assert [slot.chunk for slot in smallest.sequences[1]] == [1, 0, 3, 2]

    def test_astra_sim_applies_completions_one_by_one(self, engine: Engine) -> None:
        # The same four chunks. At 4 ps dim1's completion is applied first: chunk 0 leaves for dim2, and dim1 takes
        # chunk 2, since chunk 1 is still on dim2. Then dim2 takes chunk 0 (4 bytes) before chunk 3 (10 bytes), and dim1
        # chunk 1 before chunk 3, which comes from dim2 at 4 + 2 + 5 = 11 ps, when both are over.
        instance = Instance(network(dimension(2), dimension(2)), Collective.REDUCE_SCATTER, 36, 4)
        chunks = (Chunk(8, (0, 1)), Chunk(8, (1, 0)), Chunk(10, (0, 1)), Chunk(10, (1, 0)))

        smallest = dispatch(instance, chunks, DispatchPolicy.ASTRA_SCF, engine=engine)
        first_come = dispatch(instance, chunks, DispatchPolicy.ASTRA_FIFO, engine=engine)

        assert [slot.chunk for slot in smallest.sequences[0]] == [0, 2, 1, 3]
        assert [slot.chunk for slot in smallest.sequences[1]] == [1, 0, 3, 2]
        assert [slot.chunk for slot in first_come.sequences[1]] == [1, 3, 0, 2]

    def test_astra_sim_counts_the_bytes_before_or_after_whichever_are_more(self, engine: Engine) -> None:
        # Chunk 2 holds dim1 from 4 to 44 ps. Chunk 1 comes from dim2 at 6 ps for rs with 6 bytes, chunk 0 at 10 ps for
        # ag with 4 bytes, which will be 8: more than 6.
        instance = Instance(network(dimension(2), dimension(2)), size_bytes=100, num_chunks=3)
        chunks = (Chunk(8, (0, 1), (1, 0)), Chunk(12, (1, 0), (1, 0)), Chunk(80, (0, 1), (1, 0)))

        result = dispatch(instance, chunks, DispatchPolicy.ASTRA_SCF, engine=engine)

        assert result.sequences[0][:4] == (Slot(0, RS), Slot(2, RS), Slot(1, RS), Slot(0, AG))

    def test_chunks_that_arrive_together_do_so_in_the_order_served(self, engine: Engine) -> None:
        # dim1 takes 1 ps of latency and, at 1000 bytes/ps, no transfer: pipelined, it serves all three chunks at 0, and
        # they arrive on dim2 at 1 ps. Among equals the last in is the first out, so chunk 2 comes before chunk 1; dim2,
        # a chunk's last stage but one, appends them as they come.
        instance = Instance(
            network(dimension(2, 1000, 1), dimension(2), dimension(2)),
            Collective.REDUCE_SCATTER,
            24,
            3,
            Occupancy.PIPELINED,
        )

        result = dispatch(instance, (Chunk(8, (0, 1, 2)),) * 3, DispatchPolicy.ASTRA_SCF, engine=engine)

        assert [slot.chunk for slot in result.sequences[0]] == [0, 2, 1]
        assert [slot.chunk for slot in result.sequences[1]] == [0, 2, 1]

    def test_fused_fifo_keeps_the_turning_dimension(self, engine: Engine) -> None:
        # At a quarter of a byte/ps a stage on dim2 takes 8 ps. Chunk 0 runs rs there from 4 to 12 ps and comes back for
        # ag at 12; chunk 1 waits for rs since 8. First come, first served takes chunk 1; fused takes chunk 0.
        instance = Instance(network(dimension(2), dimension(2, Fraction(1, 4))), size_bytes=16, num_chunks=2)

        plain = dispatch(instance, (BACK_AND_FORTH,) * 2, DispatchPolicy.FIFO, engine=engine)
        fused = dispatch(instance, (BACK_AND_FORTH,) * 2, DispatchPolicy.FUSED_FIFO, engine=engine)

        assert plain.sequences[1] == (Slot(0, RS), Slot(1, RS), Slot(0, AG), Slot(1, AG))
        assert fused.sequences[1] == (Slot(0, RS), Slot(0, AG), Slot(1, RS), Slot(1, AG))
        assert (plain.timeline.makespan_ps, fused.timeline.makespan_ps) == (40, 40)

    def test_an_explicit_sequence_is_obeyed_even_when_it_makes_a_dimension_wait(self, engine: Engine) -> None:
        # As under fifo, but dim1 gathers chunk 1 first: it waits for it from 8 to 12 ps, and chunk 0 until 16 ps.
        schedule = Schedule(
            square(),
            (BACK_AND_FORTH,) * 2,
            (
                (Slot(0, RS), Slot(1, RS), Slot(1, AG), Slot(0, AG)),
                (Slot(0, RS), Slot(0, AG), Slot(1, RS), Slot(1, AG)),
            ),
        )

        timeline = simulate(square(), schedule, engine=engine)

        assert times(timeline)[1, AG, 0] == (12, 16)
        assert times(timeline)[0, AG, 0] == (16, 20)
        assert timeline.makespan_ps == 20
        dim1, dim2 = timeline.dimensions
        assert (dim1.busy_ps, dim1.idle_gaps) == (16, ((8, 12),))
        assert (dim2.busy_ps, dim2.idle_gaps) == (8, ((0, 4), (12, 20)))
        # Each chunk sends 4 + 4 bytes on dim1 and 2 + 2 on dim2.
        assert (dim1.sent_bytes, dim2.sent_bytes) == (Fraction(16), Fraction(8))

    @pytest.mark.parametrize(
        ("occupancy", "starts", "makespan_ps", "busy_ps"),
        [(Occupancy.EXCLUSIVE, [0, 7], 14, 14), (Occupancy.PIPELINED, [0, 4], 11, 8)],
    )
    def test_latency(
        self, engine: Engine, occupancy: Occupancy, starts: list[int], makespan_ps: int, busy_ps: int
    ) -> None:
        # 8/2 = 4 ps of transfer, then 3 ps until the chunk is there. Pipelined, the next one starts meanwhile.
        timeline = dispatch(line(occupancy, 3, 16), (Chunk(8, (0,)),) * 2, engine=engine).timeline

        assert [start for (start,) in timeline.starts] == starts
        assert timeline.makespan_ps == makespan_ps
        assert timeline.dimensions[0].busy_ps == busy_ps

    def test_a_chunk_that_stays_on_its_dimension_pays_its_latency_first(self, engine: Engine) -> None:
        # Pipelined, 10 ps latency: rs on dim2 transfers from 14 to 16 and is there at 26, when ag on dim2 can start.
        instance = replace(square(Occupancy.PIPELINED, 10), size_bytes=8, num_chunks=1)

        timeline = dispatch(instance, (BACK_AND_FORTH,), engine=engine).timeline

        assert times(timeline) == {
            (0, RS, 0): (0, 14),
            (0, RS, 1): (14, 26),
            (0, AG, 1): (26, 38),
            (0, AG, 0): (38, 52),
        }

    def test_a_deadlock_names_its_circle(self, engine: Engine) -> None:
        # Chunk 0 goes 1 2 and chunk 1 goes 2 1, but dim1 wants chunk 1 first and dim2 chunk 0.
        instance = Instance(network(dimension(2), dimension(2)), Collective.REDUCE_SCATTER, 16, 2)
        chunks = (Chunk(8, (0, 1)), Chunk(8, (1, 0)))
        schedule = Schedule(instance, chunks, ((Slot(1, RS), Slot(0, RS)), (Slot(0, RS), Slot(1, RS))))

        with pytest.raises(DeadlockError, match="in a circle: chunk") as caught:
            simulate(instance, schedule, engine=engine)

        circle = caught.value.cycle
        # Each stage waits for the next: in its chunk's order, or in its dimension's sequence.
        waits = {
            ((0, "rs", 1), (0, "rs", 0)),
            ((0, "rs", 0), (1, "rs", 0)),
            ((1, "rs", 0), (1, "rs", 1)),
            ((1, "rs", 1), (0, "rs", 1)),
        }
        assert set(zip(circle, circle[1:] + circle[:1], strict=True)) == waits

    def test_size_one_and_unchosen_dimensions_have_no_stages(self, engine: Engine) -> None:
        instance = Instance(
            network(dimension(1), dimension(2), dimension(2)), Collective.ALL_GATHER, 4, 1, dimensions=(0, 2)
        )

        result = dispatch(instance, (Chunk(4, ag_order=(2,)),), engine=engine)

        # 2 bytes are there and are sent once.
        assert result.sequences == ((), (), (Slot(0, AG),))
        assert [use.busy_ps for use in result.timeline.dimensions] == [0, 0, 2]
        assert [use.idle_gaps for use in result.timeline.dimensions] == [((0, 2),), ((0, 2),), ()]


class TestBadInput:
    @pytest.mark.parametrize(
        ("sequences", "message"),
        [
            (((Slot(0, RS),),), "sequences has 1 entries; the network has 2 dimensions"),
            (((Slot(0, RS),), ()), r"sequences\[1\] does not serve chunk 0 rs on dim2"),
            (((Slot(0, RS),), (Slot(0, RS), Slot(0, RS))), r"sequences\[1\] names chunk 0 rs, which has no such stage"),
            (((Slot(0, RS),), (Slot(-1, RS),)), r"sequences\[1\] names chunk -1 rs"),
        ],
    )
    def test_sequences(self, sequences: tuple[tuple[Slot, ...], ...], message: str) -> None:
        instance = Instance(network(dimension(2), dimension(2)), Collective.REDUCE_SCATTER, 8, 1)
        with pytest.raises(InputError, match=message):
            simulate(instance, Schedule(instance, (Chunk(8, (0, 1)),), sequences))

    @pytest.mark.parametrize(
        ("chunks", "message"),
        [
            ((), "at least one chunk"),
            ((Chunk(0, (0, 1)),), "chunk 0 has 0 bytes"),
            ((Chunk(8, (0, 1)), Chunk(8, (1, 1))), r"chunk 1: rs_order is \[1, 1\]"),
            ((Chunk(8),), "chunk 0: rs_order is None"),
        ],
    )
    def test_chunks(self, chunks: tuple[Chunk, ...], message: str) -> None:
        instance = Instance(network(dimension(2), dimension(2)), Collective.REDUCE_SCATTER, 8, 1)
        with pytest.raises(InputError, match=message):
            dispatch(instance, chunks)


@settings(max_examples=100, deadline=None)
@given(random=randoms(), instance=instances(max_chunks=6))
def test_the_kernel_is_the_reference(random: Random, instance: Instance) -> None:
    chunks = random_chunks(random, instance)
    for policy in DispatchPolicy:
        compiled = dispatch(instance, chunks, policy, engine=Engine.COMPILED)
        reference = dispatch(instance, chunks, policy, engine=Engine.REFERENCE)

        assert compiled.sequences == reference.sequences, policy
        assert compiled.timeline.stages == reference.timeline.stages, policy
        assert compiled.timeline.makespan_ps == reference.timeline.makespan_ps, policy


@settings(max_examples=100, deadline=None)
@given(random=randoms(), instance=instances(max_chunks=6))
def test_dispatch_gives_sequences_that_simulate_times_alike(random: Random, instance: Instance) -> None:
    chunks = random_chunks(random, instance)
    for policy in DispatchPolicy:
        result = dispatch(instance, chunks, policy)
        timeline = simulate(instance, Schedule(instance, chunks, result.sequences))

        assert timeline.stages == result.timeline.stages, policy
        assert timeline.makespan_ps == result.timeline.makespan_ps == max(stage.end_ps for stage in timeline.stages)


@settings(max_examples=100, deadline=None)
@given(schedule=schedules(max_chunks=6))
@pytest.mark.parametrize("engine", ENGINES)
def test_simulate_agrees_with_a_naive_simulation(engine: Engine, schedule: Schedule) -> None:
    naive = plain_times(schedule)
    assert naive is not None

    timeline = simulate(schedule.instance, schedule, engine=engine)

    assert times(timeline) == naive
    assert timeline.makespan_ps == end_ps(naive)


@settings(max_examples=100, deadline=None)
@given(random=randoms(), schedule=schedules(max_chunks=6))
def test_deadlocks_are_found_and_nothing_else(random: Random, schedule: Schedule) -> None:
    shuffled = tuple(tuple(random.sample(sequence, len(sequence))) for sequence in schedule.sequences)
    schedule = schedule.replace(sequences=shuffled)
    naive = plain_times(schedule)
    place = {(*slot, k): i for k, sequence in enumerate(shuffled) for i, slot in enumerate(sequence)}
    step = {
        (chunk, phase, k): i
        for chunk, data in enumerate(schedule.chunks)
        for i, (phase, k, *_) in enumerate(plain_path(schedule.instance, data))
    }
    for engine in ENGINES:
        if naive is not None:
            assert times(simulate(schedule.instance, schedule, engine=engine)) == naive
            continue
        with pytest.raises(DeadlockError) as caught:
            simulate(schedule.instance, schedule, engine=engine)
        circle = caught.value.cycle
        for stage, waits_for in zip(circle, circle[1:] + circle[:1], strict=True):
            later_in_its_chunk = stage[0] == waits_for[0] and step[stage] > step[waits_for]  # type: ignore[index]
            later_in_its_dimension = stage[2] == waits_for[2] and place[stage] > place[waits_for]  # type: ignore[index]
            assert later_in_its_chunk or later_in_its_dimension


@settings(max_examples=100, deadline=None)
@given(random=randoms(), instance=instances(max_chunks=6))
@pytest.mark.parametrize("policy", [DispatchPolicy.FIFO, DispatchPolicy.SCF])
def test_every_choice_is_the_policys(policy: DispatchPolicy, random: Random, instance: Instance) -> None:
    """No dimension idles while a chunk waits, and none that waits would have come before the one served."""
    chunks = random_chunks(random, instance)
    paths = [plain_path(instance, chunk) for chunk in chunks]
    # Stages without duration make several rounds of choices in one instant; what has arrived when is then ambiguous.
    assume(all(transfer > 0 for path in paths for *_, transfer, _ in path))
    result = dispatch(instance, chunks, policy)
    start = {(chunk, phase, k): begin for chunk, phase, k, begin, _ in result.timeline.stages}
    arrival, left = {}, {}
    for chunk, path in enumerate(paths):
        there_ps, part = 0, Fraction(chunks[chunk].size_bytes)
        if instance.collective is Collective.ALL_GATHER:
            part /= instance.num_npus
        for phase, k, transfer, latency in path:
            arrival[chunk, phase, k], left[chunk, phase, k] = there_ps, part
            there_ps = start[chunk, phase, k] + transfer + latency
            size = instance.network.dimensions[k].size
            part = part / size if phase is RS else part * size if phase is AG else part
    for k, sequence in enumerate(result.sequences):
        free_ps = 0
        for position, slot in enumerate(sequence):
            stage = (*slot, k)
            waiting = [(*other, k) for other in sequence[position:] if arrival[*other, k] <= start[stage]]
            if policy is DispatchPolicy.FIFO:
                assert stage == min(waiting, key=lambda other: (arrival[other], other[0]))
            else:
                assert stage == min(waiting, key=lambda other: (left[other], arrival[other], other[0]))
            assert start[stage] == max(free_ps, min(arrival[*other, k] for other in sequence[position:]))
            _, _, transfer, latency = next(work for work in paths[slot.chunk] if work[:2] == (slot.phase, k))
            free_ps = start[stage] + hold(instance, transfer, latency)


@settings(max_examples=100, deadline=None)
@given(schedule=schedules(max_chunks=6))
def test_busy_time_and_gaps_fill_the_makespan(schedule: Schedule) -> None:
    timeline = simulate(schedule.instance, schedule)

    for k, use in enumerate(timeline.dimensions):
        assert use.busy_ps + sum(end - start for start, end in use.idle_gaps) == timeline.makespan_ps
        assert (use.sent_bytes > 0) == (k in schedule.instance.involved)
        assert all(start < end for start, end in use.idle_gaps)


@settings(max_examples=100, deadline=None)
@given(random=randoms(), schedule=schedules(max_chunks=6))
def test_more_bandwidth_never_hurts_a_fixed_schedule(random: Random, schedule: Schedule) -> None:
    instance = schedule.instance
    dimensions = list(instance.network.dimensions)
    k = random.randrange(len(dimensions))
    faster = dimensions[k].bandwidth_Bps * Fraction(random.randint(11, 40), 10)
    dimensions[k] = replace(dimensions[k], bandwidth_Bps=faster)
    upgraded = replace(instance, network=network(*dimensions))

    assert simulate(upgraded, schedule).makespan_ps <= simulate(instance, schedule).makespan_ps


def test_durations_beyond_64_bits_are_exact() -> None:
    # 10^30 bytes at 1 byte/ps: half of them take 5 · 10^29 ps, twice; the compiled kernel ends at 2^63 ~ 9 · 10^18.
    instance = line(size_bytes=2 * 10**30)
    chunks = (Chunk(10**30 + 2, (0,)), Chunk(10**30 - 2, (0,)))

    result = dispatch(instance, chunks, DispatchPolicy.SCF)

    assert result.sequences == ((Slot(1, RS), Slot(0, RS)),)
    assert result.timeline.starts == [[5 * 10**29 - 1], [0]]
    assert simulate(instance, Schedule(instance, chunks, result.sequences)).makespan_ps == 10**30


def test_the_same_schedule_whatever_the_number_of_npus() -> None:
    # 256 × 256 NPUs: nothing here counts them one by one.
    big = Instance(network(dimension(256), dimension(256)), size_bytes=65536, num_chunks=2)
    schedule = random_schedule(Random(1), big)
    assert simulate(big, schedule).makespan_ps == end_ps(plain_times(schedule) or {})


def test_eight_dimensions() -> None:
    eight = Instance(network(*[dimension(2)] * 8), size_bytes=1024, num_chunks=3)
    schedule = random_schedule(Random(2), eight)
    for engine in ENGINES:
        assert times(simulate(eight, schedule, engine=engine)) == plain_times(schedule)
