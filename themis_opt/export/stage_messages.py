r"""The messages of a stage: who sends which part to whom in every step of an algorithm (Table 1; Bruck added).

A stage runs in each group of a dimension by itself. Its :math:`P` members are numbered by their coordinate on the
dimension, and what they hold falls into :math:`P` parts: in Reduce-Scatter (and All-to-All) part :math:`j` is what is
meant for member :math:`j`, in All-Gather what member :math:`j` brought. Parts that travel together are neighbours on
the circle :math:`0 … P-1`, so that a message is a first part and a number of them.

================  ==================================================================================================
ring              :math:`P-1` steps, one part each, to the next member
direct            one step, one part to every other member
halving-doubling  :math:`\log_2 P` steps with the partner across a bit: the halves that the partner's side needs
                  (Reduce-Scatter, highest bit first), or everything gathered so far (All-Gather, lowest bit first)
bruck             :math:`\lceil\log_2 P\rceil` steps: in All-Gather, step :math:`j` sends :math:`\min(2^j, P-2^j)` parts
                  to member :math:`a-2^j`; Reduce-Scatter runs the same backwards
================  ==================================================================================================
"""

from __future__ import annotations

from typing import NamedTuple

from themis_opt.problem.collective import Phase
from themis_opt.problem.network import Algorithm


class Send(NamedTuple):
    """One message of one member: parts ``first_part … first_part + num_parts - 1``, modulo the group's size."""

    receiver: int
    first_part: int
    num_parts: int


Step = tuple[Send, ...]
"""What one member sends in one step; its messages of a step do not wait for each other."""


def stage_steps(algorithm: Algorithm, phase: Phase, size: int, member: int) -> tuple[Step, ...]:
    """Return what one member of a group sends in every step of a stage.

    Parameters
    ----------
    algorithm
        The dimension's algorithm; All-to-All is direct whatever it says.
    phase
        The stage's phase.
    size
        Members of the group, ``P``.
    member
        Whose messages, 0 to ``P - 1``.

    Raises
    ------
    InputError
        For halving-doubling among a number of NPUs that is no power of two.
    """
    gathers = phase is Phase.ALL_GATHER
    if algorithm is Algorithm.DIRECT or phase is Phase.ALL_TO_ALL:
        others = [(member + shift) % size for shift in range(1, size)]
        return (tuple(Send(other, member if gathers else other, 1) for other in others),) if others else ()
    num_steps = algorithm.num_steps(size)
    if algorithm is Algorithm.RING:
        # A part arrives at its member last in Reduce-Scatter, and sets out from it first in All-Gather.
        first = member if gathers else member - 1
        return tuple((Send((member + 1) % size, (first - step) % size, 1),) for step in range(num_steps))
    if algorithm is Algorithm.HALVING_DOUBLING:
        bits = range(num_steps) if gathers else reversed(range(num_steps))
        return tuple((_across(member, bit, gathers),) for bit in bits)
    bits = range(num_steps) if gathers else reversed(range(num_steps))
    return tuple((_bruck(member, 1 << bit, size, gathers),) for bit in bits)


def _across(member: int, bit: int, gathers: bool) -> Send:
    """Return the message to the partner across a bit: the aligned block of parts below it, own or the partner's."""
    width = 1 << bit
    partner = member ^ width
    block = member if gathers else partner
    return Send(partner, block // width * width, width)


def _bruck(member: int, distance: int, size: int, gathers: bool) -> Send:
    num_parts = min(distance, size - distance)
    if gathers:
        return Send((member - distance) % size, member, num_parts)
    receiver = (member + distance) % size
    return Send(receiver, receiver, num_parts)
