r"""The assignment bound: whole chunks on orders, and the idle time that orders force upon a dimension.

The fluid bound with two refinements. Each order is taken by a whole number of chunks: the flow :math:`f` is integer.
And a dimension may have to wait for its first stage, or be done before the end:

*Head.* If no chunk's first stage is on :math:`k`, nothing can start there before some chunk has been through at least
one stage elsewhere: until :math:`head_k`, the shortest time in which a chunk can reach a stage on :math:`k` that is not
its first.

*Tail.* If no chunk's last stage is on :math:`k`, the chunk that leaves :math:`k` last has at least one stage elsewhere
before it: :math:`tail_k`, the shortest time from the end of a stage on :math:`k` that is not a chunk's last.

Head, load and tail of a dimension do not overlap: all its holds lie after the head, one after another, and the tail
begins when the last of them has ended and, with pipelined occupancy, its latency has passed, too. So with
:math:`u_k = 1` only if a chunk starts on :math:`k`, and :math:`v_k = 1` only if one ends there,

.. math::

    T ≥ head_k·(1-u_k) + load_k + [pipelined] \min_{phase} λ_k + tail_k·(1-v_k)                              (A1)

Heads are times through the first phase and tails times through the last one. All times are those of chunks of
:math:`⌊S/C⌋` bytes; a chunk of one byte more never takes less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import floor

from themis_models.highs import HighsOptions, HighsStatus, solve_with_highs
from themis_models.order_flow import OrderFlow
from themis_opt.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.cost import CostModel
from themis_opt.errors import InputError
from themis_opt.instance import Instance, Occupancy
from themis_opt.lattice import Arc, Vertex
from themis_opt.solving.protocol import SolverParams

MARGIN = 1e-6
"""What is taken off HiGHS's bound, relative to it.

HiGHS accepts rows, integers and reduced costs that are wrong by its tolerance (1e-9 here, in units of the largest
weight), which moves the bound by about as much times the number of terms; a thousand times that covers it.
"""


def assignment_bound(instance: Instance, scope: BoundScope, params: SolverParams) -> Bound | None:
    """Return the assignment bound (A1) of `instance` for one number of equal chunks.

    Parameters
    ----------
    instance
        The problem; its own number of chunks does not matter, the scope's does.
    scope
        Sizing and number of chunks.
    params
        Time limit, number of threads and seed.

    Returns
    -------
    Bound | None
        The solver's bound less `MARGIN`: floating point, so without a certificate. ``None`` for chunks of any size,
        for a range of numbers, and when nothing was proven in time.
    """
    if scope.sizes is not Sizing.EQUAL or scope.min_chunks != scope.max_chunks:
        return None
    bound_ps = _AssignmentProgram(instance, scope.min_chunks).bound_ps(params)
    value_ps = 0 if bound_ps is None else floor(bound_ps * (1 - MARGIN))
    return Bound(value_ps, BoundKind.ASSIGNMENT, scope) if value_ps > 0 else None


class _AssignmentProgram:
    """The integer program (A1) for exactly `num_chunks` equal chunks."""

    def __init__(self, instance: Instance, num_chunks: int) -> None:
        import pulp

        self._instance = instance
        self._num_chunks = num_chunks
        self._size_bytes = instance.size_bytes // num_chunks
        self._costs = CostModel(instance)
        self._problem = pulp.LpProblem("assignment", pulp.LpMinimize)
        self._flow = OrderFlow(self._problem, instance, num_chunks, integer=True)
        self._holds = {arc: self._costs.hold_ps(self._cost(arc)) for arc in self._flow.variables}
        self._add_starts()
        ...
