"""The executors' limits: an exported algorithm keeps every one of them, or the error names it, the number and a way."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msccl_examples import grid_network, grid_schedule, with_sizes
from random_instances import random_schedule

from themis_opt.export.msccl.write.layout import pieces_per_block
from themis_opt.export.msccl.write.lowering import lower
from themis_opt.export.msccl.write.program import Algo, Gpu, Place, Step, Threadblock
from themis_opt.export.msccl.write.writer_limits import check_limits, check_size
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule

NAMED = (
    r"at most 256 steps per threadblock, and rank \d+ .* needs (?P<steps>\d+)",
    r"at most 128 threadblocks per rank that wait for each other, and rank \d+ needs (?P<threadblocks>\d+)",
    r"at most 4096 elements per rank, and rank \d+ needs (?P<elements>\d+)",
    r"offsets up to 32767, and (?P<chunks>\d+) chunks of (?P<ranks>\d+) ranks",
)
"""What an error may name; the number is beyond the limit each time."""
BEYOND = {"steps": 256, "threadblocks": 128, "elements": 4096}


def assert_within_limits(algo: Algo) -> None:
    """Compare with the figures of the executors' sources, written down once more here."""
    assert len(algo.gpus) <= 1024
    assert algo.num_channels <= 32
    for gpu in algo.gpus:
        assert len(gpu.threadblocks) <= 128
        assert 1 + len(algo.gpus) + len(gpu.threadblocks) + sum(len(tb.steps) for tb in gpu.threadblocks) <= 4096
        assert max(Counter(tb.channel for tb in gpu.threadblocks).values()) <= 32
        sends = [(tb.send_peer, tb.channel) for tb in gpu.threadblocks if tb.send_peer >= 0]
        receives = [(tb.receive_peer, tb.channel) for tb in gpu.threadblocks if tb.receive_peer >= 0]
        assert len(set(sends)) == len(sends)
        assert len(set(receives)) == len(receives)
        sizes = {"i": gpu.num_input, "o": gpu.num_output, "s": gpu.num_scratch}
        for threadblock in gpu.threadblocks:
            assert 0 <= threadblock.channel < algo.num_channels
            assert len(threadblock.steps) <= 256
            for step in threadblock.steps:
                if step.kind == "nop":
                    assert step.waits_for is not None
                    continue
                assert 0 < step.num_pieces < 72
                used = [step.source] if step.kind == "s" else [step.target]
                used += [step.source] if step.kind in ("rrc", "cpy") else []
                for place in used:
                    assert 0 <= place.offset <= min(32768, sizes[place.buffer]) - step.num_pieces


@settings(max_examples=40)
@given(st.data())
def test_every_limit_is_kept_or_named(data: st.DataObject) -> None:
    """Few or many NPUs and chunks, all algorithms, orders at random: hypothesis leans on each limit in turn."""
    # (largest size, most chunks): many chunks; many peers; fragments of Reduce-Scatter and All-Gather.
    max_size, max_chunks = data.draw(st.sampled_from([(8, 40), (68, 1), (16, 6)]))
    algorithm = data.draw(st.sampled_from(["ring", "direct", "bruck"]))
    grid = [(data.draw(st.integers(max_size // 2, max_size)), algorithm)]
    if max_size <= 16 and data.draw(st.booleans()):
        grid.append((data.draw(st.integers(2, 4)), data.draw(st.sampled_from(["ring", "direct"]))))
    collective = data.draw(st.sampled_from([name for name in Collective if name is not Collective.ALL_TO_ALL]))
    num_chunks = data.draw(st.integers(1, max_chunks))
    instance = Instance(grid_network(grid), collective, 10**6, num_chunks)
    schedule = random_schedule(Random(data.draw(st.integers(0, 9))), instance)
    schedule = with_sizes(schedule, instance.equal_chunk_sizes())
    outcome = outcome_of(schedule, data.draw(st.booleans()))
    if isinstance(outcome, Algo):
        assert_within_limits(outcome)
        return
    match = next((match for pattern in NAMED if (match := re.search(pattern, outcome))), None)
    assert match is not None, outcome
    for name, number in match.groupdict().items():
        assert int(number) > BEYOND.get(name, 0)
    assert re.search("use at most|set algorithm", outcome)


def outcome_of(schedule: Schedule, in_place: bool) -> Algo | str:
    """Return the algorithm, or the words of its refusal."""
    try:
        return lower(schedule, in_place=in_place)
    except InputError as error:
        return str(error)


def test_too_many_chunks_on_a_ring() -> None:
    """Nine NPUs, 8 steps twice for each chunk: 16 chunks are 256 steps, 17 are 272; direct spreads them over peers."""
    assert_within_limits(lower(grid_schedule([(9, "ring")], num_chunks=16)))
    with pytest.raises(InputError) as caught:
        lower(grid_schedule([(9, "ring")], num_chunks=17))
    assert str(caught.value) == (
        "MSCCL's executors take at most 256 steps per threadblock, and rank 0 receiving from 8 needs 272; "
        "use at most about 16 chunks instead of 17, or algorithm direct on the dimension with the most steps"
    )
    assert_within_limits(lower(grid_schedule([(9, "direct")], num_chunks=17)))


def test_too_many_peers() -> None:
    """Two threadblocks for each of 65 peers are 130, two more than can wait for each other."""
    assert_within_limits(lower(grid_schedule([(64, "direct")], "all-gather")))
    with pytest.raises(InputError, match=r"128 threadblocks .* needs 130; set algorithm ring, bruck or halving-doubl"):
        lower(grid_schedule([(66, "direct")], "all-gather"))


def test_peers_beyond_one_channel_take_another() -> None:
    """15 peers of a dimension share a channel (30 threadblocks, and room for one that copies); 17 need two."""
    assert lower(grid_schedule([(16, "direct")], "all-gather"), in_place=False).num_channels == 1
    assert lower(grid_schedule([(18, "direct")], "all-gather"), in_place=False).num_channels == 2
    assert lower(grid_schedule([(4, "direct"), (2, "ring")])).num_channels == 2


def fabricated(num_threadblocks: int, num_steps: int, num_channels: int = 1, num_ranks: int = 2) -> Algo:
    step = Step("s", Place("i", 0), Place("i", 0), 1)
    threadblock = Threadblock(1, -1, 0, (step,) * num_steps)
    gpus = (Gpu(1, 0, 0, (threadblock,) * num_threadblocks),) * num_ranks
    return Algo("a", "allreduce", True, num_channels, 1, 0, 0, gpus)


@pytest.mark.parametrize(
    ("algo", "message"),
    [
        (fabricated(1, 1, num_channels=33), "at most 32 channels, and the schedule needs 33"),
        (fabricated(129, 1), "at most 128 threadblocks per rank .* rank 0 needs 129"),
        (fabricated(1, 257), "at most 256 steps per threadblock, and rank 0 sending to 1 needs 257; use at most"),
        (fabricated(16, 255), "at most 4096 elements per rank, and rank 0 needs 4099"),
        (fabricated(15, 256, num_ranks=105), "has at most 400000 steps, and the schedule has more"),
    ],
)  # fmt: skip
def test_each_limit_has_its_words(algo: Algo, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_limits(algo, num_chunks=8)


def test_at_the_limits_nothing_is_said() -> None:
    check_limits(fabricated(1, 256, num_channels=32), 8)
    check_limits(fabricated(128, 1), 8)
    algo = fabricated(15, 256)
    last = replace(algo.gpus[0].threadblocks[0], steps=algo.gpus[0].threadblocks[0].steps[:237])
    # 1 + 2 ranks + 16 threadblocks + 15 · 256 + 237 steps = 4096
    gpu = replace(algo.gpus[0], threadblocks=(*algo.gpus[0].threadblocks, last))
    check_limits(replace(algo, gpus=(gpu, gpu)), 8)


def test_too_many_ranks_and_blocks_are_refused_at_once() -> None:
    check_size(1024, 1, 1)
    with pytest.raises(InputError, match="at most 1024 ranks, and the schedule has 1025 NPUs"):
        check_size(1025, 1, 1)
    with pytest.raises(InputError, match="limit of this export is 2000000; use at most 15 chunks instead of 16, or"):
        check_size(256, 16, 2)
    with pytest.raises(InputError, match="use some of the dimensions"):
        check_size(1024, 4, 2)


def test_more_pieces_than_offsets_are_refused() -> None:
    """1024 chunks of 32 ranks are 32,768 pieces, as many as 16 bits with a sign can count from 0."""
    assert pieces_per_block([1000] * 1024, 32, num_phases=1) == (1,) * 1024
    with pytest.raises(InputError, match=r"up to 32767, and 1025 chunks of 32 ranks .* use at most 1024 chunks"):
        pieces_per_block([1000] * 1025, 32, num_phases=1)


def test_pieces_are_as_many_as_can_be_followed() -> None:
    """The offsets of 64 ranks could hold 512 pieces of a rank; an export follows 2,000,000 / (64 · 63 · 2) = 248."""
    assert pieces_per_block([10**9, 247 * 10**9], 64) == (1, 247)
    with pytest.raises(InputError, match="sizes that no 15872 pieces of one size make up"):
        pieces_per_block([10**9, 248 * 10**9], 64)
    assert pieces_per_block([10**9, 248 * 10**9], 64, num_phases=1) == (1, 248)
