"""Finding solvers and bound providers: entry points of installed packages, loaded when asked for.

A package adds a solver with an entry point in the group ``themis_opt.solvers``::

    [project.entry-points."themis_opt.solvers"]
    my-solver = "my_package.my_module:my_solver"

and a bound with one in ``themis_opt.bounds``.
"""

from __future__ import annotations

from themis_opt.problem.plugins import Registry
from themis_opt.solving.protocol import BoundProvider, Solver

SOLVERS: Registry[Solver] = Registry("solver", "themis_opt.solvers")
BOUNDS: Registry[BoundProvider] = Registry("bound", "themis_opt.bounds")
