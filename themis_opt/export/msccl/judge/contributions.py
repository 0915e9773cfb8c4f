"""What a slot of a buffer holds, as a symbol, and what each collective puts in at first and wants at the end.

The symbol of one chunk of data is its index in the collective's whole array and the set of ranks that have contributed
to it. Where a step adds what cannot be added (the same contribution twice, other chunks, nothing), what comes out is
`Wrong`, with the words for it; it stays wrong, since nothing can be taken away again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from themis_opt.export.msccl.judge.algorithm import XmlAlgorithm

Slot = tuple[str, int]
"""A buffer of a rank, and the offset in it."""


@dataclass(frozen=True, slots=True)
class Sum:
    """Contributions of some ranks to one chunk of the array; bit `r` of `ranks` stands for rank `r`."""

    chunk: int
    ranks: int

    def __str__(self) -> str:
        return f"chunk {self.chunk} of {_ranks(self.ranks)}"


@dataclass(frozen=True, slots=True)
class Wrong:
    """What can never become right; `why` says where it went wrong."""

    why: str

    def __str__(self) -> str:
        return f"what is wrong since {self.why}"


Value = Sum | Wrong | None
"""``None``: nobody has written there."""


def added(one: Value, other: Value, where: str) -> Value:
    """Return the sum of two values.

    Parameters
    ----------
    one, other
        What is added.
    where
        Who adds them, for what comes out wrong.
    """
    if isinstance(one, Wrong) or isinstance(other, Wrong):
        return one if isinstance(one, Wrong) else other
    if one is None or other is None:
        return Wrong(f"{where} adds what nobody has written")
    if one.chunk != other.chunk:
        return Wrong(f"{where} adds {other} to {one}")
    if one.ranks & other.ranks:
        return Wrong(f"{where} adds the contribution of {_ranks(one.ranks & other.ranks)} to {one} again")
    return Sum(one.chunk, one.ranks | other.ranks)


COLLECTIVES = ("allreduce", "allgather", "reducescatter", "reduce_scatter", "alltoall")
"""What can be judged; the older executor writes `reduce_scatter`, the newer ones `reducescatter`."""


class Meaning:
    """What a collective means, in place or out of place.

    Parameters
    ----------
    algorithm
        The algorithm, its structure found right, of one of the `COLLECTIVES`.
    in_place
        Whether input and output overlap, each where the collective's definition says.
    """

    def __init__(self, algorithm: XmlAlgorithm, in_place: bool) -> None:
        self.collective = algorithm.coll.replace("_", "")
        self.in_place = in_place
        self.num_ranks = algorithm.ngpus
        self.num_chunks = algorithm.nchunksperloop
        self.shard = self.num_chunks // max(1, self.num_ranks)
        self._everybody = (1 << self.num_ranks) - 1

    @property
    def uneven(self) -> str | None:
        """Why the array does not fall into shards of whole chunks, or ``None``."""
        if self.collective != "allreduce" and self.num_chunks % self.num_ranks:
            return f"nchunksperloop, {self.num_chunks}, must be a multiple of the ranks, {self.num_ranks}"
        return None

    def slot(self, rank: int, buffer: str, offset: int) -> Slot:
        """Return the slot that a buffer and an offset mean: in place, input and output share theirs.

        Parameters
        ----------
        rank
            Whose buffer.
        buffer, offset
            As they stand in the file.
        """
        if not self.in_place or buffer == "s":
            return buffer, offset
        if self.collective == "allgather":
            return ("o", rank * self.shard + offset) if buffer == "i" else ("o", offset)
        if self.collective == "reducescatter":
            return ("i", rank * self.shard + offset) if buffer == "o" else ("i", offset)
        return "i", offset

    def initial(self, rank: int, slot: Slot) -> Value:
        """Return what a slot holds before the algorithm starts."""
        buffer, offset = slot
        if self.collective == "allgather":
            first = rank * self.shard
            index = offset - first if self.in_place and buffer == "o" else offset
            is_input = buffer == ("o" if self.in_place else "i") and 0 <= index < self.shard
            return Sum(first + index, 1 << rank) if is_input else None
        return Sum(offset, 1 << rank) if buffer == "i" and offset < self.num_chunks else None

    def results(self, rank: int) -> Iterator[tuple[Slot, Sum]]:
        """Yield every slot of a rank's result and what must be there at the end."""
        if self.collective == "allreduce":
            for chunk in range(self.num_chunks):
                yield self.slot(rank, "o", chunk), Sum(chunk, self._everybody)
        elif self.collective == "reducescatter":
            for index in range(self.shard):
                yield self.slot(rank, "o", index), Sum(rank * self.shard + index, self._everybody)
        elif self.collective == "allgather":
            for chunk in range(self.num_chunks):
                yield self.slot(rank, "o", chunk), Sum(chunk, 1 << (chunk // self.shard))
        else:
            for source in range(self.num_ranks):
                for index in range(self.shard):
                    wanted = Sum(rank * self.shard + index, 1 << source)
                    yield self.slot(rank, "o", source * self.shard + index), wanted


def difference(value: Value, due: Sum) -> str:
    """Return in words what is wrong with a value."""
    if isinstance(value, Wrong):
        return f"is wrong: {value.why}"
    if value is None:
        return "is never written"
    if value.chunk != due.chunk or value.ranks & ~due.ranks:
        return f"holds {value} instead of {due}"
    return f"lacks the contribution of {_ranks(due.ranks & ~value.ranks)}"


def _ranks(mask: int) -> str:
    ranks = [rank for rank in range(mask.bit_length()) if mask >> rank & 1]
    shown = ", ".join(map(str, ranks[:6]))
    return f"rank{'s' if len(ranks) > 1 else ''} {shown}" + (f" and {len(ranks) - 6} more" if len(ranks) > 6 else "")
