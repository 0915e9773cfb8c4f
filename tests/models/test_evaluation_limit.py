"""A limit on evaluations: the same bytes from every run, whatever the clock and the other processes do."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar, cast

import pytest
from command_line import CommandLine
from test_highs import cover
from themis_models.auto import equal, free
from themis_models.auto.best import Best
from themis_models.auto.counts import LOOKS, _one_look
from themis_models.auto.evaluations import Evaluations
from themis_models.auto.portfolio import _is_proven_for_all, _result, _stopped_by, solve_auto
from themis_models.cp_sat.cp_sat_solver import solve_cp_sat
from themis_models.evaluation_limits import num_nodes
from themis_models.few_chunks import NODES_AT_ONCE, explore_sequences
from themis_models.highs import HighsOptions, HighsStatus, solve_with_highs
from themis_models.milp.milp_solver import solve_milp
from themis_models.search.annealing import Cooling, Rules
from themis_models.search.costing import Candidate, Costs

import themis_opt
from themis_opt.cli.main import run as run_command
from themis_opt.files.schedule_file import schedule_text
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.chunking import make_chunking
from themis_opt.problem.errors import InputError, SolverError
from themis_opt.problem.instance import Instance
from themis_opt.problem.parameters import EVALUATIONS
from themis_opt.problem.schedule import Status
from themis_opt.solving.bounds import quick_bounds
from themis_opt.solving.child import pickled, unpickled
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import BOUNDS, SOLVERS, Progress, SolverParams, SolverResult
from themis_opt.solving.result import Ending, Result
from themis_opt.solving.run import run_solver

LIMIT_S = 10.0**6
"""A time limit that no honest clock meets."""

CLOCKS = (
    "themis_opt.solving.run.time",
    "themis_models.auto.best.time",
    "themis_models.auto.few.time",
    "themis_models.auto.portfolio.time",
    "themis_models.cp_sat.cp_sat_solver.time",
    "themis_models.few_chunks.time",
    "themis_models.milp.milp_solver.time",
)


Message = TypeVar("Message")


def sent(message: Message) -> Message:
    """Return what arrives of a message that is sent to another process."""
    return cast(Message, unpickled(pickled(message)))


class LocalProcess:
    """A solver in this process, told and heard as one in a process of its own; its clock can be changed here."""

    def __init__(self, solver: str) -> None:
        self._solver = solver

    def wait_until_ready(self) -> None:
        pass

    def bound(self, name: str, instance: Instance, scope: BoundScope, params: SolverParams) -> Bound | None:
        return BOUNDS.get(name)(instance, scope, sent(params))

    def solve(
        self, instance: Instance, params: SolverParams, on_progress: Callable[[Progress], None]
    ) -> SolverResult | None:
        return sent(SOLVERS.get(self._solver)(instance, replace(sent(params), on_progress=on_progress)))


class Answering(LocalProcess):
    """In the place of a solver's process: answers every request to solve with the same function."""

    def __init__(self, answer: Callable[[SolverParams], SolverResult | None]) -> None:
        super().__init__("auto")
        self._answer = answer

    def solve(
        self, instance: Instance, params: SolverParams, on_progress: Callable[[Progress], None]
    ) -> SolverResult | None:
        return self._answer(params)


def problem(kind: str, num_chunks: int, name: str = "3d-fc-ring-sw") -> tuple[Instance, SolverParams]:
    """Return a shipped network's All-Reduce, and parameters without limits that let `kind` be chosen."""
    is_auto = "auto" in kind
    instance = Instance(themis_opt.load_network(name), num_chunks=1 if is_auto else num_chunks)
    sizing = Sizing.FREE if "free" in kind else Sizing.EQUAL
    chunking = make_chunking(instance, sizing, num_chunks if is_auto else None)
    return instance, SolverParams(LIMIT_S, 1, 5, chunking=chunking, gap=1e-4)


def outcome_of(instance: Instance, params: SolverParams, solver: str = "auto", process: object = None) -> Result:
    return run_solver(instance, process or LocalProcess(solver), solver, params)  # type: ignore[arg-type]


def let_the_clock_race(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every look at the clock use up a part of the time limit that is left: all shares soon, all of it never."""
    looks = 0

    def monotonic() -> float:
        nonlocal looks
        looks += 1
        return LIMIT_S * (1 - 1 / (1 + looks / 5))

    for clock in CLOCKS:
        monkeypatch.setattr(clock, SimpleNamespace(monotonic=monotonic))


@contextmanager
def busy_machine() -> Iterator[None]:
    """Keep more processors busy than most machines of developers have to spare."""
    idlers = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        yield
    finally:
        for idler in idlers:
            idler.kill()
            idler.wait()


CASES = [
    # kind, chunks, network, evaluations, gap, how it ends
    ("equal", 3, "3d-fc-ring-sw", 1_000_000, 1e-4, Ending.PROOF),  # by the joint model
    pytest.param("equal", 4, "3d-sw-sw-sw-homo", 260_000, 1e-4, Ending.EVALUATIONS, marks=pytest.mark.slow),  # in it
    ("equal", 8, "4d-ring-sw-sw-sw", 60_000, 1e-4, Ending.EVALUATIONS),  # for which the joint model is too large
    ("equal", 16, "4d-ring-sw-sw-sw", 30_000, 0.0, Ending.EVALUATIONS),
    ("equal", 64, "3d-fc-ring-sw", 10**9, 0.02, Ending.GAP),
    ("equal", 64, "3d-fc-ring-sw", 30_000, 1e-4, Ending.EVALUATIONS),
    ("equal auto", 8, "3d-fc-ring-sw", 60_000, 1e-4, Ending.EVALUATIONS),
    ("free", 4, "3d-fc-ring-sw", 100_000, 1e-4, Ending.EVALUATIONS),  # with the proof for few chunks
    ("free", 8, "4d-ring-sw-sw-sw", 60_000, 1e-4, Ending.EVALUATIONS),
    ("free", 8, "3d-fc-ring-sw", 10**9, 0.05, Ending.GAP),
    ("free auto", 16, "3d-fc-ring-sw", 60_000, 1e-4, Ending.EVALUATIONS),
]


@pytest.mark.parametrize(("kind", "num_chunks", "name", "evaluations", "gap", "ending"), CASES)
def test_a_clock_that_races_changes_no_byte(
    kind: str,
    num_chunks: int,
    name: str,
    evaluations: int,
    gap: float,
    ending: Ending,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instance, params = problem(kind, num_chunks, name)
    params = replace(params, max_evaluations=evaluations, gap=gap)
    calm = outcome_of(instance, params)
    assert (calm.ending, calm.is_reproducible) == (ending, True)
    let_the_clock_race(monkeypatch)
    racing = outcome_of(instance, params)
    assert racing.ending is ending
    assert schedule_text(racing.schedule) == schedule_text(calm.schedule)
    assert racing.bound_any == calm.bound_any


def test_a_clock_that_races_leaves_no_number_of_chunks_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three megabytes are best cut into fewer chunks than are tried first: so few that the proof has its turn."""
    instance, params = problem("free auto", 16)
    instance = replace(instance, size_bytes=3_000_000)
    params = replace(params, chunking=make_chunking(instance, Sizing.FREE, 16), max_evaluations=60_000)
    calm = outcome_of(instance, params)
    assert calm.schedule.num_chunks == 2
    let_the_clock_race(monkeypatch)
    assert schedule_text(outcome_of(instance, params).schedule) == schedule_text(calm.schedule)


@pytest.mark.parametrize(
    ("solver", "num_chunks", "evaluations"),
    [("cp-sat", 8, 120_000), ("cp-sat", 64, 1_000), ("milp", 4, 2_000)],  # the second is too large to be tried
)
def test_the_exact_solvers_count_too(
    solver: str, num_chunks: int, evaluations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance, params = problem("equal", num_chunks, "2d-sw-sw")
    params = replace(params, max_evaluations=evaluations)
    calm = outcome_of(instance, params, solver)
    assert (calm.ending, calm.is_reproducible) == (Ending.EVALUATIONS, True)
    assert ("too large for 1000 evaluations" in calm.note) == (num_chunks == 64)
    let_the_clock_race(monkeypatch)
    assert schedule_text(outcome_of(instance, params, solver).schedule) == schedule_text(calm.schedule)


@pytest.mark.slow
def test_a_process_of_its_own_finds_the_same_on_a_busy_machine() -> None:
    cases = [
        (*problem(kind, num_chunks), evaluations)
        for kind, num_chunks, evaluations in [("equal", 3, 800_000), ("equal", 64, 30_000), ("free auto", 16, 60_000)]
    ]
    limited = [(instance, replace(params, max_evaluations=evaluations)) for instance, params, evaluations in cases]
    with SolverProcess("auto") as process:
        process.wait_until_ready()
        with busy_machine():
            busy = [outcome_of(instance, params, process=process) for instance, params in limited]
    assert all(outcome.is_reproducible for outcome in busy)
    for (instance, params), outcome in zip(limited, busy, strict=True):
        assert schedule_text(outcome_of(instance, params).schedule) == schedule_text(outcome.schedule)


@pytest.mark.parametrize(("kind", "num_chunks"), [("equal", 3), ("equal", 16), ("free", 6), ("free auto", 6)])
@pytest.mark.parametrize("evaluations", [1, 777, 20_000])
def test_no_more_schedules_are_timed_than_allowed(
    kind: str, num_chunks: int, evaluations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed = 0

    def counting(anneal: Callable[..., float]) -> Callable[..., float]:
        def counted(costs: Costs, candidate: Candidate, rules: Rules, cooling: Cooling, seed: int) -> float:
            nonlocal timed
            timed += cooling.num_moves
            return anneal(costs, candidate, rules, cooling, seed)

        return counted

    monkeypatch.setattr(equal, "anneal", counting(equal.anneal))
    monkeypatch.setattr(free, "anneal", counting(free.anneal))
    instance, params = problem(kind, num_chunks)
    outcome = outcome_of(instance, replace(params, gap=0.0, max_evaluations=evaluations))
    assert outcome.ending in (Ending.EVALUATIONS, Ending.PROOF)
    # An annealing makes one move at least; balancing and the proof for few chunks may have left it none.
    assert timed <= evaluations + 1
    assert timed >= evaluations // 10


def test_more_evaluations_find_no_longer_schedule() -> None:
    instance, params = problem("free auto", 8)
    makespans = [
        outcome_of(instance, replace(params, max_evaluations=evaluations)).schedule.makespan_ps or 0
        for evaluations in (1, 30_000, 200_000)
    ]
    assert makespans[0] > makespans[1] > makespans[2]


class TestEndings:
    """What stopped a run is told, and only what no clock had a part in counts as reproducible."""

    def test_the_time_limit_before_the_evaluation_limit(self) -> None:
        instance, params = problem("equal", 16, "4d-ring-sw-sw-sw")
        outcome = outcome_of(instance, replace(params, time_limit_s=0.5, gap=0.0, max_evaluations=10**12))
        assert (outcome.ending, outcome.is_reproducible) == (Ending.TIME, False)
        assert "not reproducible" in outcome.note

    def test_the_time_limit_alone(self) -> None:
        instance, params = problem("free auto", 16, "4d-ring-sw-sw-sw")
        outcome = outcome_of(instance, replace(params, time_limit_s=0.5, gap=0.0))
        assert (outcome.ending, outcome.is_reproducible, outcome.note) == (Ending.TIME, False, "")

    def test_the_gap_without_an_evaluation_limit_depends_on_the_clock(self) -> None:
        instance, params = problem("equal", 16, "4d-ring-sw-sw-sw")
        outcome = outcome_of(instance, replace(params, time_limit_s=60.0, gap=0.03))
        assert (outcome.ending, outcome.is_reproducible) == (Ending.GAP, False)

    @pytest.mark.parametrize("num_workers", [1, 2])
    def test_a_proof_is_a_proof_however_it_was_found(self, num_workers: int) -> None:
        instance, params = problem("equal", 2)
        outcome = outcome_of(instance, replace(params, time_limit_s=2.0, num_workers=num_workers))
        assert outcome.schedule.status is Status.OPTIMAL
        assert (outcome.ending, outcome.is_reproducible) == (Ending.PROOF, True)

    def test_several_workers_are_not_reproducible(self) -> None:
        instance, params = problem("equal", 64)
        outcome = outcome_of(instance, replace(params, gap=0.0, max_evaluations=10_000, num_workers=2))
        assert (outcome.ending, outcome.is_reproducible) == (Ending.EVALUATIONS, False)

    def test_an_optimum_for_one_number_of_chunks_is_none_for_all(self) -> None:
        instance, params = problem("equal auto", 2)
        assert params.chunking is not None
        best = Best(instance, 0, float("inf"), lambda progress: None)
        best.offer(themis_opt.schedule(instance), "test")
        makespan_ps = int(best.makespan_ps)  # of one chunk

        def of(num_chunks: int, value_ps: int) -> Bound:
            return Bound(value_ps, BoundKind.FLUID, BoundScope(Sizing.EQUAL, num_chunks, num_chunks))

        met = of(1, makespan_ps)
        for others, is_proof in [({}, False), ({2: of(2, makespan_ps - 1)}, False), ({2: of(2, makespan_ps)}, True)]:
            is_for_all = _is_proven_for_all(params.chunking, best, {1: met, **others})
            result = _result(best, met, Ending.GAP, is_for_all=is_for_all)
            assert (result.ending is Ending.PROOF) == is_proof
            assert result.status is Status.OPTIMAL

    @pytest.mark.parametrize(("left_s", "ending"), [(0.01, Ending.TIME), (60.0, Ending.GAP)])
    def test_a_time_limit_so_near_may_have_stopped_a_part(self, left_s: float, ending: Ending) -> None:
        instance, _ = problem("equal", 16)
        best = Best(instance, 10**15, time.monotonic() + left_s, lambda progress: None, evaluations=Evaluations(1000))
        best.offer(themis_opt.schedule(instance), "test")
        assert _stopped_by(best) is Ending.GAP
        assert _result(best, None, Ending.GAP).ending is ending
        best.evaluations = None
        assert _result(best, None, Ending.GAP).ending is Ending.GAP

    @pytest.mark.parametrize(
        ("taken_s", "ending"), [(10.0, Ending.EVALUATIONS), (59.97, Ending.TIME), (61.0, Ending.TIME)]
    )
    def test_an_assignment_bound_may_take_its_evaluations_but_not_all_the_time(
        self, taken_s: float, ending: Ending, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = 0.0
        monkeypatch.setattr("themis_opt.solving.run.time", SimpleNamespace(monotonic=lambda: now))
        asked: list[SolverParams] = []

        class Slow(Answering):
            def bound(self, name: str, instance: Instance, scope: BoundScope, params: SolverParams) -> None:
                nonlocal now
                asked.append(params)
                now += taken_s

        instance, params = problem("equal", 16)
        done = Slow(lambda params: SolverResult(Status.FEASIBLE, params.hints[0], None, "", Ending.EVALUATIONS))
        limited = replace(params, time_limit_s=60.0 + 4e-5 * 96, max_evaluations=1000)  # less settling: a minute
        outcome = outcome_of(instance, limited, process=done)
        assert (asked[0].time_limit_s, asked[0].max_evaluations) == (pytest.approx(60.0), 200)
        assert (outcome.ending, outcome.is_reproducible) == (ending, ending is Ending.EVALUATIONS)

    def test_ctrl_c(self) -> None:
        def interrupt(params: SolverParams) -> SolverResult:
            raise KeyboardInterrupt

        instance, params = problem("equal", 16)
        outcome = outcome_of(instance, replace(params, max_evaluations=100), process=Answering(interrupt))
        assert isinstance(outcome.interruption, KeyboardInterrupt)
        assert (outcome.ending, outcome.is_reproducible) == (Ending.INTERRUPTED, False)

    def test_a_solver_that_fails(self) -> None:
        def fail(params: SolverParams) -> SolverResult:
            raise SolverError("by design")

        instance, params = problem("equal", 16)
        outcome = outcome_of(instance, replace(params, max_evaluations=100), process=Answering(fail))
        assert (outcome.ending, outcome.is_reproducible, outcome.has_failed) == (Ending.UNKNOWN, False, True)

    def test_a_solver_that_does_not_answer(self) -> None:
        instance, params = problem("equal", 16)
        outcome = outcome_of(instance, replace(params, max_evaluations=100), process=Answering(lambda params: None))
        assert (outcome.ending, outcome.is_reproducible) == (Ending.TIME, False)

    @pytest.mark.parametrize("kind", ["equal", "free", "free auto"])
    def test_a_solver_by_somebody_else_that_knows_no_endings(self, kind: str) -> None:
        instance, params = problem(kind, 8)
        silent = Answering(lambda params: SolverResult(Status.FEASIBLE, params.hints[0], None))
        outcome = outcome_of(instance, replace(params, max_evaluations=100), process=silent)
        assert (outcome.ending, outcome.is_reproducible) == (Ending.UNKNOWN, False)

    @pytest.mark.parametrize("kind", ["equal", "free auto"])
    def test_a_proof_without_a_bound_that_is_met_is_none(self, kind: str) -> None:
        instance, params = problem(kind, 8)
        boasting = Answering(lambda params: SolverResult(Status.OPTIMAL, params.hints[0], None, "", Ending.PROOF))
        outcome = outcome_of(instance, replace(params, max_evaluations=100), process=boasting)
        assert (outcome.ending, outcome.is_reproducible) == (Ending.UNKNOWN, False)

    @pytest.mark.parametrize("solve", [solve_auto, solve_cp_sat, solve_milp])
    def test_ours_say_what_ended_them(self, solve: Callable[[Instance, SolverParams], SolverResult]) -> None:
        instance = Instance(themis_opt.load_network("2d-sw-sw"), num_chunks=2)
        result = solve(instance, SolverParams(2.0))
        expected = Ending.GAP if solve is solve_milp else Ending.PROOF  # HiGHS's bound is lowered by a margin
        assert result.ending in (Ending.PROOF, expected)
        assert (result.ending is Ending.PROOF) == (result.status is Status.OPTIMAL)


class TestCounting:
    """The counter, and the limits of packages that count something else."""

    def test_what_is_left(self) -> None:
        evaluations = Evaluations(100)
        evaluations.spend(30)
        with evaluations.narrowed(evaluations.part(0.1)):
            assert evaluations.left == 7
            with evaluations.narrowed(50):
                assert evaluations.left == 7  # a part of a part
            evaluations.spend(0)
            assert evaluations.left == 6  # nothing is free of charge
            evaluations.spend(20)
            assert evaluations.left == 0
        assert (evaluations.left, evaluations.spent) == (49, 51)

    def test_shares_of_the_best_schedule_s_search(self) -> None:
        instance, _ = problem("equal", 4)
        best = Best(instance, 0, float("inf"), lambda progress: None, evaluations=Evaluations(1000))
        is_half_spent = best.after(0.5)
        with best.narrowed(0.0, 0.25):
            assert not best.is_spent  # seconds do not matter
            assert (best.affordable(10), best.affordable(10**6)) == (10, 250)
            best.spend(250)
            assert best.is_spent
            assert best.affordable(10) == 1
        assert not best.is_over
        assert not is_half_spent()
        best.spend(250)
        assert is_half_spent()

    def test_one_look_at_a_number_of_chunks_leaves_some_for_the_others(self) -> None:
        instance, _ = problem("equal", 4)
        best = Best(instance, 0, float("inf"), lambda progress: None, evaluations=Evaluations(LOOKS * 100))
        best.spend(50)
        with _one_look(best):
            assert best.affordable(10**6) == 100
        assert best.affordable(10**6) == LOOKS * 100 - 50

    def test_the_proof_for_few_chunks_gives_up_after_so_many_nodes(self) -> None:
        instance, _ = problem("free", 4)
        fluid = quick_bounds(instance, BoundScope(Sizing.FREE, 4, 4))[0]
        below_ps = 1.01 * fluid.value_ps
        explored = explore_sequences(instance, fluid, below_ps, float("inf"), 1, 50_000)
        again = explore_sequences(instance, fluid, below_ps, float("inf"), 1, 50_000)
        assert explored.bound is None
        assert 50_000 <= explored.num_nodes <= 50_000 + 2 * NODES_AT_ONCE
        assert again.num_nodes == explored.num_nodes

    def test_highs_stops_after_so_many_nodes_with_a_bound(self) -> None:
        stopped = solve_with_highs(cover(20, seed=1), HighsOptions(max_nodes=1))
        assert stopped.status is HighsStatus.STOPPED
        assert stopped.best_bound is not None
        assert stopped.objective is not None
        assert stopped.best_bound < stopped.objective
        optimum = solve_with_highs(cover(20, seed=1)).objective
        assert optimum is not None
        assert stopped.best_bound <= optimum <= stopped.objective

    def test_nodes_from_the_root_alone_to_all_that_highs_can_count(self) -> None:
        limits = (None, 1, 1999, 5000, EVALUATIONS.most)
        assert [num_nodes(limit) for limit in limits] == [None, 1, 1, 5, 2**31 - 1]

    def test_the_largest_limit_is_none_at_all(self) -> None:
        instance = Instance(themis_opt.load_network("2d-sw-sw"), num_chunks=1)
        params = SolverParams(60.0, max_evaluations=EVALUATIONS.most)
        for solve in (solve_auto, solve_cp_sat, solve_milp):
            assert solve(instance, params).ending in (Ending.PROOF, Ending.GAP)

    def test_messages_carry_limit_and_ending(self) -> None:
        for limit in (None, 12):
            params = SolverParams(max_evaluations=limit)
            assert sent(params) == params
        result = SolverResult(Status.FEASIBLE, None, None, "a note", Ending.GAP)
        assert sent(result) == result


class TestLimitsThatAreNone:
    """The limit is checked before any work."""

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("0", ["--evaluations", "0", "1 to"]),
            ("1e6", ["--evaluations", "'1e6'", "whole number"]),
            ("-5", ["--evaluations", "'-5'", "whole number"]),
            ("9" * 400, ["--evaluations", "whole number"]),
            ("1000000000000001", ["--evaluations", "1 to 1000000000000000"]),
        ],
    )
    @pytest.mark.parametrize("verb", ["solve", "compare"])
    def test_on_the_command_line(
        self, verb: str, text: str, words: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run_command([verb, "2d-sw-sw", "--evaluations", text]) == 2
        told = capsys.readouterr().err
        assert all(word in told for word in words)

    @pytest.mark.parametrize(
        ("limit", "words"),
        [(0, "evaluations is 0"), (1.5, "max_evaluations is 1.5"), (True, "max_evaluations is True")],
    )
    def test_in_python(self, limit: object, words: str) -> None:
        instance = Instance(themis_opt.load_network("2d-sw-sw"), num_chunks=2)
        with pytest.raises(InputError, match=words):
            themis_opt.solve(instance, max_evaluations=limit)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_command_line_writes_the_file_that_the_library_does(
    themis_opt_command: CommandLine, tmp_path: Path
) -> None:
    done = themis_opt_command(
        "solve", "3d-fc-ring-sw", "--sizes", "free", "--chunks", "auto:6", "--evaluations", "40000",
        "--time-limit", "99s", "-o", "found.json", "--json", "figures.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "not reproducible" not in done.stdout
    told = json.loads((tmp_path / "figures.json").read_text())["options"]
    assert (told["max_evaluations"], told["workers"]) == (40_000, 1)
    instance = themis_opt.load_instance("3d-fc-ring-sw")
    found = themis_opt.solve(instance, sizes=Sizing.FREE, max_chunks=6, max_evaluations=40_000, time_limit_s=99)
    assert (tmp_path / "found.json").read_text() == schedule_text(found.schedule)


@pytest.mark.slow
def test_a_comparison_counts_evaluations_too(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--chunks", "64", "--sizes", "equal", "--schedulers", "baseline", "--gap", "0", "--time-limit", "99s"]
    assert run_command(["compare", "3d-fc-ring-sw", *options, "--evaluations", "2000", "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    instance, params = problem("equal", 64)
    known = outcome_of(instance, replace(params, seed=0, gap=0.0, max_evaluations=2000))
    assert document["options"]["max_evaluations"] == 2000
    assert document["runs"][0]["results"][-1]["makespan_ps"] == known.schedule.makespan_ps
