"""Small problems and their folders of traces, shared by the tests of both sides."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from random import Random

from random_instances import random_chunk, random_sequences

from themis_opt import Algorithm, Collective, Instance, Network, Topology
from themis_opt.export.chakra.judge.folder_judge import Interpretation, interpret
from themis_opt.export.chakra.write.folder import AstraFolder
from themis_opt.problem.network import Dimension
from themis_opt.problem.schedule import Schedule

DEFAULT_TOPOLOGY = {
    Algorithm.RING: Topology.RING,
    Algorithm.DIRECT: Topology.FULLY_CONNECTED,
    Algorithm.HALVING_DOUBLING: Topology.SWITCH,
    Algorithm.BRUCK: Topology.SWITCH,
}


def dimension(
    algorithm: Algorithm, size: int, topology: Topology | None = None, GBps: int = 100, latency_ns: int = 1000
) -> Dimension:
    """A dimension of 100 GB/s per NPU and a microsecond a step, unless said otherwise."""
    kind = topology or DEFAULT_TOPOLOGY[algorithm]
    return Dimension(kind, size, Fraction(GBps * 10**9), Fraction(latency_ns * 1000), algorithm)


def random_schedule(
    dimensions: Sequence[Dimension],
    collective: Collective = Collective.ALL_REDUCE,
    size_bytes: int = 64_000_000,
    num_chunks: int = 3,
    seed: int = 0,
) -> Schedule:
    """Chunks of equal sizes with orders of their own, and sequences without deadlock: nothing about them is regular."""
    random = Random(seed)
    instance = Instance(Network("small", tuple(dimensions)), collective, size_bytes, num_chunks)
    chunks = tuple(random_chunk(random, instance, size) for size in instance.equal_chunk_sizes())
    return Schedule(instance, chunks, random_sequences(random, instance, chunks), scheduler="random")


def write_folder(schedule: Schedule, folder: Path, ranks: Sequence[int] | None = None) -> AstraFolder:
    """Write a schedule's folder."""
    folder.mkdir(exist_ok=True)
    written = AstraFolder(schedule, ranks)
    written.write(folder)
    return written


def written_and_read(schedule: Schedule, folder: Path) -> tuple[AstraFolder, Interpretation]:
    """Write a schedule's folder, and what the interpreter says of it."""
    written = write_folder(schedule, folder)
    found = interpret(str(folder))
    assert found.findings == ()
    return written, found


def right_folder(folder: Path) -> Path:
    """Write a folder that is right: 2 chunks of an All-Reduce among 4 (ring) x 3 (direct)."""
    ring, direct = dimension(Algorithm.RING, 4), dimension(Algorithm.DIRECT, 3)
    write_folder(random_schedule([ring, direct], size_bytes=120_000, num_chunks=2), folder)
    return folder
