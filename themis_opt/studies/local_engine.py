"""The engine of one machine: processes that take one batch at a time."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Collection, Iterator
from types import TracebackType
from typing import Any

from themis_opt.problem.errors import SolverError
from themis_opt.studies.finding import Finding, failure
from themis_opt.studies.study_engine import MAX_ATTEMPTS, Batch
from themis_opt.studies.tasks import Task

START_LIMIT_S = 180.0
"""How long a process may take to load its packages and to compile, which it does once after installation."""

MEMORY_SHARE = 0.8
"""The part of the machine's memory that all processes together may use."""

_LEAST_BYTES = 2**30
"""Of memory a process is left, whatever the machine has: less does not even load the packages."""

_POLL_S = 0.5


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
        self._messages: queue.SimpleQueue[tuple[_Worker, Any]] = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        self._is_exhausted = False
        self._num_false_starts = 0

    def __enter__(self) -> LocalEngine:
        try:
            for _ in range(self._num_processes):
                self._workers.append(self._start())
        except OSError as error:
            for worker in self._workers:
                worker.kill()
            raise SolverError(
                f"{self._num_processes} processes cannot be started ({error.strerror}); ask for fewer (--processes)"
            ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.kill()

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
                raise SolverError(f"a process of the study did not start{worker.last_words()}")
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
            elif message == "ready":
                worker.is_ready = True
                self._num_false_starts = 0
                self._give(worker, again, batches)
            else:  # it has done its batch, and says how many bytes it has come to use
                worker.is_busy = False
                if message > self._memory_bytes // 2 and not self._is_exhausted:
                    self._workers[self._workers.index(worker)] = self._start()
                    worker.kill()
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
        if worker not in self._workers:
            return  # one that was replaced on purpose
        how = worker.last_words()
        if not worker.is_ready:
            self._num_false_starts += 1
            if self._num_false_starts >= MAX_ATTEMPTS:
                raise SolverError(f"{MAX_ATTEMPTS} processes of the study did not start{how}")
        rest = tuple(worker.left)
        if rest:
            first, *others = rest
            attempts[first.key] += 1
            if attempts[first.key] >= MAX_ATTEMPTS:
                yield failure(first.key, f"{MAX_ATTEMPTS} processes died of it{how}", 0.0)
            else:
                again.append((first,))
            if others:
                again.append(tuple(others))
        self._workers[self._workers.index(worker)] = self._start()

    def _start(self) -> _Worker:
        return _Worker(self._memory_bytes, self._wanted, self._messages)

    def _next_message(self, deadline: float | None) -> tuple[_Worker, Any]:
        while True:
            with contextlib.suppress(queue.Empty):
                return self._messages.get(timeout=_POLL_S)
            if deadline is not None and time.monotonic() > deadline:
                raise SolverError(f"the processes of the study did not start within {START_LIMIT_S:g} s")


class _Worker:
    """One process, and what it has been given."""

    def __init__(
        self, memory_bytes: int, wanted: tuple[str, ...], messages: queue.SimpleQueue[tuple[_Worker, Any]]
    ) -> None:
        self.is_ready = False
        self.is_busy = False
        self.left: deque[Task] = deque()
        self._errors: list[bytes] = []
        # A session of its own, so that Ctrl-C reaches the parent alone, which then decides.
        self._process = subprocess.Popen(
            # -P: a yaml.py or queue.py in the user's folder is not ours to run.
            [sys.executable, "-P", "-m", "themis_opt.studies.study_worker", str(memory_bytes), *wanted],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **os.environ},
        )
        threading.Thread(target=self._listen, args=(messages,), daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()

    def give(self, batch: Batch) -> None:
        """Give it a batch."""
        self.is_busy = True
        self.left.extend(batch)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has died: its last message says so
            pickle.dump(batch, self._process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()

    def kill(self) -> None:
        """End it, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def last_words(self) -> str:
        """Return how it ended, to follow a sentence."""
        code = self._process.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        last = b"".join(self._errors).decode(errors="replace").strip().splitlines()[-1:]
        return f" (the last one by {how}{': ' + last[0] if last else ''})"

    def _listen(self, messages: queue.SimpleQueue[tuple[_Worker, Any]]) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
            while True:
                messages.put((self, pickle.load(self._process.stdout)))
        messages.put((self, None))

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            for line in self._process.stderr:
                self._errors.append(line)
                del self._errors[:-20]


def _machine_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
