"""A schedule as a list of stages in the order they stand in every rank's file: node ids, tags, sizes and peers.

All ranks have the same nodes with the same ids, tags and sizes; only the peers differ. A step of n messages is n SENDs
and then n RECVs, with ids that follow each other, so that what a step waits for is one or two ranges of ids.

Every algorithm is a shift of all members (by the same distance) or a swap across a bit. So who talks to whom is told by
few *patterns* (a ring has two), however many messages there are: a dimension, and the peer of its member 0.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from themis_opt.export.ranks import Ranks
from themis_opt.export.stage_messages import stage_steps
from themis_opt.judging.validator import runnable_works
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.errors import InputError
from themis_opt.problem.network import Algorithm
from themis_opt.problem.schedule import Schedule
from themis_opt.timing.sequencing import timeline_of

MAX_TAG = MAX_RANKS = 2**31 - 1
MAX_MESSAGE_BYTES = 2**53
"""Beyond this a double, with which ASTRA-sim computes, no longer counts bytes."""


Pattern = tuple[int, int]
"""A dimension, and the member that its member 0 talks to."""


class StepShape(NamedTuple):
    """A step wherever its phase runs on its dimension: parts in a message; patterns of what is sent, and of what comes.

    The message in a member's j-th receiving slot is some other member's j-th sending one.
    """

    num_parts: int
    to: tuple[Pattern, ...]
    come_from: tuple[Pattern, ...]


class Step(NamedTuple):
    """One step of a stage: the ids of its nodes, its first tag, the bytes of each message, and the ids it waits for."""

    shape: StepShape
    ids: range
    first_tag: int
    size_bytes: int
    waits_for: tuple[range, ...]


class StagePlan(NamedTuple):
    """One stage of a chunk, the same on every rank but for the peers."""

    chunk: int
    phase: Phase
    dimension: int
    steps: tuple[Step, ...]


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
        self.schedule = schedule
        self.instance = instance = schedule.instance
        if instance.collective is Collective.ALL_TO_ALL:
            raise InputError(
                "--to astra2 writes all-reduce, reduce-scatter and all-gather, and this is an all-to-all: it moves the "
                "same bytes in any order, and ASTRA-sim's own 'direct' algorithm runs it without a trace"
            )
        if instance.num_npus > MAX_RANKS:
            raise InputError(f"the schedule is for {instance.num_npus} NPUs, and a trace numbers at most {MAX_RANKS}")
        self.timeline = schedule.derived(timeline_of)
        self._ranks = Ranks(instance.network, instance.involved)
        self.stages_per_chunk = self.timeline.table.num_stages
        self._dimensions = {k: instance.network.dimensions[k] for k in instance.involved}
        # Counted without a look at any message: a group may have a billion members.
        messages = [
            dimension.size - 1 if dimension.algorithm is Algorithm.DIRECT else dimension.num_steps()
            for dimension in self._dimensions.values()
        ]
        self.nodes_per_rank = 2 * schedule.num_chunks * len(instance.phases) * sum(messages)
        """SENDs and RECVs in each rank's file."""
        self.tag_width = max(messages)
        """Tags set aside for each stage: the messages of the largest."""
        if schedule.num_chunks * self.stages_per_chunk * self.tag_width > MAX_TAG:
            raise InputError(
                f"{schedule.num_chunks} chunks of {self.stages_per_chunk} stages of up to {self.tag_width} messages "
                f"need tags above {MAX_TAG}; make a schedule of fewer chunks"
            )

    @cached_property
    def stages(self) -> tuple[StagePlan, ...]:
        """All stages, each after those it waits for."""
        table, starts = self.timeline.table, self.timeline.starts
        sizes_of: dict[tuple[int, int], list[int]] = {}
        last_of_chunk: dict[int, range] = {}
        last_of_dimension: dict[int, range] = {}
        next_id = 1
        stages = []
        # Of stages that start together, what is waited for stays first: sorting is stable.
        keys = (work.key for work in runnable_works(self.instance, self.schedule))
        runnable = [(chunk, table.paths[chunk].index((phase, k))) for chunk, phase, k in keys]
        for chunk, position in sorted(runnable, key=lambda stage: int(starts[stage[0]][stage[1]])):
            kind = table.kinds[table.kind_of[chunk]]
            phase, k = kind.path[position]
            shapes = self._shapes[k, phase]
            known = (table.kind_of[chunk], position)
            if known not in sizes_of:
                # (C2) counts P - 1 parts, whatever the algorithm.
                part = kind.costs[position].sent_bytes / (self._dimensions[k].size - 1)
                sizes_of[known] = [whole_bytes(part * shape.num_parts) for shape in shapes]
            # The last step of either is enough: it has waited for the steps before it.
            before = {last_of_chunk.get(chunk, range(0)), last_of_dimension.get(k, range(0))}
            waits_for = tuple(sorted(before, key=lambda ids: ids.start))
            tag = (chunk * self.stages_per_chunk + position) * self.tag_width
            steps = []
            for shape, size_bytes in zip(shapes, sizes_of[known], strict=True):
                ids = range(next_id, next_id + 2 * len(shape.to))
                steps.append(Step(shape, ids, tag, size_bytes, waits_for))
                next_id, tag, waits_for = ids.stop, tag + len(shape.to), (ids,)
            last_of_chunk[chunk] = last_of_dimension[k] = ids
            stages.append(StagePlan(chunk, phase, k, tuple(steps)))
        return tuple(stages)

    def peers(self, rank: int) -> dict[Pattern, int]:
        """Return the peer of a rank under every pattern."""
        found = {}
        for k, distance in self._patterns:
            member, dimension = self._ranks.coordinate(rank, k), self._dimensions[k]
            swaps = dimension.algorithm is Algorithm.HALVING_DOUBLING
            peer = member ^ distance if swaps else (member + distance) % dimension.size
            found[k, distance] = self._ranks.moved(rank, k, peer)
        return found

    @cached_property
    def _shapes(self) -> dict[tuple[int, Phase], list[StepShape]]:
        shapes: dict[tuple[int, Phase], list[StepShape]] = {}
        for k, dimension in self._dimensions.items():
            for phase in self.instance.phases:
                shapes[k, phase] = []
                assert dimension.algorithm is not None  # set by Dimension
                for sends in stage_steps(dimension.algorithm, phase, dimension.size, 0):
                    to = tuple((k, send.receiver) for send in sends)
                    swaps = dimension.algorithm is Algorithm.HALVING_DOUBLING
                    # The sender of a swap is its receiver; that of a shift is as far behind.
                    come_from = to if swaps else tuple((k, -distance % dimension.size) for _, distance in to)
                    shapes[k, phase].append(StepShape(sends[0].num_parts, to, come_from))
        return shapes

    @cached_property
    def _patterns(self) -> set[Pattern]:
        shapes = (shape for steps in self._shapes.values() for shape in steps)
        return {pattern for shape in shapes for pattern in (*shape.to, *shape.come_from)}


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
