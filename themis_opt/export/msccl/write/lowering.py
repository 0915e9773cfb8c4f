"""From a schedule to an MSCCL algorithm: every stage's messages, step by step, as sends and receives of each rank.

What is kept: each chunk's orders; the sequence in which each dimension serves stages, between every two ranks (messages
between them stand in that order in one threadblock for sending and one for receiving); each algorithm's messages. What
a message may carry at once is cut into steps of contiguous pieces, the same on both sides.

Sending and receiving have threadblocks of their own. Everything a step waits for comes before it in one order of all
messages, so the algorithm ends even where ranks can only hand over what the other one is ready to take.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from themis_opt.export.msccl.executor_limits import MAX_COUNT, MAX_FILE_STEPS
from themis_opt.export.msccl.write import writer_limits as limits
from themis_opt.export.msccl.write.block_assembly import Lane, RankProgram, receiving, sending
from themis_opt.export.msccl.write.buffers import Buffers
from themis_opt.export.msccl.write.layout import Layout, pieces_per_block
from themis_opt.export.msccl.write.program import NO_PEER, Algo, Gpu, Place
from themis_opt.export.msccl.write.xml_writing import message_bytes
from themis_opt.export.ranks import Ranks
from themis_opt.export.stage_messages import Send, stage_steps
from themis_opt.judging.validator import runnable_works
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.errors import InputError
from themis_opt.problem.schedule import Schedule

COLLECTIVES = {
    Collective.ALL_REDUCE: "allreduce",
    Collective.REDUCE_SCATTER: "reducescatter",
    Collective.ALL_GATHER: "allgather",
}
"""The executors' words."""
PEERS_PER_CHANNEL = limits.MAX_THREADBLOCKS_PER_CHANNEL // 2 - 1
"""Two threadblocks for each peer, and room for one that copies."""


class _Part(NamedTuple):
    """Contiguous pieces of one message: where the sender has them, and where the receiver has its own and puts them.

    `block` is the first one of them.
    """

    source: Place
    kept: Place
    target: Place
    num_pieces: int
    block: int


class _Message(NamedTuple):
    sender: int
    receiver: int
    channel: int
    blocks: tuple[int, ...]
    parts: tuple[_Part, ...]


def lower(schedule: Schedule, *, in_place: bool = True) -> Algo:
    """Return a schedule as an MSCCL algorithm.

    Parameters
    ----------
    schedule
        A schedule of an All-Reduce, Reduce-Scatter or All-Gather; times and claims do not matter.
    in_place
        For calls whose result overlaps their input as NCCL defines it; otherwise for the others.

    Raises
    ------
    InputError
        For All-to-All, chunk sizes that executors cannot express, or a schedule beyond their limits.
    InvalidScheduleError
        When the schedule cannot be run.
    """
    instance = schedule.instance
    if instance.collective not in COLLECTIVES:
        raise InputError(
            f"{instance.collective} cannot be exported to MSCCL XML; all-reduce, reduce-scatter and all-gather can"
        )
    limits.check_size(instance.num_npus, schedule.num_chunks, len(instance.phases))
    works = runnable_works(instance, schedule)
    lowering = _Lowering(schedule, in_place)
    lowering.copy_own_shards()
    for done, work in enumerate(works):
        if lowering.num_steps > MAX_FILE_STEPS:
            raise limits.too_many_steps(done, len(works))
        lowering.run_stage(work.chunk, work.phase, work.dimension)
    gpus = lowering.gpus()
    # A library picks an algorithm by size alone; far from the size it was made for another is better.
    low, high = _size_range(schedule, lowering.layout.num_pieces)
    algo = Algo(
        _name(schedule),
        COLLECTIVES[instance.collective],
        in_place,
        1 + max(tb.channel for gpu in gpus for tb in gpu.threadblocks),
        lowering.layout.num_pieces,
        low,
        high,
        gpus,
    )
    limits.check_limits(algo, schedule.num_chunks)
    return algo


class _Lowering:
    """The ranks' programs and buffers while the stages are run through."""

    def __init__(self, schedule: Schedule, in_place: bool) -> None:
        self._instance = schedule.instance
        self._ranks = Ranks(schedule.instance.network, schedule.instance.involved)
        num_ranks = self._ranks.num_ranks
        sizes_bytes = [chunk.size_bytes for chunk in schedule.chunks]
        pieces = pieces_per_block(sizes_bytes, num_ranks, len(schedule.instance.phases))
        self.layout = Layout(schedule, self._ranks, pieces)
        self._programs = [RankProgram() for _ in range(num_ranks)]
        self._buffers = [Buffers(schedule.instance.collective, in_place, self.layout, r) for r in range(num_ranks)]
        self._channels = self._channel_of_shift()
        self._visited: dict[tuple[int, Phase], list[int]] = {}
        self.num_steps = 0

    def copy_own_shards(self) -> None:
        """Let every rank copy its own shard, where the collective asks for it."""
        for buffers, program in zip(self._buffers, self._programs, strict=True):
            copy = buffers.own_shard()
            if copy is None:
                continue
            source, target = copy
            for first, count in _cut(self.layout.shard):
                program.add(Lane(0, NO_PEER, NO_PEER), "cpy", _after(source, first), _after(target, first), count)

    def run_stage(self, chunk: int, phase: Phase, dimension: int) -> None:
        """Append one stage of all groups of a dimension, step by step: first every send, then every receive.

        Parameters
        ----------
        chunk, phase, dimension
            The stage.
        """
        visited = self._visited.setdefault((chunk, phase), [])
        network_dimension = self._instance.network.dimensions[dimension]
        assert network_dimension.algorithm is not None  # set by Dimension
        size = network_dimension.size
        by_member = [stage_steps(network_dimension.algorithm, phase, size, member) for member in range(size)]
        gathers = phase is Phase.ALL_GATHER
        free = visited if gathers else [k for k in self._instance.involved if k not in visited and k != dimension]
        for step in range(len(by_member[0])):
            messages = [
                self._message(rank, chunk, dimension, free, send)
                for rank in range(self._ranks.num_ranks)
                for send in by_member[self._ranks.coordinate(rank, dimension)][step]
            ]
            # All sends of a step come first: what it reads is what was there before anything of it arrives.
            for message in messages:
                lane = sending(message.channel, message.receiver)
                for part in message.parts:
                    self._programs[message.sender].add(lane, "s", part.source, part.target, part.num_pieces)
            for message in messages:
                self._receive(message, chunk, gathers)
            self.num_steps += sum(2 * len(message.parts) for message in messages)
        visited.append(dimension)

    def gpus(self) -> tuple[Gpu, ...]:
        """Return the finished ranks."""
        return tuple(
            Gpu(*buffers.sizes(), program.threadblocks())
            for buffers, program in zip(self._buffers, self._programs, strict=True)
        )

    def _message(self, rank: int, chunk: int, dimension: int, free: list[int], send: Send) -> _Message:
        """Return one message of a rank with its contiguous parts."""
        size = self._ranks.size_of[dimension]
        receiver = self._ranks.moved(rank, dimension, send.receiver)
        parts = [(send.first_part + index) % size for index in range(send.num_parts)]
        blocks = [b for part in parts for b in self._ranks.sharing(self._ranks.moved(rank, dimension, part), free)]
        blocks.sort(key=lambda block: self.layout.in_array(chunk, block))
        shift = (send.receiver - self._ranks.coordinate(rank, dimension)) % size
        channel = self._channels[dimension, shift]
        return _Message(rank, receiver, channel, tuple(blocks), tuple(self._parts(rank, receiver, chunk, blocks)))

    def _parts(self, sender: int, receiver: int, chunk: int, blocks: list[int]) -> Iterator[_Part]:
        """Yield the blocks, joined where they are neighbours on both sides, and cut where they are too many."""
        width = self.layout.num_pieces_of(chunk)
        run: _Part | None = None
        for block in blocks:
            source = self._buffers[sender].source(chunk, block)
            kept = self._buffers[receiver].source(chunk, block)
            target = self._buffers[receiver].target(chunk, block)
            places = (source, kept, target)
            if run is not None and places == tuple(_after(place, run.num_pieces) for place in run[:3]):
                run = run._replace(num_pieces=run.num_pieces + width)
                continue
            if run is not None:
                yield from _pieces(run)
            run = _Part(*places, width, block)
        if run is not None:
            yield from _pieces(run)

    def _receive(self, message: _Message, chunk: int, gathers: bool) -> None:
        """Append a message's receives. What arrived earlier in the same step has moved what is added to."""
        program, buffers = self._programs[message.receiver], self._buffers[message.receiver]
        lane = receiving(message.channel, message.sender)
        for part in message.parts:
            kept = part.target if gathers or buffers.has_arrived(chunk, part.block) else part.kept
            program.add(lane, "r" if gathers else "rrc", kept, part.target, part.num_pieces)
        for block in message.blocks:
            buffers.note_arrival(chunk, block)

    def _channel_of_shift(self) -> dict[tuple[int, int], int]:
        """Return the channel for each distance that a dimension's messages go, every dimension on its own channels."""
        channels: dict[tuple[int, int], int] = {}
        first = 0
        for k in self._instance.involved:
            dimension = self._instance.network.dimensions[k]
            assert dimension.algorithm is not None  # set by Dimension
            shifts = sorted(
                {
                    (send.receiver - member) % dimension.size
                    for phase in self._instance.phases
                    for member in range(dimension.size)
                    for step in stage_steps(dimension.algorithm, phase, dimension.size, member)
                    for send in step
                }
            )
            for position, shift in enumerate(shifts):
                channels[k, shift] = first + position // PEERS_PER_CHANNEL
            first += -(-len(shifts) // PEERS_PER_CHANNEL)
        return channels


def _after(place: Place, num_pieces: int) -> Place:
    return Place(place.buffer, place.offset + num_pieces)


def _cut(num_pieces: int) -> Iterator[tuple[int, int]]:
    """Yield first piece and number of pieces of steps that executors can take."""
    for first in range(0, num_pieces, MAX_COUNT):
        yield first, min(MAX_COUNT, num_pieces - first)


def _pieces(run: _Part) -> Iterator[_Part]:
    for first, count in _cut(run.num_pieces):
        source, kept, target = (_after(place, first) for place in run[:3])
        yield _Part(source, kept, target, count, run.block)


def _size_range(schedule: Schedule, num_pieces: int) -> tuple[int, int]:
    """Return from which size to which the algorithm is offered: half to twice the one it was made for."""
    size_bytes = schedule.instance.size_bytes
    tested_bytes = message_bytes(schedule.instance, num_pieces)
    return min(size_bytes, tested_bytes) // 2, 2 * max(size_bytes, tested_bytes)


def _name(schedule: Schedule) -> str:
    """Return a name that is safe in XML and short enough for executors (63 characters)."""
    words = ["themis-opt", schedule.scheduler, schedule.instance.network.name]
    return re.sub(r"[^A-Za-z0-9._-]+", "-", "_".join(word for word in words if word))[:63]
