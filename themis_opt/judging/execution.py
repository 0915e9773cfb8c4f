r"""Moving real data the way a schedule says, on every NPU: the proof that its orders make a correct collective.

Each NPU has coordinates :math:`(n_1, …, n_D)` on the involved dimensions, and a chunk as many blocks as there are NPUs,
one element each, with coordinates :math:`(b_1, …, b_D)` of their own. A stage on dimension :math:`k` is the collective
operation among the :math:`P_k` NPUs of each group, whatever algorithm carries it out:

- Reduce-Scatter: all hold the same blocks; member :math:`j` ends with the group's sums of those with :math:`b_k = j`.
- All-Gather: all end with the blocks that any of them holds.
- All-to-All: member :math:`j` ends with everybody's elements for NPUs with :math:`n_k = j`.

Nothing is assumed about which NPU holds what after some stages: the identities of the elements travel with the values,
and at the end both are compared with the collective's definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from themis_opt.judging.validator import runnable_works
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.errors import InputError, InvalidScheduleError
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.violation import Violation, ViolationKind
from themis_opt.timing.cost import CostModel

MAX_NPUS = 4096
"""Each chunk takes a matrix of NPUs × NPUs."""

VALUE_RANGE = 2**18
"""Elements are drawn from ±this, so that sums over `MAX_NPUS` fit the 32-bit integers that travel."""

IntArray = NDArray[Any]


@dataclass(frozen=True, slots=True)
class ExecutionReport:
    """How much a successful execution has compared: every element that every NPU holds at the end.

    Attributes
    ----------
    num_npus, num_chunks, num_stages
        What was run; NPUs are those of the involved dimensions, since other groups do the same beside them.
    num_elements
        Elements compared, all NPUs and chunks together. All of them were right.
    """

    num_npus: int
    num_chunks: int
    num_stages: int
    num_elements: int

    def __str__(self) -> str:
        return (
            f"{self.num_chunks} chunks in {self.num_stages} stages on {self.num_npus} NPUs: "
            f"all {self.num_elements} elements are right"
        )


def execute(instance: Instance, schedule: Schedule, *, seed: int = 0) -> ExecutionReport:
    """Run the schedule's data movement on every NPU and compare what they hold with the collective's definition.

    All-Reduce: every NPU holds every sum. Reduce-Scatter: NPU n holds the sum of block n. All-Gather: every NPU holds
    every block. All-to-All: NPU n holds what each NPU had for it. Chunks share no data, so each runs by itself, its
    stages in an order that the sequences allow. What an NPU sends in each stage is compared with equation (C2).

    Parameters
    ----------
    instance
        The problem, of at most `MAX_NPUS` involved NPUs.
    schedule
        Its claims do not matter, and a chunk has one element per NPU whatever its size.
    seed
        Of the random data.

    Raises
    ------
    InputError
        When the instance has too many NPUs.
    InvalidScheduleError
        When the schedule cannot be run, or an NPU ends with wrong data.
    """
    if instance.num_npus > MAX_NPUS:
        raise InputError(
            f"execution holds the data of every NPU and takes at most {MAX_NPUS}; "
            f"network {instance.network.name!r} has {instance.num_npus} involved NPUs"
        )
    works = runnable_works(instance, schedule)
    num_elements = 0
    for chunk_idx, stages in groupby(sorted(works, key=lambda work: work.chunk), key=lambda work: work.chunk):
        chunk = ChunkData(instance, chunk_idx, _random(seed, chunk_idx))
        for work in stages:
            chunk.run_stage(work.phase, work.dimension)
        num_elements += chunk.compare()
    return ExecutionReport(instance.num_npus, schedule.num_chunks, len(works), num_elements)


def _random(seed: int, chunk_idx: int) -> np.random.Generator:
    """Return a generator of its own for each chunk; any integer is a seed."""
    return np.random.default_rng([seed % 2**64, chunk_idx])


class ChunkData:
    """The elements of one chunk on every NPU.

    Parameters
    ----------
    instance
        The problem.
    chunk_idx
        Which chunk this is, for messages.
    rng
        Where the elements come from.

    Attributes
    ----------
    values
        What each NPU holds, shape (NPUs, elements).
    tags
        Which element each one is, same shape: the block, and in All-to-All the source NPU times the NPUs plus the
        destination.
    """

    def __init__(self, instance: Instance, chunk_idx: int, rng: np.random.Generator) -> None:
        self.instance = instance
        self.chunk_idx = chunk_idx
        self._name = f"chunk {chunk_idx}"
        self._num_npus = instance.num_npus
        self._sizes = tuple(instance.network.dimensions[k].size for k in instance.involved)
        self._model = instance.derived(CostModel)
        self._visited: dict[Phase, list[int]] = {phase: [] for phase in instance.phases}

        gathers = instance.collective is Collective.ALL_GATHER
        shape = (self._num_npus, 1 if gathers else self._num_npus)
        # 32 bits travel: at 4096 NPUs a chunk takes 64 MB, and with 64 bits twice that.
        self.values: IntArray = rng.integers(-VALUE_RANGE, VALUE_RANGE, shape, np.int32)
        npus = np.arange(self._num_npus, dtype=np.int32)
        if gathers:
            self.tags: IntArray = npus[:, None]
        elif instance.collective is Collective.ALL_TO_ALL:
            self.tags = npus[:, None] * np.int32(self._num_npus) + npus
        else:
            self.tags = np.broadcast_to(npus, shape)
        # The truth is worked out from the start, in 64 bits, and not from what travels.
        reduces = Phase.REDUCE_SCATTER in instance.phases
        self._truth = self.values.sum(axis=0, dtype=np.int64) if reduces else self.values.ravel()

    def run_stage(self, phase: Phase, dimension: int) -> None:
        """Run one stage in all groups of a dimension at once.

        Raises
        ------
        InvalidScheduleError
            When the NPUs do not hold what the stage needs, or send another number of elements than (C2) says.
        """
        axis = self.instance.involved.index(dimension)
        values, tags = self._by_group(self.values, axis), self._by_group(self.tags, axis)
        num_held = values.shape[2]
        where = f"{self._name} {phase} on dim{dimension + 1}"
        if phase is Phase.ALL_GATHER:
            values, tags = _gather(values), _gather(tags)
            num_sent = num_held * (self._sizes[axis] - 1)
        else:
            if phase is Phase.REDUCE_SCATTER:
                # A sum needs the same block from everybody; orders that differ between NPUs would break this.
                if (tags != tags[:, :1]).any():
                    raise self._wrong(f"{where}: the NPUs of a group hold different blocks, which have no sum")
                values, tags = values.sum(axis=1, keepdims=True, dtype=np.int32), tags[:, :1]
            values, tags = self._scatter(values, tags, axis, where)
            num_sent = num_held - num_held // self._sizes[axis]
        self._check_sent(phase, dimension, num_sent, where)
        self.values, self.tags = self._by_npu(values, axis), self._by_npu(tags, axis)

    def compare(self) -> int:
        """Return the number of elements held by all NPUs together, all of them compared with the right ones.

        Raises
        ------
        InvalidScheduleError
            Naming the first NPU that holds another element, or another value, than the collective's definition says.
        """
        npus = np.arange(self._num_npus, dtype=np.int32)
        if self.instance.collective is Collective.REDUCE_SCATTER:
            due = npus[:, None]
        elif self.instance.collective is Collective.ALL_TO_ALL:
            due = npus * np.int32(self._num_npus) + npus[:, None]
        else:
            due = np.broadcast_to(npus, (self._num_npus, self._num_npus))
        num_held, num_due = self.tags.shape[1], due.shape[1]
        if num_held != num_due:
            message = f"{self._name}: every NPU ends with {num_held} elements instead of {num_due}"
            raise self._wrong(message, num_due, num_held)
        # Where an element lies in an NPU's memory is nobody's business: compare by identity.
        by_tag = np.argsort(self.tags, axis=1)
        self._compare(np.take_along_axis(self.tags, by_tag, axis=1), due, "element")
        self._compare(np.take_along_axis(self.values, by_tag, axis=1), self._truth[due], "the value")
        return due.size

    def _compare(self, held: IntArray, due: IntArray, what: str) -> None:
        """Raise at the first NPU that holds something else than is due."""
        differs = held != due
        if differs.any():
            npu, place = (int(index) for index in np.unravel_index(differs.argmax(), differs.shape))
            expected, found = int(due[npu, place]), int(held[npu, place])
            message = f"{self._name}: NPU {npu} ends with {what} {found} where {what} {expected} is due"
            raise self._wrong(message, expected, found)

    def _scatter(self, values: IntArray, tags: IntArray, axis: int, where: str) -> tuple[IntArray, IntArray]:
        """Return what the members of each group hold when every element has moved to the member it is meant for.

        An element is meant for the member whose coordinate on the dimension is that of the element's block.
        """
        num_groups, num_holders, num_held = tags.shape
        size, stride = self._sizes[axis], prod(self._sizes[axis + 1 :])
        # A narrow type makes numpy sort by radix.
        member = (tags % self._num_npus // stride % size).astype(np.uint16)
        by_member = np.argsort(member, axis=2, kind="stable")
        equal_parts = (np.arange(num_held) * size // num_held).astype(np.uint16)
        if num_held % size or (np.take_along_axis(member, by_member, axis=2) != equal_parts).any():
            raise self._wrong(f"{where}: the {num_held} elements are not meant for its {size} NPUs in equal parts")
        shape = (num_groups, num_holders, size, -1)
        values, tags = (
            np.take_along_axis(array, by_member, axis=2).reshape(shape).swapaxes(1, 2) for array in (values, tags)
        )
        return values.reshape(num_groups, size, -1), tags.reshape(num_groups, size, -1)

    def _by_group(self, array: IntArray, axis: int) -> IntArray:
        """Return an array by NPU as (groups of a dimension, members, elements)."""
        tensor = np.moveaxis(array.reshape(*self._sizes, -1), axis, -2)
        return tensor.reshape(-1, *tensor.shape[-2:])

    def _by_npu(self, array: IntArray, axis: int) -> IntArray:
        """Return an array by group and member as (NPUs, elements)."""
        others = self._sizes[:axis] + self._sizes[axis + 1 :]
        tensor = array.reshape(*others, *array.shape[1:])
        return np.moveaxis(tensor, -2, axis).reshape(self._num_npus, -1)

    def _check_sent(self, phase: Phase, dimension: int, num_sent: int, where: str) -> None:
        """Raise unless the elements one NPU sends are the part of the chunk that (C2) says."""
        expected = self._num_npus * self._model.sent_fraction(phase, self._visited[phase], dimension)
        self._visited[phase].append(dimension)
        if num_sent != expected:
            raise self._wrong(f"{where}: every NPU sends {num_sent} elements, not {expected}", expected, num_sent)

    def _wrong(self, message: str, expected: object = None, found: object = None) -> InvalidScheduleError:
        violation = Violation(ViolationKind.EXECUTION, message, chunk=self.chunk_idx, expected=expected, found=found)
        return InvalidScheduleError([violation])


def _gather(array: IntArray) -> IntArray:
    """Return what the members of each group hold when all of them have all elements of the group."""
    num_groups, size, num_held = array.shape
    return np.broadcast_to(array.reshape(num_groups, 1, -1), (num_groups, size, size * num_held))
