"""Solving a PuLP problem with HiGHS, and telling what it really found.

PuLP says ``Optimal`` when HiGHS stopped at its time limit, and has no word for the solver's bound; both are read from
HiGHS itself here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import TYPE_CHECKING

from themis_models.quiet import quiet_stdout
from themis_opt.problem.errors import SolverError

if TYPE_CHECKING:
    import pulp


class HighsStatus(StrEnum):
    """How a run of HiGHS ended.

    `OPTIMAL`: proven, with gap 0. `STOPPED`: by a limit or an interrupt, with or without a solution.
    `INFEASIBLE` and `UNBOUNDED`: there is no solution, or no best one.
    """

    OPTIMAL = "optimal"
    STOPPED = "stopped"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"


_STATUS_BY_NAME: Mapping[str, HighsStatus] = {
    "kOptimal": HighsStatus.OPTIMAL,
    "kTimeLimit": HighsStatus.STOPPED,
    "kInterrupt": HighsStatus.STOPPED,
    "kSolutionLimit": HighsStatus.STOPPED,
    "kInfeasible": HighsStatus.INFEASIBLE,
    "kUnbounded": HighsStatus.UNBOUNDED,
}


@dataclass(frozen=True, slots=True)
class HighsOptions:
    """What HiGHS is told; it always has to close the gap completely.

    Attributes
    ----------
    time_limit_s
        Wall seconds, or ``None`` for no limit. HiGHS may overrun it: run it where it can be stopped.
    num_threads
        Threads it may use.
    seed
        Its random seed.
    tolerance
        By how much a row, a bound of a variable, a reduced cost or integrality may be violated (HiGHS: at
        least 1e-10).
    max_nodes
        How many nodes of its tree it may explore, or ``None`` for no limit.
    """

    time_limit_s: float | None = None
    num_threads: int = 1
    seed: int = 0
    tolerance: float = 1e-9
    max_nodes: int | None = None


@dataclass(frozen=True, slots=True)
class HighsResult:
    """What HiGHS found.

    Attributes
    ----------
    status
        How the run ended.
    objective
        The value of the best solution, or ``None`` without one.
    best_bound
        The proven bound on every solution's value, or ``None`` when there is none.
    values
        The solution's value of each variable, by name; empty without a solution.
    row_duals
        By how much the objective grows per unit of a named constraint's right-hand side, by its name; empty unless
        a problem without integer variables was solved to the end.
    """

    status: HighsStatus
    objective: float | None
    best_bound: float | None
    values: Mapping[str, float]
    row_duals: Mapping[str, float]


def solve_with_highs(problem: pulp.LpProblem, options: HighsOptions | None = None) -> HighsResult:
    """Solve `problem`; its variables get the solution's values, too.

    Parameters
    ----------
    problem
        A PuLP problem with an objective, to minimise or maximise.
    options
        Limits and tolerances.

    Raises
    ------
    SolverError
        When HiGHS reports anything but one of `HighsStatus`, or refuses the problem.
    """
    import highspy
    import pulp

    options = options or HighsOptions()
    solver = pulp.HiGHS(
        msg=False,
        gapRel=0.0,
        gapAbs=0.0,
        threads=options.num_threads,
        timeLimit=options.time_limit_s,
        random_seed=options.seed,
        mip_feasibility_tolerance=options.tolerance,
        primal_feasibility_tolerance=options.tolerance,
        dual_feasibility_tolerance=options.tolerance,
        **({} if options.max_nodes is None else {"mip_max_nodes": options.max_nodes}),
    )
    with quiet_stdout():
        # HiGHS keeps its threads for the next run and refuses one that asks for another number of them;
        # kept until after a fork, they would be missing in the child.
        highspy.Highs.resetGlobalScheduler(True)
        try:
            problem.solve(solver)
        except IndexError:
            # PuLP reads a solution from HiGHS even when that has refused the problem.
            raise SolverError(f"HiGHS refused problem {problem.name!r}: its numbers are too far apart") from None
        except KeyError:
            # PuLP has no word for the limit on nodes, which it notices when it has read the solution.
            if problem.solverModel.getModelStatus() != highspy.HighsModelStatus.kSolutionLimit:
                raise
        finally:
            highspy.Highs.resetGlobalScheduler(True)
    return _result(problem)


def _result(problem: pulp.LpProblem) -> HighsResult:
    import highspy
    import pulp

    highs = problem.solverModel
    code = highs.getModelStatus()
    status = _STATUS_BY_NAME.get(code.name)
    if status is None:
        raise SolverError(f"HiGHS stopped with status {code.name} on problem {problem.name!r}")
    info = highs.getInfo()
    has_solution = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    has_solution = has_solution and status in (HighsStatus.OPTIMAL, HighsStatus.STOPPED)
    # PuLP hands HiGHS the objective to minimise, without its constant.
    sign = -1.0 if problem.sense == pulp.LpMaximize else 1.0

    def in_our_terms(value: float) -> float:
        return sign * value + float(problem.objective.constant)

    is_mip = problem.isMIP() != 0
    bound = info.mip_dual_bound if is_mip else info.objective_function_value
    bound_known = isfinite(bound) and (is_mip or status is HighsStatus.OPTIMAL)
    duals_known = not is_mip and status is HighsStatus.OPTIMAL
    return HighsResult(
        status=status,
        objective=in_our_terms(info.objective_function_value) if has_solution else None,
        best_bound=in_our_terms(bound) if bound_known and status is not HighsStatus.INFEASIBLE else None,
        values={v.name: float(v.varValue) for v in problem.variables()} if has_solution else {},
        row_duals={row.name: sign * float(row.pi) for row in problem.constraints() if row.name} if duals_known else {},
    )
