"""Proofs that no assignment allows less than a schedule takes: exact to the picosecond, and never false."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from random import Random

import pytest
from brute_force import assignment_optimum, optimum_ps, tiny_instance
from random_instances import dimension, network
from test_bounds import AG, AR, RS, four_by_four
from themis_models.assignment import MARGIN, assignment_bound
from themis_models.assignment_proof import MOST_LOAD, prove_by_assignment
from themis_models.auto.portfolio import solve_auto

from themis_opt.files.network_file import load_network
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.schedule import Status
from themis_opt.solving.bounds import best_bound, equal_chunks_scope, quick_bounds
from themis_opt.solving.protocol import SolverParams

PARAMS = SolverParams()


def proof(instance: Instance, makespan_ps: int) -> Bound | None:
    return prove_by_assignment(instance, equal_chunks_scope(instance), makespan_ps, PARAMS)


@pytest.mark.parametrize(("collective", "num_chunks", "optimum"), [(RS, 4, 84), (AG, 4, 84), (AR, 4, 168), (RS, 1, 36)])
def test_proofs_by_hand(collective: object, num_chunks: int, optimum: int) -> None:
    # `test_bounds` has the arithmetic: the best assignment takes `optimum`, so that is proven, and not one more.
    instance = four_by_four(collective, num_chunks)  # type: ignore[arg-type]
    assert proof(instance, optimum) == Bound(optimum, BoundKind.ASSIGNMENT_EXACT, equal_chunks_scope(instance))
    assert proof(instance, optimum - 1) is not None
    assert proof(instance, optimum + 1) is None


@pytest.mark.parametrize("seed", range(60))
def test_the_optimum_over_all_assignments_is_proven_and_nothing_above_it(seed: int) -> None:
    instance = tiny_instance(Random(seed))
    value = ceil(assignment_optimum(instance, instance.num_chunks))
    assert value < 1 or proof(instance, value) is not None
    assert proof(instance, value + 1) is None


@pytest.mark.parametrize("seed", range(40))
def test_nothing_above_the_optimum_is_proven(seed: int) -> None:
    # All orders and sequences tried: where there is a schedule there is an assignment that allows it.
    instance = tiny_instance(Random(1000 + seed))
    assert proof(instance, optimum_ps(instance) + 1) is None


def test_only_one_number_of_equal_chunks() -> None:
    instance = four_by_four(RS)
    assert prove_by_assignment(instance, BoundScope(Sizing.FREE, 4, 4), 10, PARAMS) is None
    assert prove_by_assignment(instance, BoundScope(Sizing.EQUAL, 1, 4), 10, PARAMS) is None
    assert proof(instance, MOST_LOAD // 4) is None
    assert proof(instance, 0) is None


def test_heads_longer_than_any_integer_of_the_solver() -> None:
    # The second of the two dimensions may be reached only after 2^63 ps and more; the makespan is far below.
    slow = dimension(2, Fraction(1, 10**9))
    instance = Instance(network(dimension(65_536, 10**6), slow), AG, 2**40, 2, Occupancy.PIPELINED)
    assert proof(instance, 10**9) == Bound(10**9, BoundKind.ASSIGNMENT_EXACT, equal_chunks_scope(instance))


def test_the_portfolio_proves_what_it_finds() -> None:
    # The floating-point bound is lowered by a millionth: nothing meets it, and the search stops just above it.
    instance = Instance(load_network("3d-sw-sw-sw-homo"), size_bytes=10**8, num_chunks=16)
    scope = equal_chunks_scope(instance)
    known = assignment_bound(instance, scope, PARAMS)
    assert known is not None
    result = solve_auto(instance, SolverParams(time_limit_s=60, gap=0.0, bound=known))
    assert result.bound is not None
    assert result.schedule is not None
    assert result.status is Status.OPTIMAL
    assert result.bound.kind is BoundKind.ASSIGNMENT_EXACT
    assert result.bound.value_ps == result.schedule.makespan_ps
    assert known.value_ps < result.bound.value_ps <= known.value_ps * (1 + 2 * MARGIN)
    # What the certificate proves alone is less, and said so.
    fluid_ps = best_bound(quick_bounds(instance, scope)).value_ps
    assert result.bound.certified_ps == fluid_ps < known.value_ps
