"""Orders are paths in the lattice: as many as there should be, and the cheapest one is the cheapest."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import factorial
from random import Random

import networkx as nx
import pytest
from hypothesis import given
from random_instances import A2A, AG, RS, dimension, network, randoms

from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance
from themis_opt.proof.order_lattice import Arc, OrderLattice


def lattice_of(num_dims: int, collective: Collective = Collective.ALL_REDUCE, **fields: object) -> OrderLattice:
    return OrderLattice(Instance(network(*[dimension(2)] * num_dims), collective, 64, 1, **fields))  # type: ignore[arg-type]


def random_weights(lattice: OrderLattice, random: Random) -> dict[Arc, int]:
    """Return weights that often tie."""
    return {arc: random.randrange(6) for arcs in lattice.arcs.values() for arc in arcs}


@pytest.mark.parametrize(("num_dims", "num_arcs"), [(1, 1), (2, 4), (3, 12), (4, 32), (5, 80), (8, 1024)])
def test_number_of_arcs(num_dims: int, num_arcs: int) -> None:
    # D·2^(D-1): each of the D dimensions can be visited after any subset of the others.
    arcs = lattice_of(num_dims).arcs
    assert list(arcs) == [RS, AG]
    for phase in arcs:
        assert len(arcs[phase]) == len(set(arcs[phase])) == num_arcs
        assert all(arc.phase is phase for arc in arcs[phase])


@pytest.mark.parametrize("num_dims", [1, 2, 3, 4])
def test_orders_are_the_paths(num_dims: int) -> None:
    lattice = lattice_of(num_dims)
    orders = list(permutations(range(num_dims)))
    paths = {frozenset(lattice.path(AG, order)) for order in orders}
    graph = lattice.graph(AG)
    empty, full = frozenset[int](), frozenset(range(num_dims))
    found = {
        frozenset(Arc(AG, a, graph.edges[a, b]["dimension"]) for a, b in nx.utils.pairwise(vertices))
        for vertices in nx.all_simple_paths(graph, empty, full)
    }
    assert len(found) == factorial(num_dims)
    assert paths == found


def test_path_of_an_order() -> None:
    assert lattice_of(3).path(RS, (2, 0, 1)) == [
        Arc(RS, frozenset(), 2),
        Arc(RS, frozenset({2}), 0),
        Arc(RS, frozenset({0, 2}), 1),
    ]


@given(randoms())
def test_an_order_comes_back_from_its_arcs_in_any_sequence(random: Random) -> None:
    lattice = lattice_of(5)
    order = tuple(random.sample(range(5), 5))
    arcs = lattice.path(RS, order)
    random.shuffle(arcs)
    assert lattice.order(arcs) == order


@given(randoms())
def test_cheapest_order_is_the_cheapest_of_all(random: Random) -> None:
    lattice = lattice_of(random.randint(1, 4))
    weights = random_weights(lattice, random)
    for phase in (RS, AG):
        costs = {
            order: sum(weights[arc] for arc in lattice.path(phase, order))
            for order in permutations(lattice.instance.involved)
        }
        cost, order = lattice.cheapest_order(phase, weights.__getitem__)
        assert cost == min(costs.values()) == costs[order]


@given(randoms())
def test_graph_carries_the_weights(random: Random) -> None:
    lattice = lattice_of(random.randint(1, 5))
    weights = random_weights(lattice, random)
    graph = lattice.graph(RS, weights.__getitem__)
    full = frozenset(lattice.instance.involved)
    length = nx.dijkstra_path_length(graph, frozenset(), full)
    assert length == lattice.cheapest_order(RS, weights.__getitem__)[0]


def test_cheapest_order_stays_exact() -> None:
    # 1/3 + 1/3 + 1/3 is 1 in fractions only.
    cost, order = lattice_of(3).cheapest_order(RS, lambda arc: Fraction(1, 3))
    assert cost == 1
    assert isinstance(cost, Fraction)
    assert order == (0, 1, 2)  # all cost the same: the first one


def test_only_involved_dimensions_take_part() -> None:
    net = network(dimension(2), dimension(1), dimension(2), dimension(2))
    lattice = OrderLattice(Instance(net, Collective.REDUCE_SCATTER, 64, 1, dimensions=(0, 1, 3)))
    assert set(lattice.arcs[RS]) == {
        Arc(RS, frozenset(), 0),
        Arc(RS, frozenset(), 3),
        Arc(RS, frozenset({0}), 3),
        Arc(RS, frozenset({3}), 0),
    }


def test_all_to_all_has_one_order() -> None:
    lattice = lattice_of(4, Collective.ALL_TO_ALL)
    assert list(lattice.arcs[A2A]) == lattice.path(A2A, (0, 1, 2, 3))
    # Going by dimension 3 first would cost nothing, but it is not allowed.
    assert lattice.cheapest_order(A2A, lambda arc: 0 if 3 not in arc.visited else 9) == (0, (0, 1, 2, 3))
    assert lattice.cheapest_order(A2A, lambda arc: arc.dimension) == (6, (0, 1, 2, 3))
