"""Themis as the public ASTRA-sim 1.0 code does it, so that results can be compared run by run.

It differs from the paper's Algorithm 1: loads start at zero and count Reduce-Scatter alone; the list of dimensions is
sorted stably *from the arrangement the previous chunk left*, and only the fallback puts it back in index order; the
threshold is in whole bytes. Its queues differ too (`DispatchPolicy.ASTRA_SCF`).
"""

from __future__ import annotations

from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Order, Schedule
from themis_opt.schedulers.assembly import dispatched, mirrored_chunk
from themis_opt.schedulers.themis import THRESHOLD_DIVISOR, Loads
from themis_opt.timing.policy import DispatchPolicy


def themis_astra_fifo(instance: Instance, *, seed: int = 0) -> Schedule:
    """Themis as ASTRA-sim 1.0 codes it, first come, first served."""
    return _themis_astra(instance, DispatchPolicy.ASTRA_FIFO, "themis-astra-fifo")


def themis_astra_scf(instance: Instance, *, seed: int = 0) -> Schedule:
    """Themis as ASTRA-sim 1.0 codes it, smallest chunk first with its queue rules."""
    return _themis_astra(instance, DispatchPolicy.ASTRA_SCF, "themis-astra-scf")


def _themis_astra(instance: Instance, policy: DispatchPolicy, name: str) -> Schedule:
    arrangement = LoadArrangement(instance)
    # ASTRA-sim drops the remainder and gives every chunk floor(S/C) bytes; here the first ones carry it.
    sizes = instance.equal_chunk_sizes()
    nominal = min(sizes)
    chunks = []
    for size in sizes:
        order = arrangement.choose_order(nominal)
        arrangement.add(nominal, order)
        chunks.append(mirrored_chunk(instance, size, order))
    return dispatched(instance, chunks, policy, name)


class LoadArrangement:
    """The dimensions in ASTRA-sim's list, with their loads: bytes sent, divided by ``B_k/B_1``."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        dimensions = instance.network.dimensions
        first_Bps = dimensions[instance.involved[0]].bandwidth_Bps
        self._loads = Loads(instance, {k: first_Bps / dimensions[k].bandwidth_Bps for k in instance.involved})
        self._arrangement = list(instance.involved)

    def sort(self) -> None:
        """Sort by load, stably: ascending, for an All-Gather alone descending."""
        sign = -1 if self.instance.collective is Collective.ALL_GATHER else 1
        self._arrangement.sort(key=lambda k: sign * self._loads.by_dimension[k])

    def reset(self) -> None:
        """Put the list back in the order of the baseline."""
        self._arrangement.sort(reverse=self.instance.collective is Collective.ALL_GATHER)

    @property
    def order(self) -> Order:
        """The order the list stands for, as a Reduce-Scatter order (an All-Gather alone runs it backwards)."""
        backwards = self.instance.collective is Collective.ALL_GATHER
        return tuple(reversed(self._arrangement) if backwards else self._arrangement)

    def leveling_bytes(self) -> int:
        """Return the whole bytes of a chunk that would lift the least loaded dimension to the most loaded one."""
        least = min(self._arrangement, key=self._loads.by_dimension.__getitem__)
        return self._loads.spread() // self._loads.of_first_stage(1, least)

    def choose_order(self, size_bytes: int) -> Order:
        """Return the next chunk's order; the baseline's when loads differ by less than a sixteenth of it."""
        self.sort()
        if self.leveling_bytes() < size_bytes // THRESHOLD_DIVISOR:
            self.reset()
        return self.order

    def add(self, size_bytes: int, order: Order) -> None:
        """Add a chunk's Reduce-Scatter bytes to the loads."""
        self._loads.add(size_bytes, order)
