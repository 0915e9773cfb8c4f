"""ASTRA-sim 2's network YAML: four lists, one entry per dimension; read and written.

Its "GB/s" are 2^30 bytes/s, per link and direction: what one message gets. On a ring and through a switch one message
gets all an NPU has; fully connected, an NPU has one such link to each of its peers. Its latency is per hop, and a
message through a switch makes two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from themis_opt.files.foreign_values import Entry, check_keys, dimension_lists
from themis_opt.files.remarks import Imported, Remark, assumed, converted
from themis_opt.files.strict import number_text
from themis_opt.problem.errors import InputError, located
from themis_opt.problem.network import DEFAULT_ALGORITHM, Algorithm, Dimension, Network, Topology
from themis_opt.problem.units import exact_text, format_bandwidth

FORMAT_NAME = "an ASTRA-sim 2 network"
KEYS = ("topology", "npus_count", "bandwidth", "latency")
TOPOLOGIES = {"Ring": Topology.RING, "FullyConnected": Topology.FULLY_CONNECTED, "Switch": Topology.SWITCH}
READING = '"GB/s" taken as GiB/s (2^30 bytes/s), as ASTRA-sim does'

_WORDS = {topology: name for name, topology in TOPOLOGIES.items()}
_GIBI = 2**30
_NEAR = Fraction(1, 10**15)
"""A double has 53 bits: what was whole before it was one is within this of it."""
_WRITTEN_DIGITS = 30


def read_astra2_network(
    data: Mapping[str, Any], name: str, algorithms: Sequence[Algorithm] | None = None, source: str = ""
) -> Imported:
    """Return the network in the plain data of an ASTRA-sim 2 network file.

    Parameters
    ----------
    data
        What the file holds, its decimals exact.
    name
        What the network shall be called.
    algorithms
        One per dimension, where a system file says so; ``None``: the default of each topology.
    source
        What the network shall say of where it is from.

    Raises
    ------
    InputError
        Naming the key whose value is wrong.
    """
    check_keys(data, KEYS, KEYS, FORMAT_NAME)
    lists = dimension_lists(data, dict(zip(KEYS, ("topologies", "NPUs", "GB/s", "nanoseconds"), strict=True)))
    remarks: list[Remark] = []
    dimensions: list[Dimension] = []
    for k in range(len(lists["topology"])):
        topology = TOPOLOGIES[lists["topology"][k].word(TOPOLOGIES)]
        size = group_size(lists["npus_count"][k])
        # An NPU has one link of this bandwidth to each of its peers; on a ring and a switch, one for all.
        links = size - 1 if topology is Topology.FULLY_CONNECTED else 1
        per_link = lists["bandwidth"][k].positive("GB/s")
        given = per_link * links * _GIBI
        # Written from a whole number of bits per second, it has lost its last digits: they come back.
        bandwidth_Bps = near_whole(given, 8)
        remarks.append(bandwidth_remark(f"bandwidth[{k}]", per_link, links, bandwidth_Bps, binary=True))
        if bandwidth_Bps != given:
            exact = exact_text(bandwidth_Bps * 8 / 10**9, "Gb/s")
            text = f"{number_text(per_link)} is a rounded number: taken as exactly {exact} per NPU"
            remarks.append(assumed(f"bandwidth[{k}]", text))
        hops = 2 if topology is Topology.SWITCH else 1
        per_hop = lists["latency"][k].number("ns")
        latency_ps = near_whole(per_hop * hops * 1000, 1)
        remarks.append(latency_remark(f"latency[{k}]", per_hop, hops, latency_ps))
        chosen, guesses = algorithm_for(topology, size, None if algorithms is None else algorithms[k])
        remarks += [assumed(f"npus_count[{k}]", text) for text in guesses]
        with located(f"dimension {k}"):
            several = links if links > 1 else None
            dimensions.append(Dimension(topology, size, bandwidth_Bps, latency_ps, chosen, several))
    network = Network(name, tuple(dimensions), source, READING)
    return Imported(network, FORMAT_NAME, READING, tuple(remarks))


def astra2_network_text(network: Network) -> str:
    """Return the text of an ASTRA-sim 2 network file, which `read_astra2_network` reads as the same dimensions.

    All digits are written where a decimal has an end, which it has for every whole number of bytes/s on a ring and a
    switch, and thirty otherwise. The same quantities come back whenever a bandwidth per NPU is a whole number of bits
    per second and a step latency one of picoseconds. Algorithms, reduction bandwidths, links and notes have no place
    in such a file.

    Raises
    ------
    InputError
        When a dimension has one NPU only: ASTRA-sim refuses it.
    """
    columns: dict[str, list[str]] = {key: [] for key in KEYS}
    for k, dimension in enumerate(network.dimensions):
        if dimension.size == 1:
            raise InputError(
                f"dimensions[{k}].size: is 1, and ASTRA-sim 2 takes no dimension of one NPU; leave the dimension out"
            )
        is_full, is_switch = dimension.topology is Topology.FULLY_CONNECTED, dimension.topology is Topology.SWITCH
        per_link = dimension.bandwidth_Bps / (dimension.size - 1 if is_full else 1)
        columns["topology"].append(_WORDS[dimension.topology])
        columns["npus_count"].append(str(dimension.size))
        columns["bandwidth"].append(_decimal(per_link / _GIBI))
        columns["latency"].append(_decimal(dimension.latency_ps / 1000 / (2 if is_switch else 1)))
    return "".join(f"{key}: [{', '.join(values)}]\n" for key, values in columns.items())


def group_size(entry: Entry) -> int:
    """Return the NPUs in a group of a dimension: ASTRA-sim has no dimension of one.

    Raises
    ------
    InputError
        When it is no whole number, or below 2.
    """
    if entry.value == 1 and type(entry.value) is int:
        why = "for a dimension joins at least 2 NPUs; leave it out of every list"
        raise InputError(f"{entry.path}: 1 is not allowed, {why}")
    return entry.whole("NPUs", 2)


def near_whole(value: Fraction, parts: int) -> Fraction:
    """Return the multiple of 1/`parts` within 1 part in 10^15 of a value, or the value where there is none."""
    rounded = Fraction(round(value * parts), parts)
    return rounded if abs(rounded - value) <= value * _NEAR else value


def algorithm_for(topology: Topology, size: int, given: Algorithm | None) -> tuple[Algorithm, tuple[str, ...]]:
    """Return a dimension's algorithm, and in words what had to be guesses for want of one: a switch sends directly.

    ASTRA-sim has no algorithm but ring and direct for a number of NPUs that is no power of two.

    Parameters
    ----------
    topology, size
        Of the dimension.
    given
        The algorithm, where the file says it.
    """
    if given is not None:
        return given, ()
    default = DEFAULT_ALGORITHM[topology]
    if default is Algorithm.HALVING_DOUBLING and size & (size - 1):
        return Algorithm.DIRECT, (f"{size} NPUs are no power of two: algorithm direct, not halving-doubling",)
    return default, ()


def bandwidth_remark(key: str, per_link: Fraction, links: int, bandwidth_Bps: Fraction, *, binary: bool) -> Remark:
    """Return what became of a bandwidth per link: all of an NPU's links together, in decimal units.

    Parameters
    ----------
    key
        Where it stands in the file.
    per_link, links
        What each link has, in the file's unit, and how many an NPU has.
    bandwidth_Bps
        What was made of it.
    binary
        Whether the file's unit is GiB/s, and not GB/s.
    """
    unit = "GiB/s" if binary else "GB/s"
    each = "" if links == 1 else f"{number_text(per_link)} {unit} per link x {links} links = "
    text = f"{each}{number_text(per_link * links)} {unit} per NPU"
    if binary:
        text += f" = {format_bandwidth(bandwidth_Bps)}"
    return converted(key, text)


def latency_remark(key: str, per_hop: Fraction, hops: int, latency_ps: Fraction, extra: str = "") -> Remark:
    """Return what became of a latency per hop: that of one step.

    Parameters
    ----------
    key
        Where it stands in the file.
    per_hop, hops
        Latency of a hop [ns], and hops of a message.
    latency_ps
        What was made of it.
    extra
        What else is in it, in words.
    """
    through = " x 2 hops through the switch" if hops == 2 else " per hop"
    text = f"{number_text(per_hop)} ns{through}{extra} = {number_text(latency_ps / 1000)} ns per step"
    return converted(key, text)


def _decimal(value: Fraction) -> str:
    """Return a decimal of a value: exact where it has an end within sixty digits, else thirty digits long."""
    places = 2 * _WRITTEN_DIGITS
    if 10**places % value.denominator:
        exponent = len(str(value.numerator)) - len(str(value.denominator))
        places = max(_WRITTEN_DIGITS - exponent, 0)
    digits = str(round(value * 10**places)).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".") if places else digits
