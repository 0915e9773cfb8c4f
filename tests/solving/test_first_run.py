"""The first run after installation: what has to be compiled does not take the solver's time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest
from themis_models.auto.portfolio import prepare
from themis_models.search import annealing, balancing, costing
from themis_models.search import search_kernel as kernel

from themis_opt.solving.solver_worker import _prepare
from themis_opt.timing import kernel as simulator_kernel

COMPILED = (
    annealing.anneal,
    balancing.balance,
    costing.cost_chunks,
    kernel.dispatch,
    simulator_kernel.time_sequences,
)


def test_preparing_compiles_everything_the_portfolio_calls() -> None:
    prepare()
    for function in COMPILED:
        assert function.signatures  # type: ignore[attr-defined]


def test_the_solver_process_calls_prepare_of_the_solvers_module(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    module = types.ModuleType("a_solver_module")
    exec("def solver(instance, params): ...", module.__dict__)
    monkeypatch.setitem(sys.modules, "a_solver_module", module)
    _prepare(module.solver)  # there is none
    module.prepare = lambda: called.append("prepared")  # type: ignore[attr-defined]
    _prepare(module.solver)
    assert called == ["prepared"]
    module.prepare = lambda: 1 / 0  # type: ignore[attr-defined]
    _prepare(module.solver)  # the solver itself will say what is wrong


@pytest.mark.slow
def test_the_first_solve_after_installation_proves_the_optimum(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "themis_opt", "solve", "3d-fc-ring-sw", "--chunks", "3", "--json", "-"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    assert result["status"] == "optimal"
    assert list(tmp_path.rglob("*.nbc"))
