"""The traces of all ranks: how large they get, to the byte, and writing them a bounded piece of each at a time.

A node is the same on every rank but for the varint of its peer, with which it ends. So the nodes of a piece are encoded
once for each length of that varint, and a rank's piece is those nodes with its own peers between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from themis_opt.export.chakra.write.nodes import (
    METADATA,
    RECEIVE,
    SEND,
    Message,
    data_deps,
    message_head,
    message_length,
    varint,
    varint_length,
)
from themis_opt.export.chakra.write.plan import Pattern, TracePlan
from themis_opt.problem.units import format_size, size_column

MAX_PIECE_NODES = 20_000
MAX_PIECE_BYTES = 8_000_000
"""A piece ends with the step that exceeds one of these."""
MIN_NODE_BYTES = message_length(Message(1, SEND, 1, 0), 0, 1)
"""No node is shorter than the first one of a byte, which waits for nothing."""
REPLAY_BYTES_PER_NODE = (1400, 2000)
"""What ASTRA-sim needs of memory for a node, measured on its replays."""


@dataclass(frozen=True, slots=True)
class TraceSize:
    """What the traces of some ranks come to.

    Attributes
    ----------
    num_ranks, num_nodes, num_bytes
        How many ranks are written; nodes and bytes in all their files together.
    """

    num_ranks: int
    num_nodes: int
    num_bytes: int

    @property
    def replay_text(self) -> str:
        """The memory that replaying them is expected to take, for people: ``1.5 GB to 2.1 GB``."""
        least, most = (format_size(float(f"{self.num_nodes * each:.2g}")) for each in REPLAY_BYTES_PER_NODE)
        return f"{least} to {most}"

    @property
    def bytes_text(self) -> str:
        """The bytes for people, in decimal units."""
        return size_column([self.num_bytes])[0]


def least_size(plan: TracePlan, num_ranks: int) -> TraceSize:
    """Return the number of nodes, and bytes that are too few, without looking at any stage."""
    num_nodes = plan.nodes_per_rank * num_ranks
    return TraceSize(num_ranks, num_nodes, num_nodes * MIN_NODE_BYTES)


def exact_size(plan: TracePlan, ranks: Sequence[int]) -> TraceSize:
    """Return the exact size of the traces of some ranks."""
    lengths: dict[Pattern, Counter[int]] = {}
    for rank in ranks:
        for pattern, peer in plan.peers(rank).items():
            lengths.setdefault(pattern, Counter())[varint_length(peer)] += 1
    total = len(ranks) * len(METADATA)
    for deps_field, messages in _steps(plan):
        for pattern, message in messages:
            for peer_length, count in lengths[pattern].items():
                total += count * message_length(message, len(deps_field), peer_length)
    return TraceSize(len(ranks), plan.nodes_per_rank * len(ranks), total)


def write_traces(plan: TracePlan, ranks: Sequence[int], folder: Path) -> None:
    """Write the traces of some ranks.

    Parameters
    ----------
    plan
        What is written.
    ranks, folder
        For which ranks, and where to.

    Raises
    ------
    OSError
        When a file cannot be written.
    """
    mode, before = "wb", METADATA
    for piece in _pieces(plan):
        for rank in ranks:
            peers = {pattern: varint(peer) for pattern, peer in plan.peers(rank).items()}
            parts = [before]
            for pattern, heads in piece:
                peer = peers[pattern]
                parts += (heads[len(peer) - 1], peer)
            # Opened anew for each piece: a thousand open files are more than most systems allow.
            with open(folder / f"rank.{rank}.et", mode) as file:
                file.write(b"".join(parts))
        mode, before = "ab", b""


def _pieces(plan: TracePlan) -> Iterator[list[tuple[Pattern, list[bytes]]]]:
    """Yield nodes without their peer: its pattern, and the node's bytes for each length of the peer's varint."""
    peer_lengths = range(1, varint_length(plan.instance.num_npus - 1) + 1)
    piece: list[tuple[Pattern, list[bytes]]] = []
    num_bytes = 0
    for deps_field, messages in _steps(plan):
        for pattern, message in messages:
            heads = [message_head(message, deps_field, length) for length in peer_lengths]
            piece.append((pattern, heads))
            num_bytes += len(heads[0])
        if len(piece) >= MAX_PIECE_NODES or num_bytes >= MAX_PIECE_BYTES:
            yield piece
            piece, num_bytes = [], 0
    if piece:
        yield piece


def _steps(plan: TracePlan) -> Iterator[tuple[bytes, list[tuple[Pattern, Message]]]]:
    """Yield the field of what each step waits for, and its messages with the patterns of their peers."""
    for stage in plan.stages:
        for shape, ids, tag, size_bytes, waits_for in stage.steps:
            sides = [(SEND, slot, pattern) for slot, pattern in enumerate(shape.to)]
            sides += [(RECEIVE, slot, pattern) for slot, pattern in enumerate(shape.come_from)]
            yield (
                data_deps(b"".join(varint(node) for before in waits_for for node in before)),
                [
                    (pattern, Message(node_id, node_type, size_bytes, tag + slot))
                    for node_id, (node_type, slot, pattern) in zip(ids, sides, strict=True)
                ],
            )
