"""A worker of the local engine, ``python -m themis_opt.studies.study_worker``: batches on stdin, answers on stdout.

Its real standard output is reserved for answers, each a pickle; both ends are processes of this program. It ends when
its stdin closes, so it cannot outlive the process that started it, whatever it is doing.
"""

from __future__ import annotations

import os
import pickle
import queue
import resource
import signal
import sys
import threading
from contextlib import suppress
from typing import Any, BinaryIO

from themis_opt.solving.memory import collect_garbage_rarely
from themis_opt.solving.private_stdout import private_stdout

MAPPED_BYTES = 4 * 2**30
"""Of address space for libraries and threads, which is no memory."""


def main(memory_bytes: int, wanted: list[str]) -> None:
    """Prepare, say so, then evaluate batches until stdin closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    _limit(resource.RLIMIT_DATA, memory_bytes)
    _limit(resource.RLIMIT_AS, memory_bytes + MAPPED_BYTES)  # where the system does not count data alone
    answers = private_stdout()
    collect_garbage_rarely()
    from themis_opt.studies.evaluating import Evaluator

    _warm_up()
    collect_garbage_rarely()
    _send(answers, "ready")
    batches: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read_batches, args=(batches,), daemon=True).start()
    with Evaluator(wanted) as evaluator:
        while True:
            for task in batches.get():
                _send(answers, evaluator.evaluate(task))
            _send(answers, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def _limit(kind: int, size_bytes: int) -> None:
    """Let memory beyond this many bytes be refused, unless less is allowed already."""
    allowed = resource.getrlimit(kind)[1]
    if allowed in (resource.RLIM_INFINITY, -1) or size_bytes < allowed:
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (size_bytes, allowed))


def _warm_up() -> None:
    """Load what every task needs: schedulers, the compiled simulator, the fluid program."""
    from themis_opt.problem.instance import Instance
    from themis_opt.problem.network import Dimension, Network, Topology
    from themis_opt.studies.choice import Method
    from themis_opt.studies.evaluating import Evaluator
    from themis_opt.studies.tasks import Task

    pair = Dimension(Topology.RING, 2, 10**9, 0)  # type: ignore[arg-type]
    instance = Instance(Network("warm-up", (pair, pair)), size_bytes=4096, num_chunks=64)
    with Evaluator(()) as evaluator:
        evaluator.evaluate(Task(instance, Method.HEURISTIC, "themis-scf"))


def _send(answers: BinaryIO, message: Any) -> None:
    pickle.dump(message, answers, protocol=pickle.HIGHEST_PROTOCOL)
    answers.flush()


def _read_batches(batches: queue.SimpleQueue[Any]) -> None:
    with suppress(EOFError, pickle.UnpicklingError, OSError):
        while True:
            batches.put(pickle.load(sys.stdin.buffer))
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
