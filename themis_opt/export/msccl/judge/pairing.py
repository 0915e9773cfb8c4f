"""Which receive takes what a send has sent: on each connection in order, the same number of chunks on both sides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from themis_opt.export.msccl.judge.algorithm import RECEIVING, SENDING, XmlAlgorithm
from themis_opt.export.verdict import Finding

_End = tuple[int, int, int, int]
"""Rank, threadblock, step and count of one end of a message."""


def pairing_findings(algorithm: XmlAlgorithm) -> Iterator[Finding]:
    """Yield, for each connection (from, to, channel), the first message whose two ends do not agree."""
    sent: defaultdict[tuple[int, int, int], list[_End]] = defaultdict(list)
    received: defaultdict[tuple[int, int, int], list[_End]] = defaultdict(list)
    for gpu in algorithm.gpus:
        for tb in gpu.tbs:
            for step in tb.steps:
                end = (gpu.id, tb.id, step.s, step.cnt)
                if step.type in SENDING:
                    sent[gpu.id, tb.send, tb.chan].append(end)
                if step.type in RECEIVING:
                    received[tb.recv, gpu.id, tb.chan].append(end)
    for link in sorted({*sent, *received}):
        source, target, channel = link
        sends, receives = sent[link], received[link]
        for (_, _, _, num_sent), (rank, tb_id, number, num_received) in zip(sends, receives, strict=False):
            if num_sent != num_received:
                yield Finding(
                    f"rank {rank}, tb {tb_id}, step {number}: receives {num_received} chunks, "
                    f"and rank {source} sends {num_sent} with that message on channel {channel}",
                    rank,
                    None,
                    number,
                )
                break
        if len(receives) > len(sends):
            rank, tb_id, number, _ = receives[len(sends)]
            yield Finding(
                f"rank {rank}, tb {tb_id}, step {number}: waits for message {len(sends) + 1} from rank {source} on "
                f"channel {channel}, which sends {len(sends)}",
                rank,
                None,
                number,
            )
        elif len(sends) > len(receives):
            rank, tb_id, number, _ = sends[len(receives)]
            yield Finding(
                f"rank {rank}, tb {tb_id}, step {number}: sends message {len(receives) + 1} to rank {target} on "
                f"channel {channel}, which receives {len(receives)}",
                rank,
                None,
                number,
            )
