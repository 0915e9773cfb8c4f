"""Networks as directed graphs with whole-numbered capacities, for max-flow tools: GraphML and node-link JSON.

NPUs are nodes, and so are the switches, one for each group of a switch dimension. What one NPU sends into a dimension
of bandwidth :math:`B` and size :math:`P` goes over these edges:

===============  ==============================================================================
ring             to the next and to the previous NPU, :math:`B/2` each; both are the same edge,
                 of capacity :math:`B`, where :math:`P = 2`
fully-connected  to each of the others, :math:`B/(P-1)`
switch           to the group's switch, :math:`B`; and back from it, the same
===============  ==============================================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from math import lcm
from typing import TYPE_CHECKING

from themis_opt.export.ranks import Ranks
from themis_opt.problem.errors import InputError
from themis_opt.problem.network import Dimension, Network, Topology

if TYPE_CHECKING:
    import networkx as nx

MAX_EDGES = 500_000
"""About 100 MB of GraphML; NPUs grow with it, since each one has an edge at least."""
MAX_CAPACITY = 2**63 - 1
"""What a ``long`` of GraphML holds."""


def graphml_text(network: Network) -> str:
    """Return a network's graph (`network_graph`) as GraphML.

    Raises
    ------
    InputError
        When the graph is too large, or its capacities are.
    """
    import networkx as nx

    lines = nx.generate_graphml(network_graph(network))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + "\n".join(lines) + "\n"


def node_link_text(network: Network) -> str:
    """Return a network's graph (`network_graph`) as node-link JSON, a node or an edge a line.

    Raises
    ------
    InputError
        When the graph is too large, or its capacities are.
    """
    graph = network_graph(network)
    nodes = [{"id": node, **data} for node, data in graph.nodes.items()]
    edges = [{"source": source, "target": target, **data} for (source, target), data in graph.edges.items()]
    head = {"directed": True, "multigraph": False, "graph": graph.graph}
    lines = [f' "{key}": {json.dumps(value)}' for key, value in head.items()]
    for key, entries in (("nodes", nodes), ("edges", edges)):
        inner = ",\n".join(f"  {json.dumps(entry)}" for entry in entries)
        lines.append(f' "{key}": [\n{inner}\n ]')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def network_graph(network: Network) -> nx.DiGraph[str]:
    """Return the product network as a graph; no two nodes have more than one edge in a direction.

    The graph has ``name``, ``num_npus`` and ``capacity_per_Bps``. NPU nodes (``npu0``, ...) have ``kind`` ``npu``,
    ``rank`` (``a0 + a1·P0 + a2·P0·P1 ...``) and ``coordinates`` (``a0,a1,...``). Switch nodes (``dim2.switch0``, ...)
    have ``kind`` ``switch``, ``dimension`` and ``coordinates``, with ``*`` where its group's NPUs differ. Edges have
    ``dimension`` and ``capacity``: bytes/s in this direction times ``capacity_per_Bps``, the least whole number that
    makes every capacity whole, which is 1 for most networks.

    Raises
    ------
    InputError
        When the graph has more than `MAX_EDGES` edges, or a capacity more than `MAX_CAPACITY`.
    """
    import networkx as nx

    _require_drawable(network)
    # Max-flow codes take whole capacities: the least common denominator makes all of them whole without rounding.
    scale = lcm(*(_link_Bps(dimension).denominator for dimension in network.dimensions if dimension.size > 1))
    capacities = [int(_link_Bps(dimension) * scale) if dimension.size > 1 else 0 for dimension in network.dimensions]
    if max(capacities) > MAX_CAPACITY:
        raise InputError(
            f"network {network.name!r}: a link of dim{capacities.index(max(capacities)) + 1} has the capacity "
            f"{max(capacities)}, in 1/{scale} bytes/s so that all are whole; graphs hold at most {MAX_CAPACITY}. "
            "Round the bandwidths to bytes per second"
        )
    graph: nx.DiGraph[str] = nx.DiGraph(name=network.name, num_npus=network.num_npus, capacity_per_Bps=scale)
    ranks = Ranks(network, range(network.num_dimensions))
    for rank in range(network.num_npus):
        graph.add_node(f"npu{rank}", kind="npu", rank=rank, coordinates=_coordinates(ranks, rank))
    for k, dimension in enumerate(network.dimensions):
        if dimension.size == 1:
            continue
        firsts = (rank for rank in range(network.num_npus) if ranks.coordinate(rank, k) == 0)
        for group_idx, first in enumerate(firsts):
            npus = [f"npu{rank}" for rank in ranks.sharing(first, (k,))]
            switch = f"dim{k + 1}.switch{group_idx}"
            if dimension.topology is Topology.SWITCH:
                at = _coordinates(ranks, first, joined=k)
                graph.add_node(switch, kind="switch", dimension=k, coordinates=at)
            edges = _edges(dimension.topology, npus, switch)
            graph.add_edges_from(edges, dimension=k, capacity=capacities[k])
    return graph


def num_edges(network: Network) -> int:
    """Return how many edges the graph of a network has, without making it."""
    return network.num_npus * sum(_edges_per_npu(dimension) for dimension in network.dimensions)


def _require_drawable(network: Network) -> None:
    count = num_edges(network)
    if max(count, network.num_npus) > MAX_EDGES:
        raise InputError(
            f"network {network.name!r}: its {network.num_npus} NPUs make a graph of {count} edges; at most {MAX_EDGES} "
            "are written. Export a network with smaller dimensions: by symmetry, cuts around one NPU stay the same"
        )


def _edges_per_npu(dimension: Dimension) -> int:
    if dimension.size == 1:
        return 0
    if dimension.topology is Topology.FULLY_CONNECTED:
        return dimension.size - 1
    return 1 if dimension.topology is Topology.RING and dimension.size == 2 else 2


def _link_Bps(dimension: Dimension) -> Fraction:
    """Return the bandwidth of one edge, in its direction."""
    if dimension.topology is Topology.SWITCH:
        return dimension.bandwidth_Bps
    return dimension.bandwidth_Bps / _edges_per_npu(dimension)


def _coordinates(ranks: Ranks, rank: int, joined: int | None = None) -> str:
    """Return an NPU's coordinates as a text; those of a switch have a star in the dimension that it joins."""
    return ",".join("*" if k == joined else str(ranks.coordinate(rank, k)) for k in ranks.size_of)


def _edges(topology: Topology, npus: Sequence[str], switch: str) -> Iterator[tuple[str, str]]:
    """Yield the edges of one group; one that comes twice (a ring of two) is one edge of a graph."""
    if topology is Topology.FULLY_CONNECTED:
        yield from permutations(npus, 2)
        return
    for npu, next_npu in zip(npus, (*npus[1:], npus[0]), strict=True):
        other = switch if topology is Topology.SWITCH else next_npu
        yield npu, other
        yield other, npu
