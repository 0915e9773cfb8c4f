"""What happens before what: vector clocks of all threadblocks, and the races that they show.

A step happens before another when a chain of program order, messages and dependencies leads from one to the other. Two
steps that touch the same slot, one of them writing, without such a chain either way, race: what is read depends on the
weather. (The epochs and read maps are those of C. Flanagan, S. Freund, FastTrack, PLDI 2009.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_ENTRIES = 2**27
"""Threadblocks times steps, of all ranks together: a clock has four bytes for each threadblock, and at worst there are
as many clocks as steps."""

Epoch = tuple[int, int]
"""A threadblock, numbered through all ranks, and a step of it."""


class Stamp(NamedTuple):
    """What was known when a message was sent or a step done: a clock, and how far its own threadblock was."""

    clock: NDArray[Any]
    epoch: Epoch


class Clocks:
    """How far each threadblock knows the others to be."""

    @staticmethod
    def are_feasible(num_threadblocks: int, num_steps: int) -> bool:
        """Return whether there is memory for the clocks, however the steps depend on each other."""
        return num_threadblocks * max(num_threadblocks, num_steps) <= MAX_ENTRIES

    def __init__(self, num_threadblocks: int) -> None:
        nothing = np.full(num_threadblocks, -1, dtype=np.int32)
        self._clocks: list[NDArray[Any]] = [nothing] * num_threadblocks

    def stamp(self, threadblock: int, step: int) -> Stamp:
        """Return what is known once this step is done. Clocks are never changed in place, so nothing is copied."""
        return Stamp(self._clocks[threadblock], (threadblock, step))

    def learn(self, threadblock: int, stamp: Stamp) -> None:
        """Let a threadblock know all that the stamp knows."""
        other, step = stamp.epoch
        mine = self._clocks[threadblock]
        merged = mine if mine is stamp.clock else np.maximum(mine, stamp.clock)
        # Clocks are shared by many stamps: what changes is a copy.
        if merged[other] < step:
            merged = merged.copy() if merged is mine else merged
            merged[other] = step
        self._clocks[threadblock] = merged

    def is_before(self, epoch: Epoch, threadblock: int) -> bool:
        """Return whether a step happens before the present step of a threadblock."""
        other, step = epoch
        return other == threadblock or bool(self._clocks[threadblock][other] >= step)


class Accesses:
    """Who has touched a slot: its last write, and the reads since."""

    __slots__ = ("reads", "write")

    def __init__(self) -> None:
        self.write: Epoch | None = None
        self.reads: dict[int, int] = {}

    def read(self, threadblock: int, step: int, clocks: Clocks) -> Epoch | None:
        """Note a read, and return the write that it races with, if any.

        Parameters
        ----------
        threadblock, step
            Who reads.
        clocks
            What it knows to be done.
        """
        self.reads[threadblock] = step
        return self.write if self.write is not None and not clocks.is_before(self.write, threadblock) else None

    def overwrite(self, threadblock: int, step: int, clocks: Clocks) -> Epoch | None:
        """Note a write, and return the write or the read that it races with, if any.

        Parameters
        ----------
        threadblock, step
            Who writes.
        clocks
            What it knows to be done.
        """
        others = [*self.reads.items()] if self.write is None else [self.write, *self.reads.items()]
        self.write = (threadblock, step)
        self.reads = {}
        return next((epoch for epoch in others if not clocks.is_before(epoch, threadblock)), None)
