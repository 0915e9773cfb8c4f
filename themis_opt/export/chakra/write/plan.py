"""A schedule as a list of stages in the order they stand in every rank's file: node ids, tags and sizes.

All ranks have the same nodes with the same ids, tags and sizes; only the peers differ. A step of n messages is n SENDs
and then n RECVs, with ids that follow each other, so that what a step waits for is one or two ranges of ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from themis_opt.export.stage_messages import stage_steps
from themis_opt.judging.validator import runnable_works
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.errors import InputError
from themis_opt.problem.network import Algorithm, Dimension
from themis_opt.problem.schedule import Schedule
from themis_opt.timing.sequencing import timeline_of

MAX_TAG = MAX_RANKS = 2**31 - 1
MAX_MESSAGE_BYTES = 2**53
"""Beyond this a double, with which ASTRA-sim computes, no longer counts bytes."""

IdRanges = tuple[tuple[int, int], ...]
"""Ranges of node ids, each ``(first, stop)``."""


@dataclass(frozen=True, slots=True)
class StagePlan:
    """One stage of a chunk on every rank.

    Attributes
    ----------
    chunk, phase, dimension
        Whose stage it is, and where.
    first_id
        Id of its first node.
    first_tag
        Tag of its first message; the others follow, step by step.
    step_messages
        Messages a rank sends in each step.
    message_bytes
        Bytes of each message, by step.
    waits_for
        Ids that its first step depends on.
    """

    chunk: int
    phase: Phase
    dimension: int
    first_id: int
    first_tag: int
    step_messages: tuple[int, ...]
    message_bytes: tuple[int, ...]
    waits_for: IdRanges

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
        self.timeline = schedule.derived(timeline_of)
        self.stages_per_chunk = self.timeline.table.num_stages
        dimensions = self.instance.network.dimensions
        self.messages_of = {k: num_messages(dimensions[k]) for k in self.instance.involved}
        """Messages a rank sends in a stage, by dimension."""
        self.tag_width = max(self.messages_of.values())
        """Tags set aside for each stage: the messages of the largest."""
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
        table, dimensions = self.timeline.table, self.instance.network.dimensions
        shapes = {
            (k, phase): _step_shapes(dimensions[k], phase) for k in self.messages_of for phase in self.instance.phases
        }
        sizes_of: dict[tuple[int, int], tuple[int, ...]] = {}
        last_of_chunk: dict[int, tuple[int, int]] = {}
        last_of_dimension: dict[int, tuple[int, int]] = {}
        next_id = 1
        stages = []
        for chunk, position in self._by_start():
            kind = table.kinds[table.kind_of[chunk]]
            phase, k = kind.path[position]
            shape = shapes[k, phase]
            known = (table.kind_of[chunk], position)
            if known not in sizes_of:
                # (C2) counts P - 1 parts, whatever the algorithm.
                part = kind.costs[position].sent_bytes / (dimensions[k].size - 1)
                sizes_of[known] = tuple(whole_bytes(part * num_parts) for _, num_parts in shape)
            # The last step of either is enough: the steps before it have been waited for by it.
            before = {last_of_chunk.get(chunk), last_of_dimension.get(k)}
            stage = StagePlan(
                chunk,
                phase,
                k,
                next_id,
                (chunk * self.stages_per_chunk + position) * self.tag_width,
                tuple(count for count, _ in shape),
                sizes_of[known],
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


def num_messages(dimension: Dimension) -> int:
    """Return how many messages a member sends in a stage."""
    return dimension.size - 1 if dimension.algorithm is Algorithm.DIRECT else dimension.num_steps()


def _step_shapes(dimension: Dimension, phase: Phase) -> tuple[tuple[int, int], ...]:
    """Return the messages of each step, and the parts in each of them."""
    assert dimension.algorithm is not None  # set by Dimension
    steps = stage_steps(dimension.algorithm, phase, dimension.size, 0)
    return tuple((len(step), step[0].num_parts) for step in steps)


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
