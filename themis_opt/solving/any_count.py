"""A lower bound for chunks of any size and any number of them up to a limit."""

from __future__ import annotations

from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.instance import Instance
from themis_opt.solving.bounds import best_bound, quick_bounds

_ONE_BY_ONE = 16
"""Up to here each number of chunks has a bound of its own; beyond it one does for all numbers up to twice as many."""


def bound_for_any_count(instance: Instance, max_chunks: int) -> Bound:
    """Return a bound for 1 to `max_chunks` chunks of any size: the least of the bounds for ranges of numbers.

    With few chunks the critical path counts, with many the fluid bound, which grows with their number. So once that is
    the higher of the two, what it proves of all larger numbers together is taken.

    Parameters
    ----------
    instance
        The problem; its own number of chunks does not matter.
    max_chunks
        The most chunks, at most one per byte.
    """
    most = min(max_chunks, instance.size_bytes)
    whole = BoundScope(Sizing.FREE, 1, most)
    least: Bound | None = None
    first = 1
    while first <= most:
        last = first if first <= _ONE_BY_ONE else min(2 * first - 2, most)
        here = best_bound(quick_bounds(instance, BoundScope(Sizing.FREE, first, last)))
        if here.kind == BoundKind.FLUID:
            last = most
            here = quick_bounds(instance, BoundScope(Sizing.FREE, first, most))[0]
        least = here if least is None else min(least, here, key=lambda bound: bound.value_ps)
        first = last + 1
    assert least is not None
    return Bound(least.value_ps, least.kind, whole)
