r"""Running all ranks together: which RECV takes which SEND, who waits for whom or for ever, and when all is over.

A node begins when all it depends on is over. A SEND is over when its message has arrived, after

.. math::

    floor(hops·latency + m / b) \; ns                                                                  (A1)

in double precision, and a RECV when it has begun and its message has arrived. Nothing shares anything: that is
ASTRA-sim's analytical backend without congestion.

Nodes that depend on the same list wait for one *gate*, so that there are as many arcs as nodes and entries of lists,
not their product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from themis_opt.export.chakra.judge.columns import Nodes
from themis_opt.export.chakra.judge.derivation import Derivation, Findings
from themis_opt.export.chakra.judge.setup import LinkRule

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Run:
    """What became of every node.

    Attributes
    ----------
    level
        By node: one more than the highest level of what it waits for; -1 where it waits for ever.
    end_ns
        By node, when it is over.
    """

    level: IntArray
    end_ns: IntArray

    @property
    def stuck(self) -> IntArray:
        """Places of the nodes that wait for ever."""
        return np.flatnonzero(self.level < 0)


def match(nodes: Nodes, ranks: tuple[int, ...], findings: Findings) -> tuple[IntArray, IntArray]:
    """Return the places of all SENDs and of the RECVs that take them, in the same order.

    Messages from or to ranks whose traces are not there are left out.

    Parameters
    ----------
    nodes
        All nodes.
    ranks
        The ranks whose traces are there.
    findings
        Where goes what has no counterpart.
    """
    present = np.array(ranks, np.int64)
    there = np.isin(nodes.peer, present)
    sends, receives = np.flatnonzero(nodes.is_send & there), np.flatnonzero(~nodes.is_send & there)
    # Both sides in one order: then each SEND's RECV has its place.
    send_order = np.lexsort((nodes.tag[sends], nodes.peer[sends], nodes.rank[sends]))
    receive_order = np.lexsort((nodes.tag[receives], nodes.rank[receives], nodes.peer[receives]))
    sends, receives = sends[send_order], receives[receive_order]
    sent = np.stack([nodes.rank[sends], nodes.peer[sends], nodes.tag[sends]])
    received = np.stack([nodes.peer[receives], nodes.rank[receives], nodes.tag[receives]])
    for keys, places, what in ((sent, sends, "two SENDs"), (received, receives, "two RECVs")):
        for row in np.flatnonzero((keys[:, 1:] == keys[:, :-1]).all(axis=0))[:2].tolist():
            rank, tag = int(nodes.rank[places[row]]), int(nodes.tag[places[row]])
            findings.of_message("twice", rank, tag, f"{what} have the same peer and tag {tag}")
    if findings:
        return sends, receives
    if sent.shape != received.shape or (sent != received).any():
        _report_unmatched(sent, received, findings)
        return sends, receives
    for row in np.flatnonzero(nodes.size_bytes[sends] != nodes.size_bytes[receives])[:2].tolist():
        text = (
            f"sends {nodes.size_bytes[sends[row]]} bytes, and rank {nodes.peer[sends[row]]} "
            f"expects {nodes.size_bytes[receives[row]]}"
        )
        findings.of_message("size", int(nodes.rank[sends[row]]), int(nodes.tag[sends[row]]), text)
    return sends, receives


def _report_unmatched(sent: NDArray[np.int32], received: NDArray[np.int32], findings: Findings) -> None:
    sides = [set(map(tuple, keys.T.tolist())) for keys in (sent, received)]
    for source, destination, tag in sorted(sides[0] - sides[1])[:2]:
        findings.of_message(
            "unmatched", source, tag, f"sends to rank {destination}, which has no such RECV (tag {tag})"
        )
    for source, destination, tag in sorted(sides[1] - sides[0])[:2]:
        findings.of_message(
            "unmatched", destination, tag, f"expects rank {source} to send, which never does (tag {tag})"
        )


def message_ns(nodes: Nodes, derivation: Derivation, links: tuple[LinkRule, ...], sends: IntArray) -> IntArray:
    """Return how long the message of each of these SENDs takes (A1).

    Parameters
    ----------
    nodes, sends
        All nodes, and the places of the SENDs.
    derivation
        Which coordinates a rank has.
    links
        How long a message takes on each dimension.
    """
    source, destination = (
        derivation.coordinates(column[sends].astype(np.int64)) for column in (nodes.rank, nodes.peer)
    )
    # In doubles and cut to whole ns, as ASTRA-sim does it: exact arithmetic would promise another time.
    total = np.zeros(len(sends), np.int64)
    for place, link in enumerate(links):
        hops_of = np.array([link.hops(0, distance) for distance in range(link.size)])
        rows = np.flatnonzero(source[place] != destination[place])
        hops = hops_of[(destination[place] - source[place])[rows] % link.size].astype(np.float64)
        total[rows] = np.floor(
            hops * link.hop_ns + nodes.size_bytes[sends[rows]].astype(np.float64) / link.bytes_per_ns
        ).astype(np.int64)
    return total


def run(nodes: Nodes, sends: IntArray, receives: IntArray, sent_ns: IntArray) -> Run:
    """Run all nodes in an order that their dependencies and messages allow.

    Parameters
    ----------
    nodes
        All nodes.
    sends, receives
        Which RECV takes which SEND.
    sent_ns
        How long the message of each SEND takes.
    """
    count = len(nodes)
    sources, targets, num_gates = _arcs(nodes)
    sources, targets = np.concatenate([sources, sends]), np.concatenate([targets, receives])
    order = np.argsort(sources, kind="stable")
    targets = targets[order].astype(np.int32)
    first_arc = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=count + num_gates))])
    del sources, order  # of a million nodes they would stay the largest arrays there are
    num_before = np.bincount(targets, minlength=count + num_gates)
    duration = np.zeros(count + num_gates, np.int64)
    duration[sends] = sent_ns
    end_ns = np.zeros(count + num_gates, np.int64)
    level = np.full(count + num_gates, -1, np.int64)
    ready = np.flatnonzero(num_before == 0)
    depth = 0
    # A level of all that is ready at a time: thousands of nodes in a few calls of numpy, not a loop over millions.
    while len(ready):
        level[ready] = depth
        end_ns[ready] += duration[ready]
        starts, stops = first_arc[ready], first_arc[ready + 1]
        lengths = stops - starts
        arcs = np.repeat(starts - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths) + np.arange(lengths.sum())
        reached = targets[arcs]
        np.maximum.at(end_ns, reached, np.repeat(end_ns[ready], lengths))
        np.subtract.at(num_before, reached, 1)
        ready = np.unique(reached[num_before[reached] == 0])
        depth += 1
    return Run(level[:count], end_ns[:count])


def _arcs(nodes: Nodes) -> tuple[IntArray, IntArray, int]:
    """Return arcs from nodes to gates and from gates to nodes; gates are numbered after the nodes."""
    count = len(nodes)
    sources, targets = [], []
    num_gates = 0
    for start, stop in zip(nodes.first_place[:-1].tolist(), nodes.first_place[1:].tolist(), strict=True):
        ids, deps = nodes.node_id[start:stop], nodes.deps[start:stop]
        by_id = np.argsort(ids)
        used, gate = np.unique(deps, return_inverse=True)
        for offset, number in enumerate(used.tolist()):
            needed = nodes.dependencies[number]
            sources.append(start + by_id[np.searchsorted(ids, needed, sorter=by_id)])
            targets.append(np.full(len(needed), count + num_gates + offset))
        sources.append(count + num_gates + gate)
        targets.append(np.arange(start, stop))
        num_gates += len(used)
    return np.concatenate(sources).astype(np.int64), np.concatenate(targets).astype(np.int64), num_gates


def find_circle(nodes: Nodes, sends: IntArray, receives: IntArray, outcome: Run) -> list[int]:
    """Return places of nodes each of which waits for the next, and the last for the first; some are stuck.

    Whatever is stuck waits for something that is stuck, so going on from one to the next ends up in a circle.

    Parameters
    ----------
    nodes, sends, receives
        All nodes, and which RECV takes which SEND.
    outcome
        Which of them are stuck.
    """
    sender_of = dict(zip(receives.tolist(), sends.tolist(), strict=True))
    place_in: dict[int, int] = {}
    way: list[int] = []
    place = int(outcome.stuck[0])
    while place not in place_in:
        place_in[place] = len(way)
        way.append(place)
        place = next(before for before in _waited_for(nodes, place, sender_of) if outcome.level[before] < 0)
    return way[place_in[place] :]


def _waited_for(nodes: Nodes, place: int, sender_of: dict[int, int]) -> list[int]:
    """Return the places of everything a node waits for."""
    start = int(np.searchsorted(nodes.first_place, place, side="right")) - 1
    span = slice(int(nodes.first_place[start]), int(nodes.first_place[start + 1]))
    needed = np.isin(nodes.node_id[span], nodes.dependencies[int(nodes.deps[place])])
    found: list[int] = (np.flatnonzero(needed) + span.start).tolist()
    return [*found, sender_of[place]] if place in sender_of else found
