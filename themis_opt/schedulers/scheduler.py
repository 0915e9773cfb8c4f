"""What a scheduler is."""

from __future__ import annotations

from typing import Protocol

from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule


class Scheduler(Protocol):
    """Anything that turns an instance into a schedule.

    The same instance and seed must give the same schedule. The first line of its docstring is what
    ``themis-opt list schedulers`` shows.
    """

    def __call__(self, instance: Instance, *, seed: int = 0) -> Schedule:
        """Return a schedule of `instance`; sequences included, claims optional."""
        ...
