"""What the benchmarks claim: a measured value, the range it must lie in, and the table of verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class Check:
    """One claim: `value` lies between `low` and `high`.

    Attributes
    ----------
    what
        What was measured.
    value, low, high
        The measurement and its limits, in `unit`.
    unit
        Their unit.
    digits
        Decimals to print.
    """

    what: str
    value: float
    low: float = -inf
    high: float = inf
    unit: str = ""
    digits: int = 2

    @property
    def holds(self) -> bool:
        """Whether the value lies within its limits."""
        return self.low <= self.value <= self.high

    @property
    def limits(self) -> str:
        """The range, for people."""
        if self.low == -inf and self.high == inf:
            return "-"
        if self.low == -inf:
            return f"<= {self._number(self.high)}"
        if self.high == inf:
            return f">= {self._number(self.low)}"
        return f"{self._number(self.low)} to {self._number(self.high)}"

    def __str__(self) -> str:
        value = f"{self._number(self.value)} {self.unit}".rstrip()
        verdict = "" if self.limits == "-" else "ok" if self.holds else "MISSED"
        return f"{self.what:<42} {value:>14} {self.limits:>14}  {verdict}".rstrip()

    def _number(self, value: float) -> str:
        return f"{value:,.{self.digits}f}"


def report(checks: Iterable[Check]) -> int:
    """Print the checks under a heading and return the exit code: 1 if one of them does not hold."""
    checks = list(checks)
    print(f"\n{'':<42} {'value':>14} {'limits':>14}")
    for check in checks:
        print(check)
    return 0 if all(check.holds for check in checks) else 1
