r"""How long ASTRA-sim 1.0 takes for a stage: message by message, in whole nanoseconds.

Its analytical backend does not use the α-β formula of `themis_opt.timing.cost`. For a stage of :math:`n` messages of
:math:`m_i` bytes, over links of bandwidth :math:`b`, with a step latency of :math:`α`, it takes

.. math::

    \sum_i ⌊α + m_i/b⌋ + (n + 1) \cdot 1\,ns + [RS] \sum_i 3\,ns \cdot ⌊r_i / 500000⌋

with the delay of an endpoint, before the first message and after each one, and the time to reduce the :math:`r_i` bytes
received. Found by comparison: with these times and the queues of `DispatchPolicy`, all 78 recorded runs come out equal
to the nanosecond.
"""

from __future__ import annotations

from collections.abc import Iterable

from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Algorithm, Dimension
from themis_opt.timing.cost import CostModel, StageCost

PS_PER_NS = 1000
NS_PER_S = 10**9
REDUCTION_GRAIN_BYTES = 500_000


class AstraStageTimes(CostModel):
    """Stage costs as ASTRA-sim 1.0 has them.

    Parameters
    ----------
    instance
        The instance; its chunks must divide evenly into messages.
    fused
        Whether Reduce-Scatter and All-Gather on the dimension between the two phases run as one stage, with one
        endpoint delay less (its baseline and round-robin).
    endpoint_ns
        Delay before the first message and after each one [ns].
    reduction_ns
        Time to reduce 500,000 bytes received [ns]; fewer are free.
    """

    def __init__(self, instance: Instance, *, fused: bool = False, endpoint_ns: int = 1, reduction_ns: int = 3) -> None:
        super().__init__(instance)
        self._fused = fused
        self._endpoint_ns = endpoint_ns
        self._reduction_ns = reduction_ns

    def stage(self, size_bytes: int, phase: Phase, visited: Iterable[int], dimension: int) -> StageCost:
        """Return the cost of a stage; its time counts as transfer, whole nanoseconds in picoseconds."""
        seen = frozenset(visited)
        before_bytes = int(size_bytes * self.resident_fraction(phase, seen))
        network_dimension = self.instance.network.dimensions[dimension]
        messages = _messages(network_dimension, phase, before_bytes)
        direct = network_dimension.algorithm is Algorithm.DIRECT
        link_Bps = network_dimension.bandwidth_Bps / (network_dimension.size - 1 if direct else 1)
        latency_ns = network_dimension.latency_ps / PS_PER_NS
        time_ns = sum(int(latency_ns + message * NS_PER_S / link_Bps) for message in messages)
        second_half = self._fused and phase is Phase.ALL_GATHER and not seen
        time_ns += self._endpoint_ns * (len(messages) + (0 if second_half else 1))
        if phase is Phase.REDUCE_SCATTER:
            # Halving-doubling reduces half of each message, the part it sends on; after the last there is none.
            halving = network_dimension.algorithm is Algorithm.HALVING_DOUBLING
            reduced = messages[1:] if halving else messages
            time_ns += self._reduction_ns * sum(bytes_ // REDUCTION_GRAIN_BYTES for bytes_ in reduced)
        sent_bytes = size_bytes * self.sent_fraction(phase, seen, dimension)
        return StageCost(sent_bytes, time_ns * PS_PER_NS, 0)


def _messages(dimension: Dimension, phase: Phase, before_bytes: int) -> list[int]:
    """Return the bytes of the messages an NPU sends one after the other (direct: to all others at once)."""
    num_steps = dimension.num_steps()
    if dimension.algorithm is Algorithm.HALVING_DOUBLING:
        if phase is Phase.REDUCE_SCATTER:
            return [before_bytes >> step for step in range(1, num_steps + 1)]
        return [before_bytes << step for step in range(num_steps)]
    message_bytes = before_bytes // dimension.size if phase is Phase.REDUCE_SCATTER else before_bytes
    return [message_bytes] * num_steps
