"""Which chunk sizes and counts may be chosen."""

from __future__ import annotations

import pytest
from random_instances import dimension, network

from themis_opt.judging.validator import validate
from themis_opt.problem.bound import BoundScope, Sizing
from themis_opt.problem.chunking import Chunking, ChunkingChoice, make_chunking
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.solving.starts import starting_schedules


def instance_of(size_bytes: int, num_chunks: int = 2) -> Instance:
    """2 x 3 NPUs: by default a granule is 24 bytes."""
    return Instance(network(dimension(2), dimension(3)), size_bytes=size_bytes, num_chunks=num_chunks)


def test_by_default_there_is_nothing_to_choose() -> None:
    chunking = make_chunking(instance_of(100))
    assert chunking == Chunking(Sizing.EQUAL, 2, 2, 24, 24)
    assert chunking.is_plain
    assert chunking.scope(2) == BoundScope(Sizing.EQUAL, 2, 2)


def test_a_choice_made_before_the_instance_is_known() -> None:
    choice = ChunkingChoice(Sizing.FREE, 4, 10, 25)
    assert choice.on(instance_of(1000)) == Chunking(Sizing.FREE, 1, 4, 10, 25)


def test_free_sizes_are_whole_granules_and_one_remainder() -> None:
    # 100 = 4 · 24 + 4.
    chunking = make_chunking(instance_of(100), Sizing.FREE)
    assert not chunking.is_plain
    allows = [(52, 48), (48, 52), (28, 72), (24, 76)]
    refuses = [(50, 50), (4, 96), (100,), (52, 24, 24), (48, 48), (40, 60), (76, 24, 0)]
    assert all(chunking.allows(instance_of(100), sizes) for sizes in allows)
    assert not any(chunking.allows(instance_of(100), sizes) for sizes in refuses)


def test_without_a_remainder_every_chunk_is_whole_granules() -> None:
    chunking = make_chunking(instance_of(96), Sizing.FREE)
    assert chunking.allows(instance_of(96), (48, 48))
    assert not chunking.allows(instance_of(96), (47, 49))


def test_equal_sizes_in_any_arrangement() -> None:
    chunking = make_chunking(instance_of(101), max_chunks=3)
    assert all(chunking.allows(instance_of(101), sizes) for sizes in [(101,), (50, 51), (51, 50), (34, 33, 34)])
    assert not any(chunking.allows(instance_of(101), sizes) for sizes in [(52, 49), (26, 25, 25, 25), ()])


def test_the_least_size_is_rounded_up_to_granules() -> None:
    # At least 30 bytes, in granules of 24, is two granules: the remainder does not count.
    chunking = make_chunking(instance_of(100), Sizing.FREE, min_chunk_bytes=30)
    assert chunking.min_granules == 2
    assert chunking.allows(instance_of(100), (52, 48))
    assert not chunking.allows(instance_of(100), (28, 72))
    with pytest.raises(InputError, match=r"at most 1 chunks of at least 72 bytes .* 2 are asked for"):
        make_chunking(instance_of(100), Sizing.FREE, min_chunk_bytes=49)


def test_no_more_chunks_than_fit_where_the_number_is_free() -> None:
    assert make_chunking(instance_of(100), Sizing.FREE, 16).max_chunks == 4
    assert make_chunking(instance_of(100), Sizing.EQUAL, 16).max_chunks == 16
    assert make_chunking(instance_of(100), Sizing.EQUAL, 160).max_chunks == 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"granule_bytes": 0}, "granularity is 0 bytes"),
        ({"granule_bytes": -4}, "granularity is -4 bytes"),
        ({"granule_bytes": 60}, "at most 1 chunks of at least 60 bytes"),
        ({"granule_bytes": 101}, "at most 0 chunks"),
        ({"granule_bytes": 101, "max_chunks": 4}, "at most 0 chunks"),
        ({"max_chunks": 0}, "chunks is 0"),
        ({"max_chunks": -1}, "chunks is -1"),
        ({"min_chunk_bytes": -1}, "least chunk is -1 bytes"),
    ],
)
def test_choices_that_make_no_sense(arguments: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_chunking(instance_of(100), Sizing.FREE, **arguments)


@pytest.mark.parametrize("sizing", list(Sizing))
@pytest.mark.parametrize("max_chunks", [None, 1, 3, 7])
def test_heuristics_start_with_chunks_as_asked_for(sizing: Sizing, max_chunks: int | None) -> None:
    instance = instance_of(1001, 5)
    chunking = make_chunking(instance, sizing, max_chunks, min_chunk_bytes=30)
    counts = set()
    for _, schedule in starting_schedules(instance, chunking, 0):
        assert validate(instance, schedule) == ()
        assert chunking.allows(instance, [chunk.size_bytes for chunk in schedule.chunks])
        counts.add(schedule.num_chunks)
    assert counts == {None: {5}, 1: {1}, 3: {1, 2, 3}, 7: {1, 2, 4, 7}}[max_chunks]
