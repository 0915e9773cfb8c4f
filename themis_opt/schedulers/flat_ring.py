"""One ring through all NPUs, as runtimes build it that know nothing of dimensions (R1 in docs/formulation.md)."""

from __future__ import annotations

from fractions import Fraction

from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance
from themis_opt.timing.cost import CostModel


def flat_ring(instance: Instance) -> Fraction | None:
    """Predict one ring through all NPUs: each step waits for the slowest dimension that it crosses.

    Of P NPUs each sends a P-th of the message in each of P - 1 steps, for All-Reduce twice: reducing, then gathering.
    Every NPU sends in every step, so every step crosses every dimension, and what arrives late is sent on late. A
    dimension gives the ring all its bandwidth.
    """
    if Phase.ALL_TO_ALL in instance.phases:
        return None
    model, dimensions = instance.derived(CostModel), instance.network.dimensions
    part = Fraction(instance.size_bytes, instance.num_npus)
    steps_ps = [
        max(dimensions[k].latency_ps + part * model.transfer_rate(phase, k) for k in instance.involved)
        for phase in instance.phases
    ]
    return instance.chunk_overhead_ps + (instance.num_npus - 1) * sum(steps_ps, Fraction(0))
