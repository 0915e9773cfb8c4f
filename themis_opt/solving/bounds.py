"""The best lower bound there is, and keeping the certificate when a stronger argument comes along."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.checks import MAX_MAGNITUDE
from themis_opt.problem.chunking import Chunking
from themis_opt.problem.instance import Instance
from themis_opt.problem.interruption import interruptibly
from themis_opt.problem.parameters import DEFAULT_TIME_LIMIT_S
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.proof.certificate import certified_bound_ps
from themis_opt.proof.critical_path import critical_path_bound
from themis_opt.solving.protocol import BOUNDS, SolverParams

MAX_QUICK_ARCS = 2304
"""Arcs of an order lattice (nine dimensions') up to which the fluid program takes a fraction of a second."""

FLUID_S_PER_ARC = 4e-4
"""What the fluid program takes on larger lattices, certifying included: ten seconds with twelve dimensions."""

_ONE_BY_ONE = 16
"""Up to here each number of chunks has a bound of its own; beyond it one does for all numbers up to twice as many."""

MAX_REMEMBERED = 256
"""Instances whose quick bounds are kept."""


def equal_chunks_scope(instance: Instance) -> BoundScope:
    """Return the scope of the instance as it stands: exactly its number of equal chunks."""
    return BoundScope(Sizing.EQUAL, instance.num_chunks, instance.num_chunks)


def scope_of(schedule: Schedule) -> BoundScope:
    """Return the scope of everything comparable with a schedule: its sizing, exactly its number of chunks."""
    return BoundScope(schedule.sizing, schedule.num_chunks, schedule.num_chunks)


def num_lattice_arcs(instance: Instance) -> int:
    """Return the arcs of one phase's order lattice, which decide what a bound costs."""
    num_dims = len(instance.involved)
    return num_dims * 2 ** (num_dims - 1) if instance.collective.has_free_orders else num_dims


def has_quick_fluid_bound(instance: Instance) -> bool:
    """Return whether the fluid program takes a fraction of a second only."""
    return num_lattice_arcs(instance) <= MAX_QUICK_ARCS


def quick_bounds(instance: Instance, scope: BoundScope) -> list[Bound]:
    """Return the bounds that cost a fraction of a second: fluid (certified), then critical path.

    Where the fluid program would take longer the fluid bound is `bandwidth_bound`. They are remembered.
    """
    remembered = _REMEMBERED.of(instance)
    if scope not in remembered:
        if has_quick_fluid_bound(instance):
            fluid = BOUNDS.get("fluid")(instance, scope, SolverParams())
        else:
            fluid = bandwidth_bound(instance, scope)
        path = critical_path_bound(instance, scope)
        remembered[scope] = [bound for bound in (fluid, path) if bound is not None]
    return list(remembered[scope])


def full_bounds(instance: Instance, scope: BoundScope, time_limit_s: float = DEFAULT_TIME_LIMIT_S) -> list[Bound]:
    """Return the quick bounds, the fluid one as good as the time limit allows where it is not quick.

    Parameters
    ----------
    instance, scope
        The problem, and the schedules the bounds must hold for.
    time_limit_s
        For the fluid program alone.
    """
    bounds = quick_bounds(instance, scope)
    if not has_quick_fluid_bound(instance):
        params = SolverParams(time_limit_s)
        fluid = interruptibly(lambda: BOUNDS.get("fluid")(instance, scope, params))
        bounds = with_fluid(bounds, fluid)
    return bounds


def with_fluid(bounds: list[Bound], fluid: Bound | None) -> list[Bound]:
    """Return some bounds with a better one of fluid kind in the place of the one there is."""
    if fluid is None:
        return bounds
    better = [fluid if bound.kind == fluid.kind and bound.value_ps < fluid.value_ps else bound for bound in bounds]
    return better if any(bound.kind == fluid.kind for bound in bounds) else [fluid, *bounds]


def bandwidth_bound(instance: Instance, scope: BoundScope) -> Bound:
    """Return the fluid bound whose weights are the bandwidths: the best one if every dimension can always be busy."""
    dimensions = instance.network.dimensions
    total = sum((dimensions[k].bandwidth_Bps for k in instance.involved), Fraction(0))
    shares = {k: dimensions[k].bandwidth_Bps / total for k in instance.involved}
    certificate = tuple(shares.get(k, Fraction(0)) for k in range(instance.network.num_dimensions))
    value_ps = certified_bound_ps(instance, certificate, scope)
    return Bound(value_ps, BoundKind.FLUID, scope, certificate, value_ps)


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
        # Doubling ranges: a bound for c to 2c chunks loses little against one for c, and 65,536 counts need 28 of them.
        last = first if first <= _ONE_BY_ONE else min(2 * first - 2, most)
        here = best_bound(quick_bounds(instance, BoundScope(Sizing.FREE, first, last)))
        if here.kind == BoundKind.FLUID:
            last = most
            here = quick_bounds(instance, BoundScope(Sizing.FREE, first, most))[0]
        least = here if least is None else min(least, here, key=lambda bound: bound.value_ps)
        first = last + 1
    assert least is not None
    return Bound(least.value_ps, least.kind, whole)


def remembered_bounds(instance: Instance) -> Mapping[BoundScope, list[Bound]]:
    """Return the quick bounds worked out for an instance so far, whatever its number of chunks."""
    return _REMEMBERED.of(instance)


def remember_bounds(instance: Instance, known: Mapping[BoundScope, list[Bound]]) -> None:
    """Take over quick bounds that another process has worked out."""
    _REMEMBERED.of(instance).update(known)


class _Remembered:
    """Quick bounds by instance (its number of chunks does not matter) and scope, those of the latest instances."""

    def __init__(self) -> None:
        self._by_instance: OrderedDict[Instance, dict[BoundScope, list[Bound]]] = OrderedDict()

    def of(self, instance: Instance) -> dict[BoundScope, list[Bound]]:
        """Return what is known of an instance, to be added to."""
        # Bounds depend on the scope's number of chunks, never on the instance's own, nor on what somebody recorded.
        key = replace(instance, num_chunks=1, known=None)
        known = self._by_instance.setdefault(key, {})
        self._by_instance.move_to_end(key)
        if len(self._by_instance) > MAX_REMEMBERED:
            self._by_instance.popitem(last=False)
        return known


_REMEMBERED = _Remembered()


def best_bound(bounds: Iterable[Bound]) -> Bound:
    """Return the highest of some bounds of one scope, with the strongest certificate among them attached.

    The certificate proves `certified_ps` whatever the kind of the bound that beats it.

    Raises
    ------
    ValueError
        When there are no bounds.
    """
    known = list(bounds)
    # Of two equal ones the certified one: anybody can check it.
    best = max(known, key=lambda bound: (bound.value_ps, bound.certificate is not None))
    certified = max(
        (bound for bound in known if bound.certified_ps is not None),
        key=lambda bound: bound.certified_ps or 0,
        default=None,
    )
    if certified is None or best.certificate is not None:
        return best
    return Bound(best.value_ps, best.kind, best.scope, certified.certificate, certified.certified_ps)


def with_own_bound(schedule: Schedule) -> Schedule:
    """Return a schedule with the best quick bound for its own sizing and number of chunks, unless it has a better one.

    Its status is ``optimal`` where it meets that bound.
    """
    known = [] if schedule.bound is None else [schedule.bound]
    bound = best_bound([*quick_bounds(schedule.instance, scope_of(schedule)), *known])
    status = Status.OPTIMAL if bound.value_ps == schedule.makespan_ps else schedule.status
    return replace(schedule, bound=bound, status=status)


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
    if not has_quick_fluid_bound(instance):
        # A second for each number is too much where the time limit is over.
        best = best_bound(quick_bounds(instance, replace(whole, sizes=Sizing.FREE)))
        return Bound(best.value_ps, best.kind, whole)
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


def bounds_by_count(instance: Instance, chunking: Chunking) -> list[Bound]:
    """Return the quick bounds whose least holds for all numbers allowed: one for each, and one for all the rest."""
    single: list[Bound] = []

    def never(num_chunks: int) -> Bound:
        """Note the bound for exactly so many, and answer what is never the least."""
        single.append(best_bound(quick_bounds(instance, chunking.scope(num_chunks))))
        return replace(single[-1], value_ps=MAX_MAGNITUDE)

    rest = bound_over_counts(instance, chunking, never)
    return single if rest.value_ps == MAX_MAGNITUDE else [*single, rest]
