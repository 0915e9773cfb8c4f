"""What can be wrong with an algorithm before it runs: numbers, peers, offsets, dependencies, limits, lost messages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from themis_opt.export.msccl import executor_limits as limits
from themis_opt.export.msccl.judge.algorithm import (
    BUFFERS,
    KINDS,
    READING,
    RECEIVING,
    SENDING,
    WRITING,
    XmlAlgorithm,
    XmlGpu,
    XmlStep,
    XmlThreadblock,
)
from themis_opt.export.verdict import Finding

PROTOCOLS = ("Simple", "LL", "LL128")


def structure_findings(algorithm: XmlAlgorithm) -> Iterator[Finding]:
    """Yield everything wrong with the algorithm as it stands, in the order of the file."""
    yield from _algorithm_findings(algorithm)
    ranks = [gpu.id for gpu in algorithm.gpus]
    # Never a list as long as a number in the file says.
    if len(ranks) != algorithm.ngpus or sorted(ranks) != list(range(len(ranks))):
        repeated = [rank for rank, count in Counter(ranks).items() if count > 1]
        why = f"gpu id {repeated[0]} stands twice" if repeated else f"they are {_numbers(ranks)}"
        yield Finding(f"ngpus is {algorithm.ngpus}: the gpu ids must be 0 to {algorithm.ngpus - 1}, each once; {why}")
    for gpu in algorithm.gpus:
        yield from _gpu_findings(algorithm, gpu)


class _End(NamedTuple):
    """One end of a message."""

    rank: int
    tb: int
    step: int
    cnt: int

    def finding(self, message: str) -> Finding:
        return _finding(self.rank, self.tb, self.step, message)


def pairing_findings(algorithm: XmlAlgorithm) -> Iterator[Finding]:
    """Yield, for each connection (from, to, channel), the first message whose two ends do not agree."""
    sent: defaultdict[tuple[int, int, int], list[_End]] = defaultdict(list)
    received: defaultdict[tuple[int, int, int], list[_End]] = defaultdict(list)
    for gpu in algorithm.gpus:
        for tb in gpu.tbs:
            for step in tb.steps:
                end = _End(gpu.id, tb.id, step.s, step.cnt)
                if step.type in SENDING:
                    sent[gpu.id, tb.send, tb.chan].append(end)
                if step.type in RECEIVING:
                    received[tb.recv, gpu.id, tb.chan].append(end)
    for link in sorted({*sent, *received}):
        source, target, channel = link
        sends, receives = sent[link], received[link]
        for sending, receiving in zip(sends, receives, strict=False):
            if sending.cnt != receiving.cnt:
                yield receiving.finding(
                    f"receives {receiving.cnt} chunks, "
                    f"and rank {source} sends {sending.cnt} with that message on channel {channel}"
                )
                break
        if len(receives) > len(sends):
            there = f"from rank {source} on channel {channel}, which sends {len(sends)}"
            yield receives[len(sends)].finding(f"waits for message {len(sends) + 1} {there}")
        elif len(sends) > len(receives):
            there = f"to rank {target} on channel {channel}, which receives {len(receives)}"
            yield sends[len(receives)].finding(f"sends message {len(receives) + 1} {there}")


def _finding(rank: int, tb: int, step: int, message: str) -> Finding:
    return Finding(f"rank {rank}, tb {tb}, step {step}: {message}", rank, None, step)


def _algorithm_findings(algorithm: XmlAlgorithm) -> Iterator[Finding]:
    if algorithm.proto not in PROTOCOLS:
        yield Finding(f"proto is {algorithm.proto[:40]!r}; executors know {', '.join(PROTOCOLS)}")
    if not 1 <= algorithm.nchannels <= limits.MAX_CHANNELS:
        yield Finding(f"nchannels is {algorithm.nchannels}; executors have 1 to {limits.MAX_CHANNELS} channels")
    if not 1 <= algorithm.nchunksperloop <= limits.MAX_OFFSET + 1:
        yield Finding(
            f"nchunksperloop is {algorithm.nchunksperloop}; it must be at least 1, and executors keep offsets up to "
            f"{limits.MAX_OFFSET}"
        )
    if algorithm.ngpus < 1:
        yield Finding(f"ngpus is {algorithm.ngpus}; a collective has at least one rank")
    if algorithm.ngpus > limits.MAX_CHILDREN:
        yield Finding(f"ngpus is {algorithm.ngpus}; executors read at most {limits.MAX_CHILDREN}")
    for name in ("inplace", "outofplace"):
        if getattr(algorithm, name) not in (0, 1, None):
            yield Finding(f"{name} is {getattr(algorithm, name)}; it must be 0 or 1")
    if not algorithm.inplace and algorithm.outofplace == 0:
        yield Finding("inplace and outofplace are both 0: the algorithm is never used")
    low, high = algorithm.minBytes, algorithm.maxBytes
    if (low or 0) < 0 or (high or 0) < 0:
        yield Finding(f"minBytes is {low} and maxBytes {high}; they must not be negative")
    elif low and high and low > high:
        yield Finding(f"minBytes is {low}, above maxBytes, {high}: the algorithm is never used")


def _gpu_findings(algorithm: XmlAlgorithm, gpu: XmlGpu) -> Iterator[Finding]:
    rank = gpu.id
    if min(gpu.i_chunks, gpu.o_chunks, gpu.s_chunks) < 0:
        yield Finding(f"rank {rank}: i_chunks, o_chunks and s_chunks must not be negative", rank)
    whole = algorithm.nchunksperloop
    shard = {"allgather": "i_chunks", "reducescatter": "o_chunks", "reduce_scatter": "o_chunks"}.get(algorithm.coll)
    for name in ("i_chunks", "o_chunks"):
        num_chunks = getattr(gpu, name)
        factor = algorithm.ngpus if name == shard else 1
        if num_chunks > 0 and num_chunks * factor != whole:
            times = f" times {factor} ranks" if factor > 1 else ""
            yield Finding(f"rank {rank}: {name} is {num_chunks}, which{times} is not nchunksperloop, {whole}", rank)
    ids = [tb.id for tb in gpu.tbs]
    if sorted(ids) != list(range(len(ids))):
        yield Finding(f"rank {rank}: tb ids must be 0 to {len(ids) - 1}, each once; they are {_numbers(ids)}", rank)
        return
    num_elements = 1 + algorithm.ngpus + len(gpu.tbs) + sum(len(tb.steps) for tb in gpu.tbs)
    if num_elements > limits.MAX_PARSED_ELEMENTS:
        yield Finding(
            f"rank {rank}: its parser keeps {num_elements} elements; "
            f"the limit of executors is {limits.MAX_PARSED_ELEMENTS}",
            rank,
        )
    yield from _channel_findings(gpu)
    by_id = {tb.id: tb for tb in gpu.tbs}
    for tb in gpu.tbs:
        yield from _threadblock_findings(algorithm, gpu, tb)
        after_nop = False
        for position, step in enumerate(tb.steps):
            yield from _step_findings(gpu, tb, position, step)
            yield from _dependency_findings(gpu, tb, position, by_id, after_nop)
            after_nop = step.type == "nop"


def _channel_findings(gpu: XmlGpu) -> Iterator[Finding]:
    rank = gpu.id
    for direction, verb in (("send", "send to"), ("recv", "receive from")):
        links = Counter((getattr(tb, direction), tb.chan) for tb in gpu.tbs if getattr(tb, direction) >= 0)
        for (peer, channel), count in links.items():
            if count > 1:
                yield Finding(
                    f"rank {rank}: {count} threadblocks {verb} rank {peer} on channel {channel}; only one may", rank
                )
        for channel, count in Counter(channel for _, channel in links).items():
            if count > limits.MAX_PEERS_PER_CHANNEL:
                yield Finding(
                    f"rank {rank}: {count} threadblocks {verb.split()[0]} on channel {channel}; "
                    f"the limit of executors is {limits.MAX_PEERS_PER_CHANNEL}",
                    rank,
                )


def _threadblock_findings(algorithm: XmlAlgorithm, gpu: XmlGpu, tb: XmlThreadblock) -> Iterator[Finding]:
    where = f"rank {gpu.id}, tb {tb.id}"
    for direction in ("send", "recv"):
        peer = getattr(tb, direction)
        if peer != -1 and (not 0 <= peer < algorithm.ngpus or peer == gpu.id):
            yield Finding(
                f"{where}: {direction} is {peer}; a peer is another rank, 0 to {algorithm.ngpus - 1}, or -1", gpu.id
            )
    is_local = tb.send == tb.recv == -1
    if not (0 <= tb.chan < algorithm.nchannels or (is_local and tb.chan == -1)):
        yield Finding(f"{where}: chan is {tb.chan}; nchannels is {algorithm.nchannels}", gpu.id)
    if len(tb.steps) > limits.MAX_STEPS:
        yield Finding(f"{where}: has {len(tb.steps)} steps; the limit of executors is {limits.MAX_STEPS}", gpu.id)


def _step_findings(gpu: XmlGpu, tb: XmlThreadblock, position: int, step: XmlStep) -> Iterator[Finding]:
    finding = partial(_finding, gpu.id, tb.id, position)
    if step.s != position:
        yield finding(f"its s is {step.s}; steps are numbered from 0 in the order of the file")
    if step.type not in KINDS:
        yield finding(f"type {step.type[:40]!r} is none; executors know {', '.join(sorted(KINDS))}")
        return
    if step.hasdep not in (0, 1):
        yield finding(f"hasdep is {step.hasdep}; it must be 0 or 1")
    if step.type == "nop":
        return
    if step.type in SENDING and tb.send < 0:
        yield finding(f"type {step.type} sends, and the threadblock has no peer to send to")
    if step.type in RECEIVING and tb.recv < 0:
        yield finding(f"type {step.type} receives, and the threadblock has no peer to receive from")
    if not 1 <= step.cnt <= limits.MAX_COUNT:
        yield finding(f"cnt is {step.cnt}; a step moves 1 to {limits.MAX_COUNT} chunks")
        return
    for used, what, buffer, offset in (
        (step.type in READING, "src", step.srcbuf, step.srcoff),
        (step.type in WRITING, "dst", step.dstbuf, step.dstoff),
    ):
        if not used:
            continue
        if buffer not in BUFFERS:
            yield finding(f"{what}buf is {buffer[:40]!r}; buffers are i, o and s")
        elif not 0 <= offset <= gpu.num_slots(buffer) - step.cnt:
            yield finding(
                f"{what}off {offset} with cnt {step.cnt} is outside buffer {buffer} of {gpu.num_slots(buffer)} chunks"
            )
        elif offset > limits.MAX_OFFSET:
            yield finding(f"{what}off is {offset}; the limit of executors is {limits.MAX_OFFSET}")


def _dependency_findings(
    gpu: XmlGpu, tb: XmlThreadblock, position: int, by_id: dict[int, XmlThreadblock], after_nop: bool
) -> Iterator[Finding]:
    step = tb.steps[position]
    finding = partial(_finding, gpu.id, tb.id, position)
    if step.depid < 0:
        if step.type == "nop":
            yield finding("a nop without depid shifts the numbers of the steps after it in executors")
        elif after_nop:
            yield finding("comes after a nop without a depid of its own; executors refuse the file")
        return
    awaited = by_id.get(step.depid)
    waits = f"waits for tb {step.depid}, step {step.deps}"
    if awaited is None or not 0 <= step.deps < len(awaited.steps):
        yield finding(f"{waits}, which the rank does not have")
    elif awaited.steps[step.deps].hasdep != 1:
        yield finding(f"{waits}, whose hasdep is not 1: it tells nobody")
    elif awaited.steps[step.deps].type == "nop":
        yield finding(f"{waits}, a nop, which tells nobody")
    elif step.depid > limits.MAX_AWAITED_ID:
        yield finding(f"waits for tb {step.depid}; executors keep numbers up to {limits.MAX_AWAITED_ID}")


def _numbers(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:8]))
    return f"{shown}, ..." if len(numbers) > 8 else shown or "none"
