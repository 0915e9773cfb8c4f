"""A schedule as a list of stages in the order they stand in every rank's file: node ids, tags and sizes.

All ranks have the same nodes with the same ids, tags and sizes; only the peers differ. A step of n messages is n SENDs
and then n RECVs, with ids that follow each other, so that what a step waits for is one or two ranges of ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from themis_opt.export.chakra.write.exchanges import num_messages
from themis_opt.export.stage_messages import stage_steps
from themis_opt.judging.validator import runnable_works
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.errors import InputError
from themis_opt.problem.schedule import Schedule
from themis_opt.timing.sequencing import simulate
from themis_opt.timing.stage_table import ChunkKind

MAX_TAG = MAX_RANKS = 2**31 - 1
MAX_MESSAGE_BYTES = 2**53
"""Beyond this a double, with which ASTRA-sim computes, no longer counts bytes."""


@dataclass(frozen=True, slots=True)
class StagePlan:
    """One stage of a chunk on every rank.

    Attributes
    ----------
    chunk, phase, dimension
        Whose stage it is, and where.
    position
        The how-manieth of its chunk's stages it is, from 0.
    first_id
        Id of its first node.
    first_tag
        Tag of its first message; the others follow, step by step.
    step_messages
        Messages a rank sends in each step.
    message_bytes
        Bytes of each message, by step.
    waits_for
        Ranges of ids ``(first, stop)`` that its first step depends on.
    """

    chunk: int
    phase: Phase
    dimension: int
    position: int
    first_id: int
    first_tag: int
    step_messages: tuple[int, ...]
    message_bytes: tuple[int, ...]
    waits_for: tuple[tuple[int, int], ...]

    @property
    def stop_id(self) -> int:
        """The id after its last node's."""
        return self.first_id + 2 * sum(self.step_messages)

    @property
    def last_step(self) -> tuple[int, int]:
        """The range of ids of its last step."""
        return self.stop_id - 2 * self.step_messages[-1], self.stop_id


class TracePlan:
    """The stages of a schedule in the order they are written, by start time.

    Parameters
    ----------
    schedule
        A schedule that breaks no rule.

    Raises
    ------
    InputError
        For All-to-All, and when tags or sizes do not fit a trace.
    """

    def __init__(self, schedule: Schedule) -> None:
        if schedule.instance.collective is Collective.ALL_TO_ALL:
            raise InputError(
                "--to astra2 writes all-reduce, reduce-scatter and all-gather, and this is an all-to-all: it moves the "
                "same bytes in any order, and ASTRA-sim's own 'direct' algorithm runs it without a trace"
            )
        if schedule.instance.num_npus > MAX_RANKS:
            raise InputError(
                f"the schedule is for {schedule.instance.num_npus} NPUs, and a trace numbers at most {MAX_RANKS}"
            )
        self.schedule = schedule
        self.instance = schedule.instance
        self.timeline = simulate(self.instance, schedule)
        table = self.timeline.table
        self.stages_per_chunk = table.num_stages
        dimensions = self.instance.network.dimensions
        self.messages_of = {k: num_messages(dimensions[k]) for k in self.instance.involved}
        """Messages a rank sends in a stage, by dimension."""
        self.tag_width = max(self.messages_of.values())
        """Tags set aside for each stage: the messages of the largest."""
        self._known_steps: dict[tuple[int, int], tuple[tuple[int, ...], tuple[int, ...]]] = {}
        if schedule.num_chunks * self.stages_per_chunk * self.tag_width > MAX_TAG:
            raise InputError(
                f"{schedule.num_chunks} chunks of {self.stages_per_chunk} stages of up to {self.tag_width} messages "
                f"need tags above {MAX_TAG}; make a schedule of fewer chunks"
            )

    @property
    def nodes_per_rank(self) -> int:
        """SENDs and RECVs in each rank's file."""
        num_phases = len(self.instance.phases)
        return 2 * self.schedule.num_chunks * num_phases * sum(self.messages_of.values())

    @cached_property
    def stages(self) -> tuple[StagePlan, ...]:
        """All stages, each after those it waits for."""
        last_of_chunk: dict[int, tuple[int, int]] = {}
        last_of_dimension: dict[int, tuple[int, int]] = {}
        next_id = 1
        stages = []
        for chunk, position in self._by_start():
            kind = self.timeline.table.kinds[self.timeline.table.kind_of[chunk]]
            phase, k = kind.path[position]
            before = {last_of_chunk.get(chunk), last_of_dimension.get(k)} - {None}
            stage = StagePlan(
                chunk,
                phase,
                k,
                position,
                next_id,
                (chunk * self.stages_per_chunk + position) * self.tag_width,
                *self._steps(kind, position),
                tuple(sorted(ids for ids in before if ids is not None)),
            )
            last_of_chunk[chunk] = last_of_dimension[k] = stage.last_step
            next_id = stage.stop_id
            stages.append(stage)
        return tuple(stages)

    def _by_start(self) -> list[tuple[int, int]]:
        """Return every stage as (chunk, position), by start; of those that start together, what is waited for first."""
        place = {
            (chunk, phase, k): (chunk, position)
            for chunk, path in enumerate(self.timeline.table.paths)
            for position, (phase, k) in enumerate(path)
        }
        runnable = [place[work.key] for work in runnable_works(self.instance, self.schedule)]
        starts = self.timeline.starts
        return sorted(runnable, key=lambda stage: int(starts[stage[0]][stage[1]]))

    @cached_property
    def _parts_of(self) -> dict[tuple[int, Phase], tuple[tuple[int, int], ...]]:
        """For each dimension and phase the messages and the parts per message of every step."""
        return {
            (k, phase): self._step_shapes(k, phase) for k in self.instance.involved for phase in self.instance.phases
        }

    def _step_shapes(self, k: int, phase: Phase) -> tuple[tuple[int, int], ...]:
        dimension = self.instance.network.dimensions[k]
        assert dimension.algorithm is not None  # set by Dimension
        return tuple(
            (len(step), step[0].num_parts) for step in stage_steps(dimension.algorithm, phase, dimension.size, 0)
        )

    def _steps(self, kind: ChunkKind, position: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the number of messages and the bytes of each one, by step, of one stage of a kind of chunk."""
        key = (id(kind), position)
        if key not in self._known_steps:
            phase, k = kind.path[position]
            shapes = self._parts_of[k, phase]
            # (C2) counts P - 1 parts, whatever the algorithm.
            part = kind.costs[position].sent_bytes / (self.instance.network.dimensions[k].size - 1)
            sizes = tuple(whole_bytes(part * num_parts) for _, num_parts in shapes)
            self._known_steps[key] = tuple(count for count, _ in shapes), sizes
        return self._known_steps[key]


def whole_bytes(size: Fraction) -> int:
    """Return the bytes of a message: whole, at least one, and a function of nothing but the exact size.

    Raises
    ------
    InputError
        When they are more than ASTRA-sim can count.
    """
    rounded = max(1, round(size))
    if rounded > MAX_MESSAGE_BYTES:
        raise InputError(f"a message has {rounded} bytes, and ASTRA-sim counts to {MAX_MESSAGE_BYTES}")
    return rounded
