"""How large the traces of a schedule get, to the byte, before any of them is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from themis_opt.export.chakra.write.nodes import METADATA, RECEIVE, SEND, Message, data_deps, message_length
from themis_opt.export.chakra.write.peers import PeerPatterns
from themis_opt.export.chakra.write.plan import TracePlan
from themis_opt.export.chakra.write.wire import varint_length, varint_lengths
from themis_opt.problem.units import format_size, size_column

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
    def replay_bytes(self) -> tuple[int, int]:
        """The least and the most memory that replaying them is expected to take."""
        least, most = REPLAY_BYTES_PER_NODE
        return self.num_nodes * least, self.num_nodes * most

    @property
    def replay_text(self) -> str:
        """The same for people: ``1.5 GB to 2.1 GB``."""
        least, most = (format_size(float(f"{number:.2g}")) for number in self.replay_bytes)
        return f"{least} to {most}"

    @property
    def bytes_text(self) -> str:
        """The bytes for people, in decimal units."""
        return size_column([self.num_bytes])[0]


def least_size(plan: TracePlan, num_ranks: int) -> TraceSize:
    """Return the number of nodes, and bytes that are too few, without looking at any stage."""
    num_nodes = plan.nodes_per_rank * num_ranks
    return TraceSize(num_ranks, num_nodes, num_nodes * MIN_NODE_BYTES)


def exact_size(plan: TracePlan, ranks: Sequence[int], patterns: PeerPatterns) -> TraceSize:
    """Return the exact size of the traces of these ranks."""
    lengths = [Counter(map(varint_length, peers)) for peers in zip(*map(patterns.of_rank, ranks), strict=True)]
    total = len(ranks) * len(METADATA)
    for stage in plan.stages:
        deps, node_id, tag = stage.waits_for, stage.first_id, stage.first_tag
        for sides, size_bytes in zip(patterns.steps[stage.dimension, stage.phase], stage.message_bytes, strict=True):
            first_of_step = node_id
            deps_length = _deps_length(deps)
            for node_type, slots in zip((SEND, RECEIVE), sides, strict=True):
                for slot, pattern in enumerate(slots):
                    message = Message(node_id, node_type, size_bytes, tag + slot)
                    for peer_length, count in lengths[pattern].items():
                        total += count * message_length(message, deps_length, peer_length)
                    node_id += 1
            tag += len(sides[0])
            deps = ((first_of_step, node_id),)
    return TraceSize(len(ranks), plan.nodes_per_rank * len(ranks), total)


def _deps_length(deps: tuple[tuple[int, int], ...]) -> int:
    packed = sum(varint_lengths(first, stop) for first, stop in deps)
    return len(data_deps(b"\0")) - 2 + varint_length(packed) + packed if packed else 0
