"""The solver process: ``python -m themis_opt.solving.solver_worker`` reads requests on stdin and answers on stdout.

Its real standard output is reserved for answers: whatever a solver prints there goes nowhere. It ends when its stdin
closes, so it cannot outlive the process that started it.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from themis_opt.problem.errors import InputError, ThemisError
from themis_opt.solving import messages
from themis_opt.solving.bounds import remember_bounds
from themis_opt.solving.memory import collect_garbage_rarely
from themis_opt.solving.private_stdout import private_stdout
from themis_opt.solving.protocol import Progress, Solver, SolverParams
from themis_opt.solving.solvers import BOUNDS, SOLVERS

LEAST_LIMIT_S = 1e-3
"""The time limit of a request that took all its time to read."""


class Channel:
    """Sends messages to the parent; safe to use from a solver's threads."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def send(self, event: str, **content: Any) -> None:
        """Send one message."""
        with self._lock:
            self._stream.write(messages.encode({"event": event, **content}))
            self._stream.flush()


def main(preload: list[str]) -> None:
    """Load and prepare the named solvers, say ``ready``, then serve requests until stdin closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    channel = Channel(private_stdout())
    collect_garbage_rarely()  # loading packages makes hundreds of thousands of objects that all stay
    BOUNDS.get("assignment")
    for name in preload:
        _prepare(SOLVERS.get(name))
    collect_garbage_rarely()  # and none of those made until now needs another look
    channel.send("ready")
    requests: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=(requests,), daemon=True).start()
    while True:
        arrived, line = requests.get()
        _serve(json.loads(line), channel, arrived)


def _prepare(solver: Solver) -> None:
    """Call the function ``prepare`` of a solver's module, if it has one; what fails there will fail again later."""
    module = sys.modules.get(getattr(solver, "__module__", ""))
    prepare = getattr(module, "prepare", None)
    if callable(prepare):
        with contextlib.suppress(Exception):
            prepare()


def _read_requests(requests: queue.SimpleQueue[tuple[float, bytes]]) -> None:
    for line in sys.stdin.buffer:
        requests.put((time.monotonic(), line))
    os._exit(0)


def _serve(request: Mapping[str, Any], channel: Channel, arrived: float) -> None:
    serve: dict[str, Callable[[Mapping[str, Any], Channel, float], None]] = {"solve": _solve, "bound": _bound}
    try:
        serve[request["request"]](request, channel, arrived)
    except InputError as error:
        channel.send("bad input", message=str(error))
    except ThemisError as error:
        channel.send("error", message=str(error))
    except MemoryError:
        channel.send("error", message="out of memory")
    except Exception as error:  # a plug-in may raise anything; the parent reports it
        channel.send("error", message=f"{type(error).__name__}: {error}")


def _solve(request: Mapping[str, Any], channel: Channel, arrived: float) -> None:
    def report(progress: Progress) -> None:
        channel.send("progress", progress=messages.progress_message(progress))

    solver = SOLVERS.get(request["name"])
    instance = messages.instance_from(request["instance"])
    remember_bounds(instance, messages.known_bounds_from(request["known_bounds"]))
    params = replace(messages.params_from(request["params"]), on_progress=report)
    result = solver(instance, _with_time_left(params, arrived))
    channel.send("result", result=messages.result_message(result))


def _bound(request: Mapping[str, Any], channel: Channel, arrived: float) -> None:
    provider = BOUNDS.get(request["name"])
    instance = messages.instance_from(request["instance"])
    params = messages.params_from(request["params"])
    bound = provider(instance, messages.scope_from(request["scope"]), _with_time_left(params, arrived))
    channel.send("result", bound=messages.bound_message(bound))


def _with_time_left(params: SolverParams, arrived: float) -> SolverParams:
    """Return the parameters less the time that reading the request took: thousands of chunks take a while."""
    left_s = params.time_limit_s - (time.monotonic() - arrived)
    return replace(params, time_limit_s=max(left_s, min(LEAST_LIMIT_S, params.time_limit_s)))


if __name__ == "__main__":
    main(sys.argv[1:])
