"""The parent's side of a solver process: start it early, ask it, stop it when its time is up."""

from __future__ import annotations

import pickle
import queue
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import TracebackType

from themis_opt.problem.bound import Bound, BoundScope
from themis_opt.problem.errors import InputError, SolverError
from themis_opt.problem.instance import Instance
from themis_opt.solving.bounds import remembered_bounds
from themis_opt.solving.child import READY, START_LIMIT_S, Child, unpickled
from themis_opt.solving.protocol import Progress, SolverParams, SolverResult, ignore_progress

GRACE_S = 1.0
"""How long past its limit a solver may take to answer before its process is ended."""

_WORKER = "themis_opt.solving.solver_worker"
_ENDED = object()
"""In the place of a message: there will be none any more."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the process is asked: to run a solver, or, where a scope is given, a bound provider.

    Attributes
    ----------
    name
        The solver's or bound provider's.
    instance, params
        What it is called with; the listener stays behind.
    scope
        For which schedules the bound must hold.
    known_bounds
        Quick bounds of the instance that the parent has worked out already.
    """

    name: str
    instance: Instance
    params: SolverParams
    scope: BoundScope | None = None
    known_bounds: Mapping[BoundScope, list[Bound]] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a request."""

    value: SolverResult | Bound | None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why nothing came of a request, and whether that is the fault of whoever asked."""

    message: str
    is_bad_input: bool = False


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
        self._child: Child | None = None
        self._is_ready = False
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

        Parameters
        ----------
        instance, params
            What it is called with.
        on_progress
            Called here with what it reports meanwhile.

        Raises
        ------
        SolverError
            When the solver or its process failed.
        """
        # The child would work them out again: they are pure functions of the instance, but not free.
        known = dict(remembered_bounds(instance))
        result = self._ask(Request(self._solver, instance, params, known_bounds=known), on_progress)
        assert result is None or isinstance(result, SolverResult)
        return result

    def bound(self, name: str, instance: Instance, scope: BoundScope, params: SolverParams) -> Bound | None:
        """Compute a bound; return ``None`` when there is none in time.

        Parameters
        ----------
        name
            The bound provider's.
        instance, scope, params
            What it is called with.

        Raises
        ------
        SolverError
            When the bound provider or its process failed.
        """
        bound = self._ask(Request(name, instance, params, scope), ignore_progress)
        assert bound is None or isinstance(bound, Bound)
        return bound

    def wait_until_ready(self) -> None:
        """Wait until the packages are loaded, starting another process if this one has ended.

        Raises
        ------
        SolverError
            When it does not start.
        """
        if self._child is None or self._child.has_ended:
            self.stop()
            self._start()
        if not self._is_ready:
            if self._receive(time.monotonic() + START_LIMIT_S) != READY:
                raise SolverError(f"solver {self._solver!r} did not start within {START_LIMIT_S:g} s")
            self._is_ready = True

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()

    def _start(self) -> None:
        self._heard: queue.SimpleQueue[tuple[Child, bytes | None]] = queue.SimpleQueue()
        self._next: object = None
        self._is_ready = False
        self._child = Child(_WORKER, [self._solver], self._heard)

    def _ask(self, request: Request, on_progress: Callable[[Progress], None]) -> SolverResult | Bound | None:
        """Return what the process answers, or ``None`` when it does not in time."""
        params = request.params
        try:
            self.wait_until_ready()
            assert self._child is not None
            deadline = time.monotonic() + params.time_limit_s
            try:
                self._child.send(replace(request, params=replace(params, on_progress=ignore_progress)))
            except OSError:
                raise self._died() from None
            while True:
                message = self._receive(deadline + GRACE_S)
                if message is None:
                    self.stop()
                    return None
                if isinstance(message, Answer):
                    return message.value
                if isinstance(message, Failure):
                    if message.is_bad_input:
                        raise InputError(message.message)
                    raise SolverError(f"solver {self._solver!r} failed: {message.message}")
                assert isinstance(message, Progress)
                # Reports may come faster than they can be checked: of those that wait the last is the best.
                if not _is_superseded(message, self._peek()):
                    on_progress(message)
        except BaseException:  # Ctrl-C, too: a child left behind would keep a processor busy
            self.stop()
            raise

    def _receive(self, deadline: float) -> object:
        """Return the next message, or ``None`` at the deadline."""
        message, self._next = self._next, None
        if message is None:
            try:
                message = self._read(self._heard.get(timeout=max(0.0, deadline - time.monotonic())))
            except queue.Empty:
                return None
        if message is _ENDED:
            raise self._died()
        return message

    def _peek(self) -> object:
        """Return the message after the last one received, if it is here already; it can still be received."""
        if self._next is None and not self._heard.empty():
            self._next = self._read(self._heard.get())
        return self._next

    def _read(self, heard: tuple[Child, bytes | None]) -> object:
        if heard[1] is None:
            return _ENDED
        try:
            return unpickled(heard[1])
        except (pickle.UnpicklingError, AttributeError, ImportError) as error:
            raise SolverError(f"solver {self._solver!r} sent what cannot be read: {error}") from error

    def _died(self) -> SolverError:
        assert self._child is not None
        return SolverError(f"the process of solver {self._solver!r} ended by {self._child.last_words()}")


@contextmanager
def process_of(solver: str, lent: SolverProcess | None = None) -> Iterator[SolverProcess]:
    """Yield the process that was lent, which its starter ends, or else one of the solver's that lives until the end."""
    if lent is not None:
        yield lent
        return
    with SolverProcess(solver) as started:
        yield started


def _is_superseded(report: Progress, following: object) -> bool:
    """Return whether the next message is a progress report that brings all that this one does."""
    if not isinstance(following, Progress):
        return False
    return (report.incumbent is None or following.incumbent is not None) and (
        report.bound is None or following.bound is not None
    )
