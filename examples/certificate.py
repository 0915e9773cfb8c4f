"""Prove a lower bound again, from its certificate alone: a shortest path in exact arithmetic.

Shows that a fluid bound asks for no trust in the solver that found it. Only the instance's figures and the weights are
used, and nothing of the library's cost model or checker: formulation.md, equations (C1) to (C3) and (B1).
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, prod

from themis_opt import Instance, Phase, load_network, lower_bound


def stage_time_ps(instance: Instance, phase: Phase, visited: tuple[int, ...], k: int) -> int:
    """Return how long a stage of one chunk holds dimension `k` after those in `visited`, latency included."""
    dimensions = instance.network.dimensions
    size = dimensions[k].size
    chunk_bytes = Fraction(instance.size_bytes // instance.num_chunks)
    seen = prod(dimensions[i].size for i in visited)
    if phase is Phase.REDUCE_SCATTER:
        sent_bytes = chunk_bytes / seen * (size - 1) / size
    else:
        sent_bytes = chunk_bytes * seen / instance.network.num_npus * (size - 1)
    transfer_ps = round(sent_bytes * 10**12 / dimensions[k].bandwidth_Bps)  # half to even
    return transfer_ps + round(dimensions[k].num_steps() * dimensions[k].latency_ps)


def shortest_path(instance: Instance, phase: Phase, weights: tuple[Fraction, ...]) -> Fraction:
    """Return the least weighted time of any order: a shortest path over the sets of visited dimensions."""
    num_dims = instance.network.num_dimensions
    reached = {0: Fraction(0)}  # a set of dimensions is a number with their bits
    for vertex in range(2**num_dims - 1):
        visited = tuple(k for k in range(num_dims) if vertex >> k & 1)
        for k in set(range(num_dims)) - set(visited):
            total = reached[vertex] + weights[k] * stage_time_ps(instance, phase, visited, k)
            target = vertex | 1 << k
            reached[target] = min(total, reached.get(target, total))
    return reached[2**num_dims - 1]


def main() -> None:
    """Compute a bound with the library, and prove it without."""
    instance = Instance(load_network("4d-ring-fc-ring-sw"), size_bytes=10**8, num_chunks=16)
    bound = lower_bound(instance)
    assert bound.certificate is not None
    print("certificate", *bound.certificate, sep="\n  ")
    assert min(bound.certificate) >= 0
    assert sum(bound.certificate) == 1
    paths = sum(shortest_path(instance, phase, bound.certificate) for phase in instance.phases)
    proven_ps = ceil(instance.num_chunks * paths)
    print(f"claimed {bound.certified_ps} ps, proven {proven_ps} ps: {bound.scope}")
    assert proven_ps == bound.certified_ps


if __name__ == "__main__":
    main()
