"""Where the data of a rank is at any time: which buffer holds a block, and where its result goes.

==================  ======================  ==========================================================================
collective          in place                out of place
==================  ======================  ==========================================================================
All-Reduce          ``i`` only              from ``i``; sums and results in ``o``, laid out the same
Reduce-Scatter      ``i`` only              from ``i``; the own block's sums in ``o``, others in ``s``, as in ``i``
All-Gather          ``o`` only              the own shard from ``i``, copied to ``o``; what arrives goes to ``o``
==================  ======================  ==========================================================================

Out of place the input is never written to.
"""

from __future__ import annotations

from themis_opt.export.msccl.write.layout import Layout
from themis_opt.export.msccl.write.program import Place
from themis_opt.problem.collective import Collective


class Buffers:
    """The buffers of one rank.

    Parameters
    ----------
    collective, in_place
        What is run, and how.
    layout
        Where blocks lie.
    rank
        Whose buffers they are.
    """

    def __init__(self, collective: Collective, in_place: bool, layout: Layout, rank: int) -> None:
        self._collective = collective
        self._in_place = in_place
        self._layout = layout
        self._rank = rank
        self._moved: dict[tuple[int, int], Place] = {}
        self._uses_scratch = False

    def source(self, chunk: int, block: int) -> Place:
        """Return where a block is that the rank holds."""
        moved = self._moved.get((chunk, block))
        if moved is not None:
            return moved
        if self._collective is not Collective.ALL_GATHER:
            return Place("i", self._layout.in_array(chunk, block))
        if self._in_place:
            return Place("o", self._layout.in_array(chunk, block))
        return Place("i", self._layout.in_shard(chunk))

    def target(self, chunk: int, block: int) -> Place:
        """Return where a block goes that arrives, alone or added to what the rank holds of it."""
        if self._collective is Collective.REDUCE_SCATTER and not self._in_place:
            if block == self._rank:
                return Place("o", self._layout.in_shard(chunk))
            return Place("s", self._layout.in_array(chunk, block))
        in_input = self._in_place and self._collective is not Collective.ALL_GATHER
        return Place("i" if in_input else "o", self._layout.in_array(chunk, block))

    def has_arrived(self, chunk: int, block: int) -> bool:
        """Return whether something of a block has been received."""
        return (chunk, block) in self._moved

    def note_arrival(self, chunk: int, block: int) -> None:
        """Note that a block is now where `target` says."""
        place = self.target(chunk, block)
        self._uses_scratch |= place.buffer == "s"
        self._moved[chunk, block] = place

    def sizes(self) -> tuple[int, int, int]:
        """Return the pieces of input, output and scratch; what is not used has none."""
        whole, shard = self._layout.num_pieces, self._layout.shard
        if self._collective is Collective.ALL_REDUCE:
            return whole, 0 if self._in_place else whole, 0
        if self._collective is Collective.REDUCE_SCATTER:
            return whole, 0 if self._in_place else shard, whole if self._uses_scratch else 0
        return 0 if self._in_place else shard, whole, 0

    def own_shard(self) -> tuple[Place, Place] | None:
        """Return from where to where the own shard is to be copied (All-Gather out of place), or ``None``."""
        if self._collective is not Collective.ALL_GATHER or self._in_place:
            return None
        return Place("i", 0), Place("o", self._rank * self._layout.shard)
