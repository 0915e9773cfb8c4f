"""What a folder says of itself besides its traces: the network, the system and the schedule, each checked by itself."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

from themis_opt.export.verdict import Contradiction
from themis_opt.files.plain import plain_mapping, read_text
from themis_opt.files.schedule_file import load_schedule
from themis_opt.judging.validator import validate
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Algorithm, Dimension, Topology
from themis_opt.problem.schedule import Schedule

MAX_RANKS = 1024
"""What every rank holds of every block and whose contributions are in it takes ranks^3 bits."""
MAX_FILES = 100_000

_TOPOLOGIES = {"Ring": Topology.RING, "FullyConnected": Topology.FULLY_CONNECTED, "Switch": Topology.SWITCH}
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
        Its schedule, which breaks no rule.
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
    violations = validate(schedule.instance, schedule)
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
    links = _links(folder, instance)
    prefix = _prefix(folder, str(instance.collective))
    memory = _mapping(folder, "memory.json")
    if memory.get("memory-type") != "NO_MEMORY_EXPANSION":
        raise InputError(f"{os.path.join(folder, 'memory.json')}: memory-type must be NO_MEMORY_EXPANSION")
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


def _mapping(folder: str, name: str) -> Mapping[str, Any]:
    path = os.path.join(folder, name)
    return plain_mapping(path, read_text(path, small=True), decimals=True)


def _prefix(folder: str, collective: str) -> str:
    """Return the prefix of the traces: a name in this folder, and nowhere else."""
    path = os.path.join(folder, "system.json")
    system = _mapping(folder, "system.json")
    splits = system.get("preferred-dataset-splits")
    if type(splits) is not int or splits != 1:
        raise InputError(
            f"{path}: preferred-dataset-splits: must be 1; without it ASTRA-sim crashes, above it nothing finishes"
        )
    if system.get("scheduling-policy") not in ("LIFO", "FIFO"):
        raise InputError(f"{path}: scheduling-policy: must be LIFO or FIFO")
    key = f"{collective}-implementation-custom"
    if key not in system:
        old = f"{collective}-implementation-chakra"
        hint = f"; {old} is the older name of the key" if old in system else ""
        raise InputError(f"{path}: {key}: is missing; the schedule is one of {collective}{hint}")
    value = system[key]
    if not (isinstance(value, list) and len(value) == 1 and isinstance(value[0], str)):
        raise InputError(f"{path}: {key}: must be a list of one path prefix")
    # A prefix may lead anywhere: only what lies in the folder that somebody handed over is read.
    prefix: str = value[0].removeprefix("./")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", prefix) or ".." in prefix or len(prefix) > 100:
        raise InputError(
            f"{path}: {key}: {value[0][:60]!r} is no plain name; the traces must lie in the folder that is judged"
        )
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


def _links(folder: str, instance: Instance) -> tuple[LinkRule, ...]:
    """Return the dimensions of network.yml, which must be those of the schedule."""
    path = os.path.join(folder, "network.yml")
    data = _mapping(folder, "network.yml")
    keys = ("topology", "npus_count", "bandwidth", "latency")
    for key in data:
        if key not in keys:
            raise InputError(f"{path}: {key[:60]}: unknown key; an ASTRA-sim 2 network has: {', '.join(keys)}")
    for key in keys:
        value = data.get(key)
        if not isinstance(value, list) or len(value) != len(instance.involved):
            raise InputError(f"{path}: {key}: must be a list of {len(instance.involved)} values, one per dimension")
    links = []
    for place, k in enumerate(instance.involved):
        topology, size, bandwidth, latency = (data[key][place] for key in keys)
        dimension = instance.network.dimensions[k]
        if _TOPOLOGIES.get(topology if isinstance(topology, str) else "") is not dimension.topology:
            raise Contradiction(f"{path}: topology[{place}]: is not the schedule's, {dimension.topology}")
        if size != dimension.size or isinstance(size, bool):
            raise Contradiction(f"{path}: npus_count[{place}]: is not the schedule's, {dimension.size}")
        numbers = []
        for key, value in (("bandwidth", bandwidth), ("latency", latency)):
            if isinstance(value, bool) or not isinstance(value, int | Fraction) or value < 0:
                raise InputError(f"{path}: {key}[{place}]: must be a number that is not negative")
            numbers.append(_double(value, f"{path}: {key}[{place}]"))
        link = LinkRule(dimension.topology, dimension.size, numbers[0] * 2**30 / 10**9, numbers[1])
        _check_link(link, dimension, f"{path}: dim{k + 1}")
        links.append(link)
    assert prod(link.size for link in links) == instance.num_npus
    return tuple(links)


def _double(value: int | Fraction, where: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{where}: is beyond every number of this field") from None


def _check_link(link: LinkRule, dimension: Dimension, where: str) -> None:
    """Raise unless a stage on this dimension would take what the schedule says, but for ASTRA-sim's whole ns."""
    assert dimension.algorithm is not None  # set by Dimension
    # By what the schedule says of the dimension, not by how the writer came to its figures.
    num_parts = dimension.size - 1
    messages_at_once = num_parts if dimension.algorithm is Algorithm.DIRECT else 1
    bytes_per_ns = float(dimension.bandwidth_Bps / messages_at_once / 10**9)
    if abs(link.bytes_per_ns - bytes_per_ns) > _NEAR * bytes_per_ns:
        raise Contradiction(
            f"{where}: a message gets {link.bytes_per_ns:.10g} GB/s; the schedule gives it {bytes_per_ns:.10g} GB/s"
        )
    distances = {
        Algorithm.RING: [1] * num_parts,
        Algorithm.DIRECT: [dimension.size // 2],
    }.get(dimension.algorithm, [1 << bit for bit in range(num_parts.bit_length())])
    latency_ns = sum(link.hops(0, distance) for distance in distances) * link.hop_ns
    expected_ns = float(dimension.latency_ps * len(distances) / 1000)
    if abs(latency_ns - expected_ns) > _NEAR * max(expected_ns, 1):
        raise Contradiction(
            f"{where}: the latency of a stage is {latency_ns:.10g} ns; the schedule's is {expected_ns:.10g}"
        )
