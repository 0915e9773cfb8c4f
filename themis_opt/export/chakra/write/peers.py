"""Who talks to whom in the steps of a stage, for the ranks that are written.

Every member of a group sends and receives equally many messages in a step; the j-th of both is *slot* j. The message in
a member's j-th receiving slot is some other member's j-th sending one: a slot is the same message on both sides.

A *pattern* maps the members of a dimension's groups to the members they talk to. A schedule has few of them (a ring has
two), however many messages it has, so that a rank's peers are worked out once for each pattern.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from themis_opt.export.ranks import Ranks
from themis_opt.export.stage_messages import Step, stage_steps
from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Dimension

Peers = tuple[int, ...]
"""For each member asked for, in their order, the member it talks to."""

StepPatterns = tuple[tuple[int, ...], tuple[int, ...]]
"""Of one step: the pattern of each slot of its SENDs, and of its RECVs."""


def step_peers(dimension: Dimension, phase: Phase, members: Sequence[int]) -> Iterator[tuple[list[Peers], list[Peers]]]:
    """Yield for every step of a stage, by slot, to whom members of a group send and from whom they receive.

    Parameters
    ----------
    dimension, phase
        The stage.
    members
        For whom.
    """
    algorithm, size = dimension.algorithm, dimension.size
    assert algorithm is not None  # set by Dimension

    @cache
    def steps_of(member: int) -> tuple[Step, ...]:
        return stage_steps(algorithm, phase, size, member)

    def _sender(step: int, slot: int, member: int, receiver: int) -> int:
        """Return whose message of this slot goes to a member: as far behind as its receiver is ahead, or that one."""
        # All algorithms here are shifts, whose sender is the mirror image, or swaps, whose sender is the receiver.
        for other in ((2 * member - receiver) % size, receiver):
            if steps_of(other)[step][slot].receiver == member:
                return other
        raise AssertionError(f"nobody sends to member {member} of {size} in slot {slot} of step {step} of {algorithm}")

    for step, sends in enumerate(steps_of(members[0])):
        receivers, senders = [], []
        for slot in range(len(sends)):
            to = tuple(steps_of(member)[step][slot].receiver for member in members)
            receivers.append(to)
            senders.append(tuple(_sender(step, slot, *pair) for pair in zip(members, to, strict=True)))
        yield receivers, senders


class PeerPatterns:
    """The patterns of an instance as some of its ranks see them.

    Parameters
    ----------
    instance
        The problem. Ranks number the NPUs of its involved dimensions.
    ranks
        Which ranks are written.

    Attributes
    ----------
    steps
        By dimension and phase, the patterns of each step.
    """

    def __init__(self, instance: Instance, ranks: Sequence[int]) -> None:
        self.steps: dict[tuple[int, Phase], tuple[StepPatterns, ...]] = {}
        self._ranks = Ranks(instance.network, instance.involved)
        self._place: dict[int, dict[int, int]] = {}
        self._patterns: dict[tuple[int, Peers], int] = {}
        for k in instance.involved:
            members = sorted({self._ranks.coordinate(rank, k) for rank in ranks})
            self._place[k] = {member: place for place, member in enumerate(members)}
            for phase in instance.phases:
                steps = step_peers(instance.network.dimensions[k], phase, members)
                self.steps[k, phase] = tuple((self._numbers(k, to), self._numbers(k, came)) for to, came in steps)

    def of_rank(self, rank: int) -> list[int]:
        """Return the peer of a rank under every pattern."""
        place = {k: places[self._ranks.coordinate(rank, k)] for k, places in self._place.items()}
        return [self._ranks.moved(rank, k, peers[place[k]]) for k, peers in self._patterns]

    def _numbers(self, k: int, slots: list[Peers]) -> tuple[int, ...]:
        return tuple(self._patterns.setdefault((k, peers), len(self._patterns)) for peers in slots)
