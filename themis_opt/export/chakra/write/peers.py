"""The peers of every rank that is written, pattern by pattern.

A *pattern* maps the members of a dimension's groups to the members they talk to. A schedule has few of them (a ring has
two), however many messages it has, so that a rank's peers are worked out once for each pattern.
"""

from __future__ import annotations

from collections.abc import Sequence

from themis_opt.export.chakra.write.exchanges import Peers, exchanges
from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance

StepPatterns = tuple[tuple[int, ...], tuple[int, ...]]
"""Of one step: the pattern of each slot of its SENDs, and of its RECVs."""


class PeerPatterns:
    """The patterns of an instance as some of its ranks see them.

    Parameters
    ----------
    instance
        The problem. Ranks number the NPUs of its involved dimensions, the first one fastest.
    ranks
        Which ranks are written.
    """

    def __init__(self, instance: Instance, ranks: Sequence[int]) -> None:
        self._size = {k: instance.network.dimensions[k].size for k in instance.involved}
        self._stride: dict[int, int] = {}
        stride = 1
        for k in instance.involved:
            self._stride[k] = stride
            stride *= self._size[k]
        self._members: dict[int, list[int]] = {}
        self._patterns: dict[tuple[int, Peers], int] = {}
        self.steps: dict[tuple[int, Phase], tuple[StepPatterns, ...]] = {}
        """By dimension and phase."""
        for k in instance.involved:
            self._members[k] = sorted({self._member(k, rank) for rank in ranks})
            for phase in instance.phases:
                steps = exchanges(instance.network.dimensions[k], phase, self._members[k])
                self.steps[k, phase] = tuple(
                    (self._numbers(k, step.receivers), self._numbers(k, step.senders)) for step in steps
                )
        self._place = {k: {member: place for place, member in enumerate(m)} for k, m in self._members.items()}

    def of_rank(self, rank: int) -> list[int]:
        """Return the peer of a rank under every pattern."""
        member = {k: self._member(k, rank) for k in self._size}
        return [rank + (peers[self._place[k][member[k]]] - member[k]) * self._stride[k] for k, peers in self._patterns]

    def _member(self, k: int, rank: int) -> int:
        return rank // self._stride[k] % self._size[k]

    def _numbers(self, k: int, slots: tuple[Peers, ...]) -> tuple[int, ...]:
        return tuple(self._patterns.setdefault((k, peers), len(self._patterns)) for peers in slots)
