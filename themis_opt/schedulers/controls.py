"""The controls: what spreading chunks without looking at loads achieves."""

from __future__ import annotations

from random import Random

from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Schedule
from themis_opt.schedulers.assembly import dispatched, mirrored_chunk
from themis_opt.timing.policy import DispatchPolicy


def round_robin(instance: Instance, *, seed: int = 0) -> Schedule:
    """Rotate the order by one dimension per chunk, All-Gather reversed; first come, first served.

    A chunk's Reduce-Scatter and All-Gather on its turning dimension run back to back, as in ASTRA-sim's round-robin.
    """
    involved = instance.involved
    chunks = []
    for index, size in enumerate(instance.equal_chunk_sizes()):
        shift = index % len(involved)  # index and not size decides: a control must not look at loads
        chunks.append(mirrored_chunk(instance, size, involved[shift:] + involved[:shift]))
    return dispatched(instance, chunks, DispatchPolicy.FUSED_FIFO, "round-robin")


def random_orders(instance: Instance, *, seed: int = 0) -> Schedule:
    """Independent random orders of every chunk and phase (seeded); first come, first served."""
    random = Random(seed)
    chunks = []
    for size in instance.equal_chunk_sizes():
        path = [
            (phase, k)
            for phase in instance.phases
            if phase is not Phase.ALL_TO_ALL
            for k in random.sample(instance.involved, len(instance.involved))
        ]
        chunks.append(Chunk.along(size, path))
    return dispatched(instance, chunks, DispatchPolicy.FIFO, "random", seed)
