"""The best schedule so far, shared by the threads that search."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from themis_opt.cost import CostModel
from themis_opt.instance import Instance
from themis_opt.schedules import Schedule
from themis_opt.simulator import simulate
from themis_opt.solving.protocol import Progress


@dataclass
class Best:
    """Keeps the shortest schedule offered, timed by the simulator, and says when to stop.

    Attributes
    ----------
    instance
        The problem.
    target_ps
        A makespan at which the search may stop: a lower bound, or what a gap allowed above it makes of it.
    deadline
        When it must stop, on the clock of `time.monotonic`.
    on_progress
        Told of every improvement.
    schedule
        The best schedule.
    """

    instance: Instance
    target_ps: int
    deadline: float
    on_progress: Callable[[Progress], None]
    schedule: Schedule | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._model = CostModel(self.instance)

    @property
    def makespan_ps(self) -> float:
        """The best makespan, or infinity."""
        schedule = self.schedule
        return float("inf") if schedule is None or schedule.makespan_ps is None else schedule.makespan_ps

    @property
    def is_over(self) -> bool:
        """Whether the target is reached or the time is up."""
        return self.makespan_ps <= self.target_ps or time.monotonic() >= self.deadline

    @property
    def left_s(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self.deadline - time.monotonic())

    def offer(self, schedule: Schedule, phase: str) -> bool:
        """Take a schedule if it is better than the best; return whether it was."""
        makespan_ps = simulate(self.instance, schedule, model=self._model).makespan_ps
        with self._lock:
            if makespan_ps >= self.makespan_ps:
                return False
            self.schedule = replace(schedule, makespan_ps=makespan_ps)
        self.on_progress(Progress(phase, self.schedule))
        return True
