"""The bounds by linear and integer programming: by hand, against exact arithmetic, and below every schedule."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil
from random import Random

import pytest
from brute_force import assignment_optimum, fluid_optimum, optimum_ps, tiny_instance
from hypothesis import given, settings
from random_instances import dimension, instances, network, random_instance
from themis_models.assignment import MARGIN, assignment_bound
from themis_models.fluid import fluid_bound

from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.network import Dimension, Network, Topology
from themis_opt.proof.certificate import certified_bound_ps
from themis_opt.proof.critical_path import critical_path_bound
from themis_opt.schedulers.registry import get_scheduler, scheduler_names
from themis_opt.solving.protocol import SolverParams

EQUAL, FREE = Sizing.EQUAL, Sizing.FREE
EXCLUSIVE, PIPELINED = Occupancy.EXCLUSIVE, Occupancy.PIPELINED
RS, AG, AR, A2A = Collective.REDUCE_SCATTER, Collective.ALL_GATHER, Collective.ALL_REDUCE, Collective.ALL_TO_ALL
PARAMS = SolverParams()


def fluid(instance: Instance, sizes: Sizing = EQUAL, counts: tuple[int, int] | None = None) -> Bound:
    """Return the fluid bound after checking that it is exactly what its certificate proves."""
    scope = BoundScope(sizes, *(counts or (instance.num_chunks, instance.num_chunks)))
    bound = fluid_bound(instance, scope, PARAMS)
    assert (bound.kind, bound.scope) == (BoundKind.FLUID, scope)
    assert bound.certificate is not None
    assert bound.value_ps == bound.certified_ps == certified_bound_ps(instance, bound.certificate, scope)
    return bound


def assignment_ps(instance: Instance, params: SolverParams = PARAMS) -> int:
    """Return the value of the assignment bound for exactly the instance's number of chunks; 0 without a bound."""
    scope = BoundScope(EQUAL, instance.num_chunks, instance.num_chunks)
    bound = assignment_bound(instance, scope, params)
    if bound is None:
        return 0
    assert (bound.kind, bound.scope) == (BoundKind.ASSIGNMENT, scope)
    assert (bound.certificate, bound.certified_ps) == (None, None)
    return bound.value_ps


def four_by_four(collective: Collective, num_chunks: int = 4, occupancy: Occupancy = EXCLUSIVE) -> Instance:
    """Return 4 × 4 NPUs with bandwidths 2 and 1 byte/ps, 64 bytes per chunk (the network of Figure 5).

    In Reduce-Scatter a chunk loads the dimensions with (24, 12) ps if it starts on dim1, (6, 48) if it starts on dim2;
    in All-Gather likewise if it *ends* there (`test_certificate` has the arithmetic).
    """
    return Instance(network(dimension(4, 2), dimension(4, 1)), collective, 64 * num_chunks, num_chunks, occupancy)


@pytest.mark.parametrize("occupancy", list(Occupancy))
def test_fluid_by_hand(occupancy: Occupancy) -> None:
    # A share t of the chunks starts on dim1: 24t + 6(1-t) = 12t + 48(1-t) at t = 7/9, where both carry 20 ps per chunk.
    # The weights that make both orders equally long are 2/3 and 1/3.
    bound = fluid(four_by_four(RS, occupancy=occupancy))
    assert bound.value_ps == 4 * 20
    assert bound.certificate == (Fraction(2, 3), Fraction(1, 3))
    assert fluid(four_by_four(AG, occupancy=occupancy)).value_ps == 4 * 20
    assert fluid(four_by_four(AR, occupancy=occupancy)).value_ps == 2 * 4 * 20


def test_fluid_for_any_sizes_by_hand() -> None:
    # As above, less half a picosecond of rounding per chunk and phase.
    assert fluid(four_by_four(AR), FREE).value_ps == 160 - 4
    assert fluid(four_by_four(AR), FREE, (1, 1)).value_ps == 160 - 1
    assert fluid(four_by_four(RS), FREE).value_ps == 80 - 2


def test_assignment_by_hand() -> None:
    # Reduce-Scatter, 4 chunks, a of them start on dim1: loads (24a + 6(4-a), 12a + 48(4-a)) are (96, 48) with a = 4,
    # (78, 84) with 3, (60, 120) with 2. With a = 3 chunks start and end everywhere: no head, no tail.
    # With a = 4 none ends on dim1 and none starts on dim2: another 12 and 24 ps, (108, 72).
    assert assignment_ps(four_by_four(RS)) == 84
    assert assignment_ps(four_by_four(AG)) == 84
    # All-Reduce has 8 such choices: (156, 168) with 6 of them by dim1, (174, 132) with 7. That is the paper's Figure
    # 5b, 7 units of 24 ps.
    assert assignment_ps(four_by_four(AR)) == 7 * 24


def test_heads_and_tails_by_hand() -> None:
    # One chunk. Reduce-Scatter by dim1 first: dim1 carries 24, and the chunk ends after another 12 elsewhere; dim2
    # carries 12, and the chunk comes after 24 elsewhere. 36 both; by dim2 first 54. That is how long the chunk takes.
    assert assignment_ps(four_by_four(RS, 1)) == 36
    # All-Reduce starts and ends on dim1, which carries 2·24, and there dim2 waits 24 before and 24 after its 2·12.
    assert assignment_ps(four_by_four(AR, 1)) == 72
    assert fluid(four_by_four(AR, 1)).value_ps == 40


def test_pipelined_latency_is_paid_once() -> None:
    # 3 ps on the only dimension, 2 NPUs at 1 byte/ps, 4 chunks of 10 bytes: 5 ps to reduce, 5 to gather.
    net = network(dimension(2, 1, latency_ps=3))
    assert fluid(Instance(net, AR, 40, 4, EXCLUSIVE)).value_ps == 4 * (5 + 3 + 5 + 3)
    assert fluid(Instance(net, AR, 40, 4, PIPELINED)).value_ps == 4 * (5 + 5) + 3
    assert assignment_ps(Instance(net, AR, 40, 4, EXCLUSIVE)) == 64
    assert assignment_ps(Instance(net, AR, 40, 4, PIPELINED)) == 43
    # Any sizes: the latency of each of the 8 stages, less rounding; pipelined once.
    assert fluid(Instance(net, AR, 40, 4, EXCLUSIVE), FREE).value_ps == 40 + 8 * 3 - 4
    assert fluid(Instance(net, AR, 40, 4, PIPELINED), FREE).value_ps == 40 + 3 - 4


SWITCH, RING, FULL = Topology.SWITCH, Topology.RING, Topology.FULLY_CONNECTED


# The networks of Table 2 in decimal GB/s with 1 ns per step: 100 MB All-Reduce in 16 equal chunks.
@pytest.mark.parametrize(
    ("dims", "expected_us"),
    [
        pytest.param([(SWITCH, 16, 150), (SWITCH, 64, 100)], 815.38, id="2d-sw-sw"),
        pytest.param([(SWITCH, 16, 100), (SWITCH, 8, 100), (SWITCH, 8, 100)], 667.45, id="3d-sw-sw-sw-homo"),
        pytest.param([(SWITCH, 16, 200), (SWITCH, 8, 100), (SWITCH, 8, 50)], 572.33, id="3d-sw-sw-sw-hetero"),
        pytest.param([(FULL, 8, 175), (RING, 16, 100), (SWITCH, 8, 50)], 616.0, id="3d-fc-ring-sw"),
        pytest.param(
            [(RING, 4, 250), (SWITCH, 4, 200), (SWITCH, 8, 100), (SWITCH, 8, 50)],
            333.32,
            id="4d-ring-sw-sw-sw",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_assignment_on_the_networks_of_table_2(dims: list[tuple[Topology, int, int]], expected_us: float) -> None:
    net = Network("table 2", tuple(Dimension(t, size, bw * 10**9, 1000) for t, size, bw in dims))  # type: ignore[arg-type]
    instance = Instance(net, AR, 10**8, 16)
    value_ps = assignment_ps(instance, SolverParams(time_limit_s=600))
    assert value_ps / 10**6 == pytest.approx(expected_us, abs=0.006)
    assert fluid(instance).value_ps <= value_ps


@pytest.mark.parametrize("seed", range(60))
def test_fluid_is_the_exact_optimum_of_its_program(seed: int) -> None:
    random = Random(seed)
    instance = tiny_instance(random) if seed % 2 else random_instance(random, max_dims=3)
    bound = fluid(instance)
    optimum = fluid_optimum(instance, instance.num_chunks)
    # Never above it, as nothing but exact arithmetic has the last word; and floating point costs next to nothing. Where
    # equal chunks leave bytes over, which the program does not see, the bound for any sizes may be higher.
    if instance.size_bytes % instance.num_chunks == 0:
        assert bound.value_ps - 1 < optimum
    assert optimum - bound.value_ps <= 1e-9 * optimum


@pytest.mark.parametrize("bandwidths", [(200, 100, 50), (175, 100, 50), (400, 3, 2)])
def test_not_a_picosecond_is_lost(bandwidths: tuple[int, int, int]) -> None:
    # Rounded stage times make weights that are no ratios of small numbers: they are needed to many digits.
    dims = [dimension(size, Fraction(GBps, 1000), 1000) for size, GBps in zip((16, 8, 8), bandwidths, strict=True)]
    instance = Instance(network(*dims), AR, 10**10, 16)
    assert fluid(instance).value_ps == ceil(fluid_optimum(instance, 16))


@pytest.mark.parametrize("seed", range(40))
def test_assignment_is_the_optimum_over_all_assignments(seed: int) -> None:
    instance = tiny_instance(Random(seed))
    value = assignment_optimum(instance, instance.num_chunks)
    assert value * (1 - 2 * Fraction(MARGIN)) - 1 <= assignment_ps(instance) <= value


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("sizes", list(Sizing))
def test_no_other_weights_prove_more(seed: int, sizes: Sizing) -> None:
    # What weights prove is concave in them: the best ones cannot be improved towards or away from any dimension.
    random = Random(seed)
    instance = random_instance(random)
    bound = fluid(instance, sizes)
    assert bound.certificate is not None
    for k in instance.involved:
        corner = [Fraction(int(i == k)) for i in range(len(bound.certificate))]
        for step in (Fraction(1, 10), Fraction(1, 10**4), -min(bound.certificate[k], Fraction(1, 10**4))):
            moved = [y + step * (e - y) for y, e in zip(bound.certificate, corner, strict=True)]
            if min(moved) >= 0:
                proved = certified_bound_ps(instance, moved, bound.scope)
                assert proved <= bound.value_ps * (1 + 1e-9) + 1


@pytest.mark.parametrize("seed", range(60))
def test_bounds_are_at_most_the_optimum(seed: int) -> None:
    instance = tiny_instance(Random(seed))
    optimum = optimum_ps(instance)
    assert fluid(instance).value_ps <= optimum
    assert fluid(instance, FREE).value_ps <= optimum
    assert assignment_ps(instance) <= optimum


@settings(max_examples=40, deadline=None)
@given(instances())
def test_bounds_are_at_most_every_schedule(instance: Instance) -> None:
    check_against_schedulers(instance)


@pytest.mark.parametrize("seed", range(20))
def test_bounds_are_at_most_every_schedule_of_many_chunks(seed: int) -> None:
    check_against_schedulers(random_instance(Random(seed), max_dims=3, max_chunks=20))


def check_against_schedulers(instance: Instance) -> None:
    scope = BoundScope(EQUAL, instance.num_chunks, instance.num_chunks)
    values = [fluid(instance).value_ps, assignment_ps(instance), critical_path_bound(instance, scope).value_ps]
    for name in scheduler_names():
        schedule = get_scheduler(name)(instance)
        assert schedule.makespan_ps is not None
        assert fluid(instance, FREE, (schedule.num_chunks,) * 2).value_ps <= schedule.makespan_ps
        if schedule.sizing is EQUAL and schedule.num_chunks == instance.num_chunks:
            assert max(values) <= schedule.makespan_ps, name


@settings(max_examples=40, deadline=None)
@given(instances())
def test_whole_chunks_never_help(instance: Instance) -> None:
    # Both count the smallest chunk alone, if no bytes are left over.
    instance = replace(instance, size_bytes=instance.size_bytes // instance.num_chunks * instance.num_chunks)
    assert fluid(instance).value_ps * (1 - 2 * MARGIN) - 1 <= assignment_ps(instance)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("sizes", list(Sizing))
def test_a_range_counts_as_its_weakest_number(seed: int, sizes: Sizing) -> None:
    random = Random(seed)
    instance = random_instance(random, max_dims=3)
    most = min(instance.size_bytes, 6)
    least = random.randint(1, most)
    ranged = fluid(instance, sizes, (least, most)).value_ps
    single = [fluid(instance, sizes, (count, count)).value_ps for count in range(least, most + 1)]
    assert ranged <= min(single) * (1 + 1e-9) + 1


def test_a_range_is_proved_by_its_fewest_chunks() -> None:
    # Reduce-Scatter of 10^6 bytes on 2 × 2 NPUs at 1/10 and 1 byte/ps, 10^5 ps of latency on dim2. One chunk loads
    # them with (50, 3.5)·10^5 ps if it starts on dim1, (25, 6)·10^5 if on dim2: dim1 alone decides. With 64 chunks dim2
    # alone takes 64·10^5 ps for latency; but the weights (0, 1) that prove this are worth only 3.5·10^5 for one chunk,
    # and the shares of the bandwidth, (1, 10)/11, only 85/11·10^5.
    instance = Instance(network(dimension(2, Fraction(1, 10)), dimension(2, latency_ps=10**5)), RS, 10**6, 64)
    assert fluid(instance).value_ps > 6_400_000
    assert fluid(instance).certificate == (Fraction(0), Fraction(1))
    equal, free = (fluid(instance, sizes, (1, 64)) for sizes in (EQUAL, FREE))
    assert equal.certificate == free.certificate == (Fraction(1), Fraction(0))
    assert 2_500_000 - 63 * 2.5 <= equal.value_ps <= 2_500_000  # up to 63 bytes are rounded away, 2.5 ps each
    assert free.value_ps == 2_500_000 - 64 // 2  # half a picosecond per chunk


@pytest.mark.parametrize("occupancy", list(Occupancy))
def test_all_to_all_is_a_flow_shop(occupancy: Occupancy) -> None:
    # 8 bytes per chunk on 2 × 4 × 2 NPUs, 1 byte/ps: every chunk takes 4, 6 and 4 ps and 1 ps of latency each, in this
    # order. 3 equal chunks: the bottleneck dim2 waits for the first and is left by the last: 5 + 3·7 + 5. Pipelined it
    # is held for 6 ps, and 1 ps of latency follows once: 5 + 3·6 + 1 + 5.
    net = network(dimension(2, latency_ps=1), dimension(4, latency_ps=1), dimension(2, latency_ps=1))
    instance = Instance(net, A2A, 24, 3, occupancy)
    assert assignment_ps(instance) == (31 if occupancy is EXCLUSIVE else 29)
    assert get_scheduler("baseline")(instance).makespan_ps == assignment_ps(instance)
    bound = fluid(instance)
    assert bound.value_ps == (21 if occupancy is EXCLUSIVE else 19)
    assert bound.certificate == (Fraction(0), Fraction(1), Fraction(0))


@pytest.mark.parametrize("collective", list(Collective))
def test_one_dimension(collective: Collective) -> None:
    # 3 chunks of 8 bytes, 2 NPUs at 1 byte/ps: 4 ps per phase, 2 ps of latency; the idle dimension has weight 0.
    instance = Instance(network(dimension(1), dimension(2, latency_ps=2)), collective, 24, 3)
    expected_ps = 3 * (4 + 2) * len(instance.phases)
    assert fluid(instance).value_ps == assignment_ps(instance) == expected_ps
    assert fluid(instance).certificate == (Fraction(0), Fraction(1))
    assert get_scheduler("baseline")(instance).makespan_ps == expected_ps


@pytest.mark.parametrize("collective", list(Collective))
def test_stages_that_take_no_time(collective: Collective) -> None:
    fast = [dimension(2, 10**9, latency) for latency in (0, 5, 3)]
    nothing = Instance(network(fast[0], fast[0]), collective, 64, 2)
    assert fluid(nothing).value_ps == fluid(nothing, FREE).value_ps == 0
    # No time proves nothing: there is no such bound rather than one of 0.
    assert assignment_bound(nothing, BoundScope(EQUAL, 2, 2), PARAMS) is None
    latencies_alone = Instance(network(*fast), collective, 64, 2, PIPELINED)
    assert fluid(latencies_alone).value_ps == 5


@pytest.mark.parametrize("collective", list(Collective))
def test_bandwidths_far_apart(collective: Collective) -> None:
    dims = [dimension(4, Fraction(10**power)) for power in (-4, 3, 0)]
    instance = Instance(network(*dims), collective, 64 * 10**6, 4)
    optimum = fluid_optimum(instance, 4)
    bound = fluid(instance)
    assert 0 <= optimum - bound.value_ps <= 1e-9 * optimum
    # 4^2 times fewer bytes cross the slowest dimension when it comes last, and it is busy all along.
    assert bound.value_ps * (1 - 2 * MARGIN) - 1 <= assignment_ps(instance)
    assert assignment_ps(instance) <= (get_scheduler("themis-scf")(instance).makespan_ps or 0)


@pytest.mark.parametrize("sizes", list(Sizing))
def test_eight_dimensions(sizes: Sizing) -> None:
    # 2^8 NPUs with bandwidths 1 to 8: every dimension can be kept busy, and the bytes are 2·S·(1 - 1/256) in all, so
    # the bound is nearly 2·S·(255/256)/36, however they are spread.
    instance = Instance(network(*[dimension(2, bandwidth) for bandwidth in range(1, 9)]), AR, 36 * 256 * 10**6, 4)
    ideal = Fraction(2 * instance.size_bytes * 255, 256 * 36)
    bound = fluid(instance, sizes)
    assert abs(bound.value_ps - ideal) <= 1e-8 * ideal
    assert bound.certificate is not None
    assert [float(36 * weight) for weight in bound.certificate] == pytest.approx(range(1, 9), rel=1e-6)


def test_assignment_is_for_one_number_of_equal_chunks() -> None:
    assert assignment_bound(four_by_four(AR), BoundScope(FREE, 4, 4), PARAMS) is None
    assert assignment_bound(four_by_four(AR), BoundScope(EQUAL, 3, 4), PARAMS) is None


def test_no_time() -> None:
    hurried = SolverParams(time_limit_s=1e-9)
    instance = Instance(network(*[dimension(2, bandwidth) for bandwidth in (5, 4, 3, 2)]), AR, 10**9, 16)
    scope = BoundScope(EQUAL, 16, 16)
    assert assignment_bound(instance, scope, hurried) is None
    # The weights of the fluid bound are then the shares of the bandwidth: the ideal.
    bound = fluid_bound(instance, scope, hurried)
    assert bound.certificate == (Fraction(5, 14), Fraction(4, 14), Fraction(3, 14), Fraction(2, 14))
    assert bound.value_ps == pytest.approx(2 * 10**9 * (1 - 1 / 16) / 14)


def test_threads_and_seeds_do_not_change_what_is_proven() -> None:
    instance = four_by_four(AR, 5)
    scope = BoundScope(EQUAL, 5, 5)
    params = [SolverParams(60, workers, seed) for workers in (1, 2) for seed in (0, 7)]
    assert len({assignment_bound(instance, scope, each) for each in params}) == 1


def test_a_program_that_highs_refuses_leaves_the_bandwidth_shares() -> None:
    # An overhead of 1000 s beside transfers of a picosecond: HiGHS takes no coefficients so far apart.
    net = network(dimension(3, 1000, 18))
    instance = Instance(net, AR, 4, 1, chunk_overhead_ps=10**15)
    scope = BoundScope(FREE, 1, 1)
    bound = fluid_bound(instance, scope, PARAMS)
    assert bound.certificate == (Fraction(1),)
    assert bound.value_ps == certified_bound_ps(instance, bound.certificate, scope) >= 10**15
