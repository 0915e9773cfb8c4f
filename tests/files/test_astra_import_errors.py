"""Every way an ASTRA-sim network file can be wrong gives its own message: the key, the value, and the mend."""

from __future__ import annotations

from pathlib import Path

import pytest
from astra_texts import RING, SWITCH, Row, astra1_text

from themis_opt.files.importing import import_network
from themis_opt.problem.errors import InputError

ROW = Row((RING, SWITCH), (4, 8), (2, 1), (25, 50), (700, 1700))
VERSION_2 = {
    "topology": "[Ring, Switch]",
    "npus_count": "[4, 8]",
    "bandwidth": "[50, 25.5]",
    "latency": "[700, 850]",
}


def message(folder: Path, text: str, name: str = "net") -> str:
    """Return what is wrong with a file, without its name."""
    (folder / name).write_text(text)
    with pytest.raises(InputError) as caught:
        import_network(folder / name)
    assert str(caught.value).startswith(f"{folder / name}: ")
    return str(caught.value).removeprefix(f"{folder / name}: ")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"topology": "[Ring, switch]"},
            "topology[1]: 'switch' is not allowed; one of: Ring, FullyConnected, Switch "
            "(did you mean 'Switch'? case matters)",
        ),
        ({"topology": "[Ring, Mesh]"}, "topology[1]: 'Mesh' is not allowed; one of: Ring, FullyConnected, Switch"),
        ({"topology": "Ring"}, "topology: 'Ring' is not allowed; expected a list of topologies, one per dimension"),
        (
            {"topology": "[[Ring], Switch]"},
            "topology[0]: ['Ring'] is not allowed; one of: Ring, FullyConnected, Switch",
        ),
        ({"topology": "[]"}, "topology: has 0 values; a network has 1 to 12 dimensions"),
        (
            {"bandwidth": "[50]"},
            "bandwidth: has 1 value, but topology has 2; every list has one value per dimension",
        ),
        ({"bandwidth": "[50, 0]"}, "bandwidth[1]: 0 GB/s is not allowed; it must be above zero"),
        ({"bandwidth": "[-1.5, 50]"}, "bandwidth[0]: -1.5 GB/s is negative; write zero or more"),
        (
            {"bandwidth": "[50, 25 GB/s]"},
            "bandwidth[1]: '25 GB/s' is not allowed; expected a number of GB/s, such as 100 or 187.5",
        ),
        (
            {"bandwidth": "[50, .inf]"},
            "bandwidth[1]: '.inf' is not allowed; expected a number of GB/s, such as 100 or 187.5",
        ),
        (
            {"bandwidth": "[50, 1e999]"},
            "bandwidth[1]: 1e999 is not allowed; expected a number of GB/s, such as 100 or 187.5",
        ),
        ({"bandwidth": "[50, 1e90]"}, "dimension 1: bandwidth is about 10^99; quantities lie between 10^-60 and 10^60"),
        ({"latency": "[-1, 1]"}, "latency[0]: -1 ns is negative; write zero or more"),
        (
            {"latency": "[010, 1]"},
            "latency[0]: '010' is not allowed; expected a number of ns, such as 100 or 187.5",
        ),
        (
            {"npus_count": "[1, 8]"},
            "npus_count[0]: 1 is not allowed, for a dimension joins at least 2 NPUs; leave it out of every list",
        ),
        (
            {"npus_count": "[4.5, 8]"},
            "npus_count[0]: 4.5 is not allowed; expected a number of NPUs, whole and from 2 to 1000000000",
        ),
        (
            {"latency": None},
            "latency: is missing; an ASTRA-sim 2 network needs: topology, npus_count, bandwidth, latency",
        ),
        (
            {"npus_count": None, "npu_count": "[4, 8]"},
            "npu_count: unknown key; an ASTRA-sim 2 network has: topology, npus_count, bandwidth, latency "
            "(did you mean 'npus_count'?)",
        ),
        (
            {"clock": "1"},
            "clock: unknown key; an ASTRA-sim 2 network has: topology, npus_count, bandwidth, latency",
        ),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else None,
)
def test_version_2(changes: dict[str, str | None], expected: str, tmp_path: Path) -> None:
    lines = {**VERSION_2, **changes}
    text = "".join(f"{key}: {value}\n" for key, value in lines.items() if value is not None)
    assert message(tmp_path, text) == expected


KEYS_1 = (
    "an ASTRA-sim 1 network has: topologies-per-dim, units-count, links-count, link-latency, link-bandwidth, "
    "dimensions-count, nic-latency, router-latency, hbm-latency, hbm-bandwidth, hbm-scale, "
    "topology-name, dimension-type"
)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"dimensions_count": 3},
            "dimensions-count: is 3, but topologies-per-dim has 2; the count and the lists' length must agree",
        ),
        (
            {"units_count": [4, 1]},
            "units-count[1]: 1 is not allowed, for a dimension joins at least 2 NPUs; leave it out of every list",
        ),
        (
            {"units_count": [4, True]},
            "units-count[1]: true is not allowed; expected a number of NPUs, whole and from 2 to 1000000000",
        ),
        (
            {"links_count": [2, 0]},
            "links-count[1]: 0 is not allowed; expected a number of links per NPU, whole and from 1 to 1000000000",
        ),
        ({"link_bandwidth": [0, 50]}, "link-bandwidth[0]: 0 GB/s is not allowed; it must be above zero"),
        ({"link_bandwidth": [25, -50]}, "link-bandwidth[1]: -50 GB/s is negative; write zero or more"),
        (
            {"link_bandwidth": [25, "50"]},
            "link-bandwidth[1]: '50' is not allowed; expected a number of GB/s, such as 100 or 187.5",
        ),
        (
            {"links_count": [2, 1, 1]},
            "links-count: has 3 values, but topologies-per-dim has 2; every list has one value per dimension",
        ),
        (
            {"router_latency": [0]},
            "router-latency: has 1 value, but topologies-per-dim has 2; every list has one value per dimension",
        ),
        ({"nic_latency": [0, -1]}, "nic-latency[1]: -1 ns is negative; write zero or more"),
        (
            {"topologies_per_dim": ["Ring", "Torus"]},
            "topologies-per-dim[1]: 'Torus' is not allowed; one of: Ring, FullyConnected, Switch",
        ),
        (
            {"topologies_per_dim": ["RING", "Switch"]},
            "topologies-per-dim[0]: 'RING' is not allowed; one of: Ring, FullyConnected, Switch "
            "(did you mean 'Ring'? case matters)",
        ),
        (
            {"hbm_scale": [0, 1]},
            "hbm-scale[1]: 1 switches ASTRA-sim's model of the memory on, and there is none here; "
            "set hbm-scale to 0 in every dimension",
        ),
        (
            {"hbm_scale": ...},
            "hbm-latency[0]: 1 switches ASTRA-sim's model of the memory on, and there is none here; "
            "set hbm-scale to 0 in every dimension",
        ),
        (
            {"link_latency": ..., "link_latencies": [1, 1]},
            f"link-latencies: unknown key; {KEYS_1} (did you mean 'link-latency'?)",
        ),
        (
            {"links_count": ...},
            "links-count: is missing; an ASTRA-sim 1 network needs: topologies-per-dim, units-count, links-count, "
            "link-latency, link-bandwidth",
        ),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else None,
)
def test_version_1(changes: dict[str, object], expected: str, tmp_path: Path) -> None:
    assert message(tmp_path, astra1_text(ROW, **changes)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "holds nothing, not a mapping of keys to values; the first key must be 'format'"),
        ("a: 1\nb: 2\n", "is no ASTRA-sim network"),
        (
            "format: themis-opt/network/1\nname: x\n",
            "is no ASTRA-sim network; it has a 'format' line, so every command takes it as it is",
        ),
        (
            "topology: [Ring]\nnpus_count: [2]\nnpus_count: [2]\n",
            "line 3: npus_count: stands twice in the same mapping; remove one",
        ),
        ('{"units-count": [4], "units-count": [4]}', "units-count: stands twice in the same mapping; remove one"),
        ("topology: &x [Ring]\nnpus_count: *x\n", "line 1: &x is an anchor; anchors are not allowed"),
        (
            '{"units-count": [4',
            "line 1, column 19: not valid JSON: Expecting ',' delimiter; is the file complete? Write it again",
        ),
        (
            "preferred-dataset-splits: 64\n",
            "is an ASTRA-sim 1 system file, no network; 'themis-opt import astra-network NETWORK --system {path}' "
            "reads it beside a network",
        ),
    ],
    ids=["empty", "another", "ours", "twice", "twice in JSON", "anchor", "cut off", "system"],
)
def test_what_is_no_network(text: str, expected: str, tmp_path: Path) -> None:
    assert message(tmp_path, text) == expected.replace("{path}", str(tmp_path / "net"))
