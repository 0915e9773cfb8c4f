"""When a library uses the algorithm, instead of falling back silently, and a command line of nccl-tests to try it."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance

if TYPE_CHECKING:
    from themis_opt.export.msccl.write.program import Algo

BYTES_PER_GRAIN = 16
"""nccl-tests rounds what each rank brings down to this many bytes; four elements of its default type."""

_PROGRAMS = {"allreduce": "all_reduce_perf", "reducescatter": "reduce_scatter_perf", "allgather": "all_gather_perf"}


def message_bytes(instance: Instance, num_pieces: int) -> int:
    """Return the least size, from the instance's on, of which a library uses an algorithm of this many pieces.

    It counts the elements of the array in All-Reduce, and those of one rank's shard otherwise.
    """
    factor = 1 if instance.collective is Collective.ALL_REDUCE else instance.num_npus
    unit = num_pieces * BYTES_PER_GRAIN * factor
    return -(-instance.size_bytes // unit) * unit


def usage_rule(algo: Algo, instance: Instance) -> tuple[str, ...]:
    """Return, in sentences, when a library uses the algorithm."""
    where = "of the array" if algo.collective == "allreduce" else "that one rank brings or gets"
    mode, other = ("in place", "out of place") if algo.is_in_place else ("out of place", "in place")
    return (
        "A library uses this algorithm only for a call that fits it, and falls back silently otherwise:",
        f"- {algo.collective} {mode} (the figures of nccl-tests {other} are the library's own), sum, min, max or prod;",
        f"- exactly {len(algo.gpus)} ranks, one process each, numbered dim1 fastest;",
        f"- the elements {where} a multiple of {algo.num_pieces} (nchunksperloop);",
        f"- {algo.min_bytes} to {algo.max_bytes} bytes in all (minBytes, maxBytes); made for {instance.size_bytes};",
        f"- at least {algo.num_channels} channel{'s' if algo.num_channels > 1 else ''} (NCCL_MIN_NCHANNELS).",
    )


def command_lines(algo: Algo, instance: Instance, path: str) -> tuple[str, ...]:
    """Return nccl-tests command lines that fit the algorithm in a file, for the executors that know its collective."""
    size = message_bytes(instance, algo.num_pieces)
    file, folder = shlex.quote(path), shlex.quote(os.path.dirname(path) or ".")
    test = (
        f"-x NCCL_MIN_NCHANNELS={algo.num_channels} {_PROGRAMS[algo.collective]} "
        f"-b {size} -e {size} -f 2 -g 1 -d float -o sum -c 1"
    )
    start = f"mpirun -np {len(algo.gpus)}"
    newer = f"msccl-executor-nccl, RCCL (every file in the folder is read): {start} -x MSCCL_ALGO_DIR={folder} {test}"
    if algo.collective == "reducescatter":
        return (newer,)
    return (f"microsoft/msccl: {start} -x MSCCL_XML_FILES={file} -x NCCL_ALGO=MSCCL,RING,TREE {test}", newer)
