"""One convention for ratios of times, where one of them is zero too."""

from __future__ import annotations

from math import inf

import pytest

from themis_opt.problem.ratios import finite, gap, ratio


@pytest.mark.parametrize(
    ("longer", "shorter", "times"), [(6, 4, 1.5), (4, 6, 2 / 3), (5, 5, 1), (0, 0, 1), (3, 0, inf), (0, 3, 0)]
)
def test_ratio_and_gap(longer: int, shorter: int, times: float) -> None:
    assert ratio(longer, shorter) == times
    assert gap(longer, shorter) == times - 1


def test_equal_times_beyond_what_floats_tell_apart_are_no_gap() -> None:
    assert gap(10**40, 10**40) == 0.0


def test_infinity_is_no_number_for_json() -> None:
    assert finite(inf) is None
    assert finite(-inf) is None
    assert finite(1.5) == 1.5
