"""Whether a schedule is more than MSCCL's executors can take, and the words for it.

Where executors differ the stricter one counts (`executor_limits`).
"""

from __future__ import annotations

from themis_opt.export.msccl.executor_limits import (
    MAX_AWAITED_ID,
    MAX_CHANNELS,
    MAX_CHILDREN,
    MAX_FILE_STEPS,
    MAX_PARSED_ELEMENTS,
    MAX_PEERS_PER_CHANNEL,
    MAX_STEPS,
)
from themis_opt.export.msccl.write.program import Algo, Gpu
from themis_opt.problem.errors import InputError

MAX_THREADBLOCKS_PER_CHANNEL = MAX_PEERS_PER_CHANNEL
"""Of a rank. Executors count those that send and those that receive apart; we count them together."""
MAX_THREADBLOCKS = MAX_AWAITED_ID + 1
"""Of a rank: any of them may be waited for."""
MAX_MOVED_BLOCKS = 2_000_000
"""Blocks that all ranks send in all stages, the measure of an export's time; 64 NPUs with 128 chunks send a million."""


def check_size(num_ranks: int, num_chunks: int, num_phases: int) -> None:
    """Raise for schedules that are hopeless, before anything is computed.

    Parameters
    ----------
    num_ranks, num_chunks, num_phases
        Of the schedule.

    Raises
    ------
    InputError
        Naming the limit and the number.
    """
    if num_ranks > MAX_CHILDREN:
        raise InputError(
            f"MSCCL's executors read at most {MAX_CHILDREN} ranks, and the schedule has {num_ranks} NPUs; "
            "take a smaller network, or some of its dimensions (--dimensions)"
        )
    num_blocks = num_ranks * (num_ranks - 1) * num_chunks * num_phases
    if num_blocks > MAX_MOVED_BLOCKS:
        fitting = MAX_MOVED_BLOCKS // (num_ranks * (num_ranks - 1) * num_phases)
        chunks = f"at most {fitting} chunks instead of {num_chunks}, or " if fitting else ""
        raise InputError(
            f"MSCCL XML is for small systems: {num_ranks} NPUs send {num_blocks} blocks of {num_chunks} chunks, and "
            f"the limit of this export is {MAX_MOVED_BLOCKS}; use {chunks}some of the dimensions (--dimensions)"
        )


def check_limits(algo: Algo, num_chunks: int) -> None:
    """Raise unless executors can take the algorithm.

    Raises
    ------
    InputError
        Naming the limit, the number and what to change.
    """
    if algo.num_channels > MAX_CHANNELS:
        raise InputError(
            f"MSCCL's executors have at most {MAX_CHANNELS} channels, and the schedule needs {algo.num_channels}; set "
            "algorithm ring, bruck or halving-doubling instead of direct on the largest dimension"
        )
    if sum(len(tb.steps) for gpu in algo.gpus for tb in gpu.threadblocks) > MAX_FILE_STEPS:
        raise too_many_steps(1, 1)
    for rank, gpu in enumerate(algo.gpus):
        _check_gpu(algo, gpu, rank, num_chunks)


def _check_gpu(algo: Algo, gpu: Gpu, rank: int, num_chunks: int) -> None:
    if len(gpu.threadblocks) > MAX_THREADBLOCKS:
        raise InputError(
            f"MSCCL's executors take at most {MAX_THREADBLOCKS} threadblocks per rank that wait for each other, and "
            f"rank {rank} needs {len(gpu.threadblocks)}; set algorithm ring, bruck or halving-doubling instead of "
            "direct on the largest dimension"
        )
    by_length = max(gpu.threadblocks, key=lambda tb: len(tb.steps))
    num_steps = len(by_length.steps)
    if num_steps > MAX_STEPS:
        sends = by_length.send_peer >= 0
        peer = by_length.send_peer if sends else by_length.receive_peer
        link = f"sending to {peer}" if sends else f"receiving from {peer}" if peer >= 0 else "copying"
        raise InputError(
            f"MSCCL's executors take at most {MAX_STEPS} steps per threadblock, and rank {rank} {link} needs "
            f"{num_steps}; {_advice(num_chunks, num_steps, MAX_STEPS)}"
        )
    num_elements = 1 + len(algo.gpus) + len(gpu.threadblocks) + sum(len(tb.steps) for tb in gpu.threadblocks)
    if num_elements > MAX_PARSED_ELEMENTS:
        raise InputError(
            f"MSCCL's executors read at most {MAX_PARSED_ELEMENTS} elements per rank, and rank {rank} needs "
            f"{num_elements} (ranks, threadblocks and steps); {_advice(num_chunks, num_elements, MAX_PARSED_ELEMENTS)}"
        )


def too_many_steps(done: int, stages: int) -> InputError:
    """Return the error for a schedule that has too many steps after `done` of its stages."""
    return InputError(
        f"an MSCCL XML file that themis-opt validate reads has at most {MAX_FILE_STEPS} steps, and the schedule has "
        f"more after {done} of its {stages} stages; use fewer chunks, or fewer NPUs"
    )


def _advice(num_chunks: int, needed: int, limit: int) -> str:
    fewer = num_chunks * limit // needed
    chunks = f"use at most about {fewer} chunks instead of {num_chunks}" if fewer else "use fewer NPUs"
    return f"{chunks}, or algorithm direct on the dimension with the most steps"
