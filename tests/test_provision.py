"""Splitting a bandwidth budget: what no split can do without, and an answer never slower than the shipped split."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from random import Random

import pytest
from conftest import CommandLine
from hypothesis import given, settings
from strategies import dimension, network, random_instance, random_schedule, randoms

import themis_opt
from themis_opt.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.chunking import ChunkingChoice, make_chunking
from themis_opt.cli.main import cli
from themis_opt.collective import Collective
from themis_opt.designing import further_counts
from themis_opt.designing.budget import Budget
from themis_opt.designing.provisioning import Provisioned, make_budget, provision
from themis_opt.designing.split_search import SolvedSplit
from themis_opt.errors import InputError
from themis_opt.instance import Instance, Occupancy
from themis_opt.interruption import INTERRUPTION
from themis_opt.simulator import simulate
from themis_opt.solving.bounds import quick_bounds
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import SolverParams
from themis_opt.solving.run import Outcome, run_solver

RS = Collective.REDUCE_SCATTER
PS_PER_S = 10**12
FREE = ChunkingChoice(Sizing.FREE, 6)


def two_dimensions(latency_ps: int = 0, **fields: object) -> Instance:
    """Return a Reduce-Scatter of 4000 bytes on two dimensions of 2 NPUs with 1 byte/ps each."""
    dimensions = dimension(2, latency_ps=latency_ps), dimension(2)
    return Instance(network(*dimensions), RS, 4000, 1, **fields)  # type: ignore[arg-type]


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Run the command line here, in an empty folder; errors come as exceptions."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> None:
        with cli.make_context("themis-opt", list(arguments)) as context:
            cli.invoke(context)

    yield run
    INTERRUPTION.reset()


# Whatever is visited first sends 2000 bytes, the other one 1000. The budget is 2 bytes/ps at cost 1. Less half a
# picosecond that rounding can take away, a whole number is left.
@pytest.mark.parametrize(
    ("costs", "latency_ps", "num_chunks", "occupancy", "least_ps"),
    [
        ((1, 1), 0, 1, "exclusive", 1500),  # 3000 bytes at 2 bytes/ps, split at will
        ((1, 3), 0, 1, "exclusive", 2500),  # 2000·1 + 1000·3 = 5000, and not 1000·1 + 2000·3
        ((3, 1), 0, 1, "exclusive", 2500),
        # dim1 has T - 4·500 for its bytes: 1000/(T - 2000) + 2000/T = 2 at T = 2500 + 500·√5 = 2780.8 (T² - 3500·T +
        # 2000² = 0 has the roots 1750 ± √(1750² - 2000·1000)); 2000/(T - 2000) + 1000/T = 2 only at 3186.
        ((1, 1), 500, 4, "exclusive", None),
        # Pipelined, latency is paid once: 1000/(T - 500) + 2000/T = 2.
        ((1, 1), 500, 4, "pipelined", None),
    ],
)
def test_the_least_time_of_any_split(
    costs: tuple[int, int], latency_ps: int, num_chunks: int, occupancy: Occupancy, least_ps: int | None
) -> None:
    instance = two_dimensions(latency_ps, occupancy=occupancy)
    budget = Budget(instance, dict(enumerate(map(Fraction, costs))), Fraction(2 * PS_PER_S))
    found = budget.least_time_ps(num_chunks)
    if least_ps is None:
        held = latency_ps * (num_chunks if occupancy == "exclusive" else 1)
        # The least T > held with 1000/(T - held) + 2000/T ≤ 2: T² - (held + 1500)·T + 1000·held = 0.
        half = (held + 1500) / 2
        least_ps = round(half + (half**2 - 1000 * held) ** 0.5)
    assert least_ps - num_chunks / 2 - 1 <= found <= least_ps


def test_the_least_time_is_exact_where_floating_point_is_not() -> None:
    """The time is 3/4 of the size at 2 bytes/ps; of 1.5·10^18 ps a float knows 64 ps at best."""
    for extra in range(4):
        size = 4 * 10**18 + extra
        budget = make_budget(replace(two_dimensions(), size_bytes=size))
        least = -(-3 * size // 8)
        assert least - 1 <= budget.least_time_ps(1) <= least


@given(randoms())
@settings(max_examples=80)
def test_no_schedule_on_any_split_is_faster(random: Random) -> None:
    """Reduction time, launch overhead, both occupancies, subsets, every collective, any sizes and sequences."""
    instance = random_instance(random)
    instance = replace(instance, chunk_overhead_ps=random.choice([0, 0, random.randrange(1000)]))
    costs = {k: Fraction(random.randint(1, 5), random.randint(1, 5)) for k in instance.involved}
    budget = make_budget(instance, None, costs)
    split = budget.scaled({k: Fraction(random.randint(1, 100)) for k in instance.involved})
    schedule = random_schedule(random, budget.on(split))
    makespan_ps = simulate(schedule.instance, schedule).makespan_ps
    assert budget.least_time_ps(schedule.num_chunks, schedule.sizing) <= makespan_ps
    assert budget.shortest_chunk_ps(schedule.num_chunks) <= makespan_ps
    counts = range(1, schedule.num_chunks + 1)
    assert budget.least_time_over_ps(counts, Sizing.FREE) <= makespan_ps


@given(randoms())
@settings(max_examples=60)
def test_the_leanest_split_reaches_the_least_time(random: Random) -> None:
    """Where neither reduction nor launches take time, its fluid bound is that, but for rounding and floating point."""
    instance = random_instance(random)
    dimensions = tuple(replace(entry, reduction_bandwidth_Bps=None) for entry in instance.network.dimensions)
    instance = replace(instance, network=replace(instance.network, dimensions=dimensions), size_bytes=10**9)
    budget = make_budget(instance, None, {k: Fraction(random.randint(1, 5)) for k in instance.involved})
    split = budget.leanest_split(instance.num_chunks)
    assert budget.price_Bps(split) == budget.total_Bps
    scope = BoundScope(Sizing.FREE, instance.num_chunks, instance.num_chunks)
    fluid = next(bound for bound in quick_bounds(budget.on(split), scope) if bound.kind == BoundKind.FLUID)
    least_ps = budget.least_time_ps(instance.num_chunks)
    assert fluid.value_ps == pytest.approx(least_ps, rel=1e-6, abs=5)


def test_a_single_chunk_cannot_be_faster_than_its_path() -> None:
    """At equal bandwidths it takes 2000 + 1000 ps; best is a ratio of √2 to 1: (√2000 + √1000)²/2 = 2914 ps."""
    budget = make_budget(two_dimensions())
    assert budget.shortest_chunk_ps(1) == int(2914.21 - 1)
    assert budget.least_time_over_ps(range(1, 2), Sizing.FREE) == 2913
    best = budget.scaled({0: Fraction(1_414_213, 10**6), 1: Fraction(1)})
    assert themis_opt.schedule(budget.on(best), "baseline").makespan_ps == 2914


def test_splits_use_the_budget_up_and_round_ones_stay_below() -> None:
    instance = Instance(themis_opt.load_network("4d-ring-sw-sw-sw"), num_chunks=7)
    budget = make_budget(instance, Fraction(600 * 10**9), {0: Fraction(2), 3: Fraction(1, 2)})
    assert budget.price_Bps(budget.shipped) == (2 * 250 + 200 + 100 + 25) * 10**9
    for split in (budget.scaled(budget.shipped), budget.leanest_split(7), budget.evenest_split(7)):
        assert budget.price_Bps(split) == 600 * 10**9
        rounded = budget.rounded(split)
        assert all(bandwidth % 10**6 == 0 for bandwidth in rounded.values())
        assert 600 * 10**9 - 5 * 10**6 < budget.price_Bps(rounded) <= 600 * 10**9
    tiny = budget.rounded({0: Fraction(10**12), 1: Fraction(12_345_678, 1)})
    assert tiny[1] == 12_345_000  # a thousand of the unit at least


def test_the_evenest_split_is_what_all_orders_send_on_average() -> None:
    sizes = (2, 4, 3)
    mean = dict.fromkeys(range(3), Fraction(0))
    for order in permutations(range(3)):
        left = Fraction(240)
        for k in order:
            mean[k] += left * (sizes[k] - 1) / sizes[k] / 6
            left /= sizes[k]
    split = make_budget(Instance(network(*map(dimension, sizes)), RS, 240, 1)).evenest_split(1)
    for k in (1, 2):
        assert float(split[k] / split[0]) == pytest.approx(float(mean[k] / mean[0]))


def test_an_over_provisioned_network_is_mended_and_the_gain_confirmed() -> None:
    """dim1 has 20 times the bandwidth of dim2, and can make use of at most 4 times as much."""
    shipped = network(dimension(4, Fraction(1, 5), 10**5), dimension(4, Fraction(1, 100), 10**5))
    instance = Instance(shipped, size_bytes=10**6)
    result = provision(instance, choice=FREE, params=SolverParams(0.5, 2, gap=1e-4))
    assert result.is_worth_it
    assert result.answer is result.proposed
    assert result.is_prediction_confirmed
    assert result.answer.makespan_ps < 0.9 * result.shipped.makespan_ps
    assert result.budget.price_Bps(result.answer.bandwidths) <= result.budget.total_Bps
    assert result.most_gain is not None
    assert result.confirmed_gain <= result.most_gain
    schedule = result.answer.schedule
    assert simulate(result.answer.instance, schedule).makespan_ps == result.answer.makespan_ps


def test_where_nothing_can_be_gained_nothing_else_is_solved() -> None:
    """Without latency the bandwidths of the worked example are always busy: any split's bound is the same."""
    instance = Instance(network(dimension(4, 2), dimension(4, 1)), size_bytes=10**6)
    result = provision(instance, choice=FREE, params=SolverParams(2.0, 2, gap=1e-4))
    assert result.num_solved == 1
    assert result.most_gain is not None
    assert result.most_gain <= 1e-3
    assert result.answer is result.shipped


def test_one_dimension_gets_everything() -> None:
    instance = Instance(network(dimension(4), dimension(1)), size_bytes=10**6, num_chunks=2)
    result = provision(instance, total_Bps=Fraction(3 * PS_PER_S), params=SolverParams(0.5, 1))
    assert result.answer.bandwidths == {0: 3 * PS_PER_S}
    assert result.num_solved == 1


def test_all_to_all_has_one_order_and_one_best_split() -> None:
    """Its bytes are fixed, 3/4 of the size on either: whatever the shipped split, equal bandwidths are best."""
    instance = Instance(network(dimension(4, 9), dimension(4, 1)), Collective.ALL_TO_ALL, 10**8, 16)
    budget = make_budget(instance)
    assert budget.leanest_split(16)[0] == pytest.approx(float(budget.leanest_split(16)[1]))
    result = provision(instance, params=SolverParams(0.4, 2))
    assert result.confirmed_gain > 3


def solved(instance: Instance, makespan_ps: int) -> SolvedSplit:
    made = themis_opt.schedule(instance, "baseline")
    (bound, *_) = quick_bounds(instance, BoundScope(Sizing.EQUAL, 1, 1))
    return SolvedSplit(instance, replace(made, makespan_ps=makespan_ps, bound=bound), 1.0, makespan_ps)


def test_what_solving_does_not_confirm_is_not_proposed() -> None:
    instance = two_dimensions()
    other = replace(instance, network=network(dimension(2, 2), dimension(2, Fraction(1, 2))))
    budget = make_budget(instance)
    slower = Provisioned(budget, solved(instance, 3000), solved(other, 2999), 1500, 3, 1.0)
    assert slower.answer is slower.shipped
    assert slower.network.dimensions[0].bandwidth_Bps == PS_PER_S
    faster = Provisioned(budget, solved(instance, 3000), solved(other, 2990), 1500, 3, 1.0)
    assert faster.answer is faster.proposed
    assert faster.network.dimensions[0].bandwidth_Bps == 2 * PS_PER_S
    assert faster.network.name == "test-provisioned"
    assert "before: 1 TB/s" in faster.network.dimensions[0].note


@pytest.mark.parametrize(
    ("shipped_bound_ps", "predicted", "is_confirmed"),
    [
        (2990, 2990 / 2500 - 1, True),  # 0.33 % off: the ratio of the bounds, and 3000/2510 was found
        (2900, 3000 / 2500 - 1, True),  # 3.4 % off says nothing; the makespan stands for it
    ],
)
def test_predictions_rest_on_bounds_that_are_tight(shipped_bound_ps: int, predicted: float, is_confirmed: bool) -> None:
    instance = two_dimensions()
    shipped = replace(solved(instance, 3000), expected_ps=shipped_bound_ps)
    result = Provisioned(
        make_budget(instance), shipped, replace(solved(instance, 2510), expected_ps=2500), 1500, 3, 1.0
    )
    assert result.predicted_gain == pytest.approx(predicted)
    assert result.bounds_gain == pytest.approx(shipped_bound_ps / 2500 - 1)
    assert result.is_prediction_confirmed is is_confirmed
    loose = replace(result, proposed=replace(solved(instance, 2510), expected_ps=2400))
    assert not loose.is_prediction_confirmed


@pytest.mark.parametrize(
    ("first_bound_ps", "counts_tried"),
    [
        (4000, [None, 3, 4, 5, 6]),  # 5500 ps with two chunks are far above their bound
        (5490, [None]),
    ],
)
def test_a_bound_that_was_left_far_away_is_followed_by_larger_numbers_of_chunks(
    first_bound_ps: int, counts_tried: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Makespan and bound for each number of chunks are scripted; the true bounds are some 1500 ps."""
    instance = two_dimensions()
    script = {None: (2, 5500, first_bound_ps), 3: (3, 5000, 4900), 4: (4, 5010, 5005), 5: (5, 6000, 6000)}
    tried: list[int | None] = []

    def run(instance: Instance, process: object, solver: str, params: SolverParams) -> Outcome:
        assert params.chunking is not None
        count = params.chunking.min_chunks if params.chunking.has_fixed_count else None
        tried.append(count)
        num_chunks, makespan_ps, bound_ps = script.get(count, (6, 7000, 7000))
        made = themis_opt.schedule(replace(instance, num_chunks=num_chunks), "baseline")
        bound = Bound(bound_ps, BoundKind.FLUID, BoundScope(Sizing.FREE, num_chunks, num_chunks))
        return Outcome(replace(made, makespan_ps=makespan_ps, bound=bound), wall_s=1.0)

    monkeypatch.setattr(further_counts, "run_solver", run)
    chunking = make_chunking(instance, Sizing.FREE, 6)
    process: SolverProcess = None  # type: ignore[assignment]
    solved = further_counts.solve_with_further_counts(instance, process, "auto", SolverParams(chunking=chunking))
    assert tried == counts_tried
    assert solved.best.wall_s == len(tried)
    if len(tried) > 1:
        assert solved.schedule.makespan_ps == 5000
        assert solved.expected_ps == 5005  # of four chunks: as good to within 0.75 %
    else:
        assert (solved.schedule.makespan_ps, solved.expected_ps) == (5500, 5490)


@pytest.mark.parametrize("place", ["split_search", "further_counts"])
def test_a_signal_between_two_splits_keeps_what_was_found(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signals are held while a schedule is judged, and a solver call begins with letting them through."""
    instance = Instance(network(dimension(4, 5, 10**5), dimension(4, 1, 10**5)), size_bytes=10**8)
    calls: list[str] = []

    def run(*arguments: object) -> Outcome:
        calls.append(place)
        if place == "split_search" or len(calls) > 1:
            raise KeyboardInterrupt
        outcome = run_solver(*arguments)  # type: ignore[arg-type]
        bound = Bound(1, BoundKind.FLUID, BoundScope(Sizing.FREE, 2, 2))  # so loose that more chunks are tried
        return replace(outcome, schedule=replace(outcome.schedule, bound=bound))

    monkeypatch.setattr(f"themis_opt.designing.{place}.run_solver", run)
    try:
        result = provision(instance, choice=FREE, params=SolverParams(0.3, 2, gap=1e-4))
    finally:
        INTERRUPTION.reset()
    assert isinstance(result.interruption, KeyboardInterrupt)
    assert result.answer is result.shipped
    assert len(calls) == (1 if place == "split_search" else 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--budget", "0GB/s"], "--budget: '0GB/s' is not allowed; it must be above zero"),
        (["--budget", "600"], "--budget: '600' has no unit"),
        (["--budget", "-1GB/s"], "--budget: '-1GB/s' is not a bandwidth"),
        (["--cost", "dim3=2"], "dim3 has a cost, and the network has dim1 to dim2"),
        (["--cost", "dim1=-2"], "--cost: 'dim1=-2' is not allowed; a cost must be above zero"),
        (["--cost", "dim1=0"], "a cost must be above zero"),
        (["--cost", "dim0=1"], "'dim0=1' is no cost of a dimension; write it as dim1=2"),
        (["--cost", "dim1"], "'dim1' is no cost of a dimension"),
        (["--cost", "dim1=1e400"], "'1e400' is not a number"),
        (["--cost", "dim1=nan"], "'nan' is not a number"),
        (["--cost", "dim1=1,dim1=2"], "--cost: dim1 has two costs"),
        (["--dimensions", "0", "--cost", "dim2=2"], "dim2 has a cost, but takes no part in the collective"),
        (["--solver", "none"], "provision needs a solver"),
        (["--size", "1MB,2MB"], "make 2 instances"),
        (["-o", "nowhere/net.yaml"], "there is no folder"),
    ],
)
def test_bad_arguments(arguments: list[str], message: str, invoke: Callable[..., None]) -> None:
    with pytest.raises(InputError) as told:
        invoke("provision", "2d-sw-sw", *arguments)
    assert message in str(told.value)


def test_the_command_writes_a_network_that_can_be_used(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    done = themis_opt_command(
        "provision", "hgx-h100-256", "--budget", "1TB/s", "--cost", "dim2=2", "--time-limit", "200ms",
        "--sizes", "free", "--chunks", "3", "-o", "better.yaml", "--json", "figures.json",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["format"] == "themis-opt/provision/1"
    shipped, proposed = figures["shipped"], figures["proposed"]
    assert proposed["makespan_ps"] < shipped["makespan_ps"]
    # 450 and 50 GB/s cost 550 GB/s: the shipped proportions at 1 TB/s are 818.18 and 90.909 GB/s.
    assert [entry["bandwidth_Bps"] for entry in shipped["bandwidths"]] == [818_181_000_000, 90_909_000_000]
    better = themis_opt.load_network(tmp_path / "better.yaml")
    assert better.name == "hgx-h100-256-provisioned"
    assert "themis-opt provision" in better.note
    assert better.dimensions[0].links is None
    assert [float(entry.bandwidth_Bps) for entry in better.dimensions] == [
        entry["bandwidth_Bps"] for entry in proposed["bandwidths"]
    ]
    assert better.dimensions[0].bandwidth_Bps + 2 * better.dimensions[1].bandwidth_Bps <= 10**12
    assert "gain predicted " in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["3d-fc-ring-sw", "2d-current", "gb200-nvl72-576"])
def test_shipped_networks(name: str) -> None:
    instance = Instance(themis_opt.load_network(name))
    result = provision(instance, choice=ChunkingChoice(Sizing.FREE, 16), params=SolverParams(3.0, 2, gap=1e-4))
    assert result.answer.makespan_ps <= result.shipped.makespan_ps
    assert result.budget.price_Bps(result.answer.bandwidths) <= result.budget.total_Bps
    assert result.is_prediction_confirmed
