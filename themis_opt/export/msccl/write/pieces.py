r"""How many equal pieces each chunk is cut into: executors know pieces of one size only.

A chunk of :math:`n` ranks has :math:`n` blocks, one for each, and a block of chunk :math:`c` has :math:`w_c` pieces.
All chunks together have :math:`W = Σ w_c` for each rank, so chunk :math:`c` gets :math:`w_c / W` of the array. That is
its size as scheduled when it is off by no more than one element of four bytes for each rank.
"""

from __future__ import annotations

from collections.abc import Sequence

from themis_opt.export.msccl.write.writer_limits import MAX_MOVED_BLOCKS, MAX_OFFSET
from themis_opt.problem.errors import InputError

BYTES_PER_ELEMENT = 4


def pieces_per_block(sizes_bytes: Sequence[int], num_ranks: int, num_phases: int = 2) -> tuple[int, ...]:
    """Return the least numbers of pieces of each chunk's blocks that give the chunks their sizes.

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
