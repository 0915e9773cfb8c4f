"""Balanced loads and justified priorities: what brings many equal chunks to their bound without any annealing."""

from __future__ import annotations

from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest
from random_instances import dimension, network
from test_search import SEEDS, drawn_candidate, drawn_instance, timed, whole_sizes
from themis_models.search.annealing import DEFERRING, Cooling, Rules, anneal, meeting_stage
from themis_models.search.balancing import balance
from themis_models.search.costing import Candidate
from themis_models.search.justification import justify
from themis_models.search.search_kernel import NEVER, dispatch
from themis_models.search.space import (
    SearchSpace,
    candidate_costs,
    kernel_scratch,
    random_candidate,
    schedule_of,
    search_space,
    served_sequences,
)

from themis_opt.judging.validator import validate
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance
from themis_opt.timing.sequencing import simulate


def loads(space: SearchSpace, candidate: Candidate) -> np.ndarray:
    *_, load = candidate_costs(space, candidate)
    return load


def balanced(space: SearchSpace, candidate: Candidate, idle: float, seed: int, num_moves: int = 20_000) -> float:
    """Balance a candidate in place and return what the kernel claims."""
    scale = float(loads(space, candidate).max())
    return balance(space.costs, candidate, idle, Cooling(num_moves, 0.1 * scale, 1e-4 * scale), seed)


@pytest.mark.parametrize("collective", [Collective.REDUCE_SCATTER, Collective.ALL_REDUCE])
def test_balancing_finds_the_least_largest_load(collective: Collective) -> None:
    # Three chunks on three dimensions: all orders of all chunks tried.
    net = network(dimension(4, 6, 1), dimension(2, 3, 2), dimension(3, 2, 1))
    instance = Instance(net, collective, 72, 3)
    space = search_space(instance)
    orders = [np.array(order) for order in permutations(range(3))]
    phases = space.num_phases
    held = []  # by the orders of one chunk
    for chosen in product(orders, repeat=phases):
        one = Candidate(np.concatenate(chosen)[None, :], np.array([24.0]), np.ones((1, 3 * phases)))
        held.append(loads(space, one))
    least = min(sum(three).max() for three in combinations_with_replacement(held, 3))
    candidate = random_candidate(space, instance.equal_chunk_sizes(), np.random.default_rng(0))
    assert balanced(space, candidate, 0.0, 0) == least
    assert loads(space, candidate).max() == least


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if drawn_instance(seed).collective.has_free_orders])
def test_balancing_keeps_a_candidate_a_candidate(seed: int) -> None:
    instance = drawn_instance(seed)
    space = search_space(instance)
    candidate = random_candidate(space, instance.equal_chunk_sizes(), np.random.default_rng(seed))
    before = loads(space, candidate).max()
    claimed = balanced(space, candidate, 0.0, seed, 500)
    assert claimed <= before
    assert claimed == pytest.approx(loads(space, candidate).max(), rel=1e-12)
    assert validate(instance, schedule_of(space, candidate, whole_sizes(candidate))) == ()


def test_balancing_lets_chunks_start_and_end_on_every_dimension_where_idling_counts() -> None:
    # The second dimension is so slow that its load is least when every chunk comes there last and leaves it first.
    instance = Instance(network(dimension(4, 6), dimension(4, 1)), size_bytes=4096, num_chunks=8)
    space = search_space(instance)
    for idle, ends in ((0.0, {0}), (1e6, {0, 1})):
        candidate = random_candidate(space, instance.equal_chunk_sizes(), np.random.default_rng(0))
        balanced(space, candidate, idle, 0)
        assert set(candidate.path[:, 0]) == ends
        assert set(candidate.path[:, -1]) == ends


def test_justification_by_hand() -> None:
    # Reduce-Scatter of three chunks of 8 bytes among 2 x 2 NPUs at 1 byte/ps: 4 ps first, 2 ps then. Chunks 0 and 1
    # start on dim1, chunk 2 on dim2. Smallest first: at 4 ps chunk 2 comes to dim1 with its 4 bytes, so chunk 1 waits
    # until 6 and is on dim2 in [10, 12], where nothing has happened since chunk 0 left at 6.
    instance = Instance(network(dimension(2), dimension(2)), Collective.REDUCE_SCATTER, 24, 3)
    space = search_space(instance)
    candidate = Candidate(np.array([[0, 1], [0, 1], [1, 0]]), np.full(3, 8.0), np.ones((3, 2)))
    assert served_sequences(space, candidate) == [[(0, 0), (2, 1), (1, 0)], [(2, 0), (0, 1), (1, 1)]]
    assert timed(space, candidate) == 12
    # Backwards chunk 1 was on dim1 before chunk 2 had to be: dim1 is busy in [0, 10], which is all it has to do.
    assert justify(space, candidate) == 10
    assert served_sequences(space, candidate) == [[(0, 0), (1, 0), (2, 1)], [(2, 0), (0, 1), (1, 1)]]
    assert timed(space, candidate) == 10


@pytest.mark.parametrize("seed", SEEDS)
def test_justification_never_makes_a_candidate_worse(seed: int) -> None:
    instance = drawn_instance(seed)
    space = search_space(instance)
    candidate = drawn_candidate(space, seed)
    before, start = candidate.copy(), timed(space, candidate)
    found = justify(space, candidate)
    assert found <= start
    assert found == pytest.approx(timed(space, candidate), rel=1e-12)
    assert (candidate.path == before.path).all()
    assert (candidate.chunk_bytes == before.chunk_bytes).all()
    assert (candidate.priority > 0).all()
    # It stops where it need not go on, and then leaves the candidate as it is.
    again = before.copy()
    assert justify(space, again, target_ps=start) == start
    assert again.priority == pytest.approx(before.priority, rel=1e-12)


def test_justification_shortens_most_balanced_candidates() -> None:
    # Four dimensions of falling bandwidth, 32 chunks: smallest first idles at the end, justified hardly anywhere.
    instance = Instance(
        network(*(dimension(4, bandwidth) for bandwidth in (8, 4, 2, 1))), size_bytes=2**20, num_chunks=32
    )
    space = search_space(instance)
    gains = []
    for seed in range(8):
        candidate = random_candidate(space, instance.equal_chunk_sizes(), np.random.default_rng(seed))
        balanced(space, candidate, 1e5, seed)
        start = timed(space, candidate)
        gains.append(1 - justify(space, candidate) / start)
    assert min(gains) >= 0
    assert sorted(gains)[4] > 0.02


def test_justification_frees_stages_that_wait_for_each_other() -> None:
    instance = Instance(network(dimension(2, 1, 1), dimension(2, 1, 1)), Collective.REDUCE_SCATTER, 12, 2)
    space = search_space(instance)
    candidate = Candidate(np.array([[0, 1], [1, 0]]), np.array([4.0, 8.0]), np.ones((2, 2)))
    candidate.priority[:, 0] = DEFERRING
    assert timed(space, candidate) == NEVER
    assert justify(space, candidate) == timed(space, candidate) == 8
    # What it waited with is forgotten: the priorities are those of the same candidate with nothing deferred.
    free = Candidate(candidate.path, candidate.chunk_bytes, np.ones((2, 2)))
    justify(space, free)
    assert (candidate.priority == free.priority).all()


def test_orders_cross_where_the_same_dimensions_were_visited() -> None:
    one, other = np.array([0, 1, 2, 3]), np.array([1, 0, 3, 2])
    assert {meeting_stage(one, other) for _ in range(50)} == {2}
    # After one dimension and after two; not at the end, where nothing is left, nor where both go on alike.
    assert {meeting_stage(np.array([0, 1, 2, 3]), np.array([0, 2, 1, 3])) for _ in range(50)} == {1}
    assert {meeting_stage(np.array([0, 1, 2, 4, 3]), np.array([1, 0, 2, 3, 4])) for _ in range(50)} == {3}
    assert {meeting_stage(np.array([0, 1, 2]), np.array([1, 2, 0])) for _ in range(50)} == {0}


def test_exchanging_and_crossing_equal_chunks_keeps_the_loads() -> None:
    net = network(*(dimension(2 + k, 1 + k, 10) for k in range(4)))
    instance = Instance(net, size_bytes=120 * 64, num_chunks=12)
    space = search_space(instance)
    gains = []
    for seed in range(6):
        candidate = drawn_candidate(space, seed)
        candidate.chunk_bytes[:] = 640.0
        before, start = candidate.copy(), timed(space, candidate)
        rules = Rules(np.array([0.0, 0.5, 0.5, 0.0, 0.0]))
        found = anneal(space.costs, candidate, rules, Cooling(3000, 1e-2 * start, 1e-5 * start), seed)
        gains.append(start - found)
        assert loads(space, candidate) == pytest.approx(loads(space, before), rel=1e-12)
    assert sorted(gains)[2] > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_the_kernel_records_when_stages_start(seed: int) -> None:
    space = search_space(drawn_instance(seed))
    candidate = drawn_candidate(space, seed)
    num_chunks, num_dims = len(candidate.path), space.num_dims
    scratch = kernel_scratch(space, candidate)
    dispatch(candidate.path, candidate_costs(space, candidate), space.costs.pipelined, NEVER, scratch, True)
    schedule = schedule_of(space, candidate, whole_sizes(candidate))
    places = {
        (chunk, space.instance.phases[stage // num_dims], space.instance.involved[candidate.path[chunk, stage]]): stage
        for chunk in range(num_chunks)
        for stage in range(space.num_stages)
    }
    for stage in simulate(space.instance, schedule).stages:
        recorded = scratch[-1][stage.chunk, places[stage.chunk, stage.phase, stage.dimension]]
        assert recorded == pytest.approx(stage.start_ps, rel=1e-12, abs=candidate.path.size)
