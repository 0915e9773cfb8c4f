"""Long runs of cases: a few of them at each landing, all of them at night."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def mostly_nightly(cases: Iterable[Any], kept: Sequence[Any]) -> list[Any]:
    """Return the cases as parameters of a test; those that are not `kept` are run by ``.ci/nightly`` alone."""
    cases = list(cases)
    assert all(case in cases for case in kept)
    return [case if case in kept else pytest.param(case, marks=pytest.mark.nightly) for case in cases]
