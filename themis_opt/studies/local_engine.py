"""The engine of one machine: processes that take one batch at a time."""

from __future__ import annotations

import contextlib
import os
import queue
import time
from collections import Counter, deque
from collections.abc import Collection, Iterator
from types import TracebackType

from themis_opt.problem.errors import SolverError
from themis_opt.solving.child import READY, START_LIMIT_S, Child, unpickled
from themis_opt.studies.study_engine import MAX_ATTEMPTS, Batch, Finding, failure
from themis_opt.studies.tasks import Task

MEMORY_SHARE = 0.8
"""The part of the machine's memory that all processes together may use."""

_LEAST_BYTES = 2**30
"""Of memory a process is left, whatever the machine has: less does not even load the packages."""

_POLL_S = 0.5
_WORKER = "themis_opt.studies.study_worker"


class LocalEngine:
    """Runs tasks in processes of their own on this machine.

    Parameters
    ----------
    num_processes
        How many.
    wanted
        The metrics that are measured.
    memory_bytes
        What each process may use; default: its share of the machine's memory. A task that needs more has failed, and
        a process that has grown to half of it is replaced by a fresh one.
    """

    def __init__(self, num_processes: int, wanted: Collection[str], memory_bytes: int | None = None) -> None:
        self._num_processes = num_processes
        self._wanted = tuple(wanted)
        share = int(MEMORY_SHARE * _machine_bytes() / num_processes)
        self._memory_bytes = max(share, _LEAST_BYTES) if memory_bytes is None else memory_bytes
        self._heard: queue.SimpleQueue[tuple[Child, bytes | None]] = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        self._is_exhausted = False
        self._num_false_starts = 0

    def __enter__(self) -> LocalEngine:
        try:
            for _ in range(self._num_processes):
                self._workers.append(self._start())
        except OSError as error:
            for worker in self._workers:
                worker.child.kill()
            raise SolverError(
                f"{self._num_processes} processes cannot be started ({error.strerror}); ask for fewer (--processes)"
            ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.child.kill()

    def wait_until_ready(self) -> None:
        """Wait until every process has loaded what it needs.

        Raises
        ------
        SolverError
            When one does not start.
        """
        waiting = {worker for worker in self._workers if not worker.is_ready}
        deadline = time.monotonic() + START_LIMIT_S
        while waiting:
            worker, message = self._next_message(deadline)
            if message is None:
                raise SolverError(f"a process of the study did not start: {worker.child.last_words()}")
            worker.is_ready = True
            waiting.discard(worker)

    def run(self, batches: Iterator[Batch]) -> Iterator[Finding]:
        """Yield a finding for every task; batches are taken one by one as processes become free.

        Raises
        ------
        SolverError
            When processes end before they are ready.
        """
        self._is_exhausted = False
        again: deque[Batch] = deque()
        attempts: Counter[str] = Counter()
        for worker in self._workers:
            if worker.is_ready:
                self._give(worker, again, batches)
        while self._is_at_work() or again:
            worker, message = self._next_message(None)
            if message is None:
                yield from self._replace(worker, again, attempts)
            elif isinstance(message, Finding):
                worker.left.popleft()
                yield message
            elif message == READY:
                worker.is_ready = True
                self._num_false_starts = 0
                self._give(worker, again, batches)
            else:  # it has done its batch, and says how many bytes it has come to use
                worker.is_busy = False
                assert isinstance(message, int)
                if message > self._memory_bytes // 2 and not self._is_exhausted:
                    self._workers[self._workers.index(worker)] = self._start()
                    worker.child.kill()
                else:
                    self._give(worker, again, batches)

    def _is_at_work(self) -> bool:
        """Return whether a process has something left to do, or will be given something once it has started."""
        is_starting = any(not worker.is_ready for worker in self._workers)
        return (is_starting and not self._is_exhausted) or any(worker.is_busy for worker in self._workers)

    def _give(self, worker: _Worker, again: deque[Batch], batches: Iterator[Batch]) -> None:
        batch = again.popleft() if again else next(batches, None)
        if batch is None:
            self._is_exhausted = True
        else:
            worker.give(batch)

    def _replace(self, worker: _Worker, again: deque[Batch], attempts: Counter[str]) -> Iterator[Finding]:
        """Put a fresh process in the place of one that died; what it was working on is tried again, or has failed."""
        how = f" (the last one by {worker.child.last_words()})"
        if not worker.is_ready:
            self._num_false_starts += 1
            if self._num_false_starts >= MAX_ATTEMPTS:
                raise SolverError(f"{MAX_ATTEMPTS} processes of the study did not start{how}")
        rest = tuple(worker.left)
        if rest:
            first, *others = rest
            attempts[first.key] += 1
            if attempts[first.key] >= MAX_ATTEMPTS:
                yield failure(first.key, f"{MAX_ATTEMPTS} processes died of it{how}")
            else:
                again.append((first,))
            if others:
                again.append(tuple(others))
        self._workers[self._workers.index(worker)] = self._start()

    def _start(self) -> _Worker:
        return _Worker(Child(_WORKER, [str(self._memory_bytes), *self._wanted], self._heard))

    def _next_message(self, deadline: float | None) -> tuple[_Worker, object]:
        """Return who says what (``None``: it has ended); those that were replaced on purpose say nothing."""
        while True:
            with contextlib.suppress(queue.Empty):
                child, frame = self._heard.get(timeout=_POLL_S)
                for worker in self._workers:
                    if worker.child is child:
                        return worker, None if frame is None else unpickled(frame)
            if deadline is not None and time.monotonic() > deadline:
                raise SolverError(f"the processes of the study did not start within {START_LIMIT_S:g} s")


class _Worker:
    """One process, and what it has been given."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.is_ready = False
        self.is_busy = False
        self.left: deque[Task] = deque()

    def give(self, batch: Batch) -> None:
        """Give it a batch."""
        self.is_busy = True
        self.left.extend(batch)
        with contextlib.suppress(OSError):  # it has died: its last message says so
            self.child.send(batch)


def _machine_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
