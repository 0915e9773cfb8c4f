"""The figures that are reported of a schedule (Sec. 3, Figs. 8, 10 and 11; nccl-tests' bandwidths)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import exp, log

from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance
from themis_opt.problem.units import PS_PER_S


def sent_bytes(instance: Instance) -> Fraction:
    """Return the bytes one NPU sends over all dimensions; orders do not change it (M1 in docs/formulation.md).

    All-Reduce ``2·S(1-1/P)``, Reduce-Scatter and All-Gather half of it, All-to-All ``S·Σ(1-1/P_k)``.
    """
    if instance.collective is Collective.ALL_TO_ALL:
        sizes = [instance.network.dimensions[k].size for k in instance.involved]
        return instance.size_bytes * sum((Fraction(size - 1, size) for size in sizes), Fraction(0))
    per_phase = instance.size_bytes * (1 - Fraction(1, instance.num_npus))
    return per_phase * len(instance.phases)


def total_bandwidth_Bps(instance: Instance) -> Fraction:
    """Return the bandwidth of all involved dimensions together [bytes/s]."""
    return sum((instance.network.dimensions[k].bandwidth_Bps for k in instance.involved), Fraction(0))


def ideal_ps(instance: Instance) -> float:
    """Return the time at full use of every dimension without latency [ps]: ``sent bytes / ΣB`` (Table 3, Ideal)."""
    return float(sent_bytes(instance) * PS_PER_S / total_bandwidth_Bps(instance))


def bw_utilization(instance: Instance, makespan_ps: int) -> float:
    """Return the bandwidth-weighted mean utilisation of the dimensions, 0 to 1 (Sec. 3, Fig. 11)."""
    return ideal_ps(instance) / makespan_ps if makespan_ps else 0.0


def dimension_utilization(instance: Instance, dimension: int, sent: Fraction, makespan_ps: int) -> float:
    """Return the part of a dimension's capacity that is used, 0 to 1.

    Parameters
    ----------
    instance
        The problem.
    dimension
        Index of the dimension.
    sent
        Bytes one NPU sends into it.
    makespan_ps
        The time in which it does.
    """
    if not makespan_ps:
        return 0.0
    return float(sent * PS_PER_S / (instance.network.dimensions[dimension].bandwidth_Bps * makespan_ps))


def algbw_Bps(instance: Instance, makespan_ps: int) -> float:
    """Return the algorithm bandwidth ``S/t`` [bytes/s]."""
    return float(Fraction(instance.size_bytes * PS_PER_S, makespan_ps)) if makespan_ps else 0.0


def busbw_Bps(instance: Instance, makespan_ps: int) -> float:
    """Return nccl-tests' bus bandwidth ``algbw·f``: f = 2(P-1)/P for All-Reduce, (P-1)/P for the others."""
    factor = (2 if instance.collective is Collective.ALL_REDUCE else 1) * (1 - Fraction(1, instance.num_npus))
    return algbw_Bps(instance, makespan_ps) * float(factor)


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean of values that are not negative (the mean of speedups); 0 if one of them is 0.

    An infinite value makes it infinite, unless another one is 0.

    Raises
    ------
    ValueError
        When there are no values.
    """
    known = list(values)
    if not known:
        raise ValueError("the geometric mean of nothing does not exist")
    if min(known) == 0:
        return 0.0
    # Not the root of the product: a thousand speedups of 2 overflow a float.
    logarithms = [log(value) for value in known]
    return exp(sum(logarithms) / len(logarithms))
