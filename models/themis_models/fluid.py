r"""The fluid bound: chunks split at will over all orders, and the certificate that LP duality yields.

With flow :math:`f` in the order lattice (`order_flow`), :math:`w(V,k)` how long all chunks together hold dimension
:math:`k` if all go that way, and :math:`c_k` the time on dimension :math:`k` that no order changes:

.. math::

    \min T \quad\text{with}\quad T ≥ Σ_{phase} Σ_V w(V,k)·f(V,k) + c_k \quad\text{for each involved } k        (F3)

The dual values :math:`y_k` of these rows are non-negative and add up to 1, so they are a certificate. They come as
floating-point numbers: only what `certified_bound_ps` proves from them in exact arithmetic is handed out. So nothing
here has to be trusted: a solver's tolerance can only make the bound smaller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from themis_models.highs import HighsOptions, HighsStatus, solve_with_highs
from themis_models.order_flow import OrderFlow
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.errors import SolverError
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.proof.certificate import certified_bound_ps
from themis_opt.proof.order_lattice import Arc, OrderLattice
from themis_opt.solving.protocol import SolverParams
from themis_opt.timing.cost import CostModel

if TYPE_CHECKING:
    import pulp

_SIMPLE_DENOMINATOR = 1000
"""Weights are often ratios of small numbers, which people like to read."""

_DENOMINATORS = (10**6, 10**9, 10**12, 10**15)
"""Denominators tried where they are not; float duals have no more than 15 digits."""

FEW_BYTES = 1000
"""Where equal chunks leave more than one part in so many of the size over, weights for any sizes are tried as well."""

_TOLERANCE = 1e-10
"""The smallest that HiGHS takes: duals a little wrong cost a little of the bound."""


def fluid_bound(instance: Instance, scope: BoundScope, params: SolverParams) -> Bound:
    """Return the fluid bound (F3) of `instance`, with its certificate.

    Parameters
    ----------
    instance
        The problem; its own number of chunks does not matter, the scope's does.
    scope
        Sizing and numbers of chunks. Over a range one certificate has to do for all numbers: it is that of the
        fewest, as more chunks add latency and, but for rounding, change nothing else.
    params
        Only the time limit matters.

    Returns
    -------
    Bound
        A bound whose value is what its certificate proves. When time runs out or HiGHS fails, it is that of
        `_bandwidth_shares`.

    Raises
    ------
    InputError
        When the scope has no schedule.
    """
    bounds = []
    for weights in _candidates(instance, scope, params):
        certificate = tuple(weights.get(k, Fraction(0)) for k in range(instance.network.num_dimensions))
        value_ps = certified_bound_ps(instance, certificate, scope)
        bounds.append(Bound(value_ps, BoundKind.FLUID, scope, certificate, value_ps))
    return max(bounds, key=lambda bound: bound.value_ps)


def _candidates(instance: Instance, scope: BoundScope, params: SolverParams) -> Iterator[dict[int, Fraction]]:
    """Yield weights worth certifying, simple ones first."""
    yield _bandwidth_shares(instance)
    sizings = [scope.sizes]
    if scope.sizes is Sizing.EQUAL and instance.size_bytes % scope.min_chunks * FEW_BYTES > instance.size_bytes:
        sizings.append(Sizing.FREE)
    for sizing in sizings:
        program = _FluidProgram(instance, sizing, scope.min_chunks)
        with suppress(SolverError):  # a program HiGHS cannot solve proves nothing, and what it would add is not certain
            yield from _near(program.load_duals(params.time_limit_s / len(sizings)))


class _FluidProgram:
    """The linear program (F3) for exactly `num_chunks` chunks, in units of the largest weight."""

    def __init__(self, instance: Instance, sizing: Sizing, num_chunks: int) -> None:
        import pulp

        self._instance = instance
        self._sizing = sizing
        self._num_chunks = num_chunks
        self._costs = instance.derived(CostModel)
        lattice = instance.derived(OrderLattice)
        exact = {arc: self._weight(arc) for arcs in lattice.arcs.values() for arc in arcs}
        self._unit = max(exact.values()) or Fraction(1)
        weights = {arc: float(weight / self._unit) for arc, weight in exact.items()}
        self._problem = pulp.LpProblem("fluid", pulp.LpMinimize)
        self._flow = OrderFlow(self._problem, lattice, 1, weights, integer=False)
        self._add_loads()

    def load_duals(self, time_limit_s: float) -> Mapping[int, float]:
        """Return the dual value of each involved dimension's row; empty when time ran out."""
        result = solve_with_highs(self._problem, HighsOptions(time_limit_s, tolerance=_TOLERANCE))
        if result.status is not HighsStatus.OPTIMAL:
            return {}
        return {k: result.row_duals[_row_name(k)] for k in self._instance.involved}

    def _add_loads(self) -> None:
        r"""Require of the makespan at least what each dimension carries (F3).

        .. math::

            T ≥ Σ_{phase} Σ_V w(V,k)·f(V,k) + c_k + O·n_k, \qquad Σ_k n_k = C

        The launches :math:`n_k` on each dimension stand apart from the flow only where sizes are free; of equal chunks,
        the weights of first arcs contain the overhead :math:`O`.
        """
        makespan = self._problem.add_variable("makespan")
        self._problem += makespan
        launches = self._add_launches()
        for k in self._instance.involved:
            row = makespan >= self._flow.load(k) + float(self._fixed_load(k) / self._unit)
            if k in launches:
                row = makespan - launches[k] >= self._flow.load(k) + float(self._fixed_load(k) / self._unit)
            self._problem += row, _row_name(k)

    def _add_launches(self) -> Mapping[int, pulp.LpAffineExpression]:
        """Return, where sizes are free, what launching chunks adds to each dimension on which one may start."""
        import pulp

        overhead_ps = self._instance.chunk_overhead_ps
        if self._sizing is not Sizing.FREE or not overhead_ps:
            return {}
        first_arcs = self._instance.derived(OrderLattice).arcs[self._instance.phases[0]]
        dimensions = [arc.dimension for arc in first_arcs if not arc.visited]
        numbers = {k: self._problem.add_variable(f"launches_{k}", 0) for k in dimensions}
        self._problem += pulp.lpSum(numbers.values()) == self._num_chunks
        return {k: float(Fraction(overhead_ps) / Fraction(self._unit)) * number for k, number in numbers.items()}

    def _weight(self, arc: Arc) -> Fraction:
        r"""Return w(V,k): picoseconds that all chunks together hold the arc's dimension if all use this arc.

        .. math::

            w = C·hold(V,k) \text{ for } ⌊S/C⌋ \text{ bytes (equal)}, \qquad w = S·rate(V,k) \text{ (any sizes)}  (F4)
        """
        if self._sizing is Sizing.FREE:
            rate = self._costs.sent_fraction(*arc) * self._costs.transfer_rate(arc.phase, arc.dimension)
            return self._instance.size_bytes * rate
        size = self._instance.size_bytes // self._num_chunks
        return Fraction(self._num_chunks * self._costs.hold_ps(self._costs.stage(size, *arc)))

    def _fixed_load(self, dimension: int) -> int:
        r"""Return :math:`c_k` in picoseconds: latencies :math:`λ_k` that the weights do not contain.

        .. math::

            c_k = \min_{phase} λ_k \text{ (pipelined)}, \qquad c_k = C·Σ_{phase} λ_k \text{ (exclusive, any sizes)} (F5)

        The rounding slack of (B2) is the same on every dimension, so it does not change the duals.
        """
        latencies = [self._costs.latency_ps(phase, dimension) for phase in self._instance.phases]
        if self._instance.occupancy is Occupancy.PIPELINED:
            return min(latencies)
        return self._num_chunks * sum(latencies) if self._sizing is Sizing.FREE else 0


def _bandwidth_shares(instance: Instance) -> dict[int, Fraction]:
    """Return weights in proportion to the bandwidths: the best ones when every dimension can be kept busy all along."""
    dimensions = instance.network.dimensions
    return _adding_up_to_one({k: dimensions[k].bandwidth_Bps for k in instance.involved})


def _near(duals: Mapping[int, float]) -> Iterator[dict[int, Fraction]]:
    """Yield weights closer and closer to `duals`: ratios of small numbers, then ever finer decimal fractions."""
    positive = {k: Fraction(max(dual, 0.0)) for k, dual in duals.items()}
    if not any(positive.values()):
        return
    exact = _adding_up_to_one(positive)
    yield _adding_up_to_one({k: weight.limit_denominator(_SIMPLE_DENOMINATOR) for k, weight in exact.items()})
    heaviest = max(exact, key=exact.__getitem__)
    for denominator in _DENOMINATORS:
        rounded = {k: Fraction(round(weight * denominator), denominator) for k, weight in exact.items()}
        rounded[heaviest] += 1 - sum(rounded.values())
        yield rounded


def _adding_up_to_one(weights: Mapping[int, Fraction]) -> dict[int, Fraction]:
    total = sum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


def _row_name(dimension: int) -> str:
    return f"load_{dimension}"
