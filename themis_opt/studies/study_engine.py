"""What an engine is: it takes batches of tasks and gives back findings, in whatever order they come."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Protocol

from themis_opt.studies.finding import Finding
from themis_opt.studies.tasks import Task

Batch = tuple[Task, ...]

MAX_ATTEMPTS = 3
"""How often a task is tried whose process dies before it is taken to be the cause."""


class Engine(Protocol):
    """Runs tasks; use it as a context manager.

    A process that dies in the middle of a task costs another attempt of that task and nothing else. A task that has
    cost `MAX_ATTEMPTS` processes has failed.
    """

    def __enter__(self) -> Engine:
        """Start what runs the tasks."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all of it, whatever it is doing."""
        ...

    def run(self, batches: Iterator[Batch]) -> Iterator[Finding]:
        """Yield a finding for every task of every batch; batches are taken when there is somebody to work on them."""
        ...
