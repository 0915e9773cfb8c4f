"""HiGHS through PuLP: what it found is told truly, and stdout stays clean."""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random

import highspy
import pulp
import pytest
from themis_models.highs import HighsOptions, HighsStatus, solve_with_highs
from themis_models.quiet import quiet_stdout

from themis_opt.problem.errors import SolverError


def cover(num_items: int, seed: int) -> pulp.LpProblem:
    """Return a problem of covering random demands with whole numbers of random things."""
    random = Random(seed)
    problem = pulp.LpProblem("cover", pulp.LpMinimize)
    counts = [problem.add_variable(f"x{index}", 0, 99, cat=pulp.LpInteger) for index in range(num_items)]
    problem += pulp.lpSum(counts)
    for _ in range(num_items):
        chosen = random.sample(counts, num_items // 3)
        problem += pulp.lpSum(random.randint(1, 9) * count for count in chosen) >= random.randint(10, 99)
    return problem


def test_linear_problem_with_duals() -> None:
    # max 3x + 2y + 7, x + y <= 4, x <= 2.5: x = 2.5, y = 1.5. Another unit of x + y is worth a y, 2; another unit of x
    # replaces a y, 3 - 2.
    problem = pulp.LpProblem("lp", pulp.LpMaximize)
    x, y = problem.add_variable("x", 0), problem.add_variable("y", 0)
    problem += 3 * x + 2 * y + 7
    problem += x + y <= 4, "both"
    problem += x <= 2.5, "first"
    result = solve_with_highs(problem)
    assert result.status is HighsStatus.OPTIMAL
    assert result.objective == result.best_bound == pytest.approx(17.5)
    assert result.values == pytest.approx({"x": 2.5, "y": 1.5})
    assert result.row_duals == pytest.approx({"both": 2, "first": 1})
    assert x.value() == pytest.approx(2.5)


def test_minimising_has_positive_duals_for_lower_limits() -> None:
    problem = pulp.LpProblem("lp", pulp.LpMinimize)
    x = problem.add_variable("x")
    problem += 5 * x
    problem += x >= 2, "least"
    problem += x >= 1
    result = solve_with_highs(problem)
    assert result.objective == pytest.approx(10)
    assert result.row_duals == pytest.approx({"least": 5})


def test_integer_problem_is_solved_without_a_gap() -> None:
    # 3 · 7 = 21 > 20: two of them; relaxed, the bound would be 20/7.
    problem = pulp.LpProblem("ip", pulp.LpMaximize)
    x = problem.add_variable("x", 0, 100, cat=pulp.LpInteger)
    problem += x
    problem += 7 * x <= 20
    result = solve_with_highs(problem)
    assert (result.status, result.objective, result.best_bound) == (HighsStatus.OPTIMAL, 2, 2)
    assert result.row_duals == {}


def test_no_solution() -> None:
    problem = pulp.LpProblem("none", pulp.LpMinimize)
    x = problem.add_variable("x", 0, 1, cat=pulp.LpInteger)
    problem += x
    problem += x >= 2
    result = solve_with_highs(problem)
    assert result.status is HighsStatus.INFEASIBLE
    assert (result.objective, result.best_bound, result.values) == (None, None, {})


def test_no_best_solution() -> None:
    problem = pulp.LpProblem("unbounded", pulp.LpMaximize)
    x = problem.add_variable("x", 0)
    problem += x
    problem += x >= 2
    result = solve_with_highs(problem)
    assert (result.status, result.objective, result.best_bound) == (HighsStatus.UNBOUNDED, None, None)


def test_time_limit_is_told_from_optimality() -> None:
    # A hundred demands take minutes; PuLP calls the outcome Optimal all the same.
    problem = cover(100, seed=1)
    result = solve_with_highs(problem, HighsOptions(time_limit_s=0.5))
    assert result.status is HighsStatus.STOPPED
    assert result.best_bound is not None
    assert result.objective is not None
    assert 0 < result.best_bound < result.objective
    assert sum(result.values.values()) == pytest.approx(result.objective)


def test_no_time_at_all() -> None:
    result = solve_with_highs(cover(60, seed=1), HighsOptions(time_limit_s=1e-9))
    assert result.status is HighsStatus.STOPPED
    assert (result.objective, result.best_bound, result.values) == (None, None, {})


def test_number_of_threads_may_change_from_run_to_run() -> None:
    # HiGHS itself refuses the second run: its threads are those of the first.
    objectives = [solve_with_highs(cover(12, seed=2), HighsOptions(num_threads=n)).objective for n in (1, 2, 1, 3)]
    assert objectives[0] is not None
    assert objectives == pytest.approx([objectives[0]] * 4)


def test_others_may_use_highs_with_another_number_of_threads() -> None:
    def solve_directly() -> highspy.HighsModelStatus:
        highs = highspy.Highs()  # type: ignore[no-untyped-call]
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 3)
        highs.addVar(0, 1)
        highs.run()
        return highs.getModelStatus()

    highspy.Highs.resetGlobalScheduler(True)
    assert solve_directly() == highspy.HighsModelStatus.kOptimal
    assert solve_with_highs(cover(3, seed=0), HighsOptions(num_threads=2)).status is HighsStatus.OPTIMAL
    assert solve_directly() == highspy.HighsModelStatus.kOptimal


def test_unknown_status_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highspy.Highs, "getModelStatus", lambda highs: highspy.HighsModelStatus.kSolveError)
    with pytest.raises(SolverError, match="kSolveError on problem 'cover'"):
        solve_with_highs(cover(3, seed=0))


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter whose stdout is a pipe, hence buffered, in Python and in C."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)


SOLVE = """
import os, sys
import pulp
from themis_models.highs import HighsOptions, solve_with_highs
def solve():
    problem = pulp.LpProblem("p", pulp.LpMinimize)
    x = problem.add_variable("x", 0, 9, cat=pulp.LpInteger)
    problem += x
    problem += 2 * x >= 5
    return solve_with_highs(problem).objective
"""


def test_highs_itself_does_write_to_stdout() -> None:
    # If this fails, HiGHS has become quiet and the next test shows nothing any more.
    assert "HiGHS" in run_python("import highspy; highspy.Highs()").stdout


def test_stdout_has_only_what_the_program_writes() -> None:
    # The banner comes once per process, hence the fresh one.
    code = SOLVE + 'print("before"); result = solve(); print("after", result); os.write(1, b""); solve()'
    assert run_python(code).stdout == "before\nafter 3.0\n"


@pytest.mark.parametrize(
    "stdout", ["None", "__import__('io').StringIO()", "open(os.devnull, 'w')"], ids=["none", "replaced", "elsewhere"]
)
def test_stdout_may_be_anything(stdout: str) -> None:
    code = SOLVE + f"sys.stdout = {stdout}; result = solve(); os.write(1, repr(result).encode())"
    assert run_python(code).stdout == "3.0"


def test_stdout_may_be_closed() -> None:
    code = SOLVE + "os.close(1); sys.stdout = None; sys.stderr.write(repr(solve()))"
    finished = run_python(code)
    assert (finished.stdout, finished.stderr) == ("", "3.0")


def test_quiet_on_the_level_of_the_descriptor() -> None:
    # What C and Python have buffered before and inside must not get into each other's way.
    code = """
import ctypes, os
from themis_models.quiet import quiet_stdout
libc = ctypes.CDLL(None)
libc.printf(b"C before, ")
print("Python before, ", end="")
with quiet_stdout():
    os.write(1, b"descriptor inside, ")
    libc.printf(b"C inside, ")
    with quiet_stdout():
        os.write(1, b"deeper inside, ")
    os.write(1, b"still inside, ")
os.write(1, b"after")
"""
    assert run_python(code).stdout == "Python before, C before, after"


def test_stdout_comes_back_after_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), quiet_stdout():
        1 / 0  # noqa: B018
    os.write(1, b"after")
    assert capfd.readouterr().out == "after"
