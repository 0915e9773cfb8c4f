"""ASTRA-sim 1's network JSON, the Themis artifact's: bandwidth and latency per link, links per NPU; read only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import Any

from themis_opt.files.astra2_network import TOPOLOGIES, algorithm_for, bandwidth_remark, group_size, latency_remark
from themis_opt.files.foreign_values import Entry, check_keys, dimension_lists
from themis_opt.files.remarks import Imported, Remark, assumed, ignored
from themis_opt.files.strict import number_text, show
from themis_opt.problem.errors import InputError, located
from themis_opt.problem.network import MAX_DIMENSIONS, Algorithm, Dimension, Network, Topology

FORMAT_NAME = "an ASTRA-sim 1 network"
REQUIRED = ("topologies-per-dim", "units-count", "links-count", "link-latency", "link-bandwidth")
EXTRA_LATENCIES = ("nic-latency", "router-latency")
HBM = ("hbm-latency", "hbm-bandwidth", "hbm-scale")
NAMES = ("topology-name", "dimension-type")
KEYS = (*REQUIRED, "dimensions-count", *EXTRA_LATENCIES, *HBM, *NAMES)


class Gigabyte(StrEnum):
    """What a "GB" of ASTRA-sim 1 is: 10^9 bytes, as it says, or 2^30, as its simulator read it."""

    DECIMAL = "decimal"
    BINARY = "binary"

    @property
    def num_bytes(self) -> int:
        """Bytes in one."""
        return 10**9 if self is Gigabyte.DECIMAL else 2**30

    @property
    def reading(self) -> str:
        """A clause that says so."""
        if self is Gigabyte.DECIMAL:
            return '"GB/s" taken as 10^9 bytes/s'
        return '"GB/s" taken as GiB/s (2^30 bytes/s), as its simulator did'


def read_astra1_network(
    data: Mapping[str, Any],
    name: str,
    gigabyte: Gigabyte = Gigabyte.DECIMAL,
    algorithms: Sequence[Algorithm] | None = None,
    source: str = "",
) -> Imported:
    """Return the network in the plain data of an ASTRA-sim 1 network file.

    Parameters
    ----------
    data
        What the file holds, its decimals exact.
    name
        What the network shall be called.
    gigabyte
        How many bytes a "GB" is.
    algorithms
        One per dimension, where a system file says so; ``None``: the default of each topology.
    source
        What the network shall say of where it is from.

    Raises
    ------
    InputError
        Naming the key whose value is wrong.
    """
    check_keys(data, KEYS, REQUIRED, FORMAT_NAME)
    lists = dimension_lists(data, dict.fromkeys((*REQUIRED, *EXTRA_LATENCIES, *HBM), "values"))
    num_dimensions = len(lists["topologies-per-dim"])
    _check_count(data, num_dimensions)
    remarks: list[Remark] = []
    if gigabyte is Gigabyte.DECIMAL:
        text = "a GB is 10^9 bytes; ASTRA-sim 1 itself took 2^30 (themis-opt import astra-network --gigabyte binary)"
        remarks.append(assumed("link-bandwidth", text))
    dimensions: list[Dimension] = []
    for k in range(num_dimensions):
        topology = TOPOLOGIES[lists["topologies-per-dim"][k].word(TOPOLOGIES)]
        size = group_size(lists["units-count"][k])
        links = lists["links-count"][k].whole("links per NPU")
        per_link = lists["link-bandwidth"][k].positive("GB/s")
        bandwidth_Bps = per_link * links * gigabyte.num_bytes
        is_binary = gigabyte is Gigabyte.BINARY
        remarks.append(bandwidth_remark(f"link-bandwidth[{k}]", per_link, links, bandwidth_Bps, binary=is_binary))
        latency_ps, said = _latency(lists, k, topology)
        chosen, guesses = algorithm_for(topology, size, None if algorithms is None else algorithms[k])
        remarks += [*said, *(assumed(f"units-count[{k}]", text) for text in guesses)]
        with located(f"dimension {k}"):
            dimensions.append(Dimension(topology, size, bandwidth_Bps, latency_ps, chosen, links))
    remarks += [assumed(key, "is not in the file: taken as 0 ns") for key in EXTRA_LATENCIES if key not in lists]
    remarks += _hbm(lists)
    remarks += [ignored(key, f"{show(data[key])} is a name; nothing depends on it") for key in NAMES if key in data]
    network = Network(name, tuple(dimensions), source, gigabyte.reading)
    return Imported(network, FORMAT_NAME, gigabyte.reading, tuple(remarks))


def _check_count(data: Mapping[str, Any], num_dimensions: int) -> None:
    if "dimensions-count" not in data:
        return
    count = Entry(data["dimensions-count"], "dimensions-count").whole("dimensions", 1, MAX_DIMENSIONS)
    if count != num_dimensions:
        raise InputError(
            f"dimensions-count: is {count}, but topologies-per-dim has {num_dimensions}; "
            "the count and the lists' length must agree"
        )


def _latency(lists: Mapping[str, list[Entry]], k: int, topology: Topology) -> tuple[Fraction, list[Remark]]:
    """Return the latency of one step [ps]: two links through a switch and its router, one otherwise, and two NICs."""
    per_link, nic, router = (
        lists[key][k].number("ns") if key in lists else Fraction(0) for key in ("link-latency", *EXTRA_LATENCIES)
    )
    remarks: list[Remark] = []
    hops, extra = 1, f" + 2 NICs x {number_text(nic)} ns" if nic else ""
    if topology is Topology.SWITCH:
        hops = 2
        extra += f" + {number_text(router)} ns in the router" if router else ""
    elif router:
        text = f"{number_text(router)} ns, but a {topology} dimension has no router"
        remarks.append(ignored(f"router-latency[{k}]", text))
        router = Fraction(0)
    latency_ps = (hops * per_link + 2 * nic + router) * 1000
    return latency_ps, [latency_remark(f"link-latency[{k}]", per_link, hops, latency_ps, extra), *remarks]


def _hbm(lists: Mapping[str, list[Entry]]) -> list[Remark]:
    """Return what there is to say of the HBM model, which we do not have.

    Raises
    ------
    InputError
        When it is switched on: its scale is not 0 and its latency or bandwidth is not either.
    """
    present = [key for key in HBM if key in lists]
    if not present:
        return []
    for k in range(len(lists[present[0]])):
        values = {key: lists[key][k].number("units") for key in present}
        scale = values.pop("hbm-scale", None)
        if scale != 0 and any(values.values()):
            key, value = (f"hbm-scale[{k}]", scale) if scale else next((f"{n}[{k}]", v) for n, v in values.items() if v)
            raise InputError(
                f"{key}: {show(value)} switches ASTRA-sim's model of the memory on, and there is none here; "
                "set hbm-scale to 0 in every dimension"
            )
    why = (
        "hbm-scale is 0"
        if "hbm-scale" in present and not any(entry.value for entry in lists["hbm-scale"])
        else "every value is 0"
    )
    return [ignored(", ".join(present), f"the model of the memory is off ({why})")]
