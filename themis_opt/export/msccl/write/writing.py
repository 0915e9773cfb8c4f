"""An MSCCL algorithm as XML, in the plain form that executors' parsers read: no declaration, double quotes, no tabs."""

from __future__ import annotations

from themis_opt.export.msccl.write.program import Algo, Gpu, Step, Threadblock


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
        lines += _gpu_lines(rank, gpu)
    lines.append("</algo>")
    return "\n".join(lines) + "\n"


def _gpu_lines(rank: int, gpu: Gpu) -> list[str]:
    sizes = f'i_chunks="{gpu.num_input}" o_chunks="{gpu.num_output}" s_chunks="{gpu.num_scratch}"'
    lines = [f'  <gpu id="{rank}" {sizes}>']
    for number, threadblock in enumerate(gpu.threadblocks):
        lines += _threadblock_lines(number, threadblock)
    return [*lines, "  </gpu>"]


def _threadblock_lines(number: int, threadblock: Threadblock) -> list[str]:
    return [
        f'    <tb id="{number}" send="{threadblock.send_peer}" recv="{threadblock.receive_peer}" '
        f'chan="{threadblock.channel}">',
        *(_step_line(number, step) for number, step in enumerate(threadblock.steps)),
        "    </tb>",
    ]


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
