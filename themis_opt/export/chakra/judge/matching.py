"""Which RECV takes which SEND: each exactly one, of the same ranks, tag and size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from themis_opt.export.chakra.judge.columns import Nodes
from themis_opt.export.chakra.judge.findings import Findings

IntArray = NDArray[np.int64]


def match(nodes: Nodes, ranks: tuple[int, ...], findings: Findings) -> tuple[IntArray, IntArray]:
    """Return the places of all SENDs and of the RECVs that take them, in the same order.

    Messages from or to ranks whose traces are not there are left out.
    """
    present = np.array(ranks, np.int64)
    there = np.isin(nodes.peer, present)
    sends, receives = np.flatnonzero(nodes.is_send & there), np.flatnonzero(~nodes.is_send & there)
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
