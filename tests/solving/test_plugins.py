"""Other packages' schedulers and solvers: found by entry point, judged like ours, survived whatever they do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from plugin_package import write_plugin_package

import themis_opt
from themis_opt.problem.errors import InputError, SchedulerError, SolverError
from themis_opt.problem.instance import Instance
from themis_opt.problem.plugins import Registry
from themis_opt.problem.schedule import Status
from themis_opt.schedulers.registry import PREDICTORS, SCHEDULERS
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import SOLVERS, SolverParams
from themis_opt.solving.result import Result
from themis_opt.solving.run import run_solver


@pytest.fixture
def other_author(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the other author's package, here and in every process started from here."""
    write_plugin_package(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    path = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path) if path is None else f"{tmp_path}{os.pathsep}{path}")
    for registry in (SCHEDULERS, PREDICTORS, SOLVERS):
        registry.__dict__.pop("_entries", None)
    yield
    for registry in (SCHEDULERS, PREDICTORS, SOLVERS):
        registry.__dict__.pop("_entries", None)


@pytest.fixture
def instance() -> Instance:
    return Instance(themis_opt.load_network("2d-sw-sw"), num_chunks=8)


def outcome_of(solver: str, instance: Instance, time_limit_s: float = 2.0) -> Result:
    with SolverProcess(solver) as process:
        return run_solver(instance, process, solver, SolverParams(time_limit_s))


@pytest.mark.usefixtures("other_author")
def test_another_scheduler_stands_beside_ours(instance: Instance) -> None:
    assert "borrowed" in themis_opt.scheduler_names()
    ours = themis_opt.schedule(instance, "round-robin")
    theirs = themis_opt.schedule(instance, "borrowed")
    assert theirs.makespan_ps == ours.makespan_ps


@pytest.mark.usefixtures("other_author")
def test_a_broken_scheduler_is_found_out(instance: Instance) -> None:
    with pytest.raises(SchedulerError, match=r"scheduler 'broken' failed: .*deadlock"):
        themis_opt.schedule(instance, "broken")


@pytest.mark.usefixtures("other_author")
def test_a_scheduler_that_does_not_load_is_named(instance: Instance) -> None:
    with pytest.raises(InputError, match=r"scheduler 'unloadable' \(other_author_missing:nothing\) failed to load"):
        themis_opt.schedule(instance, "unloadable")


@pytest.mark.usefixtures("other_author")
def test_another_prediction_stands_beside_ours(instance: Instance) -> None:
    assert themis_opt.predict(replace(instance, size_bytes=100), "thirds") == 33
    (run,) = themis_opt.compare([instance], schedulers=("flat-ring", "thirds"), reference="thirds")
    assert [(row.name, row.speedup) for row in run.predictions if row.name == "thirds"] == [("thirds", 1)]
    for name, wrong in (("guess", "gave 1.5"), ("helpless", "failed: ZeroDivisionError: by design")):
        with pytest.raises(SchedulerError, match=f"prediction '{name}' {wrong}"):
            themis_opt.predict(instance, name)


@pytest.mark.usefixtures("other_author")
def test_what_a_solver_prints_goes_nowhere(instance: Instance, capfd: pytest.CaptureFixture[str]) -> None:
    outcome = outcome_of("chatty", instance)
    assert outcome.note == "I talked"
    assert outcome.schedule.status is Status.FEASIBLE
    assert capfd.readouterr().out == ""


@pytest.mark.usefixtures("other_author")
@pytest.mark.parametrize(
    ("solver", "note"),
    [
        ("sleepy", "did not answer in time"),
        ("dying", "ended by signal 9"),
        ("raising", "ZeroDivisionError: by design"),
        ("lying", "contradicts a schedule"),
        ("crooked", "brought a schedule that is none"),
    ],
)
def test_the_incumbent_survives(solver: str, note: str, instance: Instance) -> None:
    """Whatever the solver does, the best heuristic comes back, valid and with a true bound."""
    outcome = outcome_of(solver, instance, time_limit_s=3.0)
    assert note in outcome.note
    assert outcome.schedule.makespan_ps == min(
        themis_opt.schedule(instance, name).makespan_ps
        for name in ("themis-scf", "themis-fifo", "themis-astra-scf", "themis-astra-fifo", "round-robin", "baseline")
    )
    assert themis_opt.validate(instance, outcome.schedule) == ()


@pytest.mark.usefixtures("other_author")
def test_ctrl_c_keeps_the_incumbent(instance: Instance) -> None:
    def interrupt(progress: object) -> None:
        if getattr(progress, "phase", "") == "sleeping":
            raise KeyboardInterrupt

    with SolverProcess("sleepy") as process:
        outcome = run_solver(instance, process, "sleepy", SolverParams(60.0, on_progress=interrupt))
    assert isinstance(outcome.interruption, KeyboardInterrupt)
    assert themis_opt.validate(instance, outcome.schedule) == ()


@pytest.mark.usefixtures("other_author")
def test_a_process_serves_again_after_a_request_that_was_stopped(instance: Instance) -> None:
    with SolverProcess("sleepy") as process:
        for _ in range(2):
            outcome = run_solver(instance, process, "sleepy", SolverParams(1.0))
            assert "did not answer in time" in outcome.note


def test_a_solver_process_that_cannot_start() -> None:
    with SolverProcess("no-such-solver") as process, pytest.raises(SolverError, match="no-such-solver"):
        process.wait_until_ready()


def test_without_an_installed_package_the_message_says_how_to_install() -> None:
    with pytest.raises(InputError, match="pip install"):
        Registry[object]("solver", "themis_opt.no_such_group").get("cp-sat")


def test_the_solver_process_runs_no_module_of_the_user_s_folder(
    instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "yaml.py").write_text("raise SystemExit('taken for ours')\n")
    monkeypatch.chdir(tmp_path)
    assert outcome_of("cp-sat", instance, time_limit_s=1.0).note == ""
