"""Time limits that hold, signals that get through, failures that cost little."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import themis_opt
from themis_opt.cli.main import run
from themis_opt.judging.validator import validate
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.chunking import make_chunking
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InvalidScheduleError, SolverError
from themis_opt.problem.instance import Instance
from themis_opt.problem.interruption import interruptibly
from themis_opt.problem.network import Dimension, Network, Topology
from themis_opt.schedulers.registry import get_scheduler
from themis_opt.solving import bounds
from themis_opt.solving.api import SolverWarning
from themis_opt.solving.bounds import bandwidth_bound, equal_chunks_scope, full_bounds, quick_bounds, with_fluid
from themis_opt.solving.incumbent import Incumbent
from themis_opt.solving.process import Answer, SolverProcess, _is_superseded
from themis_opt.solving.protocol import Progress, SolverParams
from themis_opt.solving.run import SETTLING_S_PER_STAGE, run_solver
from themis_opt.solving.solver_worker import _with_time_left
from themis_opt.solving.starts import HINT_SCHEDULERS, starting_schedules
from themis_opt.timing import dispatch as dispatching
from themis_opt.timing.dispatch import dispatch
from themis_opt.timing.policy import DispatchPolicy


def network(num_dims: int) -> Network:
    """Pairs of NPUs, a terabyte per second (1 ps per byte), no latency."""
    dimensions = tuple(Dimension(Topology.FULLY_CONNECTED, 2, Fraction(10**12), Fraction(0)) for _ in range(num_dims))
    return Network(f"{num_dims}d", dimensions)


def ignore(progress: Progress) -> None:
    pass


@pytest.fixture
def python_signals() -> Iterator[None]:
    """Handle Ctrl-C as Python does, whatever the command line's `run` has installed in this process before."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


class RecordingProcess:
    """In the place of a solver's process: notes what it is asked for and answers nothing in time."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.params: SolverParams | None = None

    def wait_until_ready(self) -> None:
        pass

    def bound(self, name: str, instance: Instance, scope: BoundScope, params: SolverParams) -> None:
        self.asked.append(name)

    def solve(self, instance: Instance, params: SolverParams, on_progress: Callable[[Progress], None]) -> None:
        self.asked.append("solve")
        self.params = params


class TestWhatIsWorthItsTime:
    """Which work is done at all depends on sizes and limits, not on the clock."""

    @pytest.mark.parametrize(
        ("num_dims", "num_chunks", "time_limit_s", "asked"),
        [
            (4, 4, 1.0, ["assignment", "solve"]),
            (10, 4, 1.0, ["solve"]),  # 5120 arcs: two seconds of fluid program do not go into half of one
            (10, 4, 10.0, ["fluid", "solve"]),
            # 40,000 stages: 1.6 seconds go to judging what a solver might bring, and so none is asked.
            (4, 5000, 1.0, ["assignment"]),
        ],
    )
    def test_what_the_process_is_asked_for(
        self, num_dims: int, num_chunks: int, time_limit_s: float, asked: list[str]
    ) -> None:
        process = RecordingProcess()
        # Bandwidths that differ, or the bound is reached at once and nothing is left to ask.
        dimensions = tuple(
            replace(dimension, bandwidth_Bps=dimension.bandwidth_Bps * (k + 1), latency_ps=Fraction(10**5))
            for k, dimension in enumerate(network(num_dims).dimensions)
        )
        instance = Instance(Network("uneven", dimensions), num_chunks=num_chunks)
        outcome = run_solver(instance, process, "auto", SolverParams(time_limit_s))  # type: ignore[arg-type]
        assert process.asked == asked
        assert validate(instance, outcome.schedule) == ()
        assert not outcome.has_failed
        assert ("no time" in outcome.note) == ("solve" not in asked)

    def test_thousands_of_chunks_leave_time_to_judge_and_take_one_hint(self) -> None:
        process = RecordingProcess()
        instance = Instance(themis_opt.load_network("2d-sw-sw"), num_chunks=8000)
        run_solver(instance, process, "auto", SolverParams(10.0))  # type: ignore[arg-type]
        assert process.params is not None
        assert process.params.time_limit_s <= 10.0 - SETTLING_S_PER_STAGE * 4 * 8000
        assert len(process.params.hints) == 1

    def test_few_chunks_try_every_heuristic_and_many_the_telling_ones(self) -> None:
        def names(num_chunks: int) -> list[str]:
            instance = Instance(network(2), num_chunks=num_chunks)
            return [name for name, _ in starting_schedules(instance, make_chunking(instance), 0)]

        assert names(64) == list(HINT_SCHEDULERS)
        # 4 stages a chunk: 40,000 each, so two of them stay below 100,000.
        assert names(10_000) == ["themis-scf", "baseline"]
        assert names(30_000) == ["themis-scf"]

    def test_only_a_better_schedule_is_judged(self, monkeypatch: pytest.MonkeyPatch) -> None:
        judged: list[int | None] = []
        monkeypatch.setattr(
            "themis_opt.solving.incumbent.check", lambda instance, schedule: judged.append(schedule.makespan_ps)
        )
        instance = Instance(themis_opt.load_network("4d-ring-sw-sw-sw"), num_chunks=16)
        incumbent = Incumbent(instance, make_chunking(instance), ignore)
        makespans = []
        for name in ("baseline", "themis-scf", "baseline"):
            incumbent.offer(get_scheduler(name)(instance), name)
            makespans.append(incumbent.makespan_ps)
        assert makespans[0] > makespans[1] == makespans[2]
        assert judged == makespans[:2]

    def test_a_false_claim_about_the_bound_is_found_at_the_end(self) -> None:
        instance = Instance(network(2), num_chunks=4)
        incumbent = Incumbent(instance, make_chunking(instance), ignore)
        incumbent.offer(get_scheduler("themis-scf")(instance), "start")
        scope = equal_chunks_scope(instance)
        true = incumbent.bound_for(4)
        incumbent._bounds[scope] = replace(true, value_ps=true.value_ps + 1, certified_ps=true.value_ps + 1)
        with pytest.raises(InvalidScheduleError, match="the certificate proves"):
            incumbent.result("auto", 0)

    def test_reading_a_request_counts(self) -> None:
        params = SolverParams(5.0)
        left_s = _with_time_left(params, time.monotonic() - 3).time_limit_s
        assert 0 < left_s <= 2
        assert _with_time_left(params, time.monotonic() - 30).time_limit_s == 1e-3
        assert _with_time_left(SolverParams(1e-4), time.monotonic() - 30).time_limit_s == 1e-4

    @pytest.mark.parametrize(
        ("mine", "following", "superseded"),
        [
            (("schedule", None), ("better", None), True),
            (("schedule", None), (None, "bound"), False),
            (("schedule", "bound"), ("better", None), False),
            ((None, "bound"), ("better", "bound"), True),
        ],
    )
    def test_a_report_is_skipped_only_for_one_that_says_more(
        self, mine: tuple[Any, Any], following: tuple[Any, Any], superseded: bool
    ) -> None:
        assert _is_superseded(Progress("", *mine), Progress("", *following)) is superseded
        assert not _is_superseded(Progress("", *mine), Answer(None))
        assert not _is_superseded(Progress("", *mine), None)


class TestQuickBounds:
    def test_the_bandwidth_bound_by_hand(self) -> None:
        # Reduce-Scatter of 400 bytes: 200 go into the dimension visited first, 100 into the other, in either order.
        # The bandwidths are equal, so each counts half: 150 ps of load on average.
        instance = Instance(network(2), Collective.REDUCE_SCATTER, 400, 1)
        bound = bandwidth_bound(instance, equal_chunks_scope(instance))
        assert (bound.value_ps, bound.kind, bound.certificate) == (150, BoundKind.FLUID, (Fraction(1, 2),) * 2)

    def test_ten_dimensions_do_without_the_fluid_program(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bounds, "_REMEMBERED", bounds._Remembered())
        monkeypatch.setattr(bounds.BOUNDS, "get", lambda name: pytest.fail("the fluid program was asked for"))
        instance = Instance(network(10), num_chunks=2)
        fluid, path = quick_bounds(instance, equal_chunks_scope(instance))
        assert fluid.kind == BoundKind.FLUID
        assert path.kind == BoundKind.CRITICAL_PATH

    def test_they_are_worked_out_once_for_any_number_of_chunks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bounds, "_REMEMBERED", bounds._Remembered())
        calls: list[BoundScope] = []

        def provide(instance: Instance, scope: BoundScope, params: SolverParams) -> Bound:
            calls.append(scope)
            return Bound(7, "test", scope)

        monkeypatch.setattr(bounds.BOUNDS, "get", lambda name: provide)
        instance = Instance(network(2), num_chunks=4)
        four, five = BoundScope(Sizing.EQUAL, 4, 4), BoundScope(Sizing.EQUAL, 5, 5)
        first = quick_bounds(instance, four)
        first.clear()  # the caller's list is its own
        assert quick_bounds(replace(instance, num_chunks=5), four)[0].value_ps == 7
        quick_bounds(instance, five)
        quick_bounds(replace(instance, size_bytes=5), four)
        assert calls == [four, five, four]

    def test_a_better_fluid_bound_takes_the_place_of_the_quick_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        scope = BoundScope(Sizing.EQUAL, 1, 1)
        weak, strong = Bound(5, BoundKind.FLUID, scope), Bound(6, BoundKind.FLUID, scope)
        path = Bound(9, BoundKind.CRITICAL_PATH, scope)
        assert with_fluid([weak, path], strong) == [strong, path]
        assert with_fluid([strong, path], weak) == [strong, path]
        assert with_fluid([path], weak) == [weak, path]
        assert with_fluid([weak, path], None) == [weak, path]
        monkeypatch.setattr(bounds, "MAX_QUICK_ARCS", 0)
        monkeypatch.setattr(bounds, "_REMEMBERED", bounds._Remembered())
        # One slow dimension: the weights should leave the fast one out, which the bandwidths do not.
        slow = replace(network(1).dimensions[0], bandwidth_Bps=Fraction(10**9))
        instance = Instance(Network("uneven", (slow, *network(1).dimensions)), size_bytes=10**6, num_chunks=1)
        quick, full = (
            quick_bounds(instance, equal_chunks_scope(instance)),
            full_bounds(instance, equal_chunks_scope(instance)),
        )
        assert len(quick) == len(full) == 2
        assert full[0].value_ps > quick[0].value_ps


class TestSignals:
    @pytest.mark.usefixtures("python_signals")
    def test_a_long_call_can_be_interrupted(self) -> None:
        ended = threading.Event()

        def work() -> None:
            try:
                # Some seconds in C without the interpreter's lock: called directly, no signal gets in between.
                hashlib.pbkdf2_hmac("sha256", b"", b"", 5_000_000)
            finally:
                ended.set()

        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            interruptibly(work)
        assert not ended.is_set()
        ended.wait(60)

    def test_what_the_other_thread_returns_and_raises(self) -> None:
        assert interruptibly(lambda: 7) == 7
        with pytest.raises(ZeroDivisionError):
            interruptibly(lambda: 1 // 0)

    @pytest.mark.parametrize("policy", [DispatchPolicy.ASTRA_FIFO, DispatchPolicy.ASTRA_SCF])
    def test_long_queues_are_dispatched_the_same_way(
        self, policy: DispatchPolicy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        instance = Instance(themis_opt.load_network("3d-fc-ring-sw"), num_chunks=16)
        chunks = get_scheduler("themis-astra-scf")(instance).chunks
        expected = dispatch(instance, chunks, policy).sequences
        threads: list[object] = []
        monkeypatch.setattr(dispatching, "LONG_QUEUE", 1)
        monkeypatch.setattr(
            dispatching,
            "interruptibly",
            lambda work: threads.append(work) or interruptibly(work),  # type: ignore[func-returns-value]
        )
        assert dispatch(instance, chunks, policy).sequences == expected
        assert len(threads) == 1

    def test_a_signal_after_the_end_does_not_change_the_exit_code(self) -> None:
        program = """
import atexit, os, signal, sys
from themis_opt.cli.entry import main
atexit.register(os.kill, os.getpid(), signal.SIGTERM)
sys.argv = ["themis-opt", "list", "networks"]
main()
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


class TestFailures:
    def test_bound_keeps_what_it_has(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        def fail(*arguments: object) -> None:
            raise SolverError("the process ended by signal 9")

        monkeypatch.setattr(SolverProcess, "bound", fail)
        assert run(["bound", "2d-sw-sw", "--chunks", "4"]) == 0
        printed = capsys.readouterr()
        assert printed.err == "note: no assignment bound: the process ended by signal 9\n"
        assert "(fluid; for exactly 4 chunks of equal size); certified" in printed.out

    def test_bound_says_what_was_not_done_in_time(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(SolverProcess, "bound", lambda *arguments: None)
        assert run(["bound", "2d-sw-sw", "--chunks", "4"]) == 0
        assert capsys.readouterr().err == "note: no assignment bound in time\n"

    def test_the_library_warns_and_keeps_what_it_has(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*arguments: object) -> None:
            raise SolverError("the solver failed by design")

        for method in ("bound", "solve"):
            monkeypatch.setattr(SolverProcess, method, fail)
        instance = Instance(themis_opt.load_network("2d-sw-sw"), num_chunks=4)
        with pytest.warns(SolverWarning, match="the solver failed by design"):
            result = themis_opt.solve(instance, time_limit_s=1)
        assert validate(instance, result.schedule) == ()
        assert result.has_failed
        assert result.note == "the solver failed by design"
        with pytest.warns(SolverWarning, match="no assignment bound: the solver failed by design"):
            bound = themis_opt.lower_bound(instance, with_assignment=True)
        assert bound == themis_opt.lower_bound(instance)


class TestCacheOfCompiledCode:
    """numba's cache is pickled files that anything may have happened to."""

    MODULE = """
from themis_opt.timing.compiled import compiled
@compiled
def double(number):
    return number + number
print(double(21))
"""

    def run(self, folder: Path, cache: Path) -> str:
        (folder / "doubling.py").write_text(self.MODULE)
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "HOME": str(folder / "nowhere")}
        command = [sys.executable, "-c", "import doubling"]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    @pytest.mark.parametrize("suffix", ["nbi", "nbc"])
    def test_a_damaged_file_is_made_anew(self, tmp_path: Path, suffix: str) -> None:
        cache = tmp_path / "cache"
        assert self.run(tmp_path, cache) == "42\n"
        (file,) = cache.rglob(f"*.{suffix}")
        whole = file.read_bytes()
        for damaged in (b"", whole[: len(whole) // 2], b"\xff garbage"):
            file.write_bytes(damaged)
            assert self.run(tmp_path, cache) == "42\n"
            assert len(file.read_bytes()) > len(whole) // 2

    def test_without_a_place_for_it(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        assert self.run(tmp_path, tmp_path / "file" / "cache") == "42\n"
