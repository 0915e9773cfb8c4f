"""From fractional chunk sizes to whole granules."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_instances import dimension, network
from themis_models.search.costing import Candidate
from themis_models.search.rounding import FixedSequences, round_sizes
from themis_models.search.space import random_candidate, schedule_of, search_space, served_sequences

from themis_opt.problem.bound import Sizing
from themis_opt.problem.chunking import Chunking, make_chunking
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.timing.sequencing import simulate


def fixed(instance: Instance, sizes: list[float], seed: int = 0) -> tuple[FixedSequences, Candidate]:
    """Random orders in the sequences that these sizes are served in."""
    space = search_space(instance)
    candidate = random_candidate(space, sizes, np.random.default_rng(seed))
    return FixedSequences(space, candidate, served_sequences(space, candidate)), candidate


def test_by_hand() -> None:
    # Reduce-Scatter on one dimension of 2 NPUs at 1 byte/ps: 103 bytes in any pieces take 51.5 ps, each chunk rounded.
    # 10.3 granules of 10: 3.5 and 6.5 become 3 or 4 and 7 or 6, and 3 bytes are left over for either chunk.
    instance = Instance(network(dimension(2)), Collective.REDUCE_SCATTER, 103, 2)
    timing, _ = fixed(instance, [36.05, 66.95])
    sizes = round_sizes(timing, np.array([36.05, 66.95]), Chunking(Sizing.FREE, 2, 2, 10, 10))
    assert sorted(sizes) in ([33, 70], [30, 73], [43, 60], [40, 63])
    assert timing.makespan(np.array(sizes, dtype=float)) in (51, 52)


def test_the_least_size_is_kept_even_where_fractions_are_below_it() -> None:
    # Ten granules, each chunk at least three: 0.1, 0.1 and 9.8 can only become 3, 3 and 4.
    instance = Instance(network(dimension(2), dimension(2)), size_bytes=100, num_chunks=3)
    timing, _ = fixed(instance, [1.0, 1.0, 98.0])
    sizes = round_sizes(timing, np.array([1.0, 1.0, 98.0]), Chunking(Sizing.FREE, 3, 3, 10, 30))
    assert sorted(sizes) == [30, 30, 40]


def test_too_few_granules() -> None:
    instance = Instance(network(dimension(2), dimension(2)), size_bytes=100, num_chunks=3)
    timing, _ = fixed(instance, [30.0, 30.0, 40.0])
    with pytest.raises(ValueError, match="too few granules"):
        round_sizes(timing, np.array([30.0, 30.0, 40.0]), Chunking(Sizing.FREE, 3, 3, 10, 40))


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 500), st.integers(1, 3), st.integers(0, 500))
def test_sizes_are_as_asked_for(seed: int, num_chunks: int, granule: int, least: int, more: int) -> None:
    drawn = random.Random(seed)
    size_bytes = granule * least * num_chunks + more
    instance = Instance(
        network(dimension(2, 1, 5), dimension(3, 2)),
        list(Collective)[seed % 4],
        size_bytes,
        num_chunks,
        list(Occupancy)[seed // 4 % 2],
    )
    chunking = make_chunking(instance, Sizing.FREE, None, granule, granule * least)
    parts = np.array([drawn.random() ** 4 + 1e-9 for _ in range(num_chunks)])
    fractional = parts * (size_bytes / parts.sum())
    timing, _ = fixed(instance, list(fractional), seed)
    sizes = round_sizes(timing, fractional, chunking)
    assert sum(sizes) == size_bytes
    assert chunking.allows(instance, sizes)


@pytest.mark.parametrize("seed", range(16))
def test_rounding_loses_no_more_than_its_granules_take(seed: int) -> None:
    # Every chunk moves by less than two granules (and the remainder), and no stage takes longer than 1 byte/ps of what
    # a whole chunk sends in it: with C chunks no path grows by more than that, chunk for chunk and stage for stage.
    instance = Instance(
        network(dimension(2), dimension(4, 2, 7)),
        list(Collective)[seed % 4],
        1_000_003,
        5,
        list(Occupancy)[seed // 4 % 2],
    )
    chunking = make_chunking(instance, Sizing.FREE, granule_bytes=100)
    fractional = np.random.default_rng(seed).dirichlet(np.full(5, 4.0)) * instance.size_bytes
    timing, candidate = fixed(instance, list(fractional), seed)
    sizes = round_sizes(timing, fractional, chunking)
    lost = timing.makespan(np.array(sizes, dtype=float)) - timing.makespan(fractional)
    assert lost <= 5 * candidate.path.shape[1] * 203


@pytest.mark.parametrize("seed", range(16))
def test_fixed_sequences_are_timed_as_the_simulator_times_them(seed: int) -> None:
    instance = Instance(
        network(dimension(2), dimension(3, 2, 7), dimension(2, 1, 3)),
        list(Collective)[seed % 4],
        10_007,
        4,
        list(Occupancy)[seed // 4 % 2],
    )
    timing, candidate = fixed(instance, [100.0, 2000.0, 3900.0, 4007.0], seed)
    other = [4000, 3000, 1000, 2007]
    schedule = schedule_of(timing.space, candidate, other, timing.served)
    # Halves of picoseconds may be rounded the other way in floating point.
    exact = simulate(instance, schedule).makespan_ps
    assert timing.makespan(np.array(other, dtype=float)) == pytest.approx(exact, abs=candidate.path.size)


def test_one_more_move_of_a_granule_would_not_help() -> None:
    instance = Instance(network(dimension(2), dimension(4, 2)), size_bytes=1000, num_chunks=3)
    timing, _ = fixed(instance, [300.0, 300.0, 400.0])
    sizes = np.array(round_sizes(timing, np.array([300.0, 300.0, 400.0]), Chunking(Sizing.FREE, 3, 3, 50, 50)), float)
    best = timing.makespan(sizes)
    assert best < timing.makespan(np.array([300.0, 300.0, 400.0]))  # it did move something
    for giver in range(3):
        for taker in range(3):
            moved = sizes.copy()
            moved[giver] -= 50
            moved[taker] += 50
            assert moved.min() < 50 or timing.makespan(moved) >= best
