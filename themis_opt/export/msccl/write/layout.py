r"""Into how many pieces chunks are cut, and which piece of the array each block of a chunk is.

Executors know pieces of one size only. A chunk of :math:`n` ranks has :math:`n` blocks, one for each and numbered like
them, and a block of chunk :math:`c` has :math:`w_c` pieces. All chunks together have :math:`W = Σ w_c` for each rank,
so chunk :math:`c` gets :math:`w_c / W` of the array. That is its size as scheduled when it is off by no more than one
element of four bytes for each rank.

- Reduce-Scatter and All-Gather fix where a rank's data lies: block :math:`b` is part of shard :math:`b`, the chunks
  one after the other in it. What a message carries is then contiguous only within a block.
- All-Reduce leaves it open. There a chunk is contiguous, and its blocks lie in the order that it visits the dimensions
  in Reduce-Scatter, first visited slowest, so that what a message carries is contiguous, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from themis_opt.export.msccl.executor_limits import MAX_OFFSET
from themis_opt.export.msccl.write.writer_limits import MAX_MOVED_BLOCKS
from themis_opt.export.ranks import Ranks
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError
from themis_opt.problem.schedule import Schedule

BYTES_PER_ELEMENT = 4


def pieces_per_block(sizes_bytes: Sequence[int], num_ranks: int, num_phases: int = 2) -> tuple[int, ...]:
    """Return the least numbers of pieces of each chunk's blocks that give the chunks their sizes.

    Parameters
    ----------
    sizes_bytes
        Of the chunks.
    num_ranks, num_phases
        Of the collective.

    Raises
    ------
    InputError
        When there are none that the executors' offsets can hold, and that can be followed one by one.
    """
    total_bytes = sum(sizes_bytes)
    slack_bytes = BYTES_PER_ELEMENT * num_ranks
    most = (MAX_OFFSET + 1) // num_ranks
    followed = min(most, MAX_MOVED_BLOCKS // (num_ranks * (num_ranks - 1) * num_phases))
    for total in range(len(sizes_bytes), followed + 1):
        pieces = [round(size * total / total_bytes) for size in sizes_bytes]
        if (
            sum(pieces) == total
            and min(pieces) > 0
            and all(
                abs(size * total - count * total_bytes) <= slack_bytes * total
                for size, count in zip(sizes_bytes, pieces, strict=True)
            )
        ):
            return tuple(pieces)
    if most < len(sizes_bytes):
        raise InputError(
            f"MSCCL's executors keep offsets up to {MAX_OFFSET}, and {len(sizes_bytes)} chunks of {num_ranks} ranks "
            f"have {len(sizes_bytes) * num_ranks} pieces at least; use at most {most} chunks, or fewer ranks"
        )
    raise InputError(
        f"the {len(sizes_bytes)} chunks have sizes that no {followed * num_ranks} pieces of one size make up, and "
        "MSCCL's executors know no others; solve with --sizes equal, or with a coarse --granularity, such as a 32nd of "
        "the size"
    )


class Layout:
    """Where the blocks of the chunks lie in the whole array, in pieces.

    Parameters
    ----------
    schedule
        The schedule.
    ranks
        Its ranks.
    pieces
        Pieces of a block, for each chunk (`pieces_per_block`).

    Attributes
    ----------
    shard
        Pieces of all chunks together that belong to one rank.
    num_pieces
        Pieces of the whole array.
    """

    def __init__(self, schedule: Schedule, ranks: Ranks, pieces: tuple[int, ...]) -> None:
        self._ranks = ranks
        self._pieces = pieces
        self._first = tuple(accumulate(pieces[:-1], initial=0))
        self.shard = sum(pieces)
        self.num_pieces = self.shard * ranks.num_ranks
        is_free = schedule.instance.collective is Collective.ALL_REDUCE
        self._in_array = [
            self._by_order(chunk, schedule.chunks[chunk].rs_order or ()) if is_free else self._by_rank(chunk)
            for chunk in range(schedule.num_chunks)
        ]

    def num_pieces_of(self, chunk: int) -> int:
        """Return the pieces of one block of a chunk."""
        return self._pieces[chunk]

    def in_array(self, chunk: int, block: int) -> int:
        """Return where a block begins in the whole array."""
        return self._in_array[chunk][block]

    def in_shard(self, chunk: int) -> int:
        """Return where a chunk's block begins in the shard of its rank."""
        return self._first[chunk]

    def _by_rank(self, chunk: int) -> list[int]:
        return [block * self.shard + self._first[chunk] for block in range(self._ranks.num_ranks)]

    def _by_order(self, chunk: int, order: tuple[int, ...]) -> list[int]:
        """Return where a chunk's blocks begin when the dimension visited last is the fastest."""
        positions = [0] * self._ranks.num_ranks
        stride = 1
        for k in reversed(order):
            for block in range(self._ranks.num_ranks):
                positions[block] += self._ranks.coordinate(block, k) * stride
            stride *= self._ranks.size_of[k]
        first, width = self._first[chunk] * self._ranks.num_ranks, self._pieces[chunk]
        return [first + position * width for position in positions]
