"""Tiny problems solved by trying everything, in exact arithmetic and with the stage times of `plain_judge`.

Nothing of the package's mathematics is used: no cost model, no lattice, no floating point, no solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, islice, permutations, product, takewhile
from random import Random

from plain_judge import hold, plain_path
from random_instances import AG, RS, random_dimension

from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.network import Network
from themis_opt.problem.schedule import Chunk

Loads = tuple[Fraction, ...]

SHAPES = (
    (Collective.ALL_REDUCE, 2, 2),
    (Collective.ALL_REDUCE, 2, 1),
    (Collective.ALL_REDUCE, 1, 2),
    (Collective.REDUCE_SCATTER, 2, 3),
    (Collective.REDUCE_SCATTER, 3, 2),
    (Collective.ALL_GATHER, 2, 3),
    (Collective.ALL_GATHER, 3, 2),
    (Collective.ALL_TO_ALL, 3, 2),
)
"""Collective, dimensions and chunks for which all sequences can be tried in milliseconds."""


def tiny_instance(random: Random) -> Instance:
    """Return an instance of one of the `SHAPES`, all its dimensions involved."""
    collective, num_dims, num_chunks = random.choice(SHAPES)
    drawn = iter(lambda: random_dimension(random), None)
    dimensions = tuple(islice((dimension for dimension in drawn if dimension.size > 1), num_dims))
    size_bytes = num_chunks + random.choice([random.randrange(8), random.randrange(10**4), random.randrange(10**8)])
    return Instance(Network("tiny", dimensions), collective, size_bytes, num_chunks, random.choice(list(Occupancy)))


def chunk_choices(instance: Instance, size_bytes: int) -> list[Chunk]:
    """Return a chunk with every combination of orders."""
    orders = list(permutations(instance.involved))
    rs_orders = orders if RS in instance.phases else [None]
    ag_orders = orders if AG in instance.phases else [None]
    return [Chunk(size_bytes, rs_order, ag_order) for rs_order, ag_order in product(rs_orders, ag_orders)]


def optimum_ps(instance: Instance, sizes: Sequence[int] | None = None, at_most_ps: int = 2**100) -> int:
    """Return the least makespan over all orders and sequences (default: equal sizes), or `at_most_ps` if that is less.

    A schedule that never delays a stage without need is fixed by the order in which stages are appended: each step
    takes any chunk, gives its next stage any dimension it may go to, and starts it when chunk and dimension are ready.
    All such sequences of steps are tried, except those that can no longer beat the best.
    """
    sizes = instance.equal_chunk_sizes() if sizes is None else tuple(sizes)
    choices_of = {size: _next_stages(instance, size) for size in set(sizes)}
    num_stages = len(instance.phases) * len(instance.involved)
    best_ps = at_most_ps

    def extend(chunks: tuple[tuple[int, frozenset[int], int], ...], free_at: dict[int, int], last_ps: int) -> None:
        nonlocal best_ps
        if last_ps >= best_ps:
            return
        if all(done == num_stages for done, _, _ in chunks):
            best_ps = last_ps
            return
        tried = set()
        for c, (done, visited, there_at) in enumerate(chunks):
            twin = (sizes[c], chunks[c])
            if done == num_stages or twin in tried:
                continue
            tried.add(twin)  # a chunk in the same state would lead to the same schedules
            for k, (hold_ps, duration_ps) in choices_of[sizes[c]][done, visited].items():
                start = max(there_at, free_at[k])
                phase_is_over = len(visited) + 1 == len(instance.involved)
                moved = (done + 1, frozenset[int]() if phase_is_over else visited | {k}, start + duration_ps)
                busy = {**free_at, k: start + hold_ps}
                extend((*chunks[:c], moved, *chunks[c + 1 :]), busy, max(last_ps, start + duration_ps))

    # Per chunk: stages done, dimensions visited in this phase, when it is there.
    extend(tuple((0, frozenset[int](), 0) for _ in sizes), dict.fromkeys(instance.involved, 0), 0)
    return best_ps


def _next_stages(instance: Instance, size_bytes: int) -> dict[tuple[int, frozenset[int]], dict[int, tuple[int, int]]]:
    """Return where a chunk may go next and what that takes: (stages done, visited) to dimension to (hold, duration)."""
    found: dict[tuple[int, frozenset[int]], dict[int, tuple[int, int]]] = {}
    for chunk in chunk_choices(instance, size_bytes):
        visited: frozenset[int] = frozenset()
        for done, (_, k, transfer_ps, latency_ps) in enumerate(plain_path(instance, chunk)):
            if done % len(instance.involved) == 0:
                visited = frozenset()
            times = (hold(instance, transfer_ps, latency_ps), transfer_ps + latency_ps)
            assert found.setdefault((done, visited), {}).setdefault(k, times) == times
            visited |= {k}
    return found


def fluid_optimum(instance: Instance, num_chunks: int) -> Fraction:
    """Return the least possible load of the busiest dimension [ps] when chunks may be split over all orders."""
    once = _latency_once(instance)
    columns = {
        tuple(num_chunks * load + last for load, last in zip(_loads(instance, chunk), once, strict=True))
        for chunk in chunk_choices(instance, instance.size_bytes // num_chunks)
    }
    return least_worst_mix(sorted(columns))


def assignment_optimum(instance: Instance, num_chunks: int) -> Fraction:
    """Return the least demand on the makespan over all assignments of orders to chunks: head, load and tail."""
    choices = chunk_choices(instance, instance.size_bytes // num_chunks)
    paths = [plain_path(instance, chunk) for chunk in choices]
    loads = [_loads(instance, chunk) for chunk in choices]
    once = _latency_once(instance)
    heads = [_least_before(paths, k) for k in instance.involved]
    tails = [_least_before([path[::-1] for path in paths], k) for k in instance.involved]

    def demand(chosen: Sequence[int], index: int) -> Fraction:
        k = instance.involved[index]
        starts, ends = {paths[choice][0][1] for choice in chosen}, {paths[choice][-1][1] for choice in chosen}
        load = sum((loads[choice][index] for choice in chosen), once[index])
        return load + (0 if k in starts else heads[index]) + (0 if k in ends else tails[index])

    return min(
        max(demand(chosen, index) for index in range(len(instance.involved)))
        for chosen in combinations_with_replacement(range(len(choices)), num_chunks)
    )


def _least_before(paths: Sequence[list[tuple[Phase, int, int, int]]], dimension: int) -> int:
    """Return the least time before the first stage on a dimension, among paths that do not start there."""
    times = []
    for path in paths:
        if path[0][1] != dimension:
            before = takewhile(lambda stage: stage[1] != dimension, path)
            times.append(sum(transfer_ps + latency_ps for _, _, transfer_ps, latency_ps in before))
    return min(times, default=0)


def _loads(instance: Instance, chunk: Chunk) -> Loads:
    """Return how long a chunk holds each involved dimension [ps]."""
    loads = dict.fromkeys(instance.involved, Fraction(0))
    for _, k, transfer_ps, latency_ps in plain_path(instance, chunk):
        loads[k] += hold(instance, transfer_ps, latency_ps)
    return tuple(loads.values())


def _latency_once(instance: Instance) -> Loads:
    """Return the least latency that follows each involved dimension's last hold [ps]."""
    latencies: dict[int, list[int]] = {k: [] for k in instance.involved}
    for _, k, _, latency_ps in plain_path(instance, chunk_choices(instance, 1)[0]):
        latencies[k].append(latency_ps)
    exclusive = instance.occupancy is Occupancy.EXCLUSIVE
    return tuple(Fraction(0 if exclusive else min(values)) for values in latencies.values())


def least_worst_mix(columns: Sequence[Loads]) -> Fraction:
    """Return the least, over all mixes of the columns, of the mix's largest entry.

    The value of a matrix game, by the simplex method in fractions with Bland's rule: with all entries positive it is
    ``1 / max Σx`` subject to ``Σ x·column ≤ 1``, ``x ≥ 0``.
    """
    num_rows, num_columns = len(columns[0]), len(columns)
    rows = [
        [column[i] + 1 for column in columns] + [Fraction(i == j) for j in range(num_rows)] + [Fraction(1)]
        for i in range(num_rows)
    ]
    costs = [Fraction(-1)] * num_columns + [Fraction(0)] * (num_rows + 1)
    basis = list(range(num_columns, num_columns + num_rows))
    while (entering := next((j for j, cost in enumerate(costs[:-1]) if cost < 0), None)) is not None:
        leaving = min(
            (i for i in range(num_rows) if rows[i][entering] > 0),
            key=lambda i: (rows[i][-1] / rows[i][entering], basis[i]),
        )
        pivot = [value / rows[leaving][entering] for value in rows[leaving]]
        rows = [
            pivot if i == leaving else [a - row[entering] * b for a, b in zip(row, pivot, strict=True)]
            for i, row in enumerate(rows)
        ]
        costs = [a - costs[entering] * b for a, b in zip(costs, pivot, strict=True)]
        basis[leaving] = entering
    return 1 / costs[-1] - 1
