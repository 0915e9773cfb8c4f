"""The heuristics follow their rules, worked out by hand on small networks."""

from __future__ import annotations

from fractions import Fraction

import pytest

from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Dimension, Network, Topology
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.units import PS_PER_S
from themis_opt.schedulers.registry import get_scheduler, scheduler_names, scheduler_summary
from themis_opt.timing.dispatch import dispatch
from themis_opt.timing.policy import DispatchPolicy


def square(bandwidths: tuple[int, int] = (2, 1), latencies_ps: tuple[int, int] = (0, 0)) -> Network:
    """Two switches of 4; a bandwidth of 1 is one byte per microsecond."""
    return Network(
        "square",
        tuple(
            Dimension(Topology.SWITCH, 4, Fraction(bandwidth * 10**6), Fraction(latency))
            for bandwidth, latency in zip(bandwidths, latencies_ps, strict=True)
        ),
    )


def orders(schedule: Schedule, phase: Phase) -> list[tuple[int, ...]]:
    return [schedule.order(chunk, phase) for chunk in range(schedule.num_chunks)]


RS, AG = Phase.REDUCE_SCATTER, Phase.ALL_GATHER


def test_baseline_goes_up_and_down() -> None:
    schedule = get_scheduler("baseline")(Instance(square(), "all-reduce", 64, 2))
    assert orders(schedule, RS) == [(0, 1)] * 2
    assert orders(schedule, AG) == [(1, 0)] * 2


def test_baseline_gathers_downwards() -> None:
    schedule = get_scheduler("baseline")(Instance(square(), "all-gather", 64, 2))
    assert orders(schedule, AG) == [(1, 0)] * 2
    assert schedule.chunks[0].rs_order is None


def test_baseline_astra_runs_the_last_dimension_in_one_piece() -> None:
    schedule = get_scheduler("baseline-astra")(Instance(square(), "all-reduce", 640, 4))
    slots = schedule.sequences[1]
    assert [slots[i : i + 2] for i in range(0, 8, 2)] == [((c, RS), (c, AG)) for c in range(4)]


def test_themis_alternates_when_loads_drift_apart() -> None:
    # Chunks of 64 B on 4 x 4 with bandwidths 2 : 1 [B/us]. A Reduce-Scatter on dim1 first takes 48/2 = 24 us there and
    # 12/1 = 12 us on dim2; on dim2 first 48/1 = 48 us there and 12/2 = 6 us on dim1.
    # Loads: (0, 0): level, baseline -> (24, 12). Threshold on dim2 64/16 * 3/4 / 1 = 3 us < 12: dim2 first -> (30, 60).
    # Then dim1 first -> (54, 72), and again, as 18 is above the threshold of 1.5 us on dim1.
    schedule = get_scheduler("themis-fifo")(Instance(square(), "reduce-scatter", 256, 4))
    assert orders(schedule, RS) == [(0, 1), (1, 0), (0, 1), (0, 1)]


def test_themis_mirrors_the_all_gather_of_an_all_reduce() -> None:
    schedule = get_scheduler("themis-scf")(Instance(square(), "all-reduce", 256, 4))
    assert orders(schedule, AG) == [order[::-1] for order in orders(schedule, RS)]


def test_themis_gathers_on_the_most_loaded_dimension_first() -> None:
    # The mirror of the Reduce-Scatter above: baseline (dim2 first), then by load descending.
    schedule = get_scheduler("themis-fifo")(Instance(square(), "all-gather", 256, 4))
    assert orders(schedule, AG) == [(1, 0), (0, 1), (1, 0), (1, 0)]


def test_themis_starts_from_the_fixed_delays() -> None:
    # dim1 owes 2 phases * 2 steps * 100 us before any byte, so the first chunk already goes to dim2 first.
    network = square(latencies_ps=(PS_PER_S // 10_000, 0))
    schedule = get_scheduler("themis-fifo")(Instance(network, "all-reduce", 256, 4))
    assert orders(schedule, RS)[0] == (1, 0)


def test_themis_leaves_loads_within_the_threshold_alone() -> None:
    # Equal dimensions: loads (48, 12) after the first chunk, 36 apart against a threshold of 3 us, so the second goes
    # the other way, which makes them level at (60, 60): baseline again, and so on.
    schedule = get_scheduler("themis-fifo")(Instance(square((1, 1)), "reduce-scatter", 256, 4))
    assert orders(schedule, RS) == [(0, 1), (1, 0), (0, 1), (1, 0)]


def test_themis_astra_keeps_the_arrangement_of_the_chunk_before() -> None:
    # As above: after two chunks both dimensions have 48 + 12 = 60 bytes, the difference is below the threshold of 4 B
    # and the fallback puts the list back in index order.
    schedule = get_scheduler("themis-astra-fifo")(Instance(square((1, 1)), "reduce-scatter", 256, 4))
    assert orders(schedule, RS) == [(0, 1), (1, 0), (0, 1), (1, 0)]


def test_themis_flex_levels_with_one_large_chunk() -> None:
    # 256 B, nominal 64 B. Chunk 0: baseline; loads in relative bytes: dim1 48, dim2 12 / (1/2) = 24. Least loaded is
    # dim2, needs 24 * (1/2) / (3/4) = 16 B to be level, less than 64: baseline again -> (96, 48), needs 32 B;
    # again -> (144, 72), needs 48 B; again: 256 B are used up.
    schedule = get_scheduler("themis-flex-fifo")(Instance(square(), "reduce-scatter", 256, 4))
    assert [chunk.size_bytes for chunk in schedule.chunks] == [64, 64, 64, 64]
    # With 16 nominal chunks of 16 B: (12, 6) needs 4; (24, 12) 8; (36, 18) 12; (48, 24) needs 24/2/(3/4) = 16 >= 16:
    # a chunk of 16 B, dim2 first.
    schedule = get_scheduler("themis-flex-fifo")(Instance(square(), "reduce-scatter", 256, 16))
    assert orders(schedule, RS)[:5] == [(0, 1)] * 4 + [(1, 0)]
    assert schedule.chunks[4].size_bytes == 16


@pytest.mark.parametrize(
    ("name", "policy", "other"),
    [
        ("themis-flex-fifo", DispatchPolicy.ASTRA_FIFO, DispatchPolicy.FIFO),
        ("themis-flex-scf", DispatchPolicy.ASTRA_SCF, DispatchPolicy.SCF),
    ],
)
def test_themis_flex_queues_as_astra_sim_does(name: str, policy: DispatchPolicy, other: DispatchPolicy) -> None:
    # Chunks of 8 to 19 B that meet: the paper's queues serve some of them in another order.
    instance = Instance(square(), "all-reduce", 1024, 64)
    schedule = get_scheduler(name)(instance)
    assert schedule.sequences == dispatch(instance, schedule.chunks, policy).sequences
    assert schedule.sequences != dispatch(instance, schedule.chunks, other).sequences


def test_round_robin_rotates() -> None:
    network = Network("cube", tuple(Dimension(Topology.RING, 2, Fraction(10**9)) for _ in range(3)))
    schedule = get_scheduler("round-robin")(Instance(network, "all-reduce", 64, 4))
    assert orders(schedule, RS) == [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 1, 2)]
    assert orders(schedule, AG)[1] == (0, 2, 1)


def test_random_depends_on_the_seed_alone() -> None:
    instance = Instance(square(), "all-reduce", 6400, 16)
    random = get_scheduler("random")
    assert random(instance, seed=1) == random(instance, seed=1)
    assert random(instance, seed=1).chunks != random(instance, seed=2).chunks


@pytest.mark.parametrize("name", scheduler_names())
def test_all_to_all_has_one_order(name: str) -> None:
    schedule = get_scheduler(name)(Instance(square(), Collective.ALL_TO_ALL, 640, 4))
    assert {(chunk.rs_order, chunk.ag_order) for chunk in schedule.chunks} == {(None, None)}


@pytest.mark.parametrize("name", scheduler_names())
def test_every_scheduler_says_what_it_is(name: str) -> None:
    assert scheduler_summary(name)


def test_an_unknown_scheduler_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'themis-scf'"):
        get_scheduler("themis_scf")
