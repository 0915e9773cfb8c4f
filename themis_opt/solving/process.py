"""The parent's side of a solver process: start it early, ask it, stop it when its time is up."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from themis_opt.problem.bound import Bound, BoundScope
from themis_opt.problem.errors import InputError, SolverError
from themis_opt.problem.instance import Instance
from themis_opt.solving import messages
from themis_opt.solving.bounds import remembered_bounds
from themis_opt.solving.protocol import Progress, SolverParams, SolverResult

GRACE_S = 1.0
"""How long past its limit a solver may take to answer before its process is ended."""
START_LIMIT_S = 180.0
"""How long a solver process may take to load its packages and to compile, which it does once after installation."""


class SolverProcess:
    """A process that runs solvers and bounds one after the other; use it as a context manager.

    It starts loading at once and goes on while the caller does other work. A request that overruns its limit, or an
    exception such as Ctrl-C while one runs, ends the process; the next request starts another.

    Parameters
    ----------
    solver
        The solver whose packages it loads at the start.
    """

    def __init__(self, solver: str) -> None:
        self._solver = solver
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._peeked: list[bytes | None] = []
        self._errors: list[bytes] = []
        self._ready = False
        self._start()

    def __enter__(self) -> SolverProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def solve(
        self, instance: Instance, params: SolverParams, on_progress: Callable[[Progress], None]
    ) -> SolverResult | None:
        """Run the solver; return its result, or ``None`` when it did not answer in time.

        Raises
        ------
        SolverError
            When the solver or its process failed.
        """
        request = {
            "request": "solve",
            "name": self._solver,
            "instance": messages.instance_message(instance),
            "known_bounds": messages.known_bounds_message(remembered_bounds(instance)),
        }
        answer = self._ask(request, params, on_progress)
        return None if answer is None else messages.result_from(answer["result"])

    def bound(self, name: str, instance: Instance, scope: BoundScope, params: SolverParams) -> Bound | None:
        """Compute a bound; return ``None`` when there is none in time.

        Raises
        ------
        SolverError
            When the bound provider or its process failed.
        """
        request = {
            "request": "bound",
            "name": name,
            "instance": messages.instance_message(instance),
            "scope": messages.scope_message(scope),
        }
        answer = self._ask(request, params, lambda progress: None)
        return None if answer is None else messages.bound_from(answer["bound"])

    def wait_until_ready(self) -> None:
        """Wait until the packages are loaded, starting another process if this one has ended.

        Raises
        ------
        SolverError
            When it does not start.
        """
        if self._process is None or self._process.poll() is not None:
            self.stop()
            self._start()
        if not self._ready:
            message = self._receive(time.monotonic() + START_LIMIT_S)
            if message is None or message["event"] != "ready":
                raise SolverError(f"solver {self._solver!r} did not start within {START_LIMIT_S:g} s")
            self._ready = True

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _start(self) -> None:
        self._answers = queue.SimpleQueue()
        self._peeked = []
        self._errors = []
        self._ready = False
        # A session of its own, so that Ctrl-C reaches the parent alone, which then decides.
        process = subprocess.Popen(
            # -P: a yaml.py or queue.py in the user's folder is not ours to run.
            [sys.executable, "-P", "-m", "themis_opt.solving.solver_worker", self._solver],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=_worker_environment(),
        )
        self._process = process
        threading.Thread(target=_read_answers, args=(process, self._answers), daemon=True).start()
        threading.Thread(target=_read_errors, args=(process, self._errors), daemon=True).start()

    def _ask(
        self, request: Mapping[str, Any], params: SolverParams, on_progress: Callable[[Progress], None]
    ) -> Mapping[str, Any] | None:
        try:
            self.wait_until_ready()
            deadline = time.monotonic() + params.time_limit_s
            told = messages.params_message(params)
            # Writing down the hints of thousands of chunks takes a while, too.
            told["time_limit_s"] = max(deadline - time.monotonic(), 0.5 * params.time_limit_s)
            self._send({**request, "params": told})
            return self._await_result(deadline + GRACE_S, on_progress)
        except BaseException:
            self.stop()
            raise

    def _send(self, request: Mapping[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(messages.encode(request))
            self._process.stdin.flush()
        except OSError:
            raise self._died() from None

    def _await_result(self, deadline: float, on_progress: Callable[[Progress], None]) -> Mapping[str, Any] | None:
        while True:
            message = self._receive(deadline)
            if message is None:
                self.stop()
                return None
            if message["event"] == "progress":
                # Reports may come faster than they can be checked: of those that wait the last is the best.
                if not _is_superseded(message, self._peek()):
                    on_progress(messages.progress_from(message["progress"]))
            elif message["event"] == "bad input":
                raise InputError(message["message"])
            elif message["event"] == "error":
                raise SolverError(f"solver {self._solver!r} failed: {message['message']}")
            else:
                return message

    def _receive(self, deadline: float) -> Mapping[str, Any] | None:
        """Return the next message, or ``None`` at the deadline."""
        try:
            left_s = max(0.0, deadline - time.monotonic())
            line = self._peeked.pop() if self._peeked else self._answers.get(timeout=left_s)
        except queue.Empty:
            return None
        if line is None:
            raise self._died()
        message: Mapping[str, Any] = json.loads(line)
        return message

    def _peek(self) -> Mapping[str, Any] | None:
        """Return the message after the last one received, if it is here already; it can still be received."""
        if not self._peeked:
            with contextlib.suppress(queue.Empty):
                self._peeked.append(self._answers.get_nowait())
        line = self._peeked[0] if self._peeked else None
        return None if line is None else json.loads(line)

    def _died(self) -> SolverError:
        assert self._process is not None
        code = self._process.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        last = b"".join(self._errors).decode(errors="replace").strip().splitlines()[-1:]
        return SolverError(f"the process of solver {self._solver!r} ended by {how}{': ' + last[0] if last else ''}")


def _worker_environment() -> dict[str, str]:
    """Return this process's environment, in which numpy starts no threads for linear algebra.

    No solver of ours does any, and threads that wait for it keep processors busy while packages are loaded.
    """
    return {"OPENBLAS_NUM_THREADS": "1", **os.environ}


def _is_superseded(message: Mapping[str, Any], following: Mapping[str, Any] | None) -> bool:
    """Return whether the next progress report brings all that this one does."""
    if following is None or following["event"] != "progress":
        return False
    mine, others = message["progress"], following["progress"]
    return all(mine[part] is None or others[part] is not None for part in ("incumbent", "bound"))


def _read_answers(process: subprocess.Popen[bytes], answers: queue.SimpleQueue[bytes | None]) -> None:
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        for line in process.stdout:
            answers.put(line)
    answers.put(None)


def _read_errors(process: subprocess.Popen[bytes], errors: list[bytes]) -> None:
    assert process.stderr is not None
    with contextlib.suppress(OSError, ValueError):
        for line in process.stderr:
            errors.append(line)
            del errors[:-20]
