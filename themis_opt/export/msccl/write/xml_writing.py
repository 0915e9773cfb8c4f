"""An MSCCL algorithm as XML, and when a library uses it instead of falling back silently.

The XML has the plain form that executors' parsers read: no declaration, double quotes, no tabs.
"""

from __future__ import annotations

import os
import shlex

from themis_opt.export.msccl.write.program import Algo, Step
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance

BYTES_PER_GRAIN = 16
"""nccl-tests rounds what each rank brings down to this many bytes; four elements of its default type."""

_PROGRAMS = {"allreduce": "all_reduce_perf", "reducescatter": "reduce_scatter_perf", "allgather": "all_gather_perf"}


def xml_text(algo: Algo, comments: tuple[str, ...] = ()) -> str:
    """Return the text of an XML file.

    Parameters
    ----------
    algo
        The algorithm.
    comments
        Lines to put in front.
    """
    lines = [f"<!-- {_comment(line)} -->" for line in comments]
    lines.append(
        f'<algo name="{algo.name}" proto="Simple" nchannels="{algo.num_channels}" nchunksperloop="{algo.num_pieces}" '
        f'ngpus="{len(algo.gpus)}" coll="{algo.collective}" inplace="{int(algo.is_in_place)}" '
        f'outofplace="{int(not algo.is_in_place)}" minBytes="{algo.min_bytes}" maxBytes="{algo.max_bytes}">'
    )
    for rank, gpu in enumerate(algo.gpus):
        sizes = f'i_chunks="{gpu.num_input}" o_chunks="{gpu.num_output}" s_chunks="{gpu.num_scratch}"'
        lines.append(f'  <gpu id="{rank}" {sizes}>')
        for number, tb in enumerate(gpu.threadblocks):
            lines.append(f'    <tb id="{number}" send="{tb.send_peer}" recv="{tb.receive_peer}" chan="{tb.channel}">')
            lines += [_step_line(place, step) for place, step in enumerate(tb.steps)]
            lines.append("    </tb>")
        lines.append("  </gpu>")
    lines.append("</algo>")
    return "\n".join(lines) + "\n"


def _step_line(number: int, step: Step) -> str:
    depid, deps = (-1, -1) if step.waits_for is None else step.waits_for
    return (
        f'      <step s="{number}" type="{step.kind}" srcbuf="{step.source.buffer}" srcoff="{step.source.offset}" '
        f'dstbuf="{step.target.buffer}" dstoff="{step.target.offset}" cnt="{step.num_pieces}" depid="{depid}" '
        f'deps="{deps}" hasdep="{int(step.is_awaited)}"/>'
    )


def _comment(text: str) -> str:
    """Return a text that may stand in a comment, which must not hold two hyphens."""
    return "".join(character if character.isprintable() else "?" for character in text).replace("--", "- -")


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
    """Return nccl-tests command lines that fit the algorithm, for the executors that know its collective.

    Parameters
    ----------
    algo, instance
        The algorithm and the problem it was made for.
    path
        The file that it is in.
    """
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
