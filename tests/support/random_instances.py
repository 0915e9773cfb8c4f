"""Random and hand-made problems and schedules, shared by the tests.

Everything random is built from a `random.Random`, so that a fixed seed gives a fixed sample; the hypothesis strategies
at the end hand it one that they can shrink, towards zeros: a zero must lead to something simple and valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random

from hypothesis import strategies as st

from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.network import Algorithm, Dimension, Network, Topology
from themis_opt.problem.schedule import Chunk, Order, Schedule, Slot

RS, AG, A2A = Phase.REDUCE_SCATTER, Phase.ALL_GATHER, Phase.ALL_TO_ALL
PS_PER_S = 10**12


def dimension(size: int, bytes_per_ps: int | Fraction = 1, latency_ps: int = 0, **fields: object) -> Dimension:
    """Return a fully connected dimension (one step per stage) with its bandwidth in bytes per *picosecond*.

    Among 2 NPUs at 1 byte/ps, Reduce-Scatter of x bytes takes x/2 ps and All-Gather of x bytes x ps.
    """
    fields = {"topology": Topology.FULLY_CONNECTED, **fields}
    return Dimension(size=size, bandwidth_Bps=bytes_per_ps * PS_PER_S, latency_ps=latency_ps, **fields)  # type: ignore[arg-type]


def network(*dimensions: Dimension) -> Network:
    """Return a network of these dimensions."""
    return Network("test", dimensions)


def random_dimension(random: Random, max_size: int = 5) -> Dimension:
    """Return any dimension; one in six has a single NPU."""
    size = 1 if random.randrange(6) == 5 else random.randint(2, max_size)
    topology = random.choice(list(Topology))
    power_of_two = size & (size - 1) == 0
    algorithms = [algorithm for algorithm in Algorithm if power_of_two or algorithm is not Algorithm.HALVING_DOUBLING]
    # Bytes per picosecond from far below one to so many that small stages take no time at all.
    bandwidth_Bps = Fraction(random.choice([1, 2, 3, 10, 97]) * 10 ** random.choice([9, 11, 12, 12, 15]), 3)
    latency_ps = random.choice([Fraction(0), Fraction(random.randrange(50)), Fraction(random.randrange(10**6), 7)])
    reduces_freely = random.randrange(3) < 2
    return Dimension(
        topology,
        size,
        bandwidth_Bps,
        latency_ps,
        random.choice(algorithms),
        reduction_bandwidth_Bps=None if reduces_freely else bandwidth_Bps * random.randint(1, 5),
    )


def random_instance(
    random: Random, *, max_dims: int = 4, max_size: int = 5, max_chunks: int = 5, collective: Collective | None = None
) -> Instance:
    """Return any instance: dimensions of size 1, subsets, sizes down to a byte per chunk, both occupancies."""
    while True:
        dimensions = [random_dimension(random, max_size) for _ in range(random.randint(1, max_dims))]
        subset = None
        if random.randrange(3) == 2:
            subset = tuple(random.sample(range(len(dimensions)), random.randint(1, len(dimensions))))
        if any(dimensions[k].size > 1 for k in subset or range(len(dimensions))):
            break
    num_chunks = random.randint(1, max_chunks)
    return Instance(
        Network("random", tuple(dimensions)),
        collective or random.choice(list(Collective)),
        num_chunks + random.choice([random.randrange(8), random.randrange(10**4), random.randrange(10**8)]),
        num_chunks,
        random.choice(list(Occupancy)),
        subset,
    )


def random_order(random: Random, instance: Instance) -> Order:
    """Return any order of the involved dimensions."""
    return tuple(random.sample(instance.involved, len(instance.involved)))


def random_chunk(random: Random, instance: Instance, size_bytes: int) -> Chunk:
    """Return a chunk whose orders are independent of each other."""
    return Chunk(
        size_bytes,
        random_order(random, instance) if RS in instance.phases else None,
        random_order(random, instance) if AG in instance.phases else None,
    )


def random_chunks(random: Random, instance: Instance) -> tuple[Chunk, ...]:
    """Return chunks of equal sizes, or of any sizes that add up, each with random orders."""
    sizes = list(instance.equal_chunk_sizes())
    if random.randrange(2):
        cuts = sorted(random.sample(range(1, instance.size_bytes), len(sizes) - 1))
        sizes = [end - start for start, end in zip([0, *cuts], [*cuts, instance.size_bytes], strict=True)]
    return tuple(random_chunk(random, instance, size) for size in sizes)


def path(instance: Instance, chunk: Chunk) -> list[tuple[Phase, int]]:
    """Return the stages a chunk goes through, as (phase, dimension)."""
    orders = {RS: chunk.rs_order, AG: chunk.ag_order, A2A: instance.involved}
    return [(phase, k) for phase in instance.phases for k in orders[phase] or ()]


def random_sequences(random: Random, instance: Instance, chunks: Sequence[Chunk]) -> tuple[tuple[Slot, ...], ...]:
    """Return sequences without deadlock: all stages in a random order that respects the chunks' paths."""
    sequences: list[list[Slot]] = [[] for _ in instance.network.dimensions]
    left = {index: path(instance, chunk) for index, chunk in enumerate(chunks)}
    while left:
        index = random.choice(list(left))
        phase, k = left[index].pop(0)
        sequences[k].append(Slot(index, phase))
        if not left[index]:
            del left[index]
    return tuple(map(tuple, sequences))


def random_schedule(random: Random, instance: Instance) -> Schedule:
    """Return a complete schedule without deadlock that claims nothing."""
    chunks = random_chunks(random, instance)
    return Schedule(instance, chunks, random_sequences(random, instance, chunks))


def randoms() -> st.SearchStrategy[Random]:
    """Return random generators whose every draw hypothesis can shrink."""
    return st.randoms(use_true_random=False)


@st.composite
def instances(
    draw: st.DrawFn, *, max_dims: int = 4, max_size: int = 5, max_chunks: int = 5, collective: Collective | None = None
) -> Instance:
    """Draw any instance (`random_instance`)."""
    return random_instance(
        draw(randoms()), max_dims=max_dims, max_size=max_size, max_chunks=max_chunks, collective=collective
    )


@st.composite
def schedules(
    draw: st.DrawFn, *, max_dims: int = 4, max_size: int = 5, max_chunks: int = 5, collective: Collective | None = None
) -> Schedule:
    """Draw any complete schedule without deadlock (`random_schedule`)."""
    random = draw(randoms())
    instance = random_instance(
        random, max_dims=max_dims, max_size=max_size, max_chunks=max_chunks, collective=collective
    )
    return random_schedule(random, instance)
