"""What came of a task: a status and figures, or why it failed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from themis_opt.studies.study_metrics import METRICS
from themis_opt.studies.table import Value

FAILED = "failed"
NOT_REPEATABLE = "not-repeatable"
"""The status of a solver's row that another run might not find again."""
_MAX_REASON = 500


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of a task.

    Attributes
    ----------
    key
        The task's key.
    status
        As in `StudyRow`.
    figures
        Metrics by name; empty when it failed.
    seconds
        How long it took.
    reason
        Why it failed, or nothing.
    """

    key: str
    status: str
    figures: dict[str, Value]
    seconds: float
    reason: str = ""

    @property
    def has_failed(self) -> bool:
        """Whether there is nothing but a reason."""
        return self.status == FAILED


def failure(key: str, reason: str, seconds: float) -> Finding:
    """Return what came of a task that failed."""
    return Finding(key, FAILED, {}, seconds, reason.partition("\n")[0][:_MAX_REASON])


def lacks(finding: Finding, wanted: Collection[str]) -> bool:
    """Return whether a result of an earlier run has not measured what is wanted now."""
    return not finding.has_failed and any(name not in METRICS and name not in finding.figures for name in wanted)
