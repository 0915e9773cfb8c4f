"""The local search: its kernel times as the simulator does, and annealing never spoils or forgets anything."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from random_instances import dimension, network
from themis_models.search import search_kernel as kernel
from themis_models.search.annealing import DEFERRING, NEIGHBOURHOODS_EQUAL, NEIGHBOURHOODS_FREE, Cooling, Rules, anneal
from themis_models.search.costing import Candidate
from themis_models.search.search_kernel import NEVER
from themis_models.search.space import (
    SearchSpace,
    candidate_costs,
    candidate_of,
    kernel_scratch,
    random_candidate,
    schedule_of,
    search_space,
    served_sequences,
)

from themis_opt.judging.validator import validate
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.network import Algorithm, Dimension, Network, Topology
from themis_opt.problem.schedule import Schedule
from themis_opt.schedulers.registry import get_scheduler
from themis_opt.timing.dispatch import dispatch
from themis_opt.timing.policy import DispatchPolicy
from themis_opt.timing.sequencing import simulate

SEEDS = range(24)


def drawn_instance(seed: int) -> Instance:
    """Any collective and occupancy, one to four dimensions and up to nine chunks; stages of nanoseconds and more."""
    drawn = random.Random(seed)
    dimensions = []
    for _ in range(drawn.randint(1, 4)):
        bandwidth_Bps = Fraction(drawn.randint(1, 100) * 10**9)
        dimensions.append(
            Dimension(
                drawn.choice(list(Topology)),
                drawn.randint(2, 6),
                bandwidth_Bps,
                Fraction(drawn.choice([0, drawn.randrange(10**7)])),
                Algorithm.BRUCK,
                reduction_bandwidth_Bps=drawn.choice([None, 2 * bandwidth_Bps]),
            )
        )
    if drawn.random() < 0.3:
        dimensions.insert(drawn.randint(0, len(dimensions)), Dimension(Topology.RING, 1, Fraction(1)))
    subset = None
    if drawn.random() < 0.3:
        dimensions.append(Dimension(Topology.RING, 3, Fraction(1)))
        subset = tuple(range(len(dimensions) - 1))
    return Instance(
        Network("drawn", tuple(dimensions)),
        list(Collective)[seed % 4],
        drawn.randint(10**7, 10**9),
        drawn.choice([1, 2, 3, 5, 9]),
        list(Occupancy)[seed // 4 % 2],
        subset,
    )


def drawn_sizes(instance: Instance, seed: int) -> list[int]:
    """Sizes that add up, all different but for a strange coincidence, so that smallest chunk first knows no ties."""
    drawn = random.Random(seed)
    cuts = sorted(drawn.sample(range(1, instance.size_bytes), instance.num_chunks - 1))
    return [end - start for start, end in zip([0, *cuts], [*cuts, instance.size_bytes], strict=True)]


def drawn_candidate(space: SearchSpace, seed: int) -> Candidate:
    """Random sizes and priorities; All-Gather orders are shuffled too where orders are free."""
    generator = np.random.default_rng(seed)
    candidate = random_candidate(space, drawn_sizes(space.instance, seed), generator)
    num_dims = space.num_dims
    if space.instance.collective.has_free_orders:
        for row in candidate.path:
            row[-num_dims:] = generator.permutation(num_dims)
    candidate.priority[:] = np.exp(generator.normal(size=candidate.priority.shape))
    return candidate


def timed(space: SearchSpace, candidate: Candidate, cutoff: float = NEVER) -> float:
    """Return what the kernel says of a candidate."""
    scratch = kernel_scratch(space, candidate)
    costs = candidate_costs(space, candidate)
    return kernel.dispatch(candidate.path, costs, space.costs.pipelined, cutoff, scratch, False)


def annealed(space: SearchSpace, candidate: Candidate, seed: int, min_bytes: float = 1.0, **options: float) -> float:
    """Anneal a candidate in place for a moment, sizes free, and return what the kernel claims."""
    start = timed(space, candidate)
    fixed = not space.instance.collective.has_free_orders
    rules = Rules(NEIGHBOURHOODS_FREE, fixed, min_bytes, options.get("granule", 0.0))
    cooling = Cooling(int(options.get("num_moves", 3000)), 1e-2 * start, 1e-5 * start, options.get("target", 0.0))
    return anneal(space.costs, candidate, rules, cooling, seed)


def whole_sizes(candidate: Candidate) -> list[int]:
    return [int(size) for size in candidate.chunk_bytes]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_kernel_times_a_candidate_as_the_simulator_times_its_schedule(seed: int) -> None:
    space = search_space(drawn_instance(seed))
    candidate = drawn_candidate(space, seed)
    schedule = schedule_of(space, candidate, whole_sizes(candidate))
    # The simulator rounds each stage by half a picosecond at most, and its longest path has no more than all stages.
    assert validate(space.instance, schedule) == ()
    makespan_ps = simulate(space.instance, schedule).makespan_ps
    assert timed(space, candidate) == pytest.approx(makespan_ps, rel=1e-12, abs=candidate.path.size)


@pytest.mark.parametrize("seed", SEEDS)
def test_with_all_priorities_one_the_kernel_serves_the_smallest_chunk_first(seed: int) -> None:
    instance = drawn_instance(seed)
    space = search_space(instance)
    candidate = drawn_candidate(space, seed)
    candidate.priority[:] = 1.0
    schedule = schedule_of(space, candidate, whole_sizes(candidate))
    dispatched = dispatch(instance, schedule.chunks, DispatchPolicy.SCF)
    assert schedule.sequences == dispatched.sequences
    makespan_ps = dispatched.timeline.makespan_ps
    assert timed(space, candidate) == pytest.approx(makespan_ps, rel=1e-12, abs=candidate.path.size)


def test_the_kernel_by_hand() -> None:
    # Reduce-Scatter of chunks of 4 and 8 bytes among 2 NPUs at 1 byte/ps on dim1, then dim2, latency 1 ps.
    # Smallest first: dim1 serves chunk 0 in [0, 3], chunk 1 in [3, 8]; dim2 (half the bytes) in [3, 5] and [8, 11].
    instance = Instance(network(dimension(2, 1, 1), dimension(2, 1, 1)), Collective.REDUCE_SCATTER, 12, 2)
    space = search_space(instance)
    orders = np.array([[0, 1], [0, 1]])
    candidate = Candidate(orders, np.array([4.0, 8.0]), np.ones((2, 2)))
    assert served_sequences(space, candidate) == [[(0, 0), (1, 0)], [(0, 1), (1, 1)]]
    assert timed(space, candidate) == 11
    # A priority of 3 makes the first chunk the larger one on dim1: chunk 1 in [0, 5] and [5, 8], chunk 0 in [5, 8]
    # and [8, 10].
    candidate.priority[0, 0] = 3.0
    assert served_sequences(space, candidate) == [[(1, 0), (0, 0)], [(1, 1), (0, 1)]]
    assert timed(space, candidate) == 10
    # Pipelined: dim1 is held for [0, 4] and [4, 6], the chunks are on dim2 at 5 and 7; there [5, 8], held to 7, and
    # [7, 9].
    pipelined = search_space(Instance(instance.network, instance.collective, 12, 2, Occupancy.PIPELINED))
    assert timed(pipelined, candidate) == 9


def test_a_deferred_stage_by_hand() -> None:
    # As above, but chunk 0 (4 bytes) starts on dim1 and chunk 1 (8 bytes) on dim2: [0, 3] and [0, 5], then [5, 7] and
    # [5, 8]. With its first stage deferred chunk 0 waits for the only other stage of dim1, though that idles: chunk 1
    # is there at 5 and gone at 8, so chunk 0 is served in [8, 11] and on dim2 in [11, 13].
    instance = Instance(network(dimension(2, 1, 1), dimension(2, 1, 1)), Collective.REDUCE_SCATTER, 12, 2)
    space = search_space(instance)
    candidate = Candidate(np.array([[0, 1], [1, 0]]), np.array([4.0, 8.0]), np.ones((2, 2)))
    assert timed(space, candidate) == 8
    candidate.priority[0, 0] = DEFERRING
    assert timed(space, candidate) == 13
    assert served_sequences(space, candidate) == [[(1, 1), (0, 0)], [(1, 0), (0, 1)]]
    assert simulate(instance, schedule_of(space, candidate, [4, 8])).makespan_ps == 13
    # With chunk 1 deferred on dim2 as well each waits for the other.
    candidate.priority[1, 0] = DEFERRING
    assert timed(space, candidate) == NEVER
    # Where all stages of a dimension are deferred nothing is.
    candidate.priority[:] = DEFERRING
    assert timed(space, candidate) == 8


def test_annealing_finds_that_idling_pays() -> None:
    # All-Reduce on 4 x 5 NPUs, found by trying everything: 56,914 ps need dim1 to idle while chunk 1 waits for it;
    # without that nothing below 58,194 ps is possible even with other sizes.
    slow_reduction = dimension(5, Fraction(8, 1000), reduction_bandwidth_Bps=Fraction(8 * 10**9))
    instance = Instance(network(dimension(4, Fraction(8, 1000)), slow_reduction), size_bytes=323, num_chunks=2)
    space = search_space(instance)
    makespans = []
    for seed in range(8):
        candidate = random_candidate(space, [146, 177], np.random.default_rng(seed))
        start = timed(space, candidate)
        cooling = Cooling(5000, 0.05 * start, 1e-3 * start)
        anneal(space.costs, candidate, Rules(NEIGHBOURHOODS_EQUAL), cooling, seed)
        makespans.append(simulate(instance, schedule_of(space, candidate, [146, 177])).makespan_ps)
    assert min(makespans) == 56_914


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cutoff_never_gives_up_a_candidate_that_meets_it(seed: int) -> None:
    space = search_space(drawn_instance(seed))
    candidate = drawn_candidate(space, seed)
    makespan = timed(space, candidate)
    for part in (0.3, 0.7, 0.9, 0.99, 1 + 1e-12, 1.01, 2.0):
        found = timed(space, candidate, part * makespan)
        assert found in (makespan, NEVER)
        if found == NEVER:
            assert part < 1


def test_the_cutoff_gives_up_early() -> None:
    instance = Instance(network(dimension(2), dimension(2)), size_bytes=800, num_chunks=8)
    space = search_space(instance)
    candidate = random_candidate(space, instance.equal_chunk_sizes(), np.random.default_rng(0))
    assert timed(space, candidate, 0.5 * timed(space, candidate)) == NEVER


@pytest.mark.parametrize("seed", SEEDS)
def test_annealing_improves_and_keeps_a_candidate_a_candidate(seed: int) -> None:
    instance = drawn_instance(seed)
    space = search_space(instance)
    candidate = drawn_candidate(space, seed)
    least = 0.5 * candidate.chunk_bytes.min()
    before = candidate.copy()
    start = timed(space, candidate)
    found = annealed(space, candidate, seed, least)
    assert found <= start
    assert found == pytest.approx(timed(space, candidate), rel=1e-12)  # what it returns is what the arrays hold
    num_dims = space.num_dims
    parts = candidate.path.reshape(-1, num_dims)
    assert (np.sort(parts, axis=1) == np.arange(num_dims)).all()
    if not instance.collective.has_free_orders:
        assert (candidate.path == before.path).all()
    assert candidate.chunk_bytes.min() >= least * (1 - 1e-12)
    assert candidate.chunk_bytes.sum() == pytest.approx(instance.size_bytes, rel=1e-9)
    assert (candidate.priority > 0).all()
    assert np.isfinite(candidate.priority).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_what_annealing_finds_is_a_schedule(seed: int) -> None:
    instance = drawn_instance(seed)
    space = search_space(instance)
    candidate = random_candidate(space, instance.equal_chunk_sizes(), np.random.default_rng(seed))
    start = timed(space, candidate)
    rules = Rules(NEIGHBOURHOODS_EQUAL, not instance.collective.has_free_orders)
    found = anneal(space.costs, candidate, rules, Cooling(1000, 1e-2 * start, 1e-5 * start), seed)
    assert whole_sizes(candidate) == list(instance.equal_chunk_sizes())
    schedule = schedule_of(space, candidate, whole_sizes(candidate))
    assert validate(instance, schedule) == ()
    assert simulate(instance, schedule).makespan_ps == pytest.approx(found, rel=1e-12, abs=candidate.path.size)


@pytest.mark.parametrize("seed", range(8))
def test_annealing_moves_whole_granules_where_asked(seed: int) -> None:
    # 100 granules of 1000 bytes and 7 bytes left over, which stay with the first chunk.
    instance = Instance(network(dimension(2), dimension(3, 2)), size_bytes=100_007, num_chunks=4)
    space = search_space(instance)
    candidate = random_candidate(space, [25_007, 25_000, 25_000, 25_000], np.random.default_rng(seed))
    annealed(space, candidate, seed, 2000.0, granule=1000.0)
    sizes = whole_sizes(candidate)
    assert sorted(sizes) != [25_000, 25_000, 25_000, 25_007]
    assert [size % 1000 for size in sizes] == [7, 0, 0, 0]
    assert sum(sizes) == 100_007
    assert min(sizes) >= 2000


def test_one_seed_gives_one_candidate_and_another_seed_another() -> None:
    space = search_space(drawn_instance(28))
    results = []
    for seed in (1, 1, 2):
        candidate = drawn_candidate(space, 0)
        results.append((annealed(space, candidate, seed, num_moves=300), candidate))
    (first, one), (second, same), (_, other) = results
    assert first == second
    for name in ("path", "chunk_bytes", "priority"):
        assert (getattr(one, name) == getattr(same, name)).all()
    assert (one.chunk_bytes != other.chunk_bytes).any()


def test_annealing_stops_at_its_target() -> None:
    space = search_space(drawn_instance(28))
    candidate = drawn_candidate(space, 0)
    before = candidate.copy()
    start = timed(space, candidate)
    assert annealed(space, candidate, 0, target=start) == start
    assert (candidate.path == before.path).all()
    assert (candidate.chunk_bytes == before.chunk_bytes).all()


def test_annealing_finds_the_best_sequence_of_the_paper_s_example() -> None:
    # Figure 5: 4 x 4 NPUs, the second dimension at half the bandwidth, four chunks. One unit is the Reduce-Scatter of
    # a whole chunk on dim1: 3/4 of 64 bytes at 6 bytes/ps = 8 ps. Seven units are optimal.
    instance = Instance(network(dimension(4, 6), dimension(4, 3)), size_bytes=256, num_chunks=4)
    space = search_space(instance)
    candidate = random_candidate(space, instance.equal_chunk_sizes(), np.random.default_rng(0))
    start = timed(space, candidate)
    cooling = Cooling(20_000, 0.05 * start, 1e-3 * start)
    found = min(anneal(space.costs, candidate, Rules(NEIGHBOURHOODS_EQUAL), cooling, seed) for seed in range(3))
    assert found == 7 * 8


def heuristic(instance: Instance, name: str) -> Schedule:
    return get_scheduler(name)(instance, seed=1)


@pytest.mark.parametrize("name", ["baseline", "themis-scf", "random"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_schedule_and_its_candidate_go_back_and_forth(seed: int, name: str) -> None:
    instance = drawn_instance(seed)
    space = search_space(instance)
    schedule = heuristic(instance, name)
    candidate = candidate_of(space, schedule)
    again = schedule_of(space, candidate, whole_sizes(candidate))
    assert again.chunks == schedule.chunks
    assert validate(instance, again) == ()
    assert timed(space, candidate) == pytest.approx(
        simulate(instance, again).makespan_ps, rel=1e-12, abs=candidate.path.size
    )
    # No heuristic lets a dimension idle while a chunk waits, and neither does the kernel: the sequences come back too.
    if name != "baseline" or instance.num_chunks == 1:
        assert again.sequences == schedule.sequences
