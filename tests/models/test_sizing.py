"""The best chunk sizes for given orders and sequences: by hand, by trying a grid, and beside the simulator."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from random_instances import dimension, network
from themis_models.search.costing import Candidate
from themis_models.search.rounding import FixedSequences
from themis_models.search.space import SearchSpace, random_candidate, search_space, served_sequences
from themis_models.sizing import best_sizes

from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance, Occupancy

Served = list[list[tuple[int, int]]]

CROSSING: Served = [[(0, 0), (1, 1)], [(1, 0), (0, 1)]]
"""Two chunks and dimensions: chunk 0 goes to dim1 first, chunk 1 to dim2, then they change places."""


def crossing(occupancy: Occupancy = Occupancy.EXCLUSIVE, latency_ps: int = 0) -> tuple[SearchSpace, Candidate]:
    """Reduce-Scatter of 12 bytes on 2 x 2 NPUs, dim1 at 1 byte/ps and dim2 at half of that."""
    dimensions = network(dimension(2, 1, latency_ps), dimension(2, Fraction(1, 2), latency_ps))
    instance = Instance(dimensions, Collective.REDUCE_SCATTER, 12, 2, occupancy)
    return search_space(instance), Candidate(np.array([[0, 1], [1, 0]]), np.array([6.0, 6.0]), np.ones((2, 2)))


def solved(
    space: SearchSpace, candidate: Candidate, served: Served, min_bytes: float = 0.0
) -> tuple[float, list[float]]:
    found = best_sizes(space, candidate, served, min_bytes)
    assert found is not None
    return found[0], list(found[1])


def test_two_chunks_that_change_places() -> None:
    # Chunk 0 of x bytes holds dim1 for x/2, then dim2 for x/4 · 2 = x/2; chunk 1 of y holds dim2 for y, then dim1 for
    # y/4. Both are over at max(x/2, y) + max(x/2, y/4); with x + y = 12 that is least for x/2 = y: x = 8, y = 4, T = 8.
    # Equal chunks of 6 bytes take max(3, 6) + 3 = 9.
    space, candidate = crossing()
    makespan, sizes = solved(space, candidate, CROSSING)
    assert makespan == pytest.approx(8)
    assert sizes == pytest.approx([8, 4])


def test_a_least_size_costs_time() -> None:
    # As before with y at least 5: x = 7, T = 5 + 7/2.
    space, candidate = crossing()
    makespan, sizes = solved(space, candidate, CROSSING, 5.0)
    assert makespan == pytest.approx(8.5)
    assert sizes == pytest.approx([7, 5])


def test_exclusive_latency_is_paid_on_the_dimension() -> None:
    # Every stage holds its dimension 1 ps longer: the same sizes, T = 8 + 2.
    space, candidate = crossing(latency_ps=1)
    makespan, sizes = solved(space, candidate, CROSSING)
    assert makespan == pytest.approx(10)
    assert sizes == pytest.approx([8, 4])


def test_pipelined_latency_is_not() -> None:
    # Dim2 is free at y, the chunk is there at x/2 + 1; both at once: y = (12 - y)/2 + 1, so y = 14/3, x = 22/3, and
    # T = y + x/2 + 1 = 28/3.
    space, candidate = crossing(Occupancy.PIPELINED, 1)
    makespan, sizes = solved(space, candidate, CROSSING)
    assert makespan == pytest.approx(28 / 3)
    assert sizes == pytest.approx([22 / 3, 14 / 3])


def test_the_reduction_takes_time_too() -> None:
    # One dimension of 2 NPUs at 1 byte/ps that reduces 2 bytes/ps: 12/2 bytes take 6 + 3 ps, and twice 1 ps latency.
    dimensions = network(dimension(2, 1, 1, reduction_bandwidth_Bps=2 * 10**12))
    space = search_space(Instance(dimensions, Collective.REDUCE_SCATTER, 12, 2))
    candidate = Candidate(np.array([[0], [0]]), np.array([6.0, 6.0]), np.ones((2, 1)))
    makespan, sizes = solved(space, candidate, [[(0, 0), (1, 0)]])
    assert makespan == pytest.approx(11)
    assert sum(sizes) == pytest.approx(12)


def test_a_second_chunk_fills_the_wait_of_the_first() -> None:
    # All-Reduce of 8 bytes among 2 NPUs at 1 byte/ps, pipelined, latency 5: a whole chunk takes 4 + 5 and 4 + 5.
    space = search_space(Instance(network(dimension(2, 1, 5)), Collective.ALL_REDUCE, 8, 1, Occupancy.PIPELINED))
    one = Candidate(np.array([[0, 0]]), np.array([8.0]), np.ones((1, 2)))
    assert solved(space, one, [[(0, 0), (0, 1)]])[0] == pytest.approx(18)
    # Two of x and 8 - x: chunk 0 is there again at x/2 + 5 and holds the dimension until x + 5; chunk 1, reduced in
    # [x/2, 4], is there at 9. Its AG ends at max(9, x + 5) + (8 - x)/2 + 5, which is least for x = 4: 9 + 2 + 5.
    two = Candidate(np.array([[0, 0], [0, 0]]), np.array([4.0, 4.0]), np.ones((2, 2)))
    makespan, sizes = solved(space, two, [[(0, 0), (1, 0), (0, 1), (1, 1)]])
    assert makespan == pytest.approx(16)
    assert sizes == pytest.approx([4, 4])


def test_no_sizes_at_all() -> None:
    space, candidate = crossing()
    assert best_sizes(space, candidate, CROSSING, 6.5) is None  # two of them are more than 12
    deadlocked: Served = [[(1, 1), (0, 0)], [(0, 1), (1, 0)]]
    assert best_sizes(space, candidate, deadlocked, 1.0) is None


def drawn(seed: int, num_chunks: int, size_bytes: int) -> tuple[SearchSpace, Candidate, Served]:
    """Two or three dimensions, all collectives, both occupancies, some that reduce slowly, random orders."""
    random = np.random.default_rng(seed)
    dimensions = [
        dimension(
            int(random.integers(2, 6)),
            Fraction(int(random.integers(1, 20)), 4),
            int(random.choice([0, size_bytes // 50])),
            reduction_bandwidth_Bps=None if random.random() < 0.5 else Fraction(3 * 10**12),
        )
        for _ in range(random.integers(2, 4))
    ]
    occupancy = list(Occupancy)[seed // 4 % 2]
    instance = Instance(network(*dimensions), list(Collective)[seed % 4], size_bytes, num_chunks, occupancy)
    space = search_space(instance)
    candidate = random_candidate(space, instance.equal_chunk_sizes(), random)
    candidate.priority[:] = np.exp(random.normal(size=candidate.priority.shape))
    return space, candidate, served_sequences(space, candidate)


@pytest.mark.parametrize("seed", range(32))
def test_the_program_says_what_the_simulator_says_and_is_no_worse_than_equal_sizes(seed: int) -> None:
    space, candidate, served = drawn(seed, 5, 10**9)
    timing = FixedSequences(space, candidate, served)
    makespan, sizes = solved(space, candidate, served, 1000.0)
    assert sum(sizes) == pytest.approx(10**9)
    assert min(sizes) >= 1000 * (1 - 1e-3)
    assert timing.makespan(np.array(sizes)) == pytest.approx(makespan, rel=1e-6)
    assert makespan <= timing.makespan(candidate.chunk_bytes) * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(24))
def test_no_sizes_of_a_grid_are_better(seed: int) -> None:
    space, candidate, served = drawn(seed, 3, 10**7)
    timing = FixedSequences(space, candidate, served)
    makespan, _ = solved(space, candidate, served)
    parts = [(a, b, 24 - a - b) for a, b in product(range(25), repeat=2) if a + b <= 24]
    grid = [timing.makespan(np.array(part) * 10**7 / 24) for part in parts]
    assert makespan <= min(grid) * (1 + 1e-6)
    assert makespan >= 0.8 * min(grid)  # a twenty-fourth more or less cannot be worth more than that
