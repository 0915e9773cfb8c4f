"""A split of a bandwidth budget that was solved."""

from __future__ import annotations

from dataclasses import dataclass

from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.questions.provision.budget import Bandwidths


@dataclass(frozen=True)
class SolvedSplit:
    """A split of the budget with the best schedule found for it.

    Attributes
    ----------
    instance
        The instance with these bandwidths.
    schedule
        The best schedule found, with the best bound for its number of chunks.
    wall_s
        Seconds of solving.
    expected_ps
        What bounds let it take: the highest bound for a number of chunks that is as good as the best one.
    note
        A sentence from the solver, or nothing.
    """

    instance: Instance
    schedule: Schedule
    wall_s: float
    expected_ps: int
    note: str = ""

    @property
    def bandwidths(self) -> Bandwidths:
        """The bandwidth of each involved dimension."""
        return {k: self.instance.network.dimensions[k].bandwidth_Bps for k in self.instance.involved}

    @property
    def makespan_ps(self) -> int:
        """The makespan found."""
        return self.schedule.timed_ps

    @property
    def bound_ps(self) -> int:
        """What no schedule with as many chunks can be faster than."""
        assert self.schedule.bound is not None
        return self.schedule.bound.value_ps
