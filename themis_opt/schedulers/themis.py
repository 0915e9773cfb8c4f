"""Themis, Algorithm 1 of the paper: each chunk visits the least loaded dimension first (Sec. 4 and 5.3)."""

from __future__ import annotations

from fractions import Fraction

from themis_opt.collective import Collective, Phase
from themis_opt.cost import CostModel
from themis_opt.instance import Instance
from themis_opt.schedule import Order, Schedule
from themis_opt.schedulers.assembly import dispatched, mirrored_chunk
from themis_opt.simulator import DispatchPolicy
from themis_opt.units import PS_PER_S

THRESHOLD_DIVISOR = 16
"""Sec. 5.3: loads closer than a Reduce-Scatter of one sixteenth of a chunk are left as they are."""


def themis_fifo(instance: Instance, *, seed: int = 0) -> Schedule:
    """Themis's greedy orders (Algorithm 1), first come, first served."""
    return _themis(instance, DispatchPolicy.FIFO, "themis-fifo")


def themis_scf(instance: Instance, *, seed: int = 0) -> Schedule:
    """Themis's greedy orders (Algorithm 1), smallest chunk first."""
    return _themis(instance, DispatchPolicy.SCF, "themis-scf")


def _themis(instance: Instance, policy: DispatchPolicy, name: str) -> Schedule:
    tracker = LoadTracker(instance)
    chunks = []
    for size in instance.equal_chunk_sizes():
        order = tracker.choose_order(size)
        tracker.add(size, order)
        chunks.append(mirrored_chunk(instance, size, order))
    return dispatched(instance, chunks, policy, name)


class LoadTracker:
    """The loads of Algorithm 1: one per involved dimension, in picoseconds.

    Orders are those of the Reduce-Scatter phase; of an All-Gather alone, the reverse of its own order. The fixed delay
    counts every phase, the bytes count one: the All-Gather half of an All-Reduce mirrors the other, and the threshold is
    that of one phase (counting both moves the times of Fig. 8 by up to 11 %).
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self._model = CostModel(instance)
        # Line 2: the fixed delay A_k of the whole collective.
        self.loads = {
            k: Fraction(sum(self._model.latency_ps(phase, k) for phase in instance.phases)) for k in instance.involved
        }

    def choose_order(self, size_bytes: int) -> Order:
        """Return the order of the next chunk: least loaded dimension first, or the baseline's if loads are level."""
        least = min(self.loads, key=lambda k: (self.loads[k], k))
        spread = max(self.loads.values()) - self.loads[least]
        if spread < self._threshold_ps(size_bytes, least):
            return self.instance.involved
        if self.instance.collective is Collective.ALL_GATHER:
            descending = sorted(self.loads, key=lambda k: (-self.loads[k], k))
            return tuple(reversed(descending))
        return tuple(sorted(self.loads, key=lambda k: (self.loads[k], k)))

    def add(self, size_bytes: int, order: Order) -> None:
        """Add a chunk's bytes to the loads; fixed delays are not paid per chunk (Sec. 4.4)."""
        for position, k in enumerate(order):
            sent = size_bytes * self._model.sent_fraction(Phase.REDUCE_SCATTER, order[:position], k)
            self.loads[k] += sent * self._byte_ps(k)

    def _threshold_ps(self, size_bytes: int, dimension: int) -> Fraction:
        """Sec. 5.3: the transfer time of a sixteenth of the chunk on the least loaded dimension."""
        size = self.instance.network.dimensions[dimension].size
        return Fraction(size_bytes, THRESHOLD_DIVISOR) * Fraction(size - 1, size) * self._byte_ps(dimension)

    def _byte_ps(self, dimension: int) -> Fraction:
        return PS_PER_S / self.instance.network.dimensions[dimension].bandwidth_Bps
