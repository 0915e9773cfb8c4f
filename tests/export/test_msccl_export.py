"""Schedules as MSCCL algorithms: run on symbols they are right, and they keep what the schedule says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from random import Random

import pytest
from handing_over import ends_without_storage
from hypothesis import given, settings
from hypothesis import strategies as st
from msccl_examples import Grid, grid_network, grid_schedule, with_sizes
from random_instances import random_schedule

from themis_opt.export.msccl.judge.xml_judge import interpret_text
from themis_opt.export.msccl.write.layout import pieces_per_block
from themis_opt.export.msccl.write.lowering import lower
from themis_opt.export.msccl.write.program import Algo, Place, Step, StepId, Threadblock
from themis_opt.export.msccl.write.xml_writing import xml_text
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError, InvalidScheduleError
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule

GRIDS: list[Grid] = [
    [(8, "ring")],
    [(9, "direct")],
    [(16, "halving-doubling")],
    [(11, "bruck")],
    [(4, "halving-doubling"), (4, "ring")],
    [(3, "bruck"), (1, "ring"), (5, "direct")],
    [(2, "ring"), (3, "bruck"), (4, "direct")],
    [(4, "direct"), (4, "halving-doubling"), (4, "ring")],
]
COLLECTIVES = ["all-reduce", "reduce-scatter", "all-gather"]


def assert_right(algo: Algo) -> None:
    verdict = interpret_text(xml_text(algo), "written")
    assert verdict.findings == ()
    assert "overwrites its input" not in verdict.summary


def name_of(grid: Grid) -> str:
    return "x".join(f"{size}{algorithm[0]}" for size, algorithm in grid)


@pytest.mark.parametrize("in_place", [True, False], ids=["in-place", "out-of-place"])
@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("grid", GRIDS, ids=name_of)
def test_every_rank_ends_with_every_contribution_once(grid: Grid, collective: str, in_place: bool) -> None:
    algo = lower(grid_schedule(grid, collective, num_chunks=2), in_place=in_place)
    assert_right(algo)
    assert ends_without_storage(algo)


@settings(max_examples=40)
@given(st.randoms(use_true_random=False), st.sampled_from(COLLECTIVES), st.booleans())
def test_any_orders_and_sequences_are_right(random: Random, collective: str, in_place: bool) -> None:
    """Orders of both phases and sequences at random, dimensions of one NPU, subsets of dimensions."""
    schedule = random_schedule(random, small_instance(random, collective))
    algo = lower(equal_sizes(schedule), in_place=in_place)
    assert len(algo.gpus) == schedule.instance.num_npus
    assert_right(algo)


def small_instance(random: Random, collective: str) -> Instance:
    grid = [(random.randint(1, 4), random.choice(["ring", "direct", "bruck"])) for _ in range(random.randint(1, 3))]
    grid[0] = (random.randint(2, 5), grid[0][1])
    subset = (0, *random.sample(range(1, len(grid)), random.randrange(len(grid))))
    return Instance(grid_network(grid), Collective(collective), 10**4, random.randint(1, 4), dimensions=subset)


def equal_sizes(schedule: Schedule) -> Schedule:
    return with_sizes(schedule, schedule.instance.equal_chunk_sizes())


def test_direct_all_reduce_of_two_by_hand() -> None:
    """Each sends the other's half, adds what comes to its own, sends the sum, and waits with it for the addition."""
    algo = lower(grid_schedule([(2, "direct")]))
    assert (algo.collective, algo.num_pieces, algo.num_channels, algo.is_in_place) == ("allreduce", 2, 1, True)
    assert algo.gpus[0].threadblocks == (
        Threadblock(
            -1,
            1,
            0,
            (
                Step("rrc", Place("i", 0), Place("i", 0), 1, None, True),
                # The half that was sent away is overwritten: only after it is gone.
                Step("r", Place("i", 1), Place("i", 1), 1, StepId(1, 0), False),
            ),
        ),
        Threadblock(
            1,
            -1,
            0,
            (
                Step("s", Place("i", 1), Place("i", 1), 1, None, True),
                Step("s", Place("i", 0), Place("i", 0), 1, StepId(0, 0), False),
            ),
        ),
    )


def test_reduce_scatter_out_of_place_of_two_by_hand() -> None:
    """The sum of the own half goes to the output, and the input stays as it is."""
    gpu = lower(grid_schedule([(2, "ring")], "reduce-scatter"), in_place=False).gpus[1]
    assert (gpu.num_input, gpu.num_output, gpu.num_scratch) == (2, 1, 0)
    steps = [step for threadblock in gpu.threadblocks for step in threadblock.steps]
    assert steps == [
        Step("rrc", Place("i", 1), Place("o", 0), 1),
        Step("s", Place("i", 0), Place("o", 0), 1),
    ]


def test_all_gather_out_of_place_copies_the_own_shard() -> None:
    gpu = lower(grid_schedule([(3, "ring")], "all-gather", 2), in_place=False).gpus[2]
    assert (gpu.num_input, gpu.num_output, gpu.num_scratch) == (2, 6, 0)
    assert gpu.threadblocks[0] == Threadblock(-1, -1, 0, (Step("cpy", Place("i", 0), Place("o", 4), 2),))


def test_neighbouring_pieces_travel_together() -> None:
    """Halving and doubling of one chunk among eight: 4, 2, 1 pieces and 1, 2, 4 back, whatever the order of blocks."""
    for gpu in lower(grid_schedule([(8, "halving-doubling")])).gpus:
        counts = sorted(
            step.num_pieces for threadblock in gpu.threadblocks for step in threadblock.steps if step.kind == "s"
        )
        assert counts == [1, 1, 2, 2, 4, 4]


def test_all_reduce_messages_are_contiguous_in_every_order() -> None:
    """Where the data lies is free in All-Reduce: one step carries a message, whatever the order."""
    schedule = grid_schedule([(4, "direct"), (4, "direct")], "all-reduce", 6, "round-robin")
    assert len({chunk.rs_order for chunk in schedule.chunks}) == 2
    for threadblock in lower(schedule).gpus[5].threadblocks:
        if threadblock.send_peer >= 0:
            assert sum(step.kind == "s" for step in threadblock.steps) == 2 * schedule.num_chunks


def test_long_runs_are_cut_below_72_pieces() -> None:
    """Chunks of 1 to 100 have blocks of 1 and 100 pieces: 71 and 29 steps."""
    algo = lower(with_sizes(grid_schedule([(2, "direct")], num_chunks=2), [400_000, 40_000_000]))
    counts = [step.num_pieces for step in algo.gpus[0].threadblocks[1].steps]
    assert sorted(counts) == [1, 1, 29, 29, 71, 71]
    assert_right(algo)


def sent_chunks(algo: Algo, schedule: Schedule, rank: int) -> Iterator[tuple[int, list[int]]]:
    """Yield the peer of each sending threadblock and the chunks it sends, in order, each stage once."""
    per_chunk = algo.num_pieces // schedule.num_chunks
    for threadblock in algo.gpus[rank].threadblocks:
        if threadblock.send_peer >= 0:
            yield (
                threadblock.send_peer,
                [step.source.offset // per_chunk for step in threadblock.steps if step.kind == "s"],
            )


@pytest.mark.parametrize("scheduler", ["themis-scf", "round-robin", "random"])
def test_each_dimension_serves_stages_in_its_sequence(scheduler: str) -> None:
    """One message per stage to each peer (direct), in one step or several: its chunks come in the sequence's order."""
    schedule = grid_schedule([(3, "direct"), (4, "direct")], "all-reduce", 5, scheduler)
    algo = lower(schedule)
    for peer, chunks in sent_chunks(algo, schedule, 7):
        # Rank 7 is (1, 2): peers 6 and 8 share its second coordinate.
        dimension = 0 if peer in (6, 8) else 1
        expected = [slot.chunk for slot in schedule.sequences[dimension]]
        assert [chunk for chunk, _ in groupby(chunks)] == [chunk for chunk, _ in groupby(expected)]


def test_only_the_involved_dimensions_are_ranks() -> None:
    instance = Instance(
        grid_network([(3, "ring"), (4, "direct"), (2, "ring")]), size_bytes=10**6, num_chunks=1, dimensions=(0, 2)
    )
    schedule = random_schedule(Random(1), instance)
    algo = lower(equal_sizes(schedule))
    assert len(algo.gpus) == 6
    assert {tb.send_peer for tb in algo.gpus[0].threadblocks} == {-1, 1, 3}  # dim1's next, dim3's other


def test_all_to_all_is_refused() -> None:
    with pytest.raises(InputError, match="all-to-all cannot be exported to MSCCL XML; all-reduce, "):
        lower(grid_schedule([(4, "direct")], "all-to-all"))


def test_a_schedule_that_cannot_run_is_refused() -> None:
    schedule = grid_schedule([(4, "direct"), (2, "ring")], num_chunks=2)
    with pytest.raises(InvalidScheduleError):
        lower(schedule.replace(sequences=(schedule.sequences[0][:-1], schedule.sequences[1])))


@pytest.mark.parametrize(
    ("sizes", "pieces"),
    [
        ([250, 250], (1, 1)),
        ([334, 333, 333], (1, 1, 1)),  # equal to the byte
        ([75_000, 25_000], (3, 1)),
        ([60_001, 40_000], (3, 2)),  # an odd byte that nobody can send
    ],
)
def test_sizes_become_numbers_of_pieces(sizes: list[int], pieces: tuple[int, ...]) -> None:
    assert pieces_per_block(sizes, 4) == pieces


def test_free_sizes_of_a_simple_ratio_are_right() -> None:
    for collective in COLLECTIVES:
        schedule = with_sizes(grid_schedule([(3, "ring"), (2, "direct")], collective, 3), [60_000, 30_000, 10_000])
        for in_place in (True, False):
            algo = lower(schedule, in_place=in_place)
            assert algo.num_pieces == 6 * 10
            assert_right(algo)


def test_other_sizes_are_refused_with_what_to_do() -> None:
    sizes = [31_415_926_535, 27_182_818_284, 16_180_339_887]
    with pytest.raises(InputError, match=re.escape("solve with --sizes equal, or with a coarse --granularity")):
        lower(with_sizes(grid_schedule([(8, "ring")], num_chunks=3), sizes))


def test_the_size_range_holds_the_scheduled_size_and_the_tested_one() -> None:
    algo = lower(grid_schedule([(8, "ring")], num_chunks=4))
    assert (algo.min_bytes, algo.max_bytes) == (500_000, 2 * 1_000_448)  # 4 · 8 pieces of 16 bytes divide 1,000,448


def test_comments_cannot_end_early() -> None:
    text = xml_text(lower(grid_schedule([(2, "ring")])), ("see --to -->", "two\nlines"))
    assert text.startswith("<!-- see - -to - -> -->\n<!-- two?lines -->\n<algo ")
    assert interpret_text(text, "written").is_right
