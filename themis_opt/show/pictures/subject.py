"""What a picture of schedules shows: a named schedule with its times and its bound, its stages as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from themis_opt.problem.bound import Bound
from themis_opt.problem.collective import Phase
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.ratios import gap
from themis_opt.problem.schedule import Schedule
from themis_opt.show.pictures.scales import Floats, plain_label, times_beside
from themis_opt.show.words import count_chunks, format_gap
from themis_opt.solving.bounds import best_bound, quick_bounds, scope_of
from themis_opt.timing.sequencing import timeline_of
from themis_opt.timing.timeline import Timeline

MAX_STAGES = 1_000_000
"""Boxes in one picture; more cannot be told apart on any paper."""
MAX_ROWS = 240
"""Dimensions under each other in one picture."""


@dataclass(frozen=True)
class Stages:
    """The stages of a schedule, chunk by chunk, each array of length chunks × stages.

    Attributes
    ----------
    chunk, dimension
        Whose and where, by index.
    gathers
        Whether it is All-Gather.
    start_ps, hold_ps
        From when and how long it holds its dimension, under the instance's occupancy.
    sent_bytes
        What one NPU sends.
    """

    chunk: NDArray[np.int64]
    dimension: NDArray[np.int64]
    gathers: NDArray[np.bool_]
    start_ps: Floats
    hold_ps: Floats
    sent_bytes: Floats


@dataclass(frozen=True)
class Subject:
    """A schedule as it is drawn.

    Attributes
    ----------
    name
        What it is called.
    schedule
        The schedule.
    timeline
        When its stages run.
    bound
        The lower bound its gap refers to.
    """

    name: str
    schedule: Schedule
    timeline: Timeline
    bound: Bound

    @classmethod
    def of(cls, name: str, schedule: Schedule) -> Subject:
        """Return a schedule simulated, with the bound it carries or else the best of those that take no solver.

        Raises
        ------
        InputError, DeadlockError
            When the schedule cannot be simulated.
        """
        bound = schedule.bound or best_bound(quick_bounds(schedule.instance, scope_of(schedule)))
        return cls(name, schedule, schedule.derived(timeline_of), bound)

    @property
    def instance(self) -> Instance:
        """The problem it answers."""
        return self.schedule.instance

    @property
    def makespan_ps(self) -> int:
        """When the last chunk is complete."""
        return self.timeline.makespan_ps

    @property
    def gap(self) -> float:
        """``makespan / bound - 1``; 0 where both are 0."""
        return gap(self.makespan_ps, self.bound.value_ps)

    @property
    def num_chunks(self) -> int:
        """How many chunks it has."""
        return self.schedule.num_chunks

    @cached_property
    def stages(self) -> Stages:
        """Its stages as arrays."""
        table = self.timeline.table
        num_chunks, num_stages = len(table.kind_of), table.num_stages
        kind_of = np.array(table.kind_of)

        def flat(by_kind: Sequence[Sequence[float]]) -> Floats:
            values: Floats = np.array(by_kind, dtype=np.float64)[kind_of].ravel()
            return values

        paths = [kind.path for kind in table.kinds]
        return Stages(
            np.repeat(np.arange(num_chunks), num_stages),
            flat([[k for _, k in path] for path in paths]).astype(np.int64),
            flat([[phase is Phase.ALL_GATHER for phase, _ in path] for path in paths]).astype(np.bool_),
            np.array(self.timeline.starts, dtype=np.float64).ravel(),
            flat([kind.holds for kind in table.kinds]),
            flat([[float(cost.sent_bytes) for cost in kind.costs] for kind in table.kinds]),
        )


def headings(subjects: Sequence[Subject]) -> list[str]:
    """Return for every schedule who made it, its number of chunks, its makespan and its gap, times in one unit."""
    makespans_ps = [float(subject.makespan_ps) for subject in subjects]
    times = times_beside(makespans_ps, max(makespans_ps))
    return [
        f"{plain_label(subject.name)}: {count_chunks(subject.num_chunks)}, makespan {time}, {_above(subject)}"
        for subject, time in zip(subjects, times, strict=True)
    ]


def _above(subject: Subject) -> str:
    return "as short as its bound" if subject.gap == 0 else f"{format_gap(subject.gap)} above its bound"


Schedules = Mapping[str, Schedule] | Sequence[Subject]
"""What the pictures of schedules take: schedules by name, or subjects that are simulated already."""


def subjects_of(schedules: Schedules) -> tuple[Subject, ...]:
    """Return what is to be drawn, in the order given.

    Raises
    ------
    InputError
        When that is nothing, or more than a picture can hold.
    """
    if isinstance(schedules, Mapping):
        subjects = tuple(Subject.of(name, schedule) for name, schedule in schedules.items())
    else:
        subjects = tuple(schedules)
    if not subjects:
        raise InputError("there is nothing to draw: give at least one schedule")
    num_stages = sum(subject.num_chunks * subject.timeline.table.num_stages for subject in subjects)
    if num_stages > MAX_STAGES:
        raise InputError(f"{num_stages} stages do not fit one picture; at most {MAX_STAGES}: draw fewer schedules")
    num_rows = sum(len(subject.instance.involved) for subject in subjects)
    if num_rows > MAX_ROWS:
        raise InputError(f"{num_rows} dimensions do not fit one picture; at most {MAX_ROWS}: draw fewer schedules")
    return subjects
