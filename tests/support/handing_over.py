"""A second, harsher executor of MSCCL algorithms: ranks hand a message over only when both sides are at it.

It knows nothing of data: it tells whether an algorithm ends even if no rank can store a single message for another.
"""

from __future__ import annotations

from themis_opt.export.msccl.write.program import Algo


def ends_without_storage(algo: Algo) -> bool:
    """Return whether all threadblocks come to their end."""
    position = {(rank, number): 0 for rank, gpu in enumerate(algo.gpus) for number in range(len(gpu.threadblocks))}
    receiver = {
        (threadblock.receive_peer, rank, threadblock.channel): (rank, number)
        for rank, gpu in enumerate(algo.gpus)
        for number, threadblock in enumerate(gpu.threadblocks)
        if threadblock.receive_peer >= 0
    }

    def current(key: tuple[int, int]) -> str | None:
        """Return the kind of the step that a threadblock can do now, alone or with its peer."""
        steps = algo.gpus[key[0]].threadblocks[key[1]].steps
        if position[key] == len(steps):
            return None
        step = steps[position[key]]
        waits_for = step.waits_for
        if waits_for is not None and position[key[0], waits_for.threadblock] <= waits_for.step:
            return None
        return step.kind

    progress = True
    while progress:
        progress = False
        for key in position:
            while True:
                kind = current(key)
                threadblock = algo.gpus[key[0]].threadblocks[key[1]]
                if kind in ("cpy", "nop"):
                    position[key] += 1
                elif kind == "s":
                    other = receiver[key[0], threadblock.send_peer, threadblock.channel]
                    if current(other) not in ("r", "rrc"):
                        break
                    position[key] += 1
                    position[other] += 1
                else:
                    break
                progress = True
    return all(
        position[r, n] == len(tb.steps) for r, gpu in enumerate(algo.gpus) for n, tb in enumerate(gpu.threadblocks)
    )
