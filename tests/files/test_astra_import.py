"""ASTRA-sim network files of both versions become exactly the networks they describe, or one clear message."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from astra_texts import RING, SWITCH, TABLE_2, Row, astra1_system_text, astra1_text, astra2_text, figures, per_hop
from hypothesis import given
from hypothesis import strategies as st

from themis_opt.files.astra1_network import Gigabyte
from themis_opt.files.astra2_network import astra2_network_text, read_astra2_network
from themis_opt.files.importing import import_network
from themis_opt.files.network_file import load_network
from themis_opt.files.plain import plain_mapping
from themis_opt.files.remarks import Imported
from themis_opt.files.shipped import shipped_networks
from themis_opt.problem.errors import InputError
from themis_opt.problem.network import Algorithm, Dimension, Network, Topology

GIBI = 2**30


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def imported(folder: Path, text: str, name: str = "net", **options: Any) -> Imported:
    (folder / name).write_text(text)
    return import_network(folder / name, **options)


def said(result: Imported) -> list[str]:
    return [str(remark) for remark in result.remarks]


@pytest.mark.parametrize("name", TABLE_2)
def test_the_artifacts_trio_is_the_artifact_network(name: str, folder: Path) -> None:
    """1 ns per link, and a GB of 2^30 bytes, as the artifact's simulator took it."""
    row = TABLE_2[name]
    (folder / "system.txt").write_text(astra1_system_text(row))
    text = astra1_text(row, link_latency=[1] * len(row.sizes))
    result = imported(folder, text, system=folder / "system.txt", gigabyte=Gigabyte.BINARY)
    assert figures(result.network) == figures(load_network(f"{name}-artifact"))
    assert [d.links for d in result.network.dimensions] == list(row.links)
    assert result.num_chunks == 64


@pytest.mark.parametrize("name", TABLE_2)
def test_version_1_in_decimal_units_is_table_2(name: str, folder: Path) -> None:
    result = imported(folder, astra1_text(TABLE_2[name]))
    assert figures(result.network) == figures(load_network(name))
    assert result.num_chunks is None


@pytest.mark.parametrize("name", TABLE_2)
def test_version_2_is_the_artifact_network(name: str, folder: Path) -> None:
    row = TABLE_2[name]
    result = imported(folder, astra2_text(row, GIBI, (1,) * len(row.sizes)))
    assert figures(result.network) == figures(load_network(f"{name}-artifact"))


@pytest.mark.parametrize("name", TABLE_2)
def test_version_2_with_decimal_bandwidths_printed_as_doubles_is_table_2(name: str, folder: Path) -> None:
    """150 GB/s are 139.69838619232178 GiB/s to a double's last digit: taken as the whole bits/s it was, and said."""
    row = TABLE_2[name]
    result = imported(folder, astra2_text(row, 10**9, per_hop(row)))
    assert figures(result.network) == figures(load_network(name))
    if name == "2d-sw-sw":
        assert ("assumed: bandwidth[0]: 139.6983862 is a rounded number: taken as exactly 1200 Gb/s per NPU") in said(
            result
        )


@pytest.mark.parametrize("name", shipped_networks())
def test_a_written_network_reads_back_as_itself(name: str) -> None:
    network = load_network(name)
    data = plain_mapping("net.yml", astra2_network_text(network), decimals=True)
    assert list(data) == ["topology", "npus_count", "bandwidth", "latency"]
    assert figures(read_astra2_network(data, name).network) == figures(network)


@given(
    st.lists(
        st.builds(
            Dimension,
            st.sampled_from(Topology),
            st.integers(2, 100),
            st.integers(1, 10**14).map(lambda bits: Fraction(bits, 8)),
            st.integers(0, 10**12).map(Fraction),
            st.just(Algorithm.RING),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_whole_bits_and_picoseconds_survive_writing(dimensions: list[Dimension]) -> None:
    """Also where a sixth or seventh of them, per link, has no last decimal."""
    data = plain_mapping("net.yml", astra2_network_text(Network("x", tuple(dimensions))), decimals=True)
    rings = [Algorithm.RING] * len(dimensions)
    assert figures(read_astra2_network(data, "x", rings).network) == figures(Network("x", tuple(dimensions)))


def test_no_dimension_of_one_npu_is_written() -> None:
    with pytest.raises(
        InputError, match=r"^dimensions\[1\]\.size: is 1, and ASTRA-sim 2 takes no dimension of one NPU"
    ):
        astra2_network_text(Network("x", (Dimension("ring", 2, 1), Dimension("ring", 1, 1))))


def test_bandwidth_per_link_becomes_bandwidth_per_npu(folder: Path) -> None:
    """Fully connected an NPU has a link to each of its 3 peers; on a ring and a switch one message gets all it has."""
    text = (
        "topology: [FullyConnected, Ring, Switch]\nnpus_count: [4, 4, 4]\nbandwidth: [50, 50, 50]\nlatency: [1, 1, 1]"
    )
    result = imported(folder, text)
    assert [d.bandwidth_Bps / GIBI for d in result.network.dimensions] == [150, 50, 50]
    assert [d.latency_ps for d in result.network.dimensions] == [1000, 1000, 2000]
    assert said(result) == [
        "converted: bandwidth[0]: 50 GiB/s per link x 3 links = 150 GiB/s per NPU = 161.06 GB/s",
        "converted: latency[0]: 1 ns per hop = 1 ns per step",
        "converted: bandwidth[1]: 50 GiB/s per NPU = 53.687 GB/s",
        "converted: latency[1]: 1 ns per hop = 1 ns per step",
        "converted: bandwidth[2]: 50 GiB/s per NPU = 53.687 GB/s",
        "converted: latency[2]: 1 ns x 2 hops through the switch = 2 ns per step",
    ]
    assert result.headline == (
        f'{folder / "net"}: read as an ASTRA-sim 2 network: 3 dimensions, 64 NPUs; "GB/s" taken as GiB/s '
        "(2^30 bytes/s), as ASTRA-sim does"
    )


def test_numbers_are_exact_however_they_are_written(folder: Path) -> None:
    text = "topology: [Ring, Ring, Ring]\nnpus_count: [2, 2, 2]\nbandwidth: [0.1, 1.5e2, 150]\nlatency: [.5, 0, 1e-3]"
    dimensions = imported(folder, text).network.dimensions
    assert [d.bandwidth_Bps for d in dimensions] == [Fraction(GIBI, 10), 150 * GIBI, 150 * GIBI]
    assert [d.latency_ps for d in dimensions] == [500, 0, 1]


def test_a_switch_of_any_size_sends_directly(folder: Path) -> None:
    result = imported(folder, "topology: [Switch]\nnpus_count: [72]\nbandwidth: [1]\nlatency: [1]")
    assert result.network.dimensions[0].algorithm is Algorithm.DIRECT
    assert ("assumed: npus_count[0]: 72 NPUs are no power of two: algorithm direct, not halving-doubling") in said(
        result
    )


def test_version_1_latencies_of_nics_and_routers_count(folder: Path) -> None:
    """Ring: 10 + 2 x 3 = 16 ns, and it has no router; switch: 2 x 10 + 2 x 3 + 5 = 31 ns."""
    row = Row((RING, SWITCH), (4, 4), (1, 1), (1, 1), (1, 1))
    result = imported(folder, astra1_text(row, link_latency=[10, 10], nic_latency=[3, 3], router_latency=[5, 5]))
    assert [d.latency_ps for d in result.network.dimensions] == [16_000, 31_000]
    assert (
        "converted: link-latency[1]: 10 ns x 2 hops through the switch + 2 NICs x 3 ns + 5 ns in the router = 31 ns"
        in (" ".join(said(result)))
    )
    assert "ignored: router-latency[0]: 5 ns, but a ring dimension has no router" in said(result)


def test_version_1_says_what_it_ignores_and_assumes(folder: Path) -> None:
    row = Row((RING,), (4,), (2,), (187.5,), (1,))
    result = imported(folder, astra1_text(row, nic_latency=...))
    assert said(result) == [
        "assumed: link-bandwidth: a GB is 10^9 bytes; ASTRA-sim 1 itself took 2^30 "
        "(themis-opt import astra-network --gigabyte binary)",
        "converted: link-bandwidth[0]: 187.5 GB/s per link x 2 links = 375 GB/s per NPU",
        "converted: link-latency[0]: 1 ns per hop = 1 ns per step",
        "assumed: nic-latency: is not in the file: taken as 0 ns",
        "ignored: hbm-latency, hbm-bandwidth, hbm-scale: the model of the memory is off (hbm-scale is 0)",
        "ignored: topology-name: 'Hierarchical' is a name; nothing depends on it",
        "ignored: dimension-type: ['N'] is a name; nothing depends on it",
    ]
