"""A worker of the local engine, ``python -m themis_opt.studies.study_worker``: evaluates one batch after the other."""

from __future__ import annotations

import resource
import sys
from contextlib import suppress

from themis_opt.solving.child import Channel
from themis_opt.solving.resources import collect_garbage_rarely

MAPPED_BYTES = 4 * 2**30
"""Of address space for libraries and threads, which is no memory."""


def main(memory_bytes: int, wanted: list[str]) -> None:
    """Prepare, say so, then evaluate batches until stdin closes; each ends with the bytes of memory used so far."""
    _limit(resource.RLIMIT_DATA, memory_bytes)
    _limit(resource.RLIMIT_AS, memory_bytes + MAPPED_BYTES)  # where the system does not count data alone
    channel = Channel()
    collect_garbage_rarely()
    from themis_opt.studies.evaluating import Evaluator

    _warm_up()
    collect_garbage_rarely()
    channel.listen()
    with Evaluator(wanted) as evaluator:
        while True:
            _, batch = channel.receive()
            assert isinstance(batch, tuple)
            for task in batch:
                channel.send(evaluator.evaluate(task))
            channel.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


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
    from themis_opt.studies.evaluating import Evaluator
    from themis_opt.studies.tasks import Method, Task

    pair = Dimension(Topology.RING, 2, 10**9, 0)  # type: ignore[arg-type]
    instance = Instance(Network("warm-up", (pair, pair)), size_bytes=4096, num_chunks=64)
    with Evaluator(()) as evaluator:
        evaluator.evaluate(Task(instance, Method.HEURISTIC, "themis-scf"))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
