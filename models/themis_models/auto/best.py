"""The best schedule so far, shared by the threads that search."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from themis_models.auto.evaluations import Evaluations
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.solving.protocol import Progress
from themis_opt.timing.sequencing import timeline_of


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
    evaluations
        Where these are limited: what is left of them. Nothing but the deadline looks at the clock then.
    """

    instance: Instance
    target_ps: int
    deadline: float
    on_progress: Callable[[Progress], None]
    schedule: Schedule | None = None
    evaluations: Evaluations | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def makespan_ps(self) -> float:
        """The best makespan, or infinity."""
        schedule = self.schedule
        return float("inf") if schedule is None or schedule.makespan_ps is None else schedule.makespan_ps

    @property
    def is_over(self) -> bool:
        """Whether the target is reached, or the time or the evaluations are used up."""
        return self.is_reached or self.is_spent

    @property
    def is_reached(self) -> bool:
        """Whether the target is reached."""
        return self.makespan_ps <= self.target_ps

    @property
    def is_spent(self) -> bool:
        """Whether the time or the evaluations are used up."""
        if self.evaluations is not None and not self.evaluations.left:
            return True
        return time.monotonic() >= self.deadline

    @property
    def left_s(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self.deadline - time.monotonic())

    @contextmanager
    def narrowed(self, seconds: float, part: float) -> Iterator[None]:
        """For a while let no more than so many seconds be left; of limited evaluations this part, and all seconds."""
        if self.evaluations is not None:
            with self.evaluations.narrowed(self.evaluations.part(part)):
                yield
            return
        deadline = self.deadline
        self.deadline = min(deadline, time.monotonic() + seconds)
        try:
            yield
        finally:
            self.deadline = deadline

    def after(self, part: float) -> Callable[[], bool]:
        """Return a function that tells whether this part of what is left now has been used meanwhile."""
        if self.evaluations is not None:
            evaluations, end = self.evaluations, self.evaluations.spent + self.evaluations.part(part)
            return lambda: evaluations.spent >= end
        moment = time.monotonic() + part * self.left_s
        return lambda: time.monotonic() >= moment

    def affordable(self, number: int) -> int:
        """Return how many of so many evaluations may be made: those left, at least one."""
        return number if self.evaluations is None else max(1, min(number, self.evaluations.left))

    def spend(self, number: int) -> None:
        """Count evaluations, where they are limited."""
        if self.evaluations is not None:
            self.evaluations.spend(number)

    def offer(self, schedule: Schedule, phase: str) -> bool:
        """Take a schedule if it is better than the best; return whether it was."""
        makespan_ps = schedule.derived(timeline_of).makespan_ps
        with self._lock:
            if makespan_ps >= self.makespan_ps:
                return False
            self.schedule = schedule.replace(makespan_ps=makespan_ps)
        self.on_progress(Progress(phase, self.schedule))
        return True
