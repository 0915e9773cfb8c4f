"""The bound for few chunks of any size: as by hand, as by trying everything, and never above a schedule."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from random import Random

import numpy as np
import pytest
from brute_force import optimum_ps, tiny_instance
from random_instances import random_dimension
from themis_models.auto.portfolio import prepare, solve_auto
from themis_models.few_chunks import Exploration, Sequences, explore_sequences, is_provable
from themis_models.search.costing import Candidate
from themis_models.search.space import SearchSpace, search_space
from themis_models.sizing import best_sizes

from themis_opt.judging.validator import check
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.chunking import make_chunking
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.network import Dimension, Network, Topology
from themis_opt.solving.bounds import quick_bounds
from themis_opt.solving.protocol import SolverParams

FOREVER = float("inf")

RS, AG, AR = Collective.REDUCE_SCATTER, Collective.ALL_GATHER, Collective.ALL_REDUCE


def fluid_bound(instance: Instance) -> Bound:
    scope = BoundScope(Sizing.FREE, instance.num_chunks, instance.num_chunks)
    return next(bound for bound in quick_bounds(instance, scope) if bound.kind == BoundKind.FLUID)


def explored(instance: Instance, below_ps: float, num_workers: int = 1) -> Exploration:
    return explore_sequences(instance, fluid_bound(instance), below_ps, FOREVER, num_workers)


def proven_ps(instance: Instance, below_ps: float) -> int:
    bound = explored(instance, below_ps).bound
    assert bound is not None
    assert bound.kind == BoundKind.SEQUENCES
    return bound.value_ps


def pair(num_chunks: int, collective: Collective, latency_ps: int = 0) -> Instance:
    """Two rings of two NPUs that send a byte in a picosecond; 8,000,000 bytes."""
    ring = Dimension(Topology.RING, 2, Fraction(10**12), Fraction(latency_ps))
    return Instance(Network("pair", (ring, ring)), collective, 8_000_000, num_chunks)


def test_one_chunk_by_hand() -> None:
    # Half of the bytes in the first stage, a quarter in the second, one after the other, the latency before each:
    # 4,000,000 + 2,000,000 + 2·1000. The fluid bound is half of that, as each dimension is idle half of the time.
    instance = pair(1, RS, 1000)
    assert fluid_bound(instance).value_ps == pytest.approx(3_001_000, abs=1)
    result = explored(instance, 10_000_000)
    assert result.bound is not None
    assert result.bound.value_ps == pytest.approx(6_002_000, abs=2)
    assert result.bound.value_ps <= 6_002_000
    assert result.bound.certified_ps == fluid_bound(instance).value_ps
    assert result.found is not None
    assert result.found.sizes.tolist() == [1.0]


def test_three_chunks_by_hand() -> None:
    # Reduce-Scatter of three chunks, a latency of 1,000,000. On the one dimension two chunks start, a before b, on the
    # other c; sizes in units of 1,000,000 bytes, a + b + c = 8, durations x/2 + 1, then x/4 + 1. Without idling both
    # dimensions end at (a + b + c)·(1/2 + 1/4)/2 + 3 = 6. The first: a/2, b/2, c/4, so a + b = 4 and c = 4 are one
    # way: dim1 carries 2 + 1 + 3 = 6, dim2 2 + 1 + 3 = 6. c is done on dim2 at 3, when a must have come: a/2 + 1 ≤ 3.
    # b ends on dim1 at 2 + 2 = 4; a is on dim2 from 3 to 4 + a/4, so b starts there then, and ends at 6. c starts on
    # dim1 at 4 and ends at 6. So nothing idles, and the bound is the fluid one.
    instance = pair(3, RS, 1_000_000)
    assert fluid_bound(instance).value_ps == pytest.approx(6_000_000, abs=2)
    result = explored(instance, 6_500_000)
    assert result.bound is not None
    assert result.bound.value_ps == pytest.approx(6_000_000, abs=10)
    assert result.found is not None
    assert sorted(result.found.sizes)[-1] == pytest.approx(0.5, abs=1e-6)


def by_trying_everything(instance: Instance) -> float:
    """Return the least makespan over all orders and sequences, each with its best sizes by HiGHS."""
    space = search_space(instance)
    num_dims = space.num_dims
    orders = list(permutations(range(num_dims)))
    paths = [sum(chosen, ()) for chosen in product(orders, repeat=len(instance.phases))]
    least = float("inf")
    for chosen in combinations_with_replacement(paths, instance.num_chunks):
        for served in product(*(_sequences(chosen, k) for k in range(num_dims))):
            solved = best_sizes(space, _candidate(space, chosen), served, 0.0)
            least = least if solved is None else min(least, solved[0])
    return least


def _candidate(space: SearchSpace, paths: tuple[tuple[int, ...], ...]) -> Candidate:
    return Candidate(np.array(paths, dtype=np.int64), np.ones(len(paths)), np.ones((len(paths), len(paths[0]))))


def _sequences(paths: tuple[tuple[int, ...], ...], dimension: int) -> Iterator[list[tuple[int, int]]]:
    stages = [(c, place) for c, path in enumerate(paths) for place, k in enumerate(path) if k == dimension]
    for sequence in permutations(stages):
        if all(
            [stage for stage in sequence if stage[0] == c] == sorted(stage for stage in stages if stage[0] == c)
            for c in range(len(paths))
        ):
            yield list(sequence)


def random_instance(seed: int) -> Instance:
    """Two dimensions and two chunks in both phases, or three dimensions or chunks in one."""
    random = Random(seed)
    collective, num_dims, num_chunks = [(AR, 2, 2), (RS, 2, 3), (AG, 3, 2), (RS, 3, 2)][seed % 4]
    dimensions: list[Dimension] = []
    while len(dimensions) < num_dims:
        drawn = random_dimension(random)
        if drawn.size > 1:
            dimensions.append(drawn)
    overhead = random.choice([0, 0, random.randrange(10**6)])
    network = Network("random", tuple(dimensions))
    size_bytes = random.randrange(10**5, 10**8)
    return Instance(network, collective, size_bytes, num_chunks, chunk_overhead_ps=overhead)


@pytest.mark.parametrize("seed", range(24))
def test_as_by_trying_everything(seed: int) -> None:
    instance = random_instance(seed)
    least = by_trying_everything(instance)
    result = explored(instance, 2 * least)
    assert result.bound is not None
    # Half a picosecond for each stage is taken off, and HiGHS is exact to a millionth or so.
    assert result.bound.value_ps <= least * (1 + 1e-6) + 1
    assert result.bound.value_ps >= least * (1 - 1e-6) - 12 - 1
    assert result.found is not None
    assert timed(instance, result.found) == pytest.approx(least, rel=1e-6, abs=12)
    # With next to nothing to spare the same is found: no sequence before it was given up wrongly.
    tight = explored(instance, least * (1 + 2e-6) + 24)
    assert tight.found is not None
    assert timed(instance, tight.found) == pytest.approx(least, rel=3e-6, abs=24)
    nothing = explored(instance, 0.999 * least)
    assert nothing.found is None
    assert nothing.bound is not None
    assert nothing.bound.value_ps <= least * (1 + 1e-6)


def timed(instance: Instance, found: Sequences) -> float:
    space = search_space(instance)
    candidate = Candidate(found.path, found.sizes * instance.size_bytes, np.ones(found.path.shape))
    solved = best_sizes(space, candidate, found.served, 0.0)
    assert solved is not None
    return solved[0]


def is_tiny_provable(seed: int) -> bool:
    instance = tiny_instance(Random(seed))
    return is_provable(instance, instance.num_chunks)


@pytest.mark.parametrize("seed", [seed for seed in range(60) if is_tiny_provable(seed)])
def test_never_above_a_schedule(seed: int) -> None:
    # All orders and sequences with some sizes of whole bytes, in exact arithmetic.
    random = Random(seed)
    instance = tiny_instance(random)
    cut = random.randrange(instance.size_bytes)
    sizes = [cut, instance.size_bytes - cut] if instance.num_chunks == 2 else None
    least = optimum_ps(instance, sizes if sizes is None or min(sizes) > 0 else None)
    result = explored(instance, least + 1.0)
    assert result.bound is not None
    assert result.bound.value_ps <= least
    assert proven_ps(instance, 3.0 * least) <= least


def test_threads_give_the_same() -> None:
    instance = random_instance(0)
    one, two = explored(instance, 10**12, 1).bound, explored(instance, 10**12, 2).bound
    assert one is not None
    assert two is not None
    assert one.value_ps == pytest.approx(two.value_ps, rel=1e-8)


def test_nothing_is_proven_when_time_is_over() -> None:
    instance = random_instance(0)
    assert explore_sequences(instance, fluid_bound(instance), 10**12, time.monotonic() - 1).bound is None


def test_what_it_is_made_for() -> None:
    assert is_provable(pair(4, AR), 4)
    assert not is_provable(pair(4, AR), 40)
    assert not is_provable(pair(4, Collective.ALL_TO_ALL), 4)
    pipelined = Instance(pair(1, AR).network, AR, 1000, 2, Occupancy.PIPELINED)
    assert not is_provable(pipelined, 2)
    equal = Bound(1, BoundKind.FLUID, BoundScope(Sizing.EQUAL, 4, 4), (Fraction(1, 2), Fraction(1, 2)), 1)
    with pytest.raises(ValueError, match="equal size"):
        explore_sequences(pair(4, AR), equal, 10.0, FOREVER)


@pytest.mark.parametrize("is_fixed", [True, False])
def test_the_portfolio_proves_few_chunks(is_fixed: bool) -> None:
    # Two chunks where dimensions idle whatever the sizes: the fluid bound is far below, this one is not.
    slow = Dimension(Topology.RING, 2, Fraction(10**10), Fraction(700_000))
    fast = Dimension(Topology.RING, 4, Fraction(3 * 10**10), Fraction(20_000))
    instance = Instance(Network("uneven", (slow, fast)), AR, 10**8, 2)
    chunking = make_chunking(instance, Sizing.FREE, None if is_fixed else 2)
    prepare()  # compiling is no part of the time limit
    result = solve_auto(instance, SolverParams(10, chunking=chunking))  # it ends when the gap is closed
    assert result.schedule is not None
    assert result.bound is not None
    check(instance, result.schedule.replace(instance=instance, bound=result.bound, status=result.status))
    assert result.bound.kind == BoundKind.SEQUENCES
    assert result.schedule.makespan_ps is not None
    assert fluid_bound(instance).value_ps * 1.001 < result.bound.value_ps <= result.schedule.makespan_ps
    assert result.schedule.makespan_ps <= result.bound.value_ps * 1.0001
