"""From the instructions of one rank to its threadblocks: who must wait for whom, and how that is written.

Instructions come in one order for all ranks in which each comes after everything it needs. One that touches pieces
which another threadblock has touched before, one of them writing, waits for it, unless it knows already that it is done
because of an earlier wait. An executor's step waits for one other step; further ones are put in front as ``nop``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from themis_opt.export.msccl.write.program import NO_PEER, Place, Step, StepId, Threadblock

READS = {"s", "rrc", "cpy"}
WRITES = {"r", "rrc", "cpy"}


class Lane(NamedTuple):
    """What tells a rank's threadblocks apart: channel, peer to send to, peer to receive from."""

    channel: int
    send_peer: int
    receive_peer: int


@dataclass(frozen=True, slots=True)
class _Instruction:
    kind: str
    source: Place
    target: Place
    num_pieces: int
    waits: tuple[tuple[Lane, int], ...]


class RankProgram:
    """The instructions of one rank, lane by lane."""

    def __init__(self) -> None:
        self._lanes: defaultdict[Lane, list[_Instruction]] = defaultdict(list)
        self._last_write: dict[Place, tuple[Lane, int]] = {}
        self._reads: defaultdict[Place, dict[Lane, int]] = defaultdict(dict)
        # What a lane knows to be done: of each other lane, its last such instruction. Never changed once it is shared.
        self._known: defaultdict[Lane, Mapping[Lane, int]] = defaultdict(dict)
        self._known_at: dict[tuple[Lane, int], Mapping[Lane, int]] = {}

    def add(self, lane: Lane, kind: str, source: Place, target: Place, num_pieces: int) -> None:
        """Append an instruction to a lane.

        Parameters
        ----------
        lane
            Which threadblock it goes to.
        kind
            As in `program.Step`.
        source, target
            The first pieces it reads from and writes to.
        num_pieces
            How many from there on.
        """
        here = len(self._lanes[lane])
        needed: dict[Lane, int] = {}

        def need(other: Lane, position: int) -> None:
            if other != lane and position > max(needed.get(other, -1), self._known[lane].get(other, -1)):
                needed[other] = position

        if kind in READS:
            for place in _span(source, num_pieces):
                if place in self._last_write:
                    need(*self._last_write[place])
                self._reads[place][lane] = here
        if kind in WRITES:
            for place in _span(target, num_pieces):
                if place in self._last_write:
                    need(*self._last_write[place])
                for other, position in self._reads.pop(place, {}).items():
                    need(other, position)
                self._last_write[place] = (lane, here)
        # Who is waited for has waited for others before: those need no wait of their own.
        waits = tuple(
            (other, position)
            for other, position in needed.items()
            if not any(self._known_at[wait].get(other, -1) >= position for wait in needed.items() if wait[0] != other)
        )
        if needed:
            known = dict(self._known[lane])
            for wait in needed.items():
                for other, position in (*self._known_at[wait].items(), wait):
                    known[other] = max(known.get(other, -1), position)
            self._known[lane] = known
        self._known_at[lane, here] = self._known[lane]
        self._lanes[lane].append(_Instruction(kind, source, target, num_pieces, waits))

    def threadblocks(self) -> tuple[Threadblock, ...]:
        """Return the threadblocks, by channel and peer, waits and all."""
        lanes = sorted(self._lanes)
        number_of = {lane: number for number, lane in enumerate(lanes)}
        step_of: dict[tuple[Lane, int], int] = {}
        for lane in lanes:
            num_steps = 0
            for position, instruction in enumerate(self._lanes[lane]):
                num_steps += max(1, len(instruction.waits))
                step_of[lane, position] = num_steps - 1
        awaited = {wait for lane in lanes for instruction in self._lanes[lane] for wait in instruction.waits}
        threadblocks = []
        for lane in lanes:
            steps: list[Step] = []
            for position, instruction in enumerate(self._lanes[lane]):
                # An executor's step waits for one other step; a nop in front of it waits for each further one.
                waits = [StepId(number_of[wait[0]], step_of[wait]) for wait in instruction.waits]
                steps += [Step("nop", Place("i", -1), Place("o", -1), 0, wait) for wait in waits[:-1]]
                steps.append(
                    Step(
                        instruction.kind,
                        instruction.source,
                        instruction.target,
                        instruction.num_pieces,
                        waits[-1] if waits else None,
                        (lane, position) in awaited,
                    )
                )
            threadblocks.append(Threadblock(lane.send_peer, lane.receive_peer, lane.channel, tuple(steps)))
        return tuple(threadblocks)


def sending(channel: int, peer: int) -> Lane:
    """Return the lane that sends to a peer."""
    return Lane(channel, peer, NO_PEER)


def receiving(channel: int, peer: int) -> Lane:
    """Return the lane that receives from a peer."""
    return Lane(channel, NO_PEER, peer)


def _span(first: Place, num_pieces: int) -> list[Place]:
    return [Place(first.buffer, first.offset + index) for index in range(num_pieces)]
