"""Solvers and bounds: the contract with plug-ins, and running them so that time limits and Ctrl-C hold."""

from themis_opt.solving.ending import Ending
from themis_opt.solving.protocol import (
    DEFAULT_TIME_LIMIT_S,
    BoundProvider,
    Progress,
    Solver,
    SolverParams,
    SolverResult,
)

__all__ = ["DEFAULT_TIME_LIMIT_S", "BoundProvider", "Ending", "Progress", "Solver", "SolverParams", "SolverResult"]
