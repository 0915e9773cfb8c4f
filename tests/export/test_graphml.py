"""Networks as graphs: small ones by hand, every shipped one by its degrees, and maximal flows out of an NPU."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from math import prod
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_instances import network, random_dimension, randoms

import themis_opt.export.graphml as graphml
from themis_opt.export.graphml import graphml_text, network_graph, node_link_text, num_edges
from themis_opt.files.network_file import load_network
from themis_opt.files.shipped import shipped_networks
from themis_opt.problem.errors import InputError
from themis_opt.problem.network import Algorithm, Dimension, Network, Topology

RING, FC, SWITCH = Topology.RING, Topology.FULLY_CONNECTED, Topology.SWITCH
SMALL = [name for name in shipped_networks() if load_network(name).num_npus <= 1024]


def dimension(topology: Topology, size: int, bandwidth_Bps: int | Fraction) -> Dimension:
    return Dimension(topology, size, Fraction(bandwidth_Bps), algorithm=Algorithm.DIRECT)


def capacities(graph: nx.DiGraph[str]) -> dict[tuple[str, str], int]:
    return {(source, target): data["capacity"] for source, target, data in graph.edges(data=True)}


def test_a_ring_of_four_by_hand() -> None:
    """12 bytes/s in all: 6 to the next NPU and 6 to the previous one."""
    graph = network_graph(network(dimension(RING, 4, 12)))
    pairs = [("npu0", "npu1"), ("npu1", "npu2"), ("npu2", "npu3"), ("npu3", "npu0")]
    assert capacities(graph) == dict.fromkeys([*pairs, *((b, a) for a, b in pairs)], 6)
    assert graph.nodes["npu2"] == {"kind": "npu", "rank": 2, "coordinates": "2"}
    # Between opposite NPUs both ways round the ring are open.
    assert nx.maximum_flow_value(graph, "npu0", "npu2") == 12


def test_a_ring_of_two_has_both_links_to_the_same_neighbour() -> None:
    graph = network_graph(network(dimension(RING, 2, 12)))
    assert capacities(graph) == {("npu0", "npu1"): 12, ("npu1", "npu0"): 12}


def test_two_by_four_with_a_switch_by_hand() -> None:
    """dim1: pairs, 10 bytes/s; dim2: two switches of four NPUs, 3 bytes/s. Rank = a0 + 2·a1."""
    graph = network_graph(network(dimension(FC, 2, 10), dimension(SWITCH, 4, 3)))
    assert [(name, data["coordinates"]) for name, data in graph.nodes(data=True)] == [
        ("npu0", "0,0"), ("npu1", "1,0"), ("npu2", "0,1"), ("npu3", "1,1"), ("npu4", "0,2"), ("npu5", "1,2"),
        ("npu6", "0,3"), ("npu7", "1,3"), ("dim2.switch0", "0,*"), ("dim2.switch1", "1,*"),
    ]  # fmt: skip
    assert graph.nodes["dim2.switch1"] == {"kind": "switch", "dimension": 1, "coordinates": "1,*"}
    pairs = {("npu0", "npu1"), ("npu2", "npu3"), ("npu4", "npu5"), ("npu6", "npu7")}
    wires = {(f"npu{rank}", f"dim2.switch{rank % 2}") for rank in range(8)}
    expected = dict.fromkeys(pairs, 10) | dict.fromkeys(wires, 3)
    assert capacities(graph) == expected | {(b, a): capacity for (a, b), capacity in expected.items()}
    assert graph.edges["npu0", "npu1"] == {"dimension": 0, "capacity": 10}
    assert graph.edges["npu0", "dim2.switch0"] == {"dimension": 1, "capacity": 3}


def test_fully_connected_shares_the_bandwidth_among_the_others() -> None:
    graph = network_graph(network(dimension(FC, 4, 12)))
    assert set(capacities(graph).values()) == {4}
    assert graph.number_of_edges() == 12


def test_capacities_are_whole_and_the_unit_says_how() -> None:
    """10 bytes/s over 3 peers is 10/3 each, 1 byte/s round a ring 1/2: in sixths of a byte/s 20 and 3."""
    graph = network_graph(network(dimension(FC, 4, 10), dimension(RING, 3, 1), dimension(SWITCH, 2, 2)))
    assert graph.graph["capacity_per_Bps"] == 6
    found = {data["dimension"]: data["capacity"] for *_, data in graph.edges(data=True)}
    assert found == {0: 20, 1: 3, 2: 12}
    assert network_graph(network(dimension(RING, 4, 12))).graph["capacity_per_Bps"] == 1


def test_dimensions_of_one_npu_have_no_edges() -> None:
    graph = network_graph(network(dimension(SWITCH, 1, Fraction(1, 7)), dimension(RING, 3, 8)))
    assert graph.graph == {"name": "test", "num_npus": 3, "capacity_per_Bps": 1}
    assert sorted(graph.nodes) == ["npu0", "npu1", "npu2"]
    assert graph.nodes["npu1"]["coordinates"] == "0,1"


@pytest.mark.parametrize("name", SMALL)
def test_degrees_and_capacities_of_shipped_networks(name: str) -> None:
    """Every NPU sends and receives its bandwidth in each dimension; every switch passes on what comes in."""
    shipped = load_network(name)
    graph = network_graph(shipped)
    assert graph.number_of_edges() == num_edges(shipped)
    scale = graph.graph["capacity_per_Bps"]
    npus = [node for node, kind in graph.nodes(data="kind") if kind == "npu"]
    assert len(npus) == shipped.num_npus
    for edges in (graph.out_edges, graph.in_edges):
        for node, data in graph.nodes(data=True):
            sums = dict.fromkeys(range(shipped.num_dimensions), 0)
            counts = dict.fromkeys(range(shipped.num_dimensions), 0)
            for *_, edge in edges(node, data=True):
                sums[edge["dimension"]] += edge["capacity"]
                counts[edge["dimension"]] += 1
            for k, dim in enumerate(shipped.dimensions):
                if data["kind"] == "switch":
                    joins = data["dimension"] == k
                    assert counts[k] == (dim.size if joins else 0)
                    assert sums[k] == (dim.size * dim.bandwidth_Bps * scale if joins else 0)
                else:
                    assert sums[k] == dim.bandwidth_Bps * scale
                    neighbours = {RING: min(2, dim.size - 1), FC: dim.size - 1, SWITCH: 1}[dim.topology]
                    assert counts[k] == neighbours


@pytest.mark.parametrize("name", SMALL)
def test_what_flows_out_of_an_npu_is_all_its_bandwidth(name: str) -> None:
    shipped = load_network(name)
    graph = network_graph(shipped)
    everybody = [node for node, kind in graph.nodes(data="kind") if kind == "npu" and node != "npu0"]
    graph.add_edges_from((node, "everybody else") for node in everybody)  # without a capacity: any amount
    total_Bps = sum(dim.bandwidth_Bps for dim in shipped.dimensions)
    assert nx.maximum_flow_value(graph, "npu0", "everybody else") == total_Bps * graph.graph["capacity_per_Bps"]


@pytest.mark.parametrize("name", SMALL)
def test_the_least_cut_to_the_opposite_npu_is_round_a_group(name: str) -> None:
    """Round the NPU itself, or its group in some dimensions, all of which leave through the other ones.

    A DGX A100 has 8 GPUs with 300 GB/s among them and 25 GB/s to other ones: not 325 but 8·25 = 200 GB/s get out.
    """
    shipped = load_network(name)
    graph = network_graph(shipped)
    opposite = ",".join(str(dim.size // 2) for dim in shipped.dimensions)
    (target,) = [node for node, at in graph.nodes(data="coordinates") if at == opposite]
    dims = range(shipped.num_dimensions)
    cuts_Bps = [
        prod(shipped.dimensions[k].size for k in within)
        * sum(shipped.dimensions[k].bandwidth_Bps for k in dims if k not in within)
        for num_within in dims
        for within in combinations(dims, num_within)
    ]
    assert nx.maximum_flow_value(graph, "npu0", target) == min(cuts_Bps) * graph.graph["capacity_per_Bps"]


def test_ranks_are_those_of_astra_sim() -> None:
    """Rank = a0 + a1·P0 + a2·P0·P1, the first dimension fastest."""
    graph = network_graph(network(dimension(RING, 2, 1), dimension(FC, 3, 1), dimension(SWITCH, 4, 1)))
    for _, data in graph.nodes(data=True):
        if data["kind"] == "npu":
            a0, a1, a2 = map(int, data["coordinates"].split(","))
            assert data["rank"] == a0 + 2 * a1 + 6 * a2


@given(randoms(), st.integers(1, 3))
def test_both_files_read_back_as_the_graph(random: object, num_dims: int) -> None:
    dims = tuple(random_dimension(random, 4) for _ in range(num_dims))  # type: ignore[arg-type]
    mine = Network("a", dims)
    graph = network_graph(mine)
    for back in (
        nx.parse_graphml(graphml_text(mine)),
        nx.node_link_graph(json.loads(node_link_text(mine)), edges="edges"),
    ):
        assert back.is_directed()
        assert not back.is_multigraph()
        assert back.graph["name"] == "a"
        assert back.graph["capacity_per_Bps"] == graph.graph["capacity_per_Bps"]
        assert dict(back.nodes(data=True)) == dict(graph.nodes(data=True))
        assert {edge[:2]: edge[2] for edge in back.edges(data=True)} == {
            edge[:2]: edge[2] for edge in graph.edges(data=True)
        }


def printable_names() -> st.SearchStrategy[str]:
    return st.text(min_size=1).filter(str.isprintable)


@given(printable_names())
def test_any_name_of_a_network_is_escaped(name: str) -> None:
    mine = Network(name, (dimension(RING, 2, 1),))
    assert nx.parse_graphml(graphml_text(mine)).graph["name"] == name
    assert json.loads(node_link_text(mine))["graph"]["name"] == name


def test_graphml_is_a_file_that_networkx_reads(tmp_path: Path) -> None:
    path = tmp_path / "a.graphml"
    path.write_text(graphml_text(network(dimension(SWITCH, 2, 7))), encoding="utf-8")
    back = nx.read_graphml(path)
    assert back.edges["npu0", "dim1.switch0"] == {"dimension": 0, "capacity": 7}


def test_large_networks_are_refused_with_their_size() -> None:
    large = Network("large", (dimension(FC, 1024, 1), dimension(SWITCH, 1024, 1)))
    with pytest.raises(InputError) as caught:
        graphml_text(large)
    assert str(caught.value).startswith(
        f"network 'large': its 1048576 NPUs make a graph of {1024**2 * (1023 + 2)} edges; at most 500000 are written."
    )


def test_the_limit_counts_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = network(dimension(RING, 4, 1))
    monkeypatch.setattr(graphml, "MAX_EDGES", 8)
    assert network_graph(mine).number_of_edges() == 8
    monkeypatch.setattr(graphml, "MAX_EDGES", 7)
    with pytest.raises(InputError, match="a graph of 8 edges; at most 7"):
        network_graph(mine)


def test_capacities_beyond_64_bits_are_refused() -> None:
    # In units of 1/3 bytes/s the second dimension's capacity is 3·10^19.
    mine = network(dimension(SWITCH, 2, Fraction(1, 3)), dimension(SWITCH, 2, 10**19))
    with pytest.raises(InputError, match=r"a link of dim2 has the capacity 3\d{19}, in 1/3 bytes/s .*Round the bandw"):
        network_graph(mine)
