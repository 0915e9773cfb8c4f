"""What weights prove: by hand, against all orders, and never more than the true optimum."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from brute_force import optimum_ps, tiny_instance
from hypothesis import given, settings
from plain_judge import plain_certified, plain_critical_path
from random_instances import dimension, network, random_instance, randoms

from themis_opt.problem.bound import BoundKind, BoundScope, Sizing
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.proof.certificate import certified_bound_ps
from themis_opt.proof.critical_path import critical_path_bound
from themis_opt.solving.bounds import quick_bounds

EQUAL, FREE = Sizing.EQUAL, Sizing.FREE
EXCLUSIVE, PIPELINED = Occupancy.EXCLUSIVE, Occupancy.PIPELINED
RS, AG, AR, A2A = Collective.REDUCE_SCATTER, Collective.ALL_GATHER, Collective.ALL_REDUCE, Collective.ALL_TO_ALL


def four_by_four(
    collective: Collective = AR,
    occupancy: Occupancy = EXCLUSIVE,
    latencies_ps: tuple[int, int] = (0, 0),
    reduction: int | None = None,
) -> Instance:
    """Return 4 × 4 NPUs with bandwidths 2 and 1 byte/ps, 256 bytes in 4 chunks (the network of Figure 5).

    A chunk has 64 bytes. Reduce-Scatter with dim1 first: 64·3/4 = 48 bytes at 2 bytes/ps are 24 ps, then 16·3/4 = 12
    bytes at 1 byte/ps are 12 ps: loads (24, 12). With dim2 first: 48 bytes are 48 ps, then 12 bytes are 6 ps: loads
    (6, 48). All-Gather in the reverse order takes the same.
    """
    rates = {"reduction_bandwidth_Bps": None if reduction is None else reduction * 10**12}
    dims = [dimension(4, bandwidth, latency, **rates) for bandwidth, latency in zip((2, 1), latencies_ps, strict=True)]
    return Instance(network(*dims), collective, 256, 4, occupancy)


def exactly(num_chunks: int, sizes: Sizing = EQUAL) -> BoundScope:
    return BoundScope(sizes, num_chunks, num_chunks)


def weights(*parts: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(part, sum(parts)) for part in parts)


def random_weights(random: Random, instance: Instance) -> tuple[Fraction, ...]:
    """Return any certificate, often one on the edge."""
    parts = [random.choice([0, 1, random.randint(1, 1000)]) for _ in instance.network.dimensions]
    parts = [part if k in instance.involved else 0 for k, part in enumerate(parts)]
    if not any(parts):
        parts[random.choice(instance.involved)] = 1
    return weights(*parts)


# Weights 2/3 and 1/3 make both orders equally long: (2·24 + 12)/3 = (2·6 + 48)/3 = 20 ps per chunk and phase.
# With latencies of 1 and 2 ps every order is longer by (2·1 + 2)/3 = 4/3 ps per phase if they are held (exclusive).
@pytest.mark.parametrize(
    ("collective", "occupancy", "latencies_ps", "scope", "expected_ps"),
    [
        (RS, EXCLUSIVE, (0, 0), exactly(4), 80),  # 4 chunks · 20
        (AG, EXCLUSIVE, (0, 0), exactly(4), 80),
        (AR, EXCLUSIVE, (0, 0), exactly(4), 160),  # two phases: also the ideal, 2·256·(15/16)/(2+1)
        (AR, EXCLUSIVE, (1, 2), exactly(4), 171),  # 160 + 4·2·4/3 = 170 2/3
        (AR, PIPELINED, (1, 2), exactly(4), 162),  # 160 + 4/3, once
        (RS, PIPELINED, (1, 2), exactly(4), 82),  # 80 + 4/3, once
        (AR, EXCLUSIVE, (0, 0), exactly(4, FREE), 156),  # 160, less half a picosecond per chunk and phase
        (AR, EXCLUSIVE, (1, 2), exactly(4, FREE), 167),  # 160 + 10 2/3 - 4
        (AR, PIPELINED, (1, 2), exactly(4, FREE), 158),  # 160 + 4/3 - 4
        (RS, PIPELINED, (1, 2), exactly(4, FREE), 80),  # 80 + 4/3 - 2
        # Three chunks of 85 bytes. Reduce-Scatter, dim1 first: 63.75/2 = 31.875, rounded 32, and 15.9375, rounded 16;
        # dim2 first: 63.75, rounded 64, and 7.96875, rounded 8. So 3·(2·32 + 16)/3 = 3·(2·8 + 64)/3 = 80.
        (RS, EXCLUSIVE, (0, 0), exactly(3), 80),
        # A range counts as its weakest number. Latency is paid least often with one chunk: 160 + 2·4/3 = 162 2/3 ...
        (AR, EXCLUSIVE, (1, 2), BoundScope(EQUAL, 1, 4), 163),
        # ... 160 + 8/3 - 1 = 161 2/3 against 166 2/3 with four ...
        (AR, EXCLUSIVE, (1, 2), BoundScope(FREE, 1, 4), 162),
        # ... and without latency the rounding is worst with most chunks: 159 against 156.
        (AR, EXCLUSIVE, (0, 0), BoundScope(FREE, 1, 4), 156),
        # Of 170 chunks each has 1 byte: 0.375, 0.1875, 0.75 and 0.09375 ps are rounded to 0, 0, 1 and 0.
        (AR, EXCLUSIVE, (0, 0), BoundScope(EQUAL, 1, 170), 0),
    ],
)
def test_by_hand(
    collective: Collective, occupancy: Occupancy, latencies_ps: tuple[int, int], scope: BoundScope, expected_ps: int
) -> None:
    instance = four_by_four(collective, occupancy, latencies_ps)
    assert certified_bound_ps(instance, weights(2, 1), scope) == expected_ps


@pytest.mark.parametrize(
    ("certificate", "expected_ps"),
    [
        (weights(1, 0), 48),  # dim1 alone: every chunk goes there last, 4·2·6
        (weights(0, 1), 96),  # dim2 alone: 4·2·12
        (weights(1, 1), 144),  # (24 + 12)/2 = 18 and (6 + 48)/2 = 27: dim1 first, 4·2·18
        (weights(3, 1), 132),  # (3·24 + 12)/4 = 21 and (3·6 + 48)/4 = 16.5: dim2 first, 4·2·16.5
    ],
)
def test_other_weights_prove_less(certificate: tuple[Fraction, ...], expected_ps: int) -> None:
    assert certified_bound_ps(four_by_four(), certificate, exactly(4)) == expected_ps


def test_reduction_makes_the_phases_differ() -> None:
    # Reducing 1 byte/ps adds 1 ps per byte to Reduce-Scatter. dim1 first: 24 + 48 and 12 + 12, loads (72, 24); dim2
    # first: 6 + 12 and 48 + 48, loads (18, 96). Weights 4/7, 3/7: (4·72 + 3·24)/7 = (4·18 + 3·96)/7 = 360/7.
    # All-Gather is as before: (4·24 + 3·12)/7 = 132/7 < (4·6 + 3·48)/7 = 168/7. 4·492/7 = 281 1/7.
    assert certified_bound_ps(four_by_four(reduction=1), weights(4, 3), exactly(4)) == 282


def test_all_to_all_has_no_other_order() -> None:
    # 64·3/4 = 48 bytes on both: 24 and 48 ps per chunk. Nothing is gained by weights: dim2 alone proves most.
    assert certified_bound_ps(four_by_four(A2A), weights(0, 1), exactly(4)) == 4 * 48
    assert certified_bound_ps(four_by_four(A2A), weights(1, 1), exactly(4)) == 4 * 36


def test_the_instance_s_own_number_of_chunks_does_not_matter() -> None:
    instance = four_by_four(latencies_ps=(1, 2))
    assert certified_bound_ps(instance, weights(2, 1), exactly(1)) == 163  # 160 + 2·4/3, not 171


@pytest.mark.parametrize(
    ("certificate", "message"),
    [
        ((Fraction(1),), "certificate has 1 weights; the network has 3 dimensions"),
        ((Fraction(-1, 3), Fraction(0), Fraction(4, 3)), r"certificate\[0\] is -1/3; weights must not be negative"),
        ((Fraction(1, 2), Fraction(1, 2), Fraction(0)), r"certificate\[1\] is 1/2, but dim2 is not involved"),
        ((Fraction(1, 2), Fraction(0), Fraction(1, 3)), "adds up to 5/6; the weights must add up to exactly 1"),
        ((Fraction(1, 2), Fraction(0), Fraction(2, 3)), "adds up to 7/6; the weights must add up to exactly 1"),
    ],
)
def test_what_is_no_certificate(certificate: tuple[Fraction, ...], message: str) -> None:
    instance = Instance(network(dimension(4), dimension(1), dimension(2)), AR, 64, 1)
    with pytest.raises(InputError, match=message):
        certified_bound_ps(instance, certificate, exactly(1))


@pytest.mark.parametrize("counts", [(0, 1), (2, 1), (1, 257)])
@pytest.mark.parametrize("sizes", list(Sizing))
def test_a_scope_without_schedules(sizes: Sizing, counts: tuple[int, int]) -> None:
    with pytest.raises(InputError, match=r"must be a range within 1 to 256"):
        certified_bound_ps(four_by_four(), weights(2, 1), BoundScope(sizes, *counts))


def test_equal_chunks_of_few_bytes_count_every_byte() -> None:
    # Two switches of 2 NPUs, 1 and 2 byte/ns, no latency: Reduce-Scatter of s bytes with dim1 first takes s/2 ns there
    # and s/8 ns on dim2, and with dim2 first s/4 and s/4. Weights 1/3 and 2/3 make both 0.25·s ns. Of 26 bytes in 16
    # chunks (B1) sees 16 chunks of 1 byte, 16·250 ps; (B2) all 26 bytes, less half a picosecond per chunk.
    instance = Instance(network(dimension(2, Fraction(1, 1000)), dimension(2, Fraction(2, 1000))), RS, 26, 16)
    assert certified_bound_ps(instance, weights(1, 2), exactly(16)) == 26 * 250 - 8
    # 32 bytes leave nothing over: (B1) is 16·500 ps, and rounding takes nothing from it.
    even = Instance(instance.network, RS, 32, 16)
    assert certified_bound_ps(even, weights(1, 2), exactly(16)) == 8000


@pytest.mark.parametrize(("size_bytes", "num_chunks"), [(26, 16), (33, 32), (100, 64), (1001, 10)])
@pytest.mark.parametrize("occupancy", list(Occupancy))
def test_no_equal_chunks_beat_what_holds_for_any_sizes(size_bytes: int, num_chunks: int, occupancy: Occupancy) -> None:
    dims = network(dimension(4, Fraction(1, 1000)), dimension(2, Fraction(2, 1000)), dimension(2, Fraction(1, 3000)))
    instance = Instance(dims, AR, size_bytes, num_chunks, occupancy)
    equal, free = (quick_bounds(instance, exactly(num_chunks, sizes))[0].value_ps for sizes in (EQUAL, FREE))
    assert equal >= free


@settings(max_examples=150, deadline=None)
@given(randoms())
def test_agrees_with_trying_all_orders(random: Random) -> None:
    instance = random_instance(random)
    certificate = random_weights(random, instance)
    most = min(instance.size_bytes, 6)
    least = random.randint(1, most)
    scope = BoundScope(random.choice(list(Sizing)), least, random.choice([least, random.randint(least, most)]))
    assert certified_bound_ps(instance, certificate, scope) == plain_certified(instance, certificate, scope)


@pytest.mark.parametrize("seed", range(60))
def test_nothing_proves_more_than_the_optimum(seed: int) -> None:
    random = Random(seed)
    instance = tiny_instance(random)
    scope = exactly(instance.num_chunks)
    optimum = optimum_ps(instance)
    assert critical_path_bound(instance, scope).value_ps <= optimum
    for _ in range(5):
        assert certified_bound_ps(instance, random_weights(random, instance), scope) <= optimum


@pytest.mark.parametrize("seed", range(60))
def test_nothing_proves_more_than_any_sizes_allow(seed: int) -> None:
    random = Random(seed)
    instance = tiny_instance(random)
    scope = exactly(instance.num_chunks, FREE)
    cuts = [0, *sorted(random.sample(range(1, instance.size_bytes), instance.num_chunks - 1)), instance.size_bytes]
    optimum = optimum_ps(instance, [end - start for start, end in pairwise(cuts)])
    assert critical_path_bound(instance, scope).value_ps <= optimum
    for _ in range(5):
        assert certified_bound_ps(instance, random_weights(random, instance), scope) <= optimum


@pytest.mark.parametrize("num_bytes", range(2, 9))
@pytest.mark.parametrize("occupancy", list(Occupancy))
def test_rounding_down_is_allowed_for(num_bytes: int, occupancy: Occupancy) -> None:
    # Bytes so few that every stage is rounded: 1 byte on dim1 first is 1.5 ps, then 0.25. The optimum is over all
    # sizes of two chunks.
    instance = Instance(network(dimension(4, Fraction(1, 2)), dimension(2, 1)), AR, num_bytes, 2, occupancy)
    optimum = min(optimum_ps(instance, (first, num_bytes - first)) for first in range(1, num_bytes // 2 + 1))
    for certificate in (weights(1, 2), weights(1, 1), weights(2, 1), weights(1, 0)):
        assert certified_bound_ps(instance, certificate, exactly(2, FREE)) <= optimum


def test_critical_path_by_hand() -> None:
    # The fastest order of a 64-byte chunk is dim1 first, 24 + 12 ps per phase; with latencies of 1 and 2 ps, 3 more.
    bound = critical_path_bound(four_by_four(latencies_ps=(1, 2)), exactly(4))
    assert (bound.value_ps, bound.kind, bound.scope) == (78, BoundKind.CRITICAL_PATH, exactly(4))
    assert bound.certificate is None
    # Of 3 chunks one has 86 bytes: 64.5/2 = 32.25 -> 32, 21.5·3/4 = 16.125 -> 16, twice.
    assert critical_path_bound(four_by_four(), exactly(3)).value_ps == 96
    # Anything from 1 to 4 chunks: at least one has a quarter of the bytes.
    assert critical_path_bound(four_by_four(), BoundScope(EQUAL, 1, 4)).value_ps == 72


@settings(max_examples=60, deadline=None)
@given(randoms())
def test_critical_path_agrees_with_trying_all_orders(random: Random) -> None:
    instance = random_instance(random)
    scope = exactly(instance.num_chunks, random.choice(list(Sizing)))
    assert critical_path_bound(instance, scope).value_ps == plain_critical_path(instance, scope)
