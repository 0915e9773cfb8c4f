"""The figures of a comparison where a makespan or a bound is 0, which whole picoseconds allow."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf

import pytest
from random_instances import dimension, network

import themis_opt
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance
from themis_opt.questions.comparison import Run
from themis_opt.questions.comparison_file import comparison_text
from themis_opt.questions.row import Row
from themis_opt.questions.speedup_reference import Reference


def row(bandwidth_Bpps: int, baseline_ps: int, bound_ps: int) -> Row:
    """Return the row of one chunk of 2000 bytes on a pair of NPUs: it sends 1000 bytes."""
    instance = Instance(network(dimension(2, bandwidth_Bpps)), Collective.REDUCE_SCATTER, 2000, 1)
    bound = Bound(bound_ps, BoundKind.FLUID, BoundScope(Sizing.EQUAL, 1, 1))
    return Row("mine", replace(themis_opt.schedule(instance, "baseline"), bound=bound), baseline_ps, 0.0)


@pytest.mark.parametrize(
    ("bandwidth_Bpps", "baseline_ps", "bound_ps", "figures"),
    [
        (1000, 3, 1, (1, 3.0, 0.0)),
        (1000, 0, 0, (1, 0.0, inf)),  # beside it the baseline takes no time, and the bound says nothing
        (10_000, 3, 0, (0, inf, 0.0)),  # a tenth of a picosecond is none
        (10_000, 0, 0, (0, 1.0, 0.0)),
    ],
)
def test_speedup_and_gap(
    bandwidth_Bpps: int, baseline_ps: int, bound_ps: int, figures: tuple[int, float, float]
) -> None:
    mine = row(bandwidth_Bpps, baseline_ps, bound_ps)
    assert (mine.makespan_ps, mine.speedup, mine.gap) == figures

    # JSON knows no infinity.
    text = comparison_text(
        [Run(mine.schedule.instance, mine.bound, (mine,), Reference("baseline", "baseline", baseline_ps, 1))], {}, 0
    )
    (result,) = json.loads(text, parse_constant=pytest.fail)["runs"][0]["results"]
    expected = tuple(None if figure == inf else figure for figure in figures)
    assert (result["makespan_ps"], result["speedup"], result["gap"]) == expected
