r"""What ASTRA-sim 2 makes of a schedule: the network it is given, and the time it will report, to the nanosecond.

The analytical backend without congestion knows messages only, each by itself. One of :math:`m` bytes that makes
:math:`h` hops takes

.. math::

    floor(h·latency + m / b) \; ns, \qquad b = bandwidth·2^{30} / 10^9 \; bytes/ns                    (A1)

in double precision (``BasicTopology::compute_communication_delay``, github.com/astra-sim/astra-network-analytical). A
stage is the sum over its steps of their slowest message.

The network is written so that (A1) is the stage's cost (C3) up to that rounding. No two messages share anything there,
so ``bandwidth`` is what *one message* gets: all of the NPU's, except with the direct algorithm, whose :math:`P-1`
messages leave at once. And the hops of a stage's steps share its latency. Where each topology runs its own algorithm
this is the network as everybody writes it: a ring and a switch with the NPU's bandwidth, a fully connected group with
that of one link, and a switch with half its step latency per hop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import floor

from themis_opt.export.chakra.write.plan import StagePlan, TracePlan
from themis_opt.export.stage_messages import stage_steps
from themis_opt.files.astra2_network import astra2_network_text
from themis_opt.problem.collective import Phase
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Algorithm, Dimension, Network, Topology

MAX_NS = 2**53
"""Beyond this (104 days) a double no longer counts nanoseconds."""


def num_hops(topology: Topology, size: int, source: int, destination: int) -> int:
    """Return the hops that ASTRA-sim charges a message between two members of a group.

    Parameters
    ----------
    topology, size
        Of the group.
    source, destination
        Two of its members.
    """
    if topology is Topology.SWITCH:
        return 2
    if topology is Topology.FULLY_CONNECTED:
        return 1
    ahead = (destination - source) % size
    return min(ahead, size - ahead)


def step_hops(dimension: Dimension) -> tuple[int, ...]:
    """Return the hops of the slowest message of each Reduce-Scatter step; All-Gather runs the same backwards."""
    assert dimension.algorithm is not None  # set by Dimension
    steps = stage_steps(dimension.algorithm, Phase.REDUCE_SCATTER, dimension.size, 0)
    return tuple(max(num_hops(dimension.topology, dimension.size, 0, send.receiver) for send in step) for step in steps)


def replay_network(instance: Instance) -> Network:
    """Return the involved dimensions as ASTRA-sim has to see them, so that a stage takes what the schedule says."""
    involved = (instance.network.dimensions[k] for k in instance.involved)
    return Network(instance.network.name, tuple(_as_replayed(dimension) for dimension in involved))


def _as_replayed(dimension: Dimension) -> Dimension:
    size, hops = dimension.size, step_hops(dimension)
    is_full, is_switch = dimension.topology is Topology.FULLY_CONNECTED, dimension.topology is Topology.SWITCH
    of_message = dimension.bandwidth_Bps / (size - 1 if dimension.algorithm is Algorithm.DIRECT else 1)
    # The hops of all steps share the latency of the stage, whatever each step's own number of hops.
    per_hop_ps = dimension.latency_ps * len(hops) / sum(hops)
    return replace(
        dimension,
        bandwidth_Bps=of_message * (size - 1 if is_full else 1),
        latency_ps=per_hop_ps * (2 if is_switch else 1),
        links=None,
    )


@dataclass(frozen=True)
class Replay:
    """ASTRA-sim's network file of an instance, and its clock.

    Attributes
    ----------
    instance
        The problem.
    """

    instance: Instance

    @cached_property
    def network_text(self) -> str:
        """The text of network.yml."""
        return astra2_network_text(replay_network(self.instance))

    @cached_property
    def changed(self) -> tuple[int, ...]:
        """The involved dimensions whose figures in network.yml are not those of their links, by network index."""
        seen = replay_network(self.instance).dimensions
        dimensions = self.instance.network.dimensions
        return tuple(
            k
            for k, given in zip(self.instance.involved, seen, strict=True)
            if (given.bandwidth_Bps, given.latency_ps) != (dimensions[k].bandwidth_Bps, dimensions[k].latency_ps)
        )

    @cached_property
    def _links(self) -> dict[int, tuple[float, float]]:
        """Bytes per ns of a message and ns of a hop, by dimension, from the decimals that are in the file."""
        # Read back from the text: the double that ASTRA-sim computes with is the one of the decimals in the file.
        lists = dict(line.split(": ") for line in self.network_text.splitlines())
        rows = [[float(number) for number in lists[key].strip("[]").split(",")] for key in ("bandwidth", "latency")]
        bytes_per_ns = [bandwidth * 2**30 / 10**9 for bandwidth in rows[0]]
        return dict(zip(self.instance.involved, zip(bytes_per_ns, rows[1], strict=True), strict=True))

    @cached_property
    def _hops(self) -> dict[int, tuple[int, ...]]:
        return {k: step_hops(self.instance.network.dimensions[k]) for k in self.instance.involved}

    def stage_ns(self, stage: StagePlan) -> int:
        """Return how long ASTRA-sim takes for a stage (A1).

        Raises
        ------
        InputError
            When it is more than a double can count.
        """
        bytes_per_ns, hop_ns = self._links[stage.dimension]
        hops = self._hops[stage.dimension]
        if stage.phase is Phase.ALL_GATHER:
            hops = hops[::-1]
        total = 0
        for h, m in zip(hops, stage.message_bytes, strict=True):
            step_ns = h * hop_ns + float(m) / bytes_per_ns if bytes_per_ns else float(MAX_NS)
            if step_ns >= MAX_NS:
                raise InputError(
                    f"chunk {stage.chunk} {stage.phase} on dim{stage.dimension + 1}: a step takes {step_ns:.3g} ns, "
                    f"and ASTRA-sim counts to {MAX_NS}; give the network more bandwidth or the collective fewer bytes"
                )
            total += floor(step_ns)
        return total

    def makespan_ns(self, plan: TracePlan) -> int:
        """Return the time ASTRA-sim will report: a stage begins when its chunk's and its dimension's last ones end."""
        end_of_chunk: dict[int, int] = {}
        end_of_dimension: dict[int, int] = {}
        for stage in plan.stages:
            start = max(end_of_chunk.get(stage.chunk, 0), end_of_dimension.get(stage.dimension, 0))
            end_of_chunk[stage.chunk] = end_of_dimension[stage.dimension] = start + self.stage_ns(stage)
        return max(end_of_chunk.values())
