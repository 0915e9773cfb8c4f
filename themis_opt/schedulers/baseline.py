"""The order everybody else uses: every chunk 1…D, then D…1 (BlueConnect; the paper's baseline, Table 3)."""

from __future__ import annotations

from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Schedule
from themis_opt.schedulers.assembly import dispatched, mirrored_chunk
from themis_opt.timing.policy import DispatchPolicy


def baseline(instance: Instance, *, seed: int = 0) -> Schedule:
    """Every chunk in the order 1…D, D…1; first come, first served."""
    return dispatched(instance, chunks_in_index_order(instance), DispatchPolicy.FIFO, "baseline")


def baseline_astra(instance: Instance, *, seed: int = 0) -> Schedule:
    """As baseline, but RS and AG of a chunk's last dimension run back to back, as in ASTRA-sim."""
    return dispatched(instance, chunks_in_index_order(instance), DispatchPolicy.FUSED_FIFO, "baseline-astra")


def chunks_in_index_order(instance: Instance) -> list[Chunk]:
    """Return equal chunks, each in the order 1…D, D…1."""
    return [mirrored_chunk(instance, size, instance.involved) for size in instance.equal_chunk_sizes()]
