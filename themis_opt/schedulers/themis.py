"""Themis, Algorithm 1 of the paper: each chunk visits the least loaded dimension first (Sec. 4 and 5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm

from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Order, Schedule
from themis_opt.problem.units import PS_PER_S
from themis_opt.schedulers.assembly import dispatched, mirrored_chunk
from themis_opt.timing.cost import CostModel
from themis_opt.timing.policy import DispatchPolicy

THRESHOLD_DIVISOR = 16
"""Sec. 5.3: loads closer than a Reduce-Scatter of one sixteenth of a chunk are left as they are."""


def themis_fifo(instance: Instance, *, seed: int = 0) -> Schedule:
    """Themis's greedy orders (Algorithm 1), first come, first served."""
    return dispatched(instance, greedy_chunks(instance), DispatchPolicy.FIFO, "themis-fifo")


def themis_scf(instance: Instance, *, seed: int = 0) -> Schedule:
    """Themis's greedy orders (Algorithm 1), smallest chunk first."""
    return dispatched(instance, greedy_chunks(instance), DispatchPolicy.SCF, "themis-scf")


def greedy_chunks(instance: Instance) -> list[Chunk]:
    """Return equal chunks in the orders of Algorithm 1."""
    tracker = LoadTracker(instance)
    chunks = []
    for size in instance.equal_chunk_sizes():
        order = tracker.choose_order(size)
        tracker.add(size, order)
        chunks.append(mirrored_chunk(instance, size, order))
    return chunks


class Loads:
    """How much Reduce-Scatter stages have put on each dimension, exactly, as whole numbers.

    A load is a sum of ``bytes sent · cost per byte``. Bytes are multiples of ``1/P`` and costs of ``1/q``, with q their
    common denominator: counted in units of ``1/(P·q)``, every load is an integer.

    Parameters
    ----------
    instance
        The instance; only its involved dimensions matter.
    cost_per_byte
        What a byte sent into each involved dimension adds to its load.

    Attributes
    ----------
    units
        The units in a load of 1: ``P·q``.
    by_dimension
        The load of each involved dimension, in units.
    """

    def __init__(self, instance: Instance, cost_per_byte: Mapping[int, Fraction]) -> None:
        common = lcm(*(cost.denominator for cost in cost_per_byte.values()))
        self._num_npus = instance.num_npus
        self._sizes = {k: instance.network.dimensions[k].size for k in cost_per_byte}
        self._weights = {k: int(cost * common) for k, cost in cost_per_byte.items()}
        self.units = self._num_npus * common
        self.by_dimension = dict.fromkeys(cost_per_byte, 0)

    def add(self, size_bytes: int, order: Order) -> None:
        """Add a chunk that visits the dimensions in this order: a stage sends what the NPU no longer holds after it."""
        before = size_bytes * self._num_npus
        for k in order:
            after = before // self._sizes[k]  # exact: P divides `before` until every dimension is visited
            self.by_dimension[k] += (before - after) * self._weights[k]
            before = after

    def of_first_stage(self, size_bytes: int, dimension: int) -> int:
        """Return what a chunk adds to the dimension it visits first, in units."""
        before = size_bytes * self._num_npus
        return (before - before // self._sizes[dimension]) * self._weights[dimension]

    def spread(self) -> int:
        """Return the difference between the most and the least loaded dimension, in units."""
        return max(self.by_dimension.values()) - min(self.by_dimension.values())


class LoadTracker:
    """The loads of Algorithm 1: one per involved dimension, a time.

    Orders are those of the Reduce-Scatter phase; of an All-Gather alone, the reverse of its own order. The fixed delay
    counts every phase, but once and not per chunk (Sec. 4.4). The bytes count one phase: the All-Gather half of an
    All-Reduce mirrors the other, and the threshold is that of one phase (counting both moves the times of Fig. 8 by up
    to 11 %).
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        dimensions = instance.network.dimensions
        self._loads = Loads(instance, {k: PS_PER_S / dimensions[k].bandwidth_Bps for k in instance.involved})
        # Line 2: the fixed delay A_k of the whole collective.
        model = instance.derived(CostModel)
        for k in instance.involved:
            fixed_delay_ps = sum(model.latency_ps(phase, k) for phase in instance.phases)
            self._loads.by_dimension[k] = fixed_delay_ps * self._loads.units

    def choose_order(self, size_bytes: int) -> Order:
        """Return the order of the next chunk: least loaded dimension first, or the baseline's if loads are level.

        They are level when they differ by less than the transfer of a sixteenth of the chunk on the least loaded
        dimension (Sec. 5.3).
        """
        loads = self._loads.by_dimension
        least = min(loads, key=lambda k: (loads[k], k))
        if self._loads.spread() * THRESHOLD_DIVISOR < self._loads.of_first_stage(size_bytes, least):
            return self.instance.involved
        if self.instance.collective is Collective.ALL_GATHER:
            descending = sorted(loads, key=lambda k: (-loads[k], k))
            return tuple(reversed(descending))
        return tuple(sorted(loads, key=lambda k: (loads[k], k)))

    def add(self, size_bytes: int, order: Order) -> None:
        """Add a chunk's bytes to the loads."""
        self._loads.add(size_bytes, order)
