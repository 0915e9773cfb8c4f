"""NCCL's double binary tree, as its own tuning model predicts it (R2 in docs/formulation.md)."""

from __future__ import annotations

from fractions import Fraction
from math import prod

from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Topology
from themis_opt.problem.units import PS_PER_S


def double_binary_tree(instance: Instance) -> Fraction | None:
    """Predict NCCL's double binary tree: up and down two trees of the groups, through each group in a chain.

    The innermost dimension is the node, a chain; trees join the nodes over the other dimensions. With one dimension,
    they join its NPUs. Around a ring, an edge of a tree takes as many hops as it spans. An NPU sends each byte twice,
    through the slowest dimension, and every hop waits once in each direction. Pipelining is perfect: there is no cost
    of filling beyond the latencies.
    """
    if instance.collective is not Collective.ALL_REDUCE:
        return None
    involved = [instance.network.dimensions[k] for k in instance.involved]
    chain, joined = (involved[:1], involved[1:]) if len(involved) > 1 else ([], involved)
    latency_ps = _levels(prod(dimension.size for dimension in joined)) * max(
        dimension.latency_ps for dimension in joined
    )
    latency_ps += sum((dimension.size - 1) * dimension.latency_ps for dimension in chain)
    # Half of a ring lies between the root and the farthest NPU; NCCL's formula knows switches alone.
    rings = (dimension for dimension in joined if dimension.topology is Topology.RING)
    latency_ps += sum(max(ring.size // 2 - _levels(ring.size), 0) * ring.latency_ps for ring in rings)
    seconds_per_byte = max(
        2 / dimension.bandwidth_Bps
        + (0 if dimension.reduction_bandwidth_Bps is None else 1 / dimension.reduction_bandwidth_Bps)
        for dimension in involved
    )
    return instance.chunk_overhead_ps + 2 * latency_ps + instance.size_bytes * PS_PER_S * seconds_per_byte


def _levels(size: int) -> int:
    """Return the levels of a binary tree of so many NPUs below its root."""
    return (size - 1).bit_length()
