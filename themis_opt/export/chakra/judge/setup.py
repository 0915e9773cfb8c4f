"""What a folder says of itself besides its traces: the network, the system and the schedule, each checked by itself."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from themis_opt.export.verdict import Contradiction
from themis_opt.files.foreign_values import check_keys, dimension_lists
from themis_opt.files.plain import plain_mapping, read_text
from themis_opt.files.schedule_file import load_schedule
from themis_opt.judging.refute import refutations
from themis_opt.judging.validator import validate
from themis_opt.problem.errors import InputError, located
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Algorithm, Dimension, Topology
from themis_opt.problem.schedule import Schedule

MAX_RANKS = 1024
"""What every rank holds of every block and whose contributions are in it takes ranks^3 bits."""
MAX_FILES = 100_000

_TOPOLOGIES = {"Ring": Topology.RING, "FullyConnected": Topology.FULLY_CONNECTED, "Switch": Topology.SWITCH}
_NETWORK_KEYS = {"topology": "topologies", "npus_count": "NPUs", "bandwidth": "GB/s", "latency": "nanoseconds"}
_COLLECTIVES = ("all-reduce", "reduce-scatter", "all-gather")
_NEAR = 1e-9
_PROMISE = re.compile(r"expected time: ([0-9]{1,18}) ns")


@dataclass(frozen=True, slots=True)
class LinkRule:
    """How long messages take on one dimension.

    Attributes
    ----------
    topology, size
        Of its groups.
    bytes_per_ns
        What one message gets.
    hop_ns
        Latency of a hop.
    """

    topology: Topology
    size: int
    bytes_per_ns: float
    hop_ns: float

    def hops(self, source: int, destination: int) -> int:
        """Return the hops between two members of a group."""
        if self.topology is Topology.RING:
            return min((destination - source) % self.size, (source - destination) % self.size)
        return 2 if self.topology is Topology.SWITCH else 1


@dataclass(frozen=True)
class Setup:
    """Everything in a folder but the messages.

    Attributes
    ----------
    folder
        The folder.
    schedule
        Its schedule, which breaks no rule and claims nothing that a heuristic refutes.
    links
        The involved dimensions, as network.yml has them.
    prefix
        Of the traces: that of rank i is ``<prefix>.<i>.et``.
    ranks
        The ranks whose traces are there, ascending.
    """

    folder: str
    schedule: Schedule
    links: tuple[LinkRule, ...]
    prefix: str
    ranks: tuple[int, ...]

    @property
    def instance(self) -> Instance:
        """The schedule's problem."""
        return self.schedule.instance

    @property
    def num_ranks(self) -> int:
        """Ranks that there are, whether their traces are in the folder or not."""
        return self.instance.num_npus

    @property
    def is_partial(self) -> bool:
        """Whether traces of some ranks are not there."""
        return len(self.ranks) < self.num_ranks

    def trace_path(self, rank: int) -> str:
        """Return the path of a rank's trace."""
        return os.path.join(self.folder, f"{self.prefix}.{rank}.et")

    def workload_path(self, rank: int) -> str:
        """Return the path of a rank's workload."""
        return os.path.join(self.folder, f"wl.{rank}.et")


def read_setup(folder: str) -> Setup:
    """Return what a folder says of itself.

    Raises
    ------
    InputError
        When a file is missing, malformed or contradicts another.
    """
    schedule_path = os.path.join(folder, "schedule.json")
    if not os.path.exists(schedule_path):
        raise InputError(
            f"{folder}: is a folder, and has no schedule.json; name a schedule file, or a folder as export --to astra2 "
            "writes it, which is judged against the schedule it was made from"
        )
    schedule = load_schedule(schedule_path)
    violations = validate(schedule.instance, schedule) or refutations(schedule)
    if violations:
        raise Contradiction(f"{schedule_path}: is no valid schedule: {violations[0]}")
    instance = schedule.instance
    if str(instance.collective) not in _COLLECTIVES:
        raise InputError(f"{schedule_path}: is an {instance.collective}, and traces hold {', '.join(_COLLECTIVES)}")
    if instance.num_npus > MAX_RANKS:
        raise InputError(
            f"{folder}: has {instance.num_npus} ranks, and at most {MAX_RANKS} are interpreted; "
            "check a smaller network of the same shape"
        )
    with _file(folder, "network.yml") as network:
        links = _links(network, instance)
    with _file(folder, "system.json") as system:
        prefix = _prefix(system, str(instance.collective))
    with _file(folder, "memory.json") as memory:
        if memory.get("memory-type") != "NO_MEMORY_EXPANSION":
            raise InputError("memory-type must be NO_MEMORY_EXPANSION")
    return Setup(folder, schedule, links, prefix, _ranks(folder, prefix, instance.num_npus))


def expected_ns(folder: str) -> int | None:
    """Return the time that a folder's README promises, or ``None`` where it promises none.

    Raises
    ------
    InputError
        When there is a README that cannot be read.
    """
    path = os.path.join(folder, "README.md")
    if not os.path.exists(path):
        return None
    match = _PROMISE.search(read_text(path, small=True))
    return None if match is None else int(match[1])


@contextmanager
def _file(folder: str, name: str) -> Iterator[dict[str, Any]]:
    """Give what a file of the folder holds; its path is in front of what is found wrong inside."""
    path = os.path.join(folder, name)
    data = plain_mapping(path, read_text(path, small=True), decimals=True)
    with located(path):
        yield data


def _prefix(system: Mapping[str, Any], collective: str) -> str:
    """Return the prefix of the traces: a name in this folder, and nowhere else."""
    splits = system.get("preferred-dataset-splits")
    if type(splits) is not int or splits != 1:
        raise InputError("preferred-dataset-splits: must be 1; without it ASTRA-sim crashes, above it nothing finishes")
    if system.get("scheduling-policy") not in ("LIFO", "FIFO"):
        raise InputError("scheduling-policy: must be LIFO or FIFO")
    key, old = f"{collective}-implementation-custom", f"{collective}-implementation-chakra"
    if key not in system:
        hint = f"; {old} is the older name of the key" if old in system else ""
        raise InputError(f"{key}: is missing; the schedule is one of {collective}{hint}")
    value = system[key]
    if not (isinstance(value, list) and len(value) == 1 and isinstance(value[0], str)):
        raise InputError(f"{key}: must be a list of one path prefix")
    # A prefix may lead anywhere: only what lies in the folder that somebody handed over is read.
    prefix: str = value[0].removeprefix("./")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", prefix) or ".." in prefix or len(prefix) > 100:
        raise InputError(f"{key}: {value[0][:60]!r} is no plain name; the traces must lie in the folder that is judged")
    return prefix


def _ranks(folder: str, prefix: str, num_ranks: int) -> tuple[int, ...]:
    """Return the ranks whose traces are there; a rank has a trace and a workload, or neither."""
    try:
        names = os.listdir(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from None
    if len(names) > MAX_FILES:
        raise InputError(f"{folder}: has {len(names)} files, and {num_ranks} ranks have two each")
    found: dict[str, set[int]] = {prefix: set(), "wl": set()}
    for name in names:
        match = re.fullmatch(r"(.+)\.(0|[1-9][0-9]{0,8})\.et", name)
        if match is not None and match[1] in found:
            rank = int(match[2])
            if rank >= num_ranks:
                raise InputError(
                    f"{os.path.join(folder, name)}: is of rank {rank}, and the ranks are 0 to {num_ranks - 1}"
                )
            found[match[1]].add(rank)
    for rank in sorted(found[prefix] ^ found["wl"]):
        lacks, has = ("wl", prefix) if rank in found[prefix] else (prefix, "wl")
        raise InputError(f"{os.path.join(folder, lacks)}.{rank}.et: is missing beside {has}.{rank}.et")
    if not found[prefix]:
        raise InputError(f"{folder}: has no trace {prefix}.<rank>.et, which is what system.json names")
    return tuple(sorted(found[prefix]))


def _links(data: Mapping[str, Any], instance: Instance) -> tuple[LinkRule, ...]:
    """Return the dimensions of network.yml, which must be those of the schedule."""
    check_keys(data, _NETWORK_KEYS, _NETWORK_KEYS, "an ASTRA-sim 2 network")
    lists = dimension_lists(data, _NETWORK_KEYS)
    if len(lists["topology"]) != len(instance.involved):
        raise InputError(f"topology: must be a list of {len(instance.involved)} values, one per dimension")
    links = []
    for k, topology, size, bandwidth, latency in zip(instance.involved, *lists.values(), strict=True):
        dimension = instance.network.dimensions[k]
        if _TOPOLOGIES.get(str(topology.value)) != dimension.topology:
            raise Contradiction(f"{topology.path}: is not the schedule's, {dimension.topology}")
        if type(size.value) is not int or size.value != dimension.size:
            raise Contradiction(f"{size.path}: is not the schedule's, {dimension.size}")
        bytes_per_ns = float(bandwidth.number("GB/s")) * 2**30 / 10**9
        link = LinkRule(dimension.topology, dimension.size, bytes_per_ns, float(latency.number("ns")))
        with located(f"dim{k + 1}"):
            _check_link(link, dimension)
        links.append(link)
    return tuple(links)


def _check_link(link: LinkRule, dimension: Dimension) -> None:
    """Raise unless a stage on this dimension would take what the schedule says, but for ASTRA-sim's whole ns."""
    assert dimension.algorithm is not None  # set by Dimension
    # By what the schedule says of the dimension, not by how the writer came to its figures.
    num_parts = dimension.size - 1
    messages_at_once = num_parts if dimension.algorithm is Algorithm.DIRECT else 1
    bytes_per_ns = float(dimension.bandwidth_Bps / messages_at_once / 10**9)
    if abs(link.bytes_per_ns - bytes_per_ns) > _NEAR * bytes_per_ns:
        raise Contradiction(
            f"a message gets {link.bytes_per_ns:.10g} GB/s; the schedule gives it {bytes_per_ns:.10g} GB/s"
        )
    distances = {
        Algorithm.RING: [1] * num_parts,
        Algorithm.DIRECT: [dimension.size // 2],
    }.get(dimension.algorithm, [1 << bit for bit in range(num_parts.bit_length())])
    latency_ns = sum(link.hops(0, distance) for distance in distances) * link.hop_ns
    expected_ns = float(dimension.latency_ps * len(distances) / 1000)
    if abs(latency_ns - expected_ns) > _NEAR * max(expected_ns, 1):
        raise Contradiction(f"the latency of a stage is {latency_ns:.10g} ns; the schedule's is {expected_ns:.10g}")
