"""What may be chosen about the chunks: their sizes, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from themis_opt.problem.bound import BoundScope, Sizing
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance

BYTES_PER_PIECE = 4
"""The default granule holds this many bytes for every NPU: one 32-bit element, so that every stage divides evenly."""


@dataclass(frozen=True, slots=True)
class Chunking:
    """Which chunk sizes and counts a solver may choose from.

    Attributes
    ----------
    sizing
        Equal chunks (to the byte), or free sizes.
    min_chunks, max_chunks
        The range of the number of chunks; both the same when it is fixed.
    granule_bytes
        Free sizes are whole multiples of it; one chunk also takes what is left over of the collective's size.
    min_chunk_bytes
        The least size of a chunk, where sizes are free.
    """

    sizing: Sizing
    min_chunks: int
    max_chunks: int
    granule_bytes: int
    min_chunk_bytes: int

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to choose: a fixed number of equal chunks."""
        return self.sizing is Sizing.EQUAL and self.has_fixed_count

    @property
    def has_fixed_count(self) -> bool:
        """Whether the number of chunks is fixed."""
        return self.min_chunks == self.max_chunks

    @property
    def min_granules(self) -> int:
        """The least number of granules in a chunk."""
        return max(1, -(-self.min_chunk_bytes // self.granule_bytes))

    def scope(self, num_chunks: int) -> BoundScope:
        """Return the scope of a bound for exactly this number of chunks."""
        return BoundScope(self.sizing, num_chunks, num_chunks)

    def allows(self, instance: Instance, sizes: Sequence[int]) -> bool:
        """Return whether chunks of these sizes are among the choices."""
        if not self.min_chunks <= len(sizes) <= self.max_chunks:
            return False
        if self.sizing is Sizing.EQUAL:
            return sorted(sizes, reverse=True) == list(instance.equal_chunk_sizes(len(sizes)))
        # One chunk takes what the granule does not divide; a second odd one would be a size nobody allowed.
        remainder = instance.size_bytes % self.granule_bytes
        odd = [size % self.granule_bytes for size in sizes if size % self.granule_bytes]
        least = self.min_granules * self.granule_bytes
        return min(sizes) >= least and odd == ([remainder] if remainder else [])


def make_chunking(
    instance: Instance,
    sizing: Sizing = Sizing.EQUAL,
    max_chunks: int | None = None,
    granule_bytes: int | None = None,
    min_chunk_bytes: int | None = None,
) -> Chunking:
    """Return the choices for an instance.

    Parameters
    ----------
    instance
        The problem.
    sizing
        Equal or free sizes.
    max_chunks
        Choose the number of chunks, from 1 to this; ``None`` keeps the instance's.
    granule_bytes
        Default: four bytes for every NPU.
    min_chunk_bytes
        Default: one granule.

    Raises
    ------
    InputError
        When the collective is too small for the chunks asked for.
    """
    granule = instance.num_npus * BYTES_PER_PIECE if granule_bytes is None else granule_bytes
    if granule < 1:
        raise InputError(f"granularity is {granule} bytes; it must be at least one byte")
    least = granule if min_chunk_bytes is None else min_chunk_bytes
    if least < 0:
        raise InputError(f"least chunk is {least} bytes; it must not be negative")
    chunking = Chunking(sizing, 1, 1, granule, least)
    # Equal chunks may differ by a byte, so one byte each is enough for them.
    fitting = instance.size_bytes
    if sizing is Sizing.FREE:
        fitting = instance.size_bytes // granule // chunking.min_granules
    wanted = instance.num_chunks if max_chunks is None else max_chunks
    if wanted < 1:
        raise InputError(f"chunks is {wanted}; at least one is needed")
    if fitting < (wanted if max_chunks is None else 1):
        raise InputError(
            f"{instance.size_bytes} bytes make at most {fitting} chunks of at least "
            f"{chunking.min_granules * granule} bytes (granules of {granule}), and {wanted} are asked for; "
            "lower --granularity or --min-chunk, or ask for fewer chunks"
        )
    # A number asked for has to fit; where the number is free, what does not fit is simply no choice.
    lowest = wanted if max_chunks is None else 1
    return Chunking(sizing, lowest, min(wanted, fitting), granule, least)


@dataclass(frozen=True, slots=True)
class ChunkingChoice:
    """What may be chosen, before the instance is known; arguments as of `make_chunking`."""

    sizing: Sizing = Sizing.EQUAL
    max_chunks: int | None = None
    granule_bytes: int | None = None
    min_chunk_bytes: int | None = None

    def on(self, instance: Instance) -> Chunking:
        """Return the choices for an instance.

        Raises
        ------
        InputError
            When the collective is too small for the chunks asked for.
        """
        return make_chunking(instance, self.sizing, self.max_chunks, self.granule_bytes, self.min_chunk_bytes)
