"""What an evaluation limit means to packages that time no candidate schedules but count something of their own.

A candidate of some dozen stages takes the search a microsecond, and the numbers are such that a part of the evaluations
takes about as long whatever it is spent on. They are counts, not times: CP-SAT's deterministic seconds count its steps.
"""

from __future__ import annotations

EVALUATIONS_PER_S = 1_000_000
"""For so many evaluations CP-SAT gets one of its deterministic seconds."""

EVALUATIONS_PER_NODE = 1_000
"""For so many evaluations HiGHS gets one node of its tree."""

MOST_NODES = 2**31 - 1
"""HiGHS counts no further."""


def deterministic_s(num_evaluations: int) -> float:
    """Return the deterministic seconds CP-SAT gets for so many evaluations."""
    return num_evaluations / EVALUATIONS_PER_S


def num_nodes(num_evaluations: int | None) -> int | None:
    """Return the nodes HiGHS gets for so many evaluations, at least the root; ``None`` for no limit."""
    return None if num_evaluations is None else min(max(1, num_evaluations // EVALUATIONS_PER_NODE), MOST_NODES)
