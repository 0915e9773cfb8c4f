"""Writing the traces of all ranks, a bounded piece of each at a time.

A node is the same on every rank but for the varint of its peer, with which it ends. So the nodes of a piece are encoded
once for each length of that varint, and a rank's piece is those nodes with its own peers between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from themis_opt.export.chakra.write.nodes import METADATA, RECEIVE, SEND, Message, data_deps, message_head
from themis_opt.export.chakra.write.peers import PeerPatterns
from themis_opt.export.chakra.write.plan import StagePlan, TracePlan
from themis_opt.export.chakra.write.wire import varint

MAX_PIECE_NODES = 20_000
MAX_PIECE_BYTES = 8_000_000
"""A piece ends with the step that exceeds one of these."""


class _Node(NamedTuple):
    """A node without its peer: which pattern its peer follows, and its bytes for each length of the peer's varint."""

    pattern: int
    heads: tuple[bytes, ...]


def trace_name(rank: int) -> str:
    """Return the file name of a rank's trace."""
    return f"rank.{rank}.et"


def write_traces(plan: TracePlan, ranks: Sequence[int], patterns: PeerPatterns, folder: Path) -> None:
    """Write the trace of each of these ranks into a folder.

    Raises
    ------
    OSError
        When a file cannot be written.
    """
    max_peer_length = len(varint(plan.instance.num_npus - 1))
    mode = "wb"
    before = METADATA
    for piece in _pieces(plan, patterns, max_peer_length):
        for rank in ranks:
            peers = [(len(peer) - 1, peer) for peer in map(varint, patterns.of_rank(rank))]
            parts = [before]
            for pattern, heads in piece:
                length, peer = peers[pattern]
                parts += (heads[length], peer)
            with open(folder / trace_name(rank), mode) as file:
                file.write(b"".join(parts))
        mode, before = "ab", b""


def _pieces(plan: TracePlan, patterns: PeerPatterns, max_peer_length: int) -> Iterator[list[_Node]]:
    piece: list[_Node] = []
    num_bytes = 0
    for step in _steps(plan, patterns, max_peer_length):
        piece += step
        num_bytes += sum(len(node.heads[0]) for node in step)
        if len(piece) >= MAX_PIECE_NODES or num_bytes >= MAX_PIECE_BYTES:
            yield piece
            piece, num_bytes = [], 0
    if piece:
        yield piece


def _steps(plan: TracePlan, patterns: PeerPatterns, max_peer_length: int) -> Iterator[list[_Node]]:
    """Yield the nodes of every step of every stage."""
    for stage in plan.stages:
        yield from _stage_steps(stage, patterns, range(1, max_peer_length + 1))


def _stage_steps(stage: StagePlan, patterns: PeerPatterns, peer_lengths: range) -> Iterator[list[_Node]]:
    deps: tuple[tuple[int, int], ...] = stage.waits_for
    node_id, tag = stage.first_id, stage.first_tag
    for sides, size_bytes in zip(patterns.steps[stage.dimension, stage.phase], stage.message_bytes, strict=True):
        first_of_step = node_id
        deps_field = data_deps(b"".join(varint(node) for first, stop in deps for node in range(first, stop)))
        nodes = []
        for node_type, slots in zip((SEND, RECEIVE), sides, strict=True):
            for slot, pattern in enumerate(slots):
                message = Message(node_id, node_type, size_bytes, tag + slot)
                heads = tuple(message_head(message, deps_field, length) for length in peer_lengths)
                nodes.append(_Node(pattern, heads))
                node_id += 1
        yield nodes
        tag += len(sides[0])
        deps = ((first_of_step, node_id),)
