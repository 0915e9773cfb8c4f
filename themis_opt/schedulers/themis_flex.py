"""Themis with chunk sizes that follow the imbalance (ASTRA-sim's OfflineGreedyFlex).

While loads are level, chunks of ``S/C`` bytes go in the baseline's order; else one chunk, as large as it takes to
level the least and the most loaded dimension, goes in greedy order. The number of chunks follows from that. The queues
are ASTRA-sim's too (`DispatchPolicy.ASTRA_FIFO`, `ASTRA_SCF`).
"""

from __future__ import annotations

from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.schedulers.assembly import dispatched, mirrored_chunk
from themis_opt.schedulers.themis_astra import LoadArrangement
from themis_opt.timing.policy import DispatchPolicy


def themis_flex_fifo(instance: Instance, *, seed: int = 0) -> Schedule:
    """Themis with chunk sizes that level the loads, first come, first served, with ASTRA-sim's queue rules."""
    return _themis_flex(instance, DispatchPolicy.ASTRA_FIFO, "themis-flex-fifo")


def themis_flex_scf(instance: Instance, *, seed: int = 0) -> Schedule:
    """Themis with chunk sizes that level the loads, smallest chunk first, with ASTRA-sim's queue rules."""
    return _themis_flex(instance, DispatchPolicy.ASTRA_SCF, "themis-flex-scf")


def _themis_flex(instance: Instance, policy: DispatchPolicy, name: str) -> Schedule:
    arrangement = LoadArrangement(instance)
    nominal = instance.size_bytes // instance.num_chunks
    left = instance.size_bytes
    chunks = []
    while left:
        arrangement.sort()
        size = arrangement.leveling_bytes()
        if size < nominal:
            arrangement.reset()
            size = nominal
        size = min(size, left)  # the last chunk takes what there is
        left -= size
        arrangement.add(size, arrangement.order)
        chunks.append(mirrored_chunk(instance, size, arrangement.order))
    return dispatched(instance, chunks, policy, name)
