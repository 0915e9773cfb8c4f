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

from dataclasses import replace
from math import floor

from themis_opt.export.chakra.write.plan import TracePlan
from themis_opt.export.stage_messages import stage_steps
from themis_opt.problem.collective import Phase
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Algorithm, Dimension, Network, Topology

MAX_NS = 2**53
"""Beyond this (104 days) a double no longer counts nanoseconds."""


def num_hops(topology: Topology, size: int, distance: int) -> int:
    """Return the hops that ASTRA-sim charges a message between two members of a group.

    Parameters
    ----------
    topology, size
        Of the group.
    distance
        How far apart they are, counted in one direction.
    """
    if topology is Topology.RING:
        return min(distance, size - distance)
    return 2 if topology is Topology.SWITCH else 1


def _step_hops(dimension: Dimension, phase: Phase) -> list[int]:
    """Return the hops of the slowest message of each step."""
    assert dimension.algorithm is not None  # set by Dimension
    steps = stage_steps(dimension.algorithm, phase, dimension.size, 0)
    return [max(num_hops(dimension.topology, dimension.size, send.receiver) for send in step) for step in steps]


def replay_network(instance: Instance) -> Network:
    """Return the involved dimensions as ASTRA-sim has to see them, so that a stage takes what the schedule says."""
    dimensions = []
    for dimension in (instance.network.dimensions[k] for k in instance.involved):
        num_peers, hops = dimension.size - 1, _step_hops(dimension, Phase.REDUCE_SCATTER)
        of_message = dimension.bandwidth_Bps / (num_peers if dimension.algorithm is Algorithm.DIRECT else 1)
        # The hops of all steps share the latency of the stage, whatever each step's own number of hops.
        per_hop_ps = dimension.latency_ps * len(hops) / sum(hops)
        # The file has one link's bandwidth and one hop's latency; a network has an NPU's, and a step's.
        bandwidth_Bps = of_message * (num_peers if dimension.topology is Topology.FULLY_CONNECTED else 1)
        latency_ps = per_hop_ps * (2 if dimension.topology is Topology.SWITCH else 1)
        dimensions.append(replace(dimension, bandwidth_Bps=bandwidth_Bps, latency_ps=latency_ps, links=None))
    return Network(instance.network.name, tuple(dimensions))


def replay_ns(plan: TracePlan, network_text: str) -> int:
    """Return the time ASTRA-sim will report: a stage begins when its chunk's and its dimension's last ones end.

    Parameters
    ----------
    plan
        What is replayed.
    network_text
        The network file.

    Raises
    ------
    InputError
        When a time is more than a double can count.
    """
    # Read back from the text: the double that ASTRA-sim computes with is the one of the decimals in the file.
    lists = dict(line.split(": ") for line in network_text.splitlines())
    columns = ([float(number) for number in lists[key].strip("[]").split(",")] for key in ("bandwidth", "latency"))
    links = dict(zip(plan.instance.involved, zip(*columns, strict=True), strict=True))
    dimensions = plan.instance.network.dimensions
    hops_of = {(k, phase): _step_hops(dimensions[k], phase) for k in links for phase in plan.instance.phases}
    end_of_chunk: dict[int, int] = {}
    end_of_dimension: dict[int, int] = {}
    for stage in plan.stages:
        chunk, phase, k, steps = stage
        bandwidth, hop_ns = links[k]
        bytes_per_ns = bandwidth * 2**30 / 10**9
        end_ns = max(end_of_chunk.get(chunk, 0), end_of_dimension.get(k, 0))
        for hops, step in zip(hops_of[k, phase], steps, strict=True):
            step_ns = hops * hop_ns + float(step.size_bytes) / bytes_per_ns if bytes_per_ns else float(MAX_NS)
            if step_ns >= MAX_NS:
                raise InputError(
                    f"chunk {chunk} {phase} on dim{k + 1}: a step takes {step_ns:.3g} ns, "
                    f"and ASTRA-sim counts to {MAX_NS}; give the network more bandwidth or the collective fewer bytes"
                )
            end_ns += floor(step_ns)
        end_of_chunk[chunk] = end_of_dimension[k] = end_ns
    return max(end_of_chunk.values())
