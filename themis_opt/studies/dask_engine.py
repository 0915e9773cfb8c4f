"""The engine of many machines: a dask cluster, or one that is started here (extra ``dask``)."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import CancelledError
from types import TracebackType
from typing import Any

from themis_opt.problem.errors import InputError, SolverError
from themis_opt.problem.version import VERSION
from themis_opt.studies.evaluating import Evaluator
from themis_opt.studies.study_engine import MAX_ATTEMPTS, Batch, Finding, failure
from themis_opt.studies.tasks import Task

CONNECT_S = 15.0
"""How long the cluster's scheduler may take to answer."""

AHEAD = 2
"""Batches a cluster is given for each of its threads: one to work on and one to find there."""

_NOTICE_S = 0.5
_TIMEOUT_S = 30.0
"""How long a cluster may be without any worker before the study gives up."""


class DaskEngine:
    """Runs tasks on a dask cluster, whose workers have this version of themis-opt installed.

    Parameters
    ----------
    wanted
        The metrics that are measured.
    address
        The cluster's scheduler, such as ``tcp://host:8786``; ``None`` starts a cluster on this machine.
    num_workers
        How many processes that one has.

    Raises
    ------
    InputError
        When dask is not installed.
    """

    def __init__(self, wanted: Collection[str], address: str | None = None, num_workers: int = 2) -> None:
        require_dask()
        self._wanted = tuple(wanted)
        self._address = address
        self._where = "" if address is None else f" at {address}"
        self._num_workers = num_workers
        self._stack = contextlib.ExitStack()
        # Dask has no types: its client, futures and what iterates over them.
        self._client: Any = None
        self._running: Any = None
        self._batch_of: dict[str, Batch] = {}

    def __enter__(self) -> DaskEngine:
        import distributed

        make_cluster: Any = distributed.LocalCluster
        make_client: Any = distributed.Client
        here = {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
        try:
            with contextlib.ExitStack() as stack:  # undone if something fails
                stack.enter_context(_quiet_log())
                target: Any = self._address
                if target is None:
                    target = stack.enter_context(make_cluster(n_workers=self._num_workers, **here))
                self._client = stack.enter_context(make_client(target, timeout=CONNECT_S, set_as_default=False))
                self._require_same_version()
                self._stack = stack.pop_all()
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            raise InputError(f"--scheduler: no dask scheduler answers at {self._address}: {error}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def run(self, batches: Iterator[Batch]) -> Iterator[Finding]:
        """Yield a finding for every task.

        Dask itself runs what a dead worker was at again, elsewhere; a batch that has cost several workers is taken
        apart, and a task that then costs several more has failed.
        """
        import distributed

        as_completed: Any = distributed.as_completed
        attempts: Counter[str] = Counter()
        self._running = as_completed(loop=self._client.loop)
        self._wait_for_a_worker()
        for _ in range(AHEAD * max(1, sum(self._client.nthreads().values()))):
            self._submit(*next(batches, ()))
        for future in self._running:
            batch = self._batch_of.pop(future.key)
            try:
                yield from future.result()
            except GeneratorExit:
                raise
            except Exception as error:  # of the batch, of its worker, or of the cluster
                self._require_cluster()
                yield from self._again(batch, error, attempts)
            future.release()
            self._submit(*next(batches, ()))

    def _submit(self, *batch: Task) -> None:
        if batch:
            future = self._client.submit(evaluate_batch, batch, self._wanted, pure=False, retries=MAX_ATTEMPTS - 1)
            self._batch_of[future.key] = batch
            self._running.add(future)

    def _again(self, batch: Batch, error: BaseException, attempts: Counter[str]) -> Iterator[Finding]:
        """Submit the tasks of a batch that came to grief one by one; one that was alone and is to blame has failed."""
        if len(batch) == 1:
            (task,) = batch
            attempts[task.key] += 1
            if attempts[task.key] > 1 or not _is_of_worker(error):
                yield failure(task.key, f"{type(error).__name__}: {error}")
                return
        for task in batch:
            self._submit(task)

    def _require_cluster(self) -> None:
        """Raise when the cluster's scheduler has gone away, which its client may take a moment to see.

        Raises
        ------
        SolverError
            Naming it.
        """
        deadline = time.monotonic() + _NOTICE_S
        while time.monotonic() < deadline:
            if self._client.status != "running":
                raise SolverError(f"the dask scheduler{self._where} went away")
            time.sleep(0.05)

    def _wait_for_a_worker(self) -> None:
        """Wait until the cluster has a worker.

        Raises
        ------
        InputError
            When it has none for too long.
        """
        try:
            self._client.wait_for_workers(1, timeout=_TIMEOUT_S)
        except TimeoutError:
            raise InputError(
                f"--scheduler: the dask cluster{self._where} has had no worker for {_TIMEOUT_S:g} s; "
                "start one (dask worker ADDRESS)"
            ) from None

    def _require_same_version(self) -> None:
        """Raise unless every worker has this version of themis-opt.

        Raises
        ------
        InputError
            Naming a worker that lacks it.
        """
        self._wait_for_a_worker()
        found = self._client.run(installed_version, on_error="return")
        for worker, version in found.items():
            if version != VERSION:
                told = version if isinstance(version, str) else f"none ({version!r})"
                raise InputError(
                    f"--scheduler: worker {worker} has themis-opt {told}, and this is {VERSION}; "
                    "install the same version there"
                )


def require_dask() -> None:
    """Raise unless dask is installed.

    Raises
    ------
    InputError
        Saying what to install.
    """
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise InputError("--engine dask needs dask: pip install 'themis-opt[dask]'") from None


def installed_version() -> str:
    """Return the version of themis-opt; runs on a worker."""
    return VERSION


_EVALUATORS: dict[tuple[str, ...], Evaluator] = {}
_ONE_AT_A_TIME = threading.Lock()


def evaluate_batch(batch: Batch, wanted: tuple[str, ...]) -> list[Finding]:
    """Return the findings of a batch; runs on a worker, which keeps an evaluator for the next one.

    What tasks share is not made for several threads: a worker that has some runs one batch at a time.
    """
    with _ONE_AT_A_TIME:
        if wanted not in _EVALUATORS:
            _EVALUATORS[wanted] = Evaluator(wanted)
        return [_EVALUATORS[wanted].evaluate(task) for task in batch]


@contextlib.contextmanager
def _quiet_log() -> Iterator[None]:
    """Let dask log nothing but what ends the program: what matters of its troubles is said in one line."""
    found = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]
    levels = {name: logging.getLogger(name).level for name in found}
    for name in levels:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def _is_of_worker(error: BaseException) -> bool:
    """Return whether a worker died, rather than the work having failed."""
    from distributed.scheduler import KilledWorker

    return isinstance(error, KilledWorker | CancelledError | OSError | TimeoutError)
