"""The process that runs solvers and bounds: ``python -m themis_opt.solving.solver_worker SOLVER``."""

from __future__ import annotations

import contextlib
import sys
import time
from dataclasses import replace
from types import UnionType
from typing import TypeVar

from themis_opt.problem.bound import Bound
from themis_opt.problem.errors import InputError, ThemisError
from themis_opt.solving.bounds import remember_bounds
from themis_opt.solving.child import Channel, pickled
from themis_opt.solving.process import Answer, Failure, Request
from themis_opt.solving.protocol import BOUNDS, SOLVERS, Solver, SolverParams, SolverResult
from themis_opt.solving.resources import collect_garbage_rarely

Value = TypeVar("Value")

LEAST_LIMIT_S = 1e-3
"""The time limit of a request that took all its time to read."""


def main(preload: list[str]) -> None:
    """Load and prepare the named solvers, say so, then serve requests until stdin closes."""
    channel = Channel()  # first, so that what a package prints while it loads goes nowhere
    collect_garbage_rarely()  # loading packages makes hundreds of thousands of objects that all stay
    BOUNDS.get("assignment")
    for name in preload:
        _prepare(SOLVERS.get(name))
    collect_garbage_rarely()  # and none of those made until now needs another look
    channel.listen()
    while True:
        arrived, request = channel.receive()
        assert isinstance(request, Request)
        params = replace(_with_time_left(request.params, arrived), on_progress=channel.send)
        channel.send(_answer(replace(request, params=params)))


def _prepare(solver: Solver) -> None:
    """Call the function ``prepare`` of a solver's module, if it has one; what fails there will fail again later."""
    module = sys.modules.get(getattr(solver, "__module__", ""))
    prepare = getattr(module, "prepare", None)
    if callable(prepare):
        with contextlib.suppress(Exception):
            prepare()


def _answer(request: Request) -> Answer | Failure:
    try:
        return Answer(_run(request))
    except InputError as error:
        return Failure(str(error), is_bad_input=True)
    except ThemisError as error:
        return Failure(str(error))
    except MemoryError:
        return Failure("out of memory")
    except Exception as error:  # a plug-in may raise anything; the parent reports it
        return Failure(f"{type(error).__name__}: {error}")


def _run(request: Request) -> SolverResult | Bound | None:
    if request.scope is not None:
        bound = BOUNDS.get(request.name)(request.instance, request.scope, request.params)
        return _expected(bound, Bound | None)
    remember_bounds(request.instance, request.known_bounds or {})
    return _expected(SOLVERS.get(request.name)(request.instance, request.params), SolverResult)


def _expected(value: Value, kind: type | UnionType) -> Value:
    """Return what a plug-in brought, if it is of the kind that it should be, and can be sent."""
    if not isinstance(value, kind):
        raise TypeError(f"it returned {type(value).__name__}, not {kind}")
    pickled(value)  # an error here is the plug-in's and is reported as such; in the channel it would end the process
    return value


def _with_time_left(params: SolverParams, arrived: float) -> SolverParams:
    """Return the parameters less the time that reading the request took: thousands of chunks take a while."""
    left_s = params.time_limit_s - (time.monotonic() - arrived)
    return replace(params, time_limit_s=max(left_s, min(LEAST_LIMIT_S, params.time_limit_s)))


if __name__ == "__main__":
    main(sys.argv[1:])
