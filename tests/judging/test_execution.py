"""Moving real data: any order is a correct collective, and an incorrect one is seen."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from random_instances import A2A, AG, RS, dimension, network, random_instance, random_schedule, schedules

from themis_opt.judging.execution import ChunkData, execute
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.errors import InputError, InvalidScheduleError
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Schedule, Slot
from themis_opt.problem.violation import ViolationKind as Kind

SIX_NPUS = network(dimension(2), dimension(3))


def run(instance: Instance, *stages: tuple[Phase, int]) -> ChunkData:
    """Run these stages of one chunk, whatever the rules say of them."""
    chunk = ChunkData(instance, 0, np.random.default_rng(1))
    for phase, k in stages:
        chunk.run_stage(phase, k)
    return chunk


class TestStages:
    """NPU n of 2 × 3 has the coordinates (n // 3, n % 3), and so has block n."""

    def test_reduce_scatter_leaves_the_blocks_of_the_own_coordinate(self) -> None:
        instance = Instance(SIX_NPUS, Collective.REDUCE_SCATTER, 6, 1)
        given_values = run(instance).values

        chunk = run(instance, (RS, 1))

        # dim2 joins NPUs 0 1 2 and 3 4 5. NPU 4 is the second of its group: blocks 1 and 4, summed over 3 4 5.
        assert chunk.tags[4].tolist() == [1, 4]
        assert chunk.values[4].tolist() == given_values[3:6, [1, 4]].sum(axis=0).tolist()

    def test_all_gather_gives_everybody_what_the_group_has(self) -> None:
        instance = Instance(SIX_NPUS, Collective.ALL_GATHER, 6, 1)
        given_values = run(instance).values[:, 0]

        chunk = run(instance, (AG, 0))

        # dim1 joins NPUs 0 3, 1 4 and 2 5.
        assert chunk.tags.tolist() == [[0, 3], [1, 4], [2, 5], [0, 3], [1, 4], [2, 5]]
        assert (chunk.values == given_values[chunk.tags]).all()

    def test_all_to_all_moves_elements_towards_their_destination(self) -> None:
        instance = Instance(SIX_NPUS, Collective.ALL_TO_ALL, 6, 1)

        chunk = run(instance, (A2A, 0))

        # Tags are 6 · source + destination. NPU 1 = (0, 1) holds what it and NPU 4 have for NPUs (0, ·) = 0 1 2.
        assert chunk.tags[1].tolist() == [6, 7, 8, 24, 25, 26]

    @pytest.mark.parametrize(
        ("collective", "stages", "held"),
        [
            (Collective.REDUCE_SCATTER, [(RS, 0), (RS, 1)], 1),
            (Collective.REDUCE_SCATTER, [(RS, 1), (RS, 0)], 1),
            (Collective.ALL_GATHER, [(AG, 0), (AG, 1)], 6),
            (Collective.ALL_GATHER, [(AG, 1), (AG, 0)], 6),
            (Collective.ALL_REDUCE, [(RS, 0), (RS, 1), (AG, 0), (AG, 1)], 6),
            (Collective.ALL_REDUCE, [(RS, 0), (RS, 1), (AG, 1), (AG, 0)], 6),
            (Collective.ALL_TO_ALL, [(A2A, 0), (A2A, 1)], 6),
            (Collective.ALL_TO_ALL, [(A2A, 1), (A2A, 0)], 6),
        ],
    )
    def test_complete_ones_pass(self, collective: Collective, stages: list[tuple[Phase, int]], held: int) -> None:
        assert run(Instance(SIX_NPUS, collective, 6, 1), *stages).compare() == 6 * held


class TestWhatIsSeen:
    @pytest.mark.parametrize(
        ("collective", "stages", "message"),
        [
            (Collective.REDUCE_SCATTER, [(RS, 0)], "chunk 0: every NPU ends with 3 elements instead of 1"),
            (Collective.ALL_GATHER, [(AG, 1)], "chunk 0: every NPU ends with 3 elements instead of 6"),
            (
                Collective.ALL_REDUCE,
                [(RS, 0), (RS, 1), (AG, 1)],
                "chunk 0: every NPU ends with 3 elements instead of 6",
            ),
            (Collective.ALL_TO_ALL, [(A2A, 1)], "chunk 0: NPU 0 ends with element 3 where element 6 is due"),
        ],
    )
    def test_a_dimension_not_visited(
        self, collective: Collective, stages: list[tuple[Phase, int]], message: str
    ) -> None:
        chunk = run(Instance(SIX_NPUS, collective, 6, 1), *stages)

        with pytest.raises(InvalidScheduleError) as caught:
            chunk.compare()

        (violation,) = caught.value.violations
        assert (violation.rule, violation.message) == (Kind.EXECUTION, message)

    def test_a_dimension_visited_twice_in_all_gather(self) -> None:
        # On 2 × 2, NPU 0 gets block 2 from NPU 2, and then both again.
        chunk = run(Instance(network(dimension(2), dimension(2)), Collective.ALL_GATHER, 4, 1), (AG, 0), (AG, 0))

        with pytest.raises(InvalidScheduleError, match="NPU 0 ends with element 0 where element 1 is due"):
            chunk.compare()

    def test_a_dimension_visited_twice_in_reduce_scatter(self) -> None:
        # After the first time, NPUs 0 and 3 have the sums of different blocks.
        with pytest.raises(InvalidScheduleError, match="chunk 0 rs on dim1: the NPUs of a group hold different blocks"):
            run(Instance(SIX_NPUS, Collective.REDUCE_SCATTER, 6, 1), (RS, 0), (RS, 0))

    def test_a_dimension_visited_twice_in_all_to_all(self) -> None:
        # After the first time nobody has anything for the other half.
        message = "chunk 0 a2a on dim1: the 6 elements are not meant for its 2 NPUs in equal parts"
        with pytest.raises(InvalidScheduleError, match=message):
            run(Instance(SIX_NPUS, Collective.ALL_TO_ALL, 6, 1), (A2A, 0), (A2A, 0))

    def test_all_gather_before_the_sums_are_complete(self) -> None:
        with pytest.raises(InvalidScheduleError, match="chunk 0 ag on dim1: every NPU sends 3 elements, not 1"):
            run(Instance(SIX_NPUS, Collective.ALL_REDUCE, 6, 1), (RS, 0), (AG, 0))

    def test_a_value_damaged_on_the_way(self) -> None:
        chunk = run(Instance(SIX_NPUS, Collective.ALL_GATHER, 6, 1), (AG, 0), (AG, 1))
        due = int(chunk.values[4, chunk.tags[4] == 2][0])
        chunk.values[4, chunk.tags[4] == 2] = due + 1

        with pytest.raises(InvalidScheduleError) as caught:
            chunk.compare()

        (violation,) = caught.value.violations
        assert violation.message == f"chunk 0: NPU 4 ends with the value {due + 1} where the value {due} is due"
        assert (violation.chunk, violation.expected, violation.found) == (0, due, due + 1)

    def test_blocks_in_the_wrong_place(self) -> None:
        chunk = run(Instance(SIX_NPUS, Collective.REDUCE_SCATTER, 6, 1), (RS, 0), (RS, 1))
        chunk.values, chunk.tags = chunk.values[::-1], chunk.tags[::-1]

        with pytest.raises(InvalidScheduleError, match="NPU 0 ends with element 5 where element 0 is due"):
            chunk.compare()


@settings(max_examples=200, deadline=None)
@given(schedule=schedules(max_dims=4, max_size=5, max_chunks=3))
def test_any_order_is_a_correct_collective(schedule: Schedule) -> None:
    instance = schedule.instance
    per_npu = 1 if instance.collective is Collective.REDUCE_SCATTER else instance.num_npus

    report = execute(instance, schedule)

    assert report.num_npus == instance.num_npus
    assert report.num_elements == schedule.num_chunks * instance.num_npus * per_npu
    assert report.num_stages == schedule.num_chunks * len(instance.phases) * len(instance.involved)


@pytest.mark.parametrize("collective", list(Collective))
def test_two_hundred_random_networks(collective: Collective) -> None:
    # A fixed sample, so that the number of different networks and orders does not depend on what hypothesis prefers.
    seen = set()
    for seed in range(50):
        random = Random(seed)
        instance = random_instance(random, max_dims=4, max_size=5, max_chunks=4, collective=collective)
        schedule = random_schedule(random, instance)
        execute(instance, schedule, seed=seed)
        seen.add((instance.network, schedule.chunks))
    assert len(seen) == 50


def test_a_subset_runs_in_groups_of_their_own() -> None:
    instance = Instance(
        network(dimension(2), dimension(3), dimension(1), dimension(4)),
        Collective.ALL_GATHER,
        8,
        1,
        dimensions=(0, 2, 3),
    )
    schedule = Schedule(instance, (Chunk(8, ag_order=(3, 0)),), ((Slot(0, AG),), (), (), (Slot(0, AG),)))

    report = execute(instance, schedule)

    # 2 × 4 NPUs with 8 blocks each.
    assert str(report) == "1 chunks in 2 stages on 8 NPUs: all 64 elements are right"


def test_a_thousand_npus() -> None:
    instance = Instance(network(dimension(16), dimension(8), dimension(8)), Collective.ALL_REDUCE, 100, 2)
    schedule = random_schedule(Random(3), instance)
    assert execute(instance, schedule).num_elements == 2 * 1024 * 1024


@pytest.mark.slow
@pytest.mark.parametrize("collective", list(Collective))
def test_as_many_npus_as_it_takes(collective: Collective) -> None:
    instance = Instance(network(*[dimension(8)] * 4), collective, 100, 1)
    assert execute(instance, random_schedule(Random(4), instance)).num_npus == 4096


def test_more_npus_are_refused() -> None:
    instance = Instance(network(dimension(4097)), Collective.ALL_GATHER, 8, 1)
    with pytest.raises(InputError, match="at most 4096; network 'test' has 4097"):
        execute(instance, Schedule(instance, (Chunk(8, ag_order=(0,)),), ((Slot(0, AG),),)))


def test_what_it_claims_does_not_matter() -> None:
    instance = Instance(SIX_NPUS, Collective.ALL_REDUCE, 12, 2)
    schedule = random_schedule(Random(5), instance).replace(makespan_ps=-1)
    assert execute(instance, schedule, seed=-1).num_chunks == 2


@pytest.mark.parametrize(
    ("chunks", "sequences", "rule"),
    [
        ((Chunk(6, (0, 0)), Chunk(6, (1, 0))), (((0, RS), (1, RS)),) * 2, Kind.ORDER),
        ((Chunk(6, (0, 1)), Chunk(6, (1, 0))), (((0, RS), (1, RS)), ((0, RS),)), Kind.SEQUENCE),
        ((Chunk(6, (0, 1)), Chunk(6, (1, 0))), (((1, RS), (0, RS)), ((0, RS), (1, RS))), Kind.DEADLOCK),
        ((Chunk(6, (0, 1)), Chunk(7, (1, 0))), (((0, RS), (1, RS)),) * 2, Kind.TOTAL_SIZE),
        (None, ((), ()), Kind.FORM),
    ],
)
def test_what_cannot_be_run_is_refused(
    chunks: tuple[Chunk, ...], sequences: tuple[tuple[Slot, ...], ...], rule: Kind
) -> None:
    instance = Instance(SIX_NPUS, Collective.REDUCE_SCATTER, 12, 2)

    with pytest.raises(InvalidScheduleError) as caught:
        execute(instance, Schedule(instance, chunks, sequences))

    assert caught.value.violations[0].rule is rule
