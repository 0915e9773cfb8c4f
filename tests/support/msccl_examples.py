"""MSCCL algorithms for the tests: written by hand, or lowered from small schedules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from themis_opt import schedule as make_schedule
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Algorithm, Dimension, Network, Topology
from themis_opt.problem.schedule import Schedule

Grid = Sequence[tuple[int, str]]
"""Size and algorithm of each dimension."""


def grid_network(grid: Grid) -> Network:
    """Return a network of switches that run these algorithms."""
    dimensions = [
        Dimension(Topology.SWITCH, size, Fraction(10**9 * (k + 1)), Fraction(0), Algorithm(name))
        for k, (size, name) in enumerate(grid)
    ]
    return Network("grid", tuple(dimensions))


def grid_schedule(
    grid: Grid, collective: str = "all-reduce", num_chunks: int = 1, scheduler: str = "themis-scf"
) -> Schedule:
    """Return a schedule of equal chunks on a grid."""
    return make_schedule(Instance(grid_network(grid), Collective(collective), 10**6, num_chunks), scheduler)


def with_sizes(schedule: Schedule, sizes_bytes: Sequence[int]) -> Schedule:
    """Return the schedule with other chunk sizes."""
    chunks = tuple(replace(chunk, size_bytes=size) for chunk, size in zip(schedule.chunks, sizes_bytes, strict=True))
    instance = replace(schedule.instance, size_bytes=sum(sizes_bytes))
    return schedule.replace(instance=instance, chunks=chunks, stages=None, makespan_ps=None)


def step(s: int, kind: str, src: str, dst: str, cnt: int = 1, dep: tuple[int, int] = (-1, -1), hasdep: int = 0) -> str:
    """Return a step; places are written ``o3``."""
    return (
        f'<step s="{s}" type="{kind}" srcbuf="{src[0]}" srcoff="{src[1:]}" dstbuf="{dst[0]}" dstoff="{dst[1:]}" '
        f'cnt="{cnt}" depid="{dep[0]}" deps="{dep[1]}" hasdep="{hasdep}"/>'
    )


def tb(number: int, send: int, recv: int, *steps: str, chan: int = 0) -> str:
    """Return a threadblock."""
    return f'<tb id="{number}" send="{send}" recv="{recv}" chan="{chan}">' + "\n".join(steps) + "</tb>\n"


def gpu(rank: int, sizes: tuple[int, int, int], *tbs: str) -> str:
    """Return a rank; sizes are those of input, output and scratch."""
    i, o, s = sizes
    return f'<gpu id="{rank}" i_chunks="{i}" o_chunks="{o}" s_chunks="{s}">' + "".join(tbs) + "</gpu>\n"


def algo(coll: str, num_chunks: int, *gpus: str, inplace: int = 1, extra: str = "", nchannels: int = 1) -> str:
    """Return an algorithm."""
    return (
        f'<algo name="hand" proto="Simple" nchannels="{nchannels}" nchunksperloop="{num_chunks}" ngpus="{len(gpus)}" '
        f'coll="{coll}" inplace="{inplace}" {extra}>\n' + "".join(gpus) + "</algo>\n"
    )


NEW = 'outofplace="0" minBytes="0" maxBytes="0"'
"""What newer executors want besides, in place."""

RING_ALL_GATHER = algo(
    "allgather",
    3,
    # Rank r sends its own shard to r + 1, then what it got from r - 1; the second send waits for the first receive.
    *(
        gpu(
            rank,
            (0, 3, 0),
            tb(
                0,
                (rank + 1) % 3,
                -1,
                step(0, "s", f"o{rank}", f"o{rank}"),
                step(1, "s", f"o{(rank - 1) % 3}", f"o{(rank - 1) % 3}", dep=(1, 0)),
            ),
            tb(
                1,
                -1,
                (rank - 1) % 3,
                step(0, "r", f"o{(rank - 1) % 3}", f"o{(rank - 1) % 3}", hasdep=1),
                step(1, "r", f"o{(rank - 2) % 3}", f"o{(rank - 2) % 3}"),
            ),
        )
        for rank in range(3)
    ),
    extra=NEW,
)
"""Three ranks in a circle, in place, threadblocks for sending and for receiving."""

FUSED_ALL_REDUCE = algo(
    "allreduce",
    2,
    # Chunk 0 goes 0 -> 1 -> 0, chunk 1 goes 1 -> 0 -> 1: the second rank adds its own and sends the sum back at once.
    gpu(
        0,
        (2, 0, 0),
        tb(0, 1, 1, step(0, "s", "i0", "i0"), step(1, "rrcs", "i1", "i1"), step(2, "r", "i0", "i0")),
    ),
    gpu(
        1,
        (2, 0, 0),
        tb(0, 0, 0, step(0, "s", "i1", "i1"), step(1, "rrcs", "i0", "i0"), step(2, "r", "i1", "i1")),
    ),
)
"""As older tools write it: fused steps, no outofplace and no sizes."""

PAIRS_ALL_REDUCE = algo(
    "allreduce",
    2,
    # Everybody sends what the other sums, sums in scratch's stead with `re`, and sends the sum.
    *(
        gpu(
            rank,
            (2, 0, 1),
            tb(
                0,
                1 - rank,
                1 - rank,
                step(0, "s", f"i{1 - rank}", "s0"),
                step(1, "r", f"i{rank}", "s0", hasdep=1),
                step(2, "s", f"i{rank}", f"i{rank}", dep=(1, 0)),
                step(3, "r", f"i{1 - rank}", f"i{1 - rank}"),
            ),
            tb(1, -1, -1, step(0, "re", "s0", f"i{rank}", dep=(0, 1), hasdep=1)),
        )
        for rank in range(2)
    ),
    extra='nthreads="512"',
)
"""Reductions by a threadblock of their own, through scratch."""

ALL_TO_ALL = algo(
    "alltoall",
    2,
    *(
        gpu(
            rank,
            (2, 2, 0),
            tb(0, 1 - rank, 1 - rank, step(0, "s", f"i{1 - rank}", f"o{rank}"), step(1, "r", "i0", f"o{1 - rank}")),
            tb(1, -1, -1, step(0, "cpy", f"i{rank}", f"o{rank}")),
        )
        for rank in range(2)
    ),
    inplace=0,
)

REDUCE_SCATTER = algo(
    "reduce_scatter",
    2,
    *(
        gpu(
            rank,
            (2, 1, 0),
            tb(0, 1 - rank, 1 - rank, step(0, "s", f"i{1 - rank}", "o0"), step(1, "rrc", f"i{rank}", "o0")),
        )
        for rank in range(2)
    ),
    inplace=0,
    extra='outofplace="1" minBytes="0" maxBytes="0"',
)
