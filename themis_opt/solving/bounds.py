"""The best lower bound there is, and keeping the certificate when a stronger argument comes along."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from themis_opt.bound import Bound, BoundScope, Sizing
from themis_opt.chunking import Chunking
from themis_opt.critical_path import critical_path_bound
from themis_opt.instance import Instance
from themis_opt.schedules import Schedule
from themis_opt.solving.protocol import SolverParams
from themis_opt.solving.registry import BOUNDS


def equal_chunks_scope(instance: Instance) -> BoundScope:
    """Return the scope of the instance as it stands: exactly its number of equal chunks."""
    return BoundScope(Sizing.EQUAL, instance.num_chunks, instance.num_chunks)


def scope_of(schedule: Schedule) -> BoundScope:
    """Return the scope of everything comparable with a schedule: its sizing, exactly its number of chunks."""
    return BoundScope(schedule.sizing, schedule.num_chunks, schedule.num_chunks)


def quick_bounds(instance: Instance, scope: BoundScope) -> list[Bound]:
    """Return the bounds that cost milliseconds: fluid (certified) and critical path."""
    fluid = BOUNDS.get("fluid")(instance, scope, SolverParams())
    return [bound for bound in (fluid, critical_path_bound(instance, scope)) if bound is not None]


def best_bound(bounds: Iterable[Bound]) -> Bound:
    """Return the highest of some bounds of one scope, with the strongest certificate among them attached.

    The certificate proves `certified_ps` whatever the kind of the bound that beats it.

    Raises
    ------
    ValueError
        When there are no bounds.
    """
    known = list(bounds)
    best = max(known, key=lambda bound: (bound.value_ps, bound.certificate is not None))
    certified = max(
        (bound for bound in known if bound.certified_ps is not None),
        key=lambda bound: bound.certified_ps or 0,
        default=None,
    )
    if certified is None or best.certificate is not None:
        return best
    return Bound(best.value_ps, best.kind, best.scope, certified.certificate, certified.certified_ps)


def bound_over_counts(instance: Instance, chunking: Chunking, bound_for: Callable[[int], Bound]) -> Bound:
    """Return a bound for every number of chunks allowed: the least of the bounds for exactly c chunks.

    With few chunks the critical path is what counts, with more the fluid bound. From where that overtakes the critical
    path, a single certificate does for all the numbers left: what it proves of chunks of any size is affine in their
    number.

    Parameters
    ----------
    instance
        The problem.
    chunking
        The numbers allowed.
    bound_for
        The best known bound for exactly so many chunks.
    """
    whole = BoundScope(chunking.sizing, chunking.min_chunks, chunking.max_chunks)
    least: Bound | None = None
    for num_chunks in range(chunking.min_chunks, chunking.max_chunks + 1):
        any_sizes = BoundScope(Sizing.FREE, num_chunks, num_chunks)
        fluid, path = quick_bounds(instance, any_sizes)
        if fluid.value_ps >= path.value_ps:
            rest = quick_bounds(instance, BoundScope(Sizing.FREE, num_chunks, chunking.max_chunks))[0]
            least = rest if least is None else min(least, rest, key=lambda bound: bound.value_ps)
            break
        here = bound_for(num_chunks)
        least = here if least is None else min(least, here, key=lambda bound: bound.value_ps)
    assert least is not None
    return Bound(least.value_ps, least.kind, whole)
