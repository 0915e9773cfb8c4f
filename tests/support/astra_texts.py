"""ASTRA-sim's input files for the Themis paper's six networks, written from Table 2 and the formats' specification."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction

from themis_opt.problem.network import Network


@dataclass(frozen=True)
class Row:
    """A network of Table 2: per dimension the topology, NPUs, links per NPU, GB/s per link, and the step's latency."""

    topologies: tuple[str, ...]
    sizes: tuple[int, ...]
    links: tuple[int, ...]
    link_GBps: tuple[float, ...]
    latency_ns: tuple[int, ...]


FC, RING, SWITCH = "FullyConnected", "Ring", "Switch"

# 200 Gb/s per link are 25 GB/s, 400 are 50, 800 are 100, 1000 are 125 and 1500 are 187.5.
TABLE_2 = {
    "2d-sw-sw": Row((SWITCH, SWITCH), (16, 64), (6, 1), (25, 100), (700, 1700)),
    "3d-sw-sw-sw-homo": Row((SWITCH,) * 3, (16, 8, 8), (4, 4, 1), (25, 25, 100), (700, 700, 1700)),
    "3d-sw-sw-sw-hetero": Row((SWITCH,) * 3, (16, 8, 8), (8, 4, 1), (25, 25, 50), (700, 700, 1700)),
    "3d-fc-ring-sw": Row((FC, RING, SWITCH), (8, 16, 8), (7, 4, 1), (25, 25, 50), (700, 700, 1700)),
    "4d-ring-sw-sw-sw": Row(
        (RING, SWITCH, SWITCH, SWITCH), (4, 4, 8, 8), (2, 8, 4, 1), (125, 25, 25, 50), (20, 700, 700, 1700)
    ),
    "4d-ring-fc-ring-sw": Row(
        (RING, FC, RING, SWITCH), (4, 8, 4, 8), (2, 7, 6, 1), (187.5, 25, 25, 100), (20, 700, 700, 1700)
    ),
}
ALGORITHMS = {FC: "direct", RING: "ring", SWITCH: "halvingDoubling"}


def astra1_text(row: Row, *, link_latency: list[float] | None = None, **changes: object) -> str:
    """Return a version 1 network file, by default with Table 2's latencies: half a step's on each link to a switch."""
    halves = [ns / 2 if topology == SWITCH else ns for ns, topology in zip(row.latency_ns, row.topologies, strict=True)]
    count = len(row.sizes)
    data: dict[str, object] = {
        "topology-name": "Hierarchical",
        "topologies-per-dim": row.topologies,
        "dimension-type": ["N"] * count,
        "dimensions-count": count,
        "units-count": row.sizes,
        "links-count": row.links,
        "link-latency": halves if link_latency is None else link_latency,
        "link-bandwidth": row.link_GBps,
        "nic-latency": [0] * count,
        "router-latency": [0] * count,
        "hbm-latency": [1] * count,
        "hbm-bandwidth": [1] * count,
        "hbm-scale": [0] * count,
    }
    data |= {key.replace("_", "-"): value for key, value in changes.items()}
    return json.dumps({key: value for key, value in data.items() if value is not ...})


def astra1_system_text(row: Row, scheduler: str = "themis", queue: str = "SCF", **changes: str) -> str:
    """Return a version 1 system file."""
    algorithms = "_".join(ALGORITHMS[topology] for topology in row.topologies)
    lines = {
        "scheduling-policy": "LIFO",
        "endpoint-delay": "1",
        "active-chunks-per-dimension": "1",
        "preferred-dataset-splits": "64",
        "boost-mode": "1",
        "all-reduce-implementation": algorithms,
        "all-gather-implementation": algorithms,
        "reduce-scatter-implementation": algorithms,
        "all-to-all-implementation": "_".join(["direct"] * len(row.sizes)),
        "collective-optimization": "localBWAware",
        "intra-dimension-scheduling": queue,
        "inter-dimension-scheduling": scheduler,
    }
    lines |= {key.replace("_", "-"): value for key, value in changes.items()}
    return "".join(f"{key}: {value}\n" for key, value in lines.items())


def astra2_text(row: Row, gigabyte: int, latency_ns: tuple[float, ...]) -> str:
    """Return a version 2 network file, its numbers printed as doubles; a `gigabyte` of Table 2 has so many bytes."""
    bandwidths = []
    for topology, size, links, link_GBps in zip(row.topologies, row.sizes, row.links, row.link_GBps, strict=True):
        per_npu = Fraction(link_GBps) * links * gigabyte / 2**30
        bandwidths.append(float(per_npu / (size - 1) if topology == FC else per_npu))
    return (
        f"topology: [ {', '.join(row.topologies)} ]  # dim1 first\n"
        f"npus_count: {list(row.sizes)}\nbandwidth: {bandwidths}  # GB/s\nlatency: {list(latency_ns)}  # ns\n"
    )


def per_hop(row: Row) -> tuple[float, ...]:
    """Return Table 2's latencies per hop: a switch has two."""
    return tuple(
        ns / 2 if topology == SWITCH else ns for ns, topology in zip(row.latency_ns, row.topologies, strict=True)
    )


def figures(network: Network) -> list[tuple[object, ...]]:
    """Return what a schedule depends on, dimension by dimension."""
    return [(d.topology, d.size, d.bandwidth_Bps, d.latency_ps, d.algorithm) for d in network.dimensions]
