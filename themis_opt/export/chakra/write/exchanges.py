"""Who talks to whom in the steps of a stage, for the ranks that are written: the peers of every message slot.

Every member of a group sends and receives equally many messages in a step; the j-th of both is *slot* j. The message in
a member's j-th receiving slot is some other member's j-th sending one: a slot is the same message on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from themis_opt.export.stage_messages import Step, stage_steps
from themis_opt.problem.collective import Phase
from themis_opt.problem.network import Algorithm, Dimension

Peers = tuple[int, ...]
"""For each member asked for, in their order, the member it talks to."""


@dataclass(frozen=True, slots=True)
class StepExchange:
    """One step of a stage.

    Attributes
    ----------
    num_parts
        Parts of the stage's data in each of its messages.
    receivers, senders
        By slot: to whom each member sends, and from whom it receives.
    """

    num_parts: int
    receivers: tuple[Peers, ...]
    senders: tuple[Peers, ...]


def num_messages(dimension: Dimension) -> int:
    """Return how many messages a member sends in a stage."""
    return dimension.size - 1 if dimension.algorithm is Algorithm.DIRECT else dimension.num_steps()


def exchanges(dimension: Dimension, phase: Phase, members: Sequence[int]) -> tuple[StepExchange, ...]:
    """Return the steps of a stage on a dimension as these members of a group see them."""
    algorithm, size = dimension.algorithm, dimension.size
    assert algorithm is not None  # set by Dimension

    @cache
    def steps_of(member: int) -> tuple[Step, ...]:
        return stage_steps(algorithm, phase, size, member)

    def sender(step: int, slot: int, member: int, receiver: int) -> int:
        """Return whose message of this slot goes to a member: as far behind as its receiver is ahead, or that one."""
        for other in ((2 * member - receiver) % size, receiver):
            if steps_of(other)[step][slot].receiver == member:
                return other
        raise AssertionError(f"nobody sends to member {member} of {size} in slot {slot} of step {step} of {algorithm}")

    known: dict[Peers, Peers] = {}
    found = []
    for step, sends in enumerate(steps_of(members[0])):
        receivers, senders = [], []
        for slot in range(len(sends)):
            to = tuple(steps_of(member)[step][slot].receiver for member in members)
            came = tuple(sender(step, slot, member, receiver) for member, receiver in zip(members, to, strict=True))
            # Most steps repeat another one's peers: a ring has one set of them for all.
            receivers.append(known.setdefault(to, to))
            senders.append(known.setdefault(came, came))
        found.append(StepExchange(sends[0].num_parts, tuple(receivers), tuple(senders)))
    return tuple(found)
