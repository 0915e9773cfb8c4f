"""How exports number NPUs: rank = a1 + a2·P1 + a3·P1·P2 + …, the coordinate of the first dimension fastest."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from themis_opt.problem.network import Network


class Ranks:
    """The ranks of an NPU group, their coordinates, and those that share some of them.

    Parameters
    ----------
    network
        Whose dimensions they are.
    dimensions
        The network indices of those that exist here; all others have no coordinate.
    """

    def __init__(self, network: Network, dimensions: Iterable[int]) -> None:
        self.size_of = {k: network.dimensions[k].size for k in dimensions}
        self.stride_of: dict[int, int] = {}
        stride = 1
        for k, size in self.size_of.items():
            self.stride_of[k] = stride
            stride *= size
        self.num_ranks = prod(self.size_of.values())
        self._spans: dict[frozenset[int], tuple[int, ...]] = {}

    def coordinate(self, rank: int, dimension: int) -> int:
        """Return a rank's coordinate on a dimension."""
        return rank // self.stride_of[dimension] % self.size_of[dimension]

    def moved(self, rank: int, dimension: int, coordinate: int) -> int:
        """Return the rank with another coordinate on a dimension.

        Parameters
        ----------
        rank
            The rank to start from.
        dimension, coordinate
            What changes.
        """
        return rank + (coordinate - self.coordinate(rank, dimension)) * self.stride_of[dimension]

    def sharing(self, rank: int, free: Iterable[int]) -> list[int]:
        """Return the ranks with the coordinates of a rank except on the `free` dimensions, where they have any."""
        dimensions = frozenset(free)
        if dimensions not in self._spans:
            span = [0]
            for k in dimensions:
                span = [start + step * self.stride_of[k] for start in span for step in range(self.size_of[k])]
            self._spans[dimensions] = tuple(sorted(span))
        base = rank - sum(self.coordinate(rank, k) * self.stride_of[k] for k in dimensions)
        return [base + offset for offset in self._spans[dimensions]]
