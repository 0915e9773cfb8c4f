"""A second, naive judge: every rule and claim recomputed from the definitions alone, for tests to compare with.

It uses the data types and nothing else of the package: stage times from bytes and bandwidths, timing by letting each
dimension start the next stage of its sequence whenever it can, shortest paths by trying all orders.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import ceil, log2, prod

from themis_opt.problem.bound import Bound, BoundScope, Sizing
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.network import Algorithm
from themis_opt.problem.schedule import Chunk, Schedule, Status

Stage = tuple[int, Phase, int]
RS, AG, A2A = Phase.REDUCE_SCATTER, Phase.ALL_GATHER, Phase.ALL_TO_ALL


def plain_path(instance: Instance, chunk: Chunk) -> list[tuple[Phase, int, int, int]]:
    """Return phase, dimension, transfer and latency [ps] of each stage of a chunk."""
    first_ps = instance.chunk_overhead_ps  # a chunk's first stage takes its launch besides
    return [
        (phase, k, round(sent * rate) + (0 if i else first_ps), latency_ps)
        for i, (phase, k, sent, rate, latency_ps) in enumerate(_exact_path(instance, chunk))
    ]


def _exact_path(instance: Instance, chunk: Chunk) -> list[tuple[Phase, int, Fraction, Fraction, int]]:
    """Return phase, dimension, bytes sent, exact picoseconds per byte, and rounded latency of each stage."""
    size_of = [dimension.size for dimension in instance.network.dimensions]
    held = Fraction(chunk.size_bytes)
    path = []
    for k in chunk.rs_order or ():
        path.append((RS, k, held * (size_of[k] - 1) / size_of[k], *_rates(instance, RS, k)))
        held /= size_of[k]
    if chunk.rs_order is None and chunk.ag_order is not None:
        held /= prod(size_of[k] for k in instance.involved)
    for k in chunk.ag_order or ():
        path.append((AG, k, held * (size_of[k] - 1), *_rates(instance, AG, k)))
        held *= size_of[k]
    if instance.collective is Collective.ALL_TO_ALL:
        path += [(A2A, k, held * (size_of[k] - 1) / size_of[k], *_rates(instance, A2A, k)) for k in instance.involved]
    return path


def _rates(instance: Instance, phase: Phase, k: int) -> tuple[Fraction, int]:
    dimension = instance.network.dimensions[k]
    rate = 10**12 / dimension.bandwidth_Bps
    if phase is RS and dimension.reduction_bandwidth_Bps is not None:
        rate += 10**12 / dimension.reduction_bandwidth_Bps
    steps = {Algorithm.RING: dimension.size - 1, Algorithm.DIRECT: 1}.get(
        dimension.algorithm or Algorithm.DIRECT, ceil(log2(dimension.size))
    )
    return rate, round((1 if phase is A2A else steps) * dimension.latency_ps)


def hold(instance: Instance, transfer_ps: int, latency_ps: int) -> int:
    """Return how long a stage holds its dimension."""
    return transfer_ps + (latency_ps if instance.occupancy is Occupancy.EXCLUSIVE else 0)


def plain_times(schedule: Schedule, wait_ps: Callable[[], int] = lambda: 0) -> dict[Stage, tuple[int, int]] | None:
    """Return start and end of every stage, each waiting `wait_ps` longer than it must; ``None`` in a deadlock."""
    instance = schedule.instance
    paths = [plain_path(instance, chunk) for chunk in schedule.chunks]
    queues = [list(sequence) for sequence in schedule.sequences]
    free_ps = [0] * len(queues)
    there_ps = [0] * len(paths)
    times: dict[Stage, tuple[int, int]] = {}
    moved = True
    while moved:
        moved = False
        for k, queue in enumerate(queues):
            if not queue or not paths[queue[0][0]] or paths[queue[0][0]][0][:2] != (queue[0][1], k):
                continue
            chunk, phase = queue.pop(0)
            *_, transfer_ps, latency_ps = paths[chunk].pop(0)
            start_ps = max(free_ps[k], there_ps[chunk]) + wait_ps()
            free_ps[k] = start_ps + hold(instance, transfer_ps, latency_ps)
            there_ps[chunk] = start_ps + transfer_ps + latency_ps
            times[chunk, phase, k] = (start_ps, there_ps[chunk])
            moved = True
    return None if any(queues) else times


def end_ps(times: dict[Stage, tuple[int, int]]) -> int:
    """Return when the last stage ends."""
    return max(end for _, end in times.values())


def plain_certified(instance: Instance, weights: tuple[Fraction, ...], scope: BoundScope) -> int:
    """Return what a certificate proves, by trying all orders of a chunk: equations (B1) and (B2)."""
    once = Fraction(0)
    if instance.occupancy is Occupancy.PIPELINED:
        once = sum(
            (weights[k] * min(_rates(instance, phase, k)[1] for phase in instance.phases) for k in instance.involved),
            Fraction(0),
        )

    def weighted_hold(chunk: Chunk) -> Fraction:
        stages = plain_path(instance, chunk)
        return sum((weights[k] * hold(instance, *times) for _, k, *times in stages), Fraction(0))

    def weighted_transfer(chunk: Chunk) -> Fraction:
        return sum((weights[k] * sent * rate for _, k, sent, rate, _ in _exact_path(instance, chunk)), Fraction(0))

    may_be_first = instance.involved[:1] if instance.collective is Collective.ALL_TO_ALL else instance.involved
    launch = instance.chunk_overhead_ps * min(weights[k] for k in may_be_first)
    values = []
    for count in range(scope.min_chunks, scope.max_chunks + 1):
        bound = instance.size_bytes * _least(instance, 1, weighted_transfer)
        bound += count * (launch - Fraction(len(instance.phases), 2))
        if instance.occupancy is Occupancy.EXCLUSIVE:
            stages = product(instance.phases, instance.involved)
            bound += count * sum(weights[k] * _rates(instance, phase, k)[1] for phase, k in stages)
        if scope.sizes is Sizing.EQUAL:
            bound = max(bound, count * _least(instance, instance.size_bytes // count, weighted_hold))
        values.append(ceil(bound + once))
    return max(0, min(values))


def plain_critical_path(instance: Instance, scope: BoundScope) -> int:
    """Return the shortest time the largest chunk needs alone, by trying all its orders: equation (B3)."""

    def duration(chunk: Chunk) -> Fraction:
        return Fraction(sum(transfer + latency for _, _, transfer, latency in plain_path(instance, chunk)))

    return int(_least(instance, ceil(Fraction(instance.size_bytes, scope.max_chunks)), duration))


def _least(instance: Instance, size_bytes: int, cost: Callable[[Chunk], Fraction]) -> Fraction:
    """Return the least cost of a chunk over all its orders; each phase costs the same whatever the other's order."""
    if instance.collective is Collective.ALL_TO_ALL:
        return cost(Chunk(size_bytes))
    orders = list(permutations(instance.involved))
    total = Fraction(0)
    if RS in instance.phases:
        total += min(cost(Chunk(size_bytes, rs_order=order)) for order in orders)
    if AG in instance.phases:
        total += min(cost(Chunk(size_bytes, ag_order=order)) for order in orders)
    return total


def is_right(schedule: Schedule) -> bool:
    """Say whether the schedule keeps every rule and every claim it makes is true."""
    instance = schedule.instance
    if not _is_complete(instance, schedule):
        return False
    times = plain_times(schedule)
    if times is None:
        return False
    makespan_ps = earliest_ps = end_ps(times)
    if schedule.stages is not None:
        if not _is_feasible(instance, schedule):
            return False
        makespan_ps = max(stage.end_ps for stage in schedule.stages)
    return (
        schedule.makespan_ps in (None, makespan_ps)
        and (schedule.bound is None or _bound_is_true(instance, schedule, schedule.bound, earliest_ps))
        and (
            schedule.status is not Status.OPTIMAL
            or (schedule.bound is not None and schedule.bound.value_ps == makespan_ps)
        )
    )


def _is_complete(instance: Instance, schedule: Schedule) -> bool:
    chunks = schedule.chunks
    if not chunks or min(chunk.size_bytes for chunk in chunks) < 1:
        return False
    if sum(chunk.size_bytes for chunk in chunks) != instance.size_bytes:
        return False
    for chunk in chunks:
        for phase, order in ((RS, chunk.rs_order), (AG, chunk.ag_order)):
            if (order is not None) != (phase in instance.phases):
                return False
            if order is not None and tuple(sorted(order)) != instance.involved:
                return False
    due = sorted((c, phase) for c in range(len(chunks)) for phase in instance.phases)
    return len(schedule.sequences) == len(instance.network.dimensions) and all(
        sorted(sequence) == (due if k in instance.involved else []) for k, sequence in enumerate(schedule.sequences)
    )


def _is_feasible(instance: Instance, schedule: Schedule) -> bool:
    assert schedule.stages is not None
    start = {(c, phase, k): start_ps for c, phase, k, start_ps, _ in schedule.stages}
    end = {(c, phase, k): end_ps for c, phase, k, _, end_ps in schedule.stages}
    paths = [plain_path(instance, chunk) for chunk in schedule.chunks]
    if len(schedule.stages) != len(start) or set(start) != {
        (c, phase, k) for c, stages in enumerate(paths) for phase, k, *_ in stages
    }:
        return False
    free_ps: dict[Stage, int] = {}
    for c, stages in enumerate(paths):
        there_ps = 0
        for phase, k, transfer_ps, latency_ps in stages:
            if start[c, phase, k] < there_ps or end[c, phase, k] - start[c, phase, k] != transfer_ps + latency_ps:
                return False
            there_ps = end[c, phase, k]
            free_ps[c, phase, k] = start[c, phase, k] + hold(instance, transfer_ps, latency_ps)
    return all(
        start[*second, k] >= free_ps[*first, k]
        for k, sequence in enumerate(schedule.sequences)
        for first, second in pairwise(sequence)
    )


def _bound_is_true(instance: Instance, schedule: Schedule, bound: Bound, earliest_ps: int) -> bool:
    scope = bound.scope
    sizes = {chunk.size_bytes for chunk in schedule.chunks}
    includes = scope.min_chunks <= len(schedule.chunks) <= scope.max_chunks <= instance.size_bytes
    if not includes or scope.min_chunks < 1 or (scope.sizes is Sizing.EQUAL and max(sizes) - min(sizes) > 1):
        return False
    if not 0 <= bound.value_ps <= earliest_ps:
        return False
    if bound.kind == "critical-path" and bound.value_ps > plain_critical_path(instance, scope):
        return False
    if bound.kind == "fluid" and (bound.certificate is None or bound.certified_ps != bound.value_ps):
        return False
    weights = bound.certificate
    if weights is None:
        return bound.certified_ps is None
    if len(weights) != len(instance.network.dimensions) or min(weights) < 0 or sum(weights) != 1:
        return False
    if any(weight and k not in instance.involved for k, weight in enumerate(weights)):
        return False
    if bound.certified_ps is None:
        return True
    return bound.certified_ps <= min(bound.value_ps, plain_certified(instance, weights, scope))
