r"""What the messages of a schedule must be, derived from what the algorithms are and not from how traces are written.

A group's data falls into :math:`P` parts. In Reduce-Scatter part :math:`j` is meant for member :math:`j`, in All-Gather
it comes from member :math:`j`. A message is therefore known from its sender, its receiver and its step:

================  ================================  ====================================================================
algorithm         receiver of member a in step j    parts that travel
================  ================================  ====================================================================
ring              a + 1                             RS: the one that still has P - 2 - j members to go after this hop;
                                                    AG: the one that has come j members far
direct            everybody else                    RS: the receiver's own; AG: the sender's own
halving-doubling  a with bit b flipped; RS from     those on the same side of bit b and of all higher bits as
                  the highest b, AG from the        RS: the receiver; AG: the sender
                  lowest
bruck             RS: a + d, AG: a - d, with        RS: the receiver's and those after it, AG: the sender's and those
                  d = 2^b in the same orders        after it; d of them, or what is left of P after d
================  ================================  ====================================================================
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from themis_opt.export.verdict import Finding
from themis_opt.problem.collective import Phase
from themis_opt.problem.network import Algorithm, Dimension
from themis_opt.problem.schedule import Path, Schedule

MAX_OF_A_KIND = 4

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class StageRule:
    """The messages of a stage on one dimension, of every member at once.

    Attributes
    ----------
    num_parts
        Parts that travel in a message of each step.
    step_of
        The step of each message of a member, by its number in the stage.
    receiver, sender
        By number and member: to whom it goes, and from whom the member receives the one with the same number.
    first_part
        By number and member: the first part that the member sends; the others follow it on the circle.
    """

    num_parts: tuple[int, ...]
    step_of: IntArray
    receiver: IntArray
    sender: IntArray
    first_part: IntArray

    @property
    def num_messages(self) -> int:
        """Messages of one member."""
        return len(self.step_of)


def stage_rule(dimension: Dimension, phase: Phase) -> StageRule:
    """Return the messages of one phase on a dimension."""
    size = dimension.size
    member = np.arange(size)
    gathers = phase is Phase.ALL_GATHER
    if dimension.algorithm is Algorithm.DIRECT:
        distance = np.arange(1, size)[:, None]
        receiver = (member + distance) % size
        first = np.broadcast_to(member, receiver.shape) if gathers else receiver
        return StageRule((1,), np.zeros(size - 1, np.int64), receiver, (member - distance) % size, first)
    if dimension.algorithm is Algorithm.RING:
        step = np.arange(size - 1)
        receiver = np.broadcast_to((member + 1) % size, (size - 1, size))
        # In RS, part p ends at p after P - 1 hops: before hop j it is P - 1 - j members short of it.
        first = (member - step[:, None]) % size if gathers else (member + size - 1 - step[:, None]) % size
        return StageRule((1,) * (size - 1), step, receiver, np.broadcast_to((member - 1) % size, receiver.shape), first)
    bits = list(range((size - 1).bit_length()))
    if not gathers:
        bits.reverse()
    distances = np.array([1 << bit for bit in bits])[:, None]
    if dimension.algorithm is Algorithm.HALVING_DOUBLING:
        receiver = member ^ distances
        block = np.broadcast_to(member, receiver.shape) if gathers else receiver
        return StageRule(tuple(1 << b for b in bits), np.arange(len(bits)), receiver, receiver, block & -distances)
    receiver = (member - distances if gathers else member + distances) % size
    sender = (member + distances if gathers else member - distances) % size
    first = np.broadcast_to(member, receiver.shape) if gathers else receiver
    num_parts = tuple(min(1 << bit, size - (1 << bit)) for bit in bits)
    return StageRule(num_parts, np.arange(len(bits)), receiver, sender, first)


@dataclass(frozen=True)
class Stage:
    """One stage of a chunk: what its tags, sizes and dependencies must be.

    Attributes
    ----------
    chunk, position, phase, dimension
        Whose stage it is, where in its chunk's path, and the place of its dimension among the involved ones.
    step_bytes
        Bytes of a message, by step.
    waits_for
        Numbers of the stages that must be over: the one before of the chunk and the one before of the dimension.
    """

    chunk: int
    position: int
    phase: Phase
    dimension: int
    step_bytes: tuple[int, ...]
    waits_for: tuple[int, ...]


class Derivation:
    """All stages of a schedule, numbered chunk by chunk: stage ``chunk · stages_per_chunk + position``.

    Parameters
    ----------
    schedule
        A schedule that breaks no rule.
    """

    def __init__(self, schedule: Schedule) -> None:
        instance = schedule.instance
        involved = instance.involved
        self.sizes = tuple(instance.network.dimensions[k].size for k in involved)
        self.strides = tuple(prod(self.sizes[:place]) for place in range(len(involved)))
        self.rules = {
            (place, phase): stage_rule(instance.network.dimensions[k], phase)
            for place, k in enumerate(involved)
            for phase in instance.phases
        }
        self.tag_width = max(rule.num_messages for rule in self.rules.values())
        self.stages_per_chunk = len(instance.phases) * len(involved)
        place_of = {k: place for place, k in enumerate(involved)}
        paths = [chunk.path(instance) for chunk in schedule.chunks]
        number = {
            (chunk, phase, k): chunk * self.stages_per_chunk + position
            for chunk, path in enumerate(paths)
            for position, (phase, k) in enumerate(path)
        }
        waits_for: list[list[int]] = [[] for _ in number]
        for idx in number.values():
            if idx % self.stages_per_chunk:
                waits_for[idx].append(idx - 1)
        for k, sequence in enumerate(schedule.sequences):
            for before, after in pairwise(number[chunk, phase, k] for chunk, phase in sequence):
                if before not in waits_for[after]:
                    waits_for[after].append(before)
        self.stages = tuple(
            Stage(
                chunk,
                position,
                phase,
                place_of[k],
                self._step_bytes(schedule.chunks[chunk].size_bytes, path, position, place_of),
                tuple(waits_for[number[chunk, phase, k]]),
            )
            for chunk, path in enumerate(paths)
            for position, (phase, k) in enumerate(path)
        )

    def _step_bytes(self, chunk_bytes: int, path: Path, position: int, place_of: dict[int, int]) -> tuple[int, ...]:
        phase, k = path[position]
        seen = prod(self.sizes[place_of[other]] for before, other in path[:position] if before is phase)
        size = self.sizes[place_of[k]]
        # RS leaves 1/seen of the chunk, of which a part is 1/P_k; AG starts from 1/P of it, and sends all it has.
        scattered, gathered = Fraction(chunk_bytes, seen * size), Fraction(chunk_bytes * seen, prod(self.sizes))
        part = gathered if phase is Phase.ALL_GATHER else scattered
        return tuple(max(1, round(part * count)) for count in self.rules[place_of[k], phase].num_parts)

    def rule(self, stage: Stage) -> StageRule:
        """Return the messages of a stage."""
        return self.rules[stage.dimension, stage.phase]

    def coordinates(self, ranks: IntArray) -> IntArray:
        """Return the coordinates of ranks, shape (involved dimensions, ranks)."""
        return np.stack([ranks // stride % size for stride, size in zip(self.strides, self.sizes, strict=True)])


class Findings:
    """Collects findings that name rank, chunk, stage and step, a handful of each kind.

    Parameters
    ----------
    derivation
        What tags stand for.
    """

    def __init__(self, derivation: Derivation) -> None:
        self._derivation = derivation
        self._num_of: Counter[str] = Counter()
        self.found: list[Finding] = []

    def __bool__(self) -> bool:
        return bool(self.found)

    def is_full(self, kind: str) -> bool:
        """Whether there are enough of a kind."""
        return self._num_of[kind] >= MAX_OF_A_KIND

    def of_message(self, kind: str, rank: int, tag: int, text: str) -> None:
        """Add a finding about the message with a tag, if there are not enough of its kind.

        Parameters
        ----------
        kind
            What sort of finding it is: of each there are `MAX_OF_A_KIND` at most.
        rank, tag
            Whose message, and which.
        text
            What is wrong with it.
        """
        stage_idx, message = divmod(tag, self._derivation.tag_width)
        if stage_idx >= len(self._derivation.stages):
            self.of_rank(kind, rank, text)
            return
        stage = self._derivation.stages[stage_idx]
        rule = self._derivation.rule(stage)
        step = int(rule.step_of[message]) if message < rule.num_messages else None
        where = f"rank {rank}, chunk {stage.chunk}, stage {stage.position} ({stage.phase})"
        where += f", step {step}" if step is not None else ""
        self._add(kind, Finding(f"{where}: {text}", rank, stage.chunk, step))

    def of_rank(self, kind: str, rank: int, text: str) -> None:
        """Add a finding about a rank as a whole.

        Parameters
        ----------
        kind, rank, text
            As for `of_message`.
        """
        self._add(kind, Finding(f"rank {rank}: {text}", rank))

    def _add(self, kind: str, finding: Finding) -> None:
        if not self.is_full(kind):
            self.found.append(finding)
        self._num_of[kind] += 1
