"""The portfolio solver: true schedules and bounds whatever may be chosen, and nothing better where all can be tried."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from brute_force import optimum_ps
from command_line import CommandLine
from themis_models.auto.best import Best
from themis_models.auto.equal import STARTS, EqualSearch
from themis_models.auto.free import FreeSearch
from themis_models.auto.portfolio import solve_auto
from themis_models.cp_sat.cp_sat_solver import solve_cp_sat
from themis_models.milp.milp_solver import solve_milp
from themis_models.search.space import search_space

import themis_opt
from themis_opt.judging.execution import execute
from themis_opt.judging.validator import check, validate
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.chunking import Chunking, make_chunking
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError, SolverError
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.network import Algorithm, Dimension, Network, Topology
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.proof.certificate import certified_bound_ps
from themis_opt.schedulers.registry import get_scheduler
from themis_opt.solving.bounds import best_bound, bound_over_counts, quick_bounds
from themis_opt.solving.incumbent import Incumbent
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import Solver, SolverParams
from themis_opt.solving.run import run_solver
from themis_opt.solving.starts import starting_schedules
from themis_opt.timing.sequencing import simulate

FOREVER = 10.0**9
PATIENCE_S = 60.0
"""How long a limit of a second may take on a machine that is busy with other things."""

SMALL = Network(
    "small",
    (
        Dimension(Topology.SWITCH, 4, Fraction(10**11), Fraction(700_000)),
        Dimension(Topology.RING, 3, Fraction(3 * 10**10), Fraction(20_000), reduction_bandwidth_Bps=Fraction(10**11)),
        Dimension(Topology.FULLY_CONNECTED, 2, Fraction(10**10), Fraction(1_500_000)),
    ),
)


def ignore(progress: object) -> None:
    """Listen to nothing."""


@pytest.mark.parametrize("kind", ["equal", "free", "equal count", "free count"])
@pytest.mark.parametrize("occupancy", list(Occupancy))
@pytest.mark.parametrize("collective", list(Collective))
def test_what_comes_back_is_true(collective: Collective, occupancy: Occupancy, kind: str) -> None:
    subset = (0, 2) if kind.startswith("free") else None
    instance = Instance(SMALL, collective, 5_000_001, 4, occupancy, subset)
    sizing = Sizing.FREE if kind.startswith("free") else Sizing.EQUAL
    chunking = make_chunking(instance, sizing, 5 if kind.endswith("count") else None)
    hints = tuple(hint for _, hint in starting_schedules(instance, chunking, 0))
    result = solve_auto(instance, SolverParams(0.2, seed=1, hints=hints, chunking=chunking, gap=1e-3))
    assert result.schedule is not None
    assert result.bound is not None
    schedule = result.schedule.replace(instance=instance, bound=result.bound, status=result.status)
    check(instance, schedule)
    assert schedule.makespan_ps == simulate(instance, schedule).makespan_ps
    assert chunking.allows(instance, [chunk.size_bytes for chunk in schedule.chunks])
    assert execute(instance, schedule).num_chunks == schedule.num_chunks
    bound = best_bound([result.bound, *quick_bounds(instance, chunking.scope(schedule.num_chunks))])
    assert bound.scope == chunking.scope(schedule.num_chunks)
    assert bound.certificate is not None
    proven = certified_bound_ps(instance, bound.certificate, bound.scope)
    assert bound.certified_ps == proven
    assert proven <= bound.value_ps <= (schedule.makespan_ps or 0)
    assert (result.status is Status.OPTIMAL) == (bound.value_ps == schedule.makespan_ps)


def tiny_instance(seed: int) -> tuple[Instance, int]:
    """Two dimensions, two chunks (All-Reduce) or three, and a granule of which there are few."""
    drawn = random.Random(seed)
    collective, num_chunks = [
        (Collective.ALL_REDUCE, 2),
        (Collective.REDUCE_SCATTER, 3),
        (Collective.ALL_GATHER, 3),
    ][seed % 3]
    dimensions = []
    for _ in range(2):
        bandwidth_Bps = Fraction(drawn.randint(1, 20) * 10**9, drawn.choice([1, 2, 3]))
        dimensions.append(
            Dimension(
                drawn.choice(list(Topology)),
                drawn.randint(2, 5),
                bandwidth_Bps,
                Fraction(drawn.choice([0, 0, drawn.randint(1, 20_000)])),
                Algorithm.BRUCK,
                reduction_bandwidth_Bps=drawn.choice([None, None, bandwidth_Bps * drawn.randint(1, 4)]),
            )
        )
    granule = drawn.randint(20, 60)
    size_bytes = granule * drawn.randint(num_chunks + 2, 10) + drawn.choice([0, drawn.randrange(granule)])
    network = Network("tiny", tuple(dimensions))
    return Instance(network, collective, size_bytes, num_chunks, drawn.choice(list(Occupancy))), granule


def all_sizes(chunking: Chunking, instance: Instance, num_chunks: int) -> Iterator[tuple[int, ...]]:
    """Yield everything a chunking allows with so many chunks, but for the order of the chunks."""
    num_granules, remainder = divmod(instance.size_bytes, chunking.granule_bytes)
    for parts in combinations_with_replacement(range(chunking.min_granules, num_granules + 1), num_chunks):
        if sum(parts) == num_granules:
            for holder in range(num_chunks if remainder else 1):
                yield tuple(part * chunking.granule_bytes + remainder * (c == holder) for c, part in enumerate(parts))


def best_sizes_ps(instance: Instance, chunking: Chunking, num_chunks: int) -> int:
    """Return the least makespan over all sizes, orders and sequences with so many chunks."""
    best_ps = 2**100
    for sizes in all_sizes(chunking, instance, num_chunks):
        assert chunking.allows(instance, sizes)
        best_ps = optimum_ps(instance, sizes, best_ps)
    return best_ps


@pytest.mark.parametrize("seed", [*range(60), *range(100, 106)])
def test_no_orders_sequences_and_sizes_are_better(seed: int) -> None:
    instance, granule = tiny_instance(seed)
    chunking = make_chunking(instance, Sizing.FREE, granule_bytes=granule)
    optimum = best_sizes_ps(instance, chunking, instance.num_chunks)
    bounds = quick_bounds(instance, chunking.scope(instance.num_chunks))
    assert max(bound.value_ps for bound in bounds) <= optimum
    # With 20,000 evaluations four of these instances miss their optimum, with 200,000 none.
    params = SolverParams(600.0, 1, seed, chunking=chunking, bound=best_bound(bounds), max_evaluations=400_000)
    result = solve_auto(instance, params)
    assert result.schedule is not None
    assert result.schedule.makespan_ps == optimum


@pytest.mark.parametrize("sizing", list(Sizing))
@pytest.mark.parametrize("seed", range(9))
def test_a_bound_over_all_counts_is_below_the_best_of_all_counts(seed: int, sizing: Sizing) -> None:
    instance, granule = tiny_instance(seed)
    chunking = make_chunking(instance, sizing, 3 if instance.num_chunks == 3 else 2, granule, granule)
    counts = range(chunking.min_chunks, chunking.max_chunks + 1)
    if sizing is Sizing.FREE:
        optima = {count: best_sizes_ps(instance, chunking, count) for count in counts}
    else:
        optima = {count: optimum_ps(instance, instance.equal_chunk_sizes(count)) for count in counts}
    incumbent = Incumbent(instance, chunking, ignore)
    bound = bound_over_counts(instance, chunking, incumbent.bound_for)
    assert bound.scope == BoundScope(sizing, 1, chunking.max_chunks)
    assert bound.value_ps <= min(optima.values())
    # What is proven of one number of chunks makes the bound better as far as that number is the worst one.
    exact = bound_over_counts(
        instance, chunking, lambda count: Bound(optima[count], BoundKind.OTHER, chunking.scope(count))
    )
    assert bound.value_ps <= exact.value_ps <= min(optima.values())


def test_a_bound_over_all_counts_by_hand() -> None:
    # One dimension of 2 NPUs at 1 byte/ps and 10 ps latency, Reduce-Scatter of 200 bytes: c chunks take 100 + 10 c, and
    # one chunk its critical path of 110. Nothing can be proven of the best number but that: 110, less half a
    # picosecond for rounding and so 110 again, as bounds are rounded up.
    dimensions = (Dimension(Topology.FULLY_CONNECTED, 2, Fraction(10**12), Fraction(10)),)
    instance = Instance(Network("one", dimensions), Collective.REDUCE_SCATTER, 200, 4)
    chunking = make_chunking(instance, Sizing.FREE, 8, 1)
    incumbent = Incumbent(instance, chunking, ignore)
    assert bound_over_counts(instance, chunking, incumbent.bound_for).value_ps == 110
    assert incumbent.bound_for(4).value_ps == 138  # 140, less half a picosecond for each chunk's rounding


@pytest.mark.slow
def test_the_best_number_of_chunks_is_found() -> None:
    instance = Instance(SMALL, Collective.ALL_REDUCE, 3_000_000, 4)
    chunking = make_chunking(instance, Sizing.FREE, 6)
    makespans = []
    for choice in (chunking, *(make_chunking(with_chunks(instance, c), Sizing.FREE) for c in range(1, 7))):
        counted = with_chunks(instance, choice.min_chunks) if choice.has_fixed_count else instance
        evaluations = 10**6 if choice.has_fixed_count else 5 * 10**6
        params = SolverParams(600.0, 1, chunking=choice, gap=1e-3, max_evaluations=evaluations)
        result = solve_auto(counted, params)
        assert result.schedule is not None
        makespans.append(result.schedule.makespan_ps or 0)
    # 114.2, 75.4, 63.1, 58.4, 56.3 and 57.5 µs: five chunks are best.
    assert makespans[0] <= min(makespans[1:]) * 1.005


def with_chunks(instance: Instance, num_chunks: int) -> Instance:
    return Instance(
        instance.network, instance.collective, instance.size_bytes, num_chunks, instance.occupancy, instance.dimensions
    )


def searched_equal(instance: Instance, seed: int) -> Schedule:
    best = Best(instance, 0, FOREVER, ignore)
    hints = [get_scheduler("themis-scf")(instance), get_scheduler("baseline")(instance)]
    EqualSearch(search_space(instance), best, hints, seed, 500_000).run(1, len(STARTS))
    assert best.schedule is not None
    return best.schedule


def searched_free(instance: Instance, seed: int) -> Schedule:
    best = Best(instance, 0, FOREVER, ignore)
    chunking = make_chunking(instance, Sizing.FREE)
    FreeSearch(search_space(instance), instance.num_chunks, chunking, best, seed).run(1, 2)
    assert best.schedule is not None
    return best.schedule


@pytest.mark.parametrize("search", [searched_equal, searched_free])
def test_one_worker_and_one_seed_give_one_schedule(search: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("themis_models.auto.equal.FIRST_STAGES", 300_000)
    monkeypatch.setattr("themis_models.auto.free.STAGES_PER_ANNEALING", 50_000)
    assert callable(search)
    instance = Instance(SMALL, size_bytes=5_000_000, num_chunks=7)
    schedules = [search(instance, seed) for seed in (3, 3, 4)]
    assert schedules[0] == schedules[1]
    assert schedules[0] != schedules[2]


@pytest.mark.parametrize("kind", ["equal", "free", "equal count", "free count"])
def test_the_time_limit_holds(kind: str) -> None:
    # The limit itself is tested, so a clock it is: a second may become a minute on a busy machine, but not no end.
    instance = Instance(themis_opt.load_network("4d-ring-sw-sw-sw"), num_chunks=24)
    sizing = Sizing.FREE if kind.startswith("free") else Sizing.EQUAL
    chunking = make_chunking(instance, sizing, 24 if kind.endswith("count") else None)
    hints = tuple(hint for _, hint in starting_schedules(instance, chunking, 0))
    started = time.monotonic()
    result = solve_auto(instance, SolverParams(1.0, 2, hints=hints, chunking=chunking, gap=0.0))
    assert result.schedule is not None
    assert time.monotonic() - started < PATIENCE_S


def test_rounding_hundreds_of_chunks_leaves_the_time_limit_alone() -> None:
    instance = Instance(themis_opt.load_network("2d-sw-sw"), num_chunks=200)
    chunking = make_chunking(instance, Sizing.FREE)
    hints = tuple(hint for _, hint in starting_schedules(instance, chunking, 0))
    started = time.monotonic()
    result = solve_auto(instance, SolverParams(1.0, 1, hints=hints, chunking=chunking))
    assert result.schedule is not None
    assert result.schedule.num_chunks == 200
    assert time.monotonic() - started < PATIENCE_S


def test_hints_that_are_not_as_asked_for_do_not_count() -> None:
    # So few bytes that latency is all there is, and the fewer chunks the better.
    instance = Instance(SMALL, size_bytes=1000, num_chunks=4)
    hints = tuple(get_scheduler("themis-scf")(with_chunks(instance, count)) for count in (1, 2, 8, 4))
    result = solve_auto(instance, SolverParams(0.2, hints=hints))
    assert result.schedule is not None
    assert result.schedule.num_chunks == 4
    chunking = make_chunking(instance, Sizing.FREE)
    result = solve_auto(instance, SolverParams(0.2, hints=hints, chunking=chunking))
    assert result.schedule is not None
    assert chunking.allows(instance, [chunk.size_bytes for chunk in result.schedule.chunks])


def test_a_bound_for_equal_chunks_says_nothing_of_free_ones() -> None:
    instance = Instance(SMALL, size_bytes=5_000_000, num_chunks=4)
    equal = Bound(1, BoundKind.OTHER, BoundScope(Sizing.EQUAL, 4, 4))
    free = Bound(1, BoundKind.OTHER, BoundScope(Sizing.FREE, 4, 4))
    incumbent = Incumbent(instance, make_chunking(instance, Sizing.FREE), ignore)
    incumbent.tighten(free, "test")
    with pytest.raises(SolverError, match="not for this instance"):
        incumbent.tighten(equal, "test")
    for bound in (equal, free):
        Incumbent(instance, make_chunking(instance), ignore).tighten(bound, "test")


@pytest.mark.parametrize("sizes", [(20, 30), (49, 51), (50, 50, 0), (100,)])
def test_an_incumbent_takes_no_other_sizes(sizes: tuple[int, ...]) -> None:
    instance = Instance(SMALL, size_bytes=100, num_chunks=2, dimensions=(1,))
    chunking = make_chunking(instance, Sizing.FREE, granule_bytes=10)
    schedule = get_scheduler("baseline")(with_chunks(instance, len(sizes)))
    chunks = tuple(
        themis_opt.Chunk(size, chunk.rs_order, chunk.ag_order)
        for size, chunk in zip(sizes, schedule.chunks, strict=True)
    )
    with pytest.raises(SolverError):
        Incumbent(instance, chunking, ignore).offer(schedule.replace(chunks=chunks), "test")


def test_the_library_with_free_sizes_and_counts() -> None:
    instance = Instance(themis_opt.load_network("3d-fc-ring-sw"), size_bytes=10**7, num_chunks=4)
    schedule = themis_opt.solve(instance, sizes="free", max_chunks=4, time_limit_s=1).schedule
    assert validate(instance, schedule) == ()
    assert 1 <= schedule.num_chunks <= 4
    assert schedule.bound is not None
    assert schedule.bound.scope == BoundScope(Sizing.FREE, schedule.num_chunks, schedule.num_chunks)
    assert schedule.bound.value_ps <= (schedule.makespan_ps or 0)
    granule = instance.num_npus * 4
    assert sum(chunk.size_bytes % granule != 0 for chunk in schedule.chunks) <= 1
    heuristics = [themis_opt.schedule(with_chunks(instance, count)).makespan_ps or 0 for count in (1, 2, 4)]
    assert (schedule.makespan_ps or 0) <= min(heuristics)


def test_ctrl_c_keeps_the_best_schedule_so_far() -> None:
    instance = Instance(SMALL, size_bytes=5_000_000, num_chunks=8)

    def interrupt(progress: themis_opt.Progress) -> None:
        if progress.phase == "bounds" or "search" in progress.phase:
            raise KeyboardInterrupt

    chunking = make_chunking(instance, Sizing.FREE)
    with SolverProcess("auto") as process:
        params = SolverParams(3600.0, on_progress=interrupt, chunking=chunking, gap=0.0)
        outcome = run_solver(instance, process, "auto", params)
    assert isinstance(outcome.interruption, KeyboardInterrupt)
    assert validate(instance, outcome.schedule) == ()
    assert outcome.wall_s < 3600  # the limit was not what ended it


@pytest.mark.parametrize(("name", "solve"), [("cp-sat", solve_cp_sat), ("milp", solve_milp)])
def test_solvers_that_cannot_choose_say_so(name: str, solve: Solver) -> None:
    instance = Instance(SMALL, size_bytes=5_000_000, num_chunks=4)
    for chunking in (make_chunking(instance, Sizing.FREE), make_chunking(instance, max_chunks=4)):
        with pytest.raises(InputError, match=f"solver '{name}' schedules a fixed number of equal chunks"):
            solve(instance, SolverParams(1.0, chunking=chunking))


def test_on_the_command_line_too(themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("solve", "2d-sw-sw", "--solver", "cp-sat", "--sizes", "free", "--chunks", "4")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "solver 'cp-sat'" in line
    assert "use the solver 'auto'" in line
    assert done.stdout == ""
