"""The traces of all ranks: how large they get, to the byte, and writing them a bounded piece of each at a time.

A node is the same on every rank but for the varint of its peer, with which it ends. So the nodes of a piece are encoded
once for each length of that varint, and a rank's piece is those nodes with its own peers between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

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
    varint_lengths,
)
from themis_opt.export.chakra.write.peers import PeerPatterns
from themis_opt.export.chakra.write.plan import IdRanges, TracePlan
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
    num_ranks
        How many ranks are written.
    num_nodes
        Nodes in all files together.
    num_bytes
        Bytes in all of them together.
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


class _Node(NamedTuple):
    """A node without its peer: which pattern its peer follows, and its bytes for each length of the peer's varint."""

    pattern: int
    heads: tuple[bytes, ...]


def least_size(plan: TracePlan, num_ranks: int) -> TraceSize:
    """Return the number of nodes, and bytes that are too few, without looking at any stage."""
    num_nodes = plan.nodes_per_rank * num_ranks
    return TraceSize(num_ranks, num_nodes, num_nodes * MIN_NODE_BYTES)


def exact_size(plan: TracePlan, ranks: Sequence[int], patterns: PeerPatterns) -> TraceSize:
    """Return the exact size of the traces.

    Parameters
    ----------
    plan
        What is written.
    ranks, patterns
        For which ranks, and whom they talk to.
    """
    lengths = [Counter(map(varint_length, peers)) for peers in zip(*map(patterns.of_rank, ranks), strict=True)]
    total = len(ranks) * len(METADATA)
    for waits_for, messages in _steps(plan, patterns):
        packed = sum(varint_lengths(first, stop) for first, stop in waits_for)
        deps_length = 1 + varint_length(packed) + packed if packed else 0
        for pattern, message in messages:
            for peer_length, count in lengths[pattern].items():
                total += count * message_length(message, deps_length, peer_length)
    return TraceSize(len(ranks), plan.nodes_per_rank * len(ranks), total)


def trace_name(rank: int) -> str:
    """Return the file name of a rank's trace."""
    return f"rank.{rank}.et"


def write_traces(plan: TracePlan, ranks: Sequence[int], patterns: PeerPatterns, folder: Path) -> None:
    """Write the trace of each of these ranks.

    Parameters
    ----------
    plan
        What is written.
    ranks, patterns
        For which ranks, and whom they talk to.
    folder
        Where to.

    Raises
    ------
    OSError
        When a file cannot be written.
    """
    mode, before = "wb", METADATA
    for piece in _pieces(plan, patterns):
        for rank in ranks:
            peers = [(len(peer) - 1, peer) for peer in map(varint, patterns.of_rank(rank))]
            parts = [before]
            for pattern, heads in piece:
                length, peer = peers[pattern]
                parts += (heads[length], peer)
            # Opened anew for each piece: a thousand open files are more than most systems allow.
            with open(folder / trace_name(rank), mode) as file:
                file.write(b"".join(parts))
        mode, before = "ab", b""


def _pieces(plan: TracePlan, patterns: PeerPatterns) -> Iterator[list[_Node]]:
    peer_lengths = range(1, varint_length(plan.instance.num_npus - 1) + 1)
    piece: list[_Node] = []
    num_bytes = 0
    for waits_for, messages in _steps(plan, patterns):
        deps_field = data_deps(b"".join(varint(node) for ids in waits_for for node in range(*ids)))
        for pattern, message in messages:
            node = _Node(pattern, tuple(message_head(message, deps_field, length) for length in peer_lengths))
            piece.append(node)
            num_bytes += len(node.heads[0])
        if len(piece) >= MAX_PIECE_NODES or num_bytes >= MAX_PIECE_BYTES:
            yield piece
            piece, num_bytes = [], 0
    if piece:
        yield piece


def _steps(plan: TracePlan, patterns: PeerPatterns) -> Iterator[tuple[IdRanges, list[tuple[int, Message]]]]:
    """Yield of every step of every stage what it waits for, and its messages with the patterns of their peers."""
    for stage in plan.stages:
        waits_for, node_id, tag = stage.waits_for, stage.first_id, stage.first_tag
        for sides, size_bytes in zip(patterns.steps[stage.dimension, stage.phase], stage.message_bytes, strict=True):
            first_of_step = node_id
            messages = []
            for node_type, slots in zip((SEND, RECEIVE), sides, strict=True):
                for slot, pattern in enumerate(slots):
                    messages.append((pattern, Message(node_id, node_type, size_bytes, tag + slot)))
                    node_id += 1
            yield waits_for, messages
            tag += len(sides[0])
            waits_for = ((first_of_step, node_id),)
