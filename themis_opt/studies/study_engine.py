"""What an engine is: it takes batches of tasks and gives back findings, in whatever order they come."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, TypeAlias

from themis_opt.studies.study_metrics import metric_named
from themis_opt.studies.table import PointStatus, Value

if TYPE_CHECKING:
    from themis_opt.studies.tasks import Task

Batch: TypeAlias = "tuple[Task, ...]"

MAX_ATTEMPTS = 3
"""How often a task is tried whose process dies before it is taken to be the cause."""

_MAX_REASON = 500


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of a task.

    Attributes
    ----------
    key
        The task's key.
    status
        How it ended; never `PointStatus.MISSING`.
    figures
        Metrics by name; empty when it failed.
    seconds
        How long it took.
    reason
        Why it failed, or nothing.
    """

    key: str
    status: PointStatus
    figures: dict[str, Value]
    seconds: float
    reason: str = ""

    @property
    def has_failed(self) -> bool:
        """Whether there is nothing but a reason."""
        return self.status == PointStatus.FAILED

    def lacks(self, wanted: Collection[str]) -> bool:
        """Return whether a result of an earlier run has not measured what is wanted now."""
        return not self.has_failed and any(
            metric_named(name).costs_extra and name not in self.figures for name in wanted
        )


def failure(key: str, reason: str, seconds: float = 0.0) -> Finding:
    """Return what came of a task that failed.

    Parameters
    ----------
    key
        The task's.
    reason
        Why; its first line is kept.
    seconds
        How long it took.
    """
    return Finding(key, PointStatus.FAILED, {}, seconds, reason.partition("\n")[0][:_MAX_REASON])


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
