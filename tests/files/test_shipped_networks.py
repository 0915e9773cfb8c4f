"""The shipped networks and instances: they load, Table 2's are exact, and every figure says where it is from."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from themis_opt.files.instance_file import load_instance
from themis_opt.files.network_file import load_network
from themis_opt.files.shipped import shipped_instances, shipped_networks
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Occupancy
from themis_opt.problem.network import Algorithm, Dimension, Topology

Number = int | Fraction

RING, FC, SWITCH = Topology.RING, Topology.FULLY_CONNECTED, Topology.SWITCH

# Rashidi et al., ISCA 2022 (arXiv 2110.04478), Table 2, page 10. Per dimension:
# topology, size, links per NPU, Gb/s per link, Gb/s of all links together, step latency in ns.
TABLE_2: dict[str, list[tuple[Topology, int, int | None, Number, Number, Number]]] = {
    "2d-sw-sw": [(SWITCH, 16, 6, 200, 1200, 700), (SWITCH, 64, 1, 800, 800, 1700)],
    "3d-sw-sw-sw-homo": [(SWITCH, 16, 4, 200, 800, 700), (SWITCH, 8, 4, 200, 800, 700), (SWITCH, 8, 1, 800, 800, 1700)],
    "3d-sw-sw-sw-hetero": [
        (SWITCH, 16, 8, 200, 1600, 700),
        (SWITCH, 8, 4, 200, 800, 700),
        (SWITCH, 8, 1, 400, 400, 1700),
    ],
    "3d-fc-ring-sw": [(FC, 8, 7, 200, 1400, 700), (RING, 16, 4, 200, 800, 700), (SWITCH, 8, 1, 400, 400, 1700)],
    "4d-ring-sw-sw-sw": [
        (RING, 4, 2, 1000, 2000, 20),
        (SWITCH, 4, 8, 200, 1600, 700),
        (SWITCH, 8, 4, 200, 800, 700),
        (SWITCH, 8, 1, 400, 400, 1700),
    ],
    "4d-ring-fc-ring-sw": [
        (RING, 4, 2, 1500, 3000, 20),
        (FC, 8, 7, 200, 1400, 700),
        (RING, 4, 6, 200, 1200, 700),
        (SWITCH, 8, 1, 800, 800, 1700),
    ],
}

# The artifact's network inputs. Per dimension: GiB/s of all links together, ns per step (1 per link, a switch has two).
ARTIFACT: dict[str, list[tuple[Number, Number]]] = {
    "2d-sw-sw": [(150, 2), (100, 2)],
    "3d-sw-sw-sw-homo": [(100, 2), (100, 2), (100, 2)],
    "3d-sw-sw-sw-hetero": [(200, 2), (100, 2), (50, 2)],
    "3d-fc-ring-sw": [(175, 1), (100, 1), (50, 2)],
    "4d-ring-sw-sw-sw": [(250, 1), (200, 2), (100, 2), (50, 2)],
    "4d-ring-fc-ring-sw": [(375, 1), (175, 1), (150, 1), (100, 2)],
}

# Other platforms, one way and per NPU; the files name the documents. Per dimension: size, GB/s.
DATASHEETS: dict[str, list[tuple[int, Number]]] = {
    "hgx-h100-256": [(8, 450), (32, 50)],  # 900 GB/s of NVLink both ways; a 400 Gb/s NIC
    "dgx-a100-128": [(8, 300), (16, 25)],  # 600 GB/s of NVLink both ways; a 200 Gb/s NIC
    "gb200-nvl72-576": [(72, 900), (8, 50)],  # 1.8 TB/s of NVLink both ways; a 400 Gb/s NIC
    "gaudi2-128": [(8, Fraction(525, 2)), (16, Fraction(75, 2))],  # 21 and 3 ports of 100 Gb/s
    "tpu-v4-64": [(4, 100)] * 3,  # 6 links of 50 GB/s
    "tpu-v4-4096": [(16, 100)] * 3,
    "tpu-v5p-6144": [(16, 200), (16, 200), (24, 200)],  # 1200 GB/s per chip both ways
    "2d-current": [(16, 150), (64, Fraction(25, 2))],  # 1200 and 100 Gb/s (Section 3.2)
}

NETWORKS = sorted(shipped_networks())
INSTANCES = sorted(shipped_instances())


def gigabits(dimension: Dimension) -> Fraction:
    return dimension.bandwidth_Bps * 8 / 10**9


@pytest.mark.parametrize("name", TABLE_2)
def test_table_2_is_shipped_exactly(name: str) -> None:
    network = load_network(name)
    shipped = [
        (d.topology, d.size, d.links, gigabits(d) / (d.links or 1), gigabits(d), d.latency_ps / 1000)
        for d in network.dimensions
    ]
    assert shipped == TABLE_2[name]
    assert network.num_npus == 1024


@pytest.mark.parametrize("name", TABLE_2)
def test_table_2_networks_run_table_1s_algorithms(name: str) -> None:
    algorithms = {RING: Algorithm.RING, FC: Algorithm.DIRECT, SWITCH: Algorithm.HALVING_DOUBLING}
    for network in (load_network(name), load_network(f"{name}-artifact")):
        assert [d.algorithm for d in network.dimensions] == [algorithms[d.topology] for d in network.dimensions]


@pytest.mark.parametrize("name", ARTIFACT)
def test_artifact_networks_have_binary_units_and_one_nanosecond_per_link(name: str) -> None:
    artifact, table = load_network(f"{name}-artifact"), load_network(name)
    assert [(d.bandwidth_Bps / 2**30, d.latency_ps / 1000) for d in artifact.dimensions] == ARTIFACT[name]
    assert [(d.topology, d.size) for d in artifact.dimensions] == [(d.topology, d.size) for d in table.dimensions]
    # 1 GB/s was read as 2^30 bytes per second: 7.4 % more than Table 2 says, in every dimension.
    for simulated, stated in zip(artifact.dimensions, table.dimensions, strict=True):
        assert simulated.bandwidth_Bps / stated.bandwidth_Bps == Fraction(2**30, 10**9)


@pytest.mark.parametrize("name", DATASHEETS)
def test_other_platforms_have_their_documents_bandwidths_one_way(name: str) -> None:
    dimensions = load_network(name).dimensions
    assert [(d.size, d.bandwidth_Bps / 10**9) for d in dimensions] == DATASHEETS[name]


def test_every_shipped_network_is_checked_here() -> None:
    artifacts = {f"{name}-artifact" for name in ARTIFACT}
    assert set(NETWORKS) == {*TABLE_2, *artifacts, *DATASHEETS, "2d-figure-5"}


def test_figure_5_example_has_a_unit_of_one_millisecond() -> None:
    first, second = load_network("2d-figure-5").dimensions
    # A chunk is 256 MB / 4 = 64 MB; Reduce-Scatter among 4 NPUs sends 3/4 of it.
    assert Fraction(64 * 10**6 * 3, 4) / first.bandwidth_Bps == Fraction(1, 1000)
    assert first.bandwidth_Bps == 2 * second.bandwidth_Bps
    assert [dimension.size for dimension in (first, second)] == [4, 4]
    assert not any(dimension.latency_ps for dimension in (first, second))


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_says_where_its_figures_are_from(name: str) -> None:
    network = load_network(name)
    assert network.name == name
    assert network.source
    for dimension in network.dimensions:
        # Clauses divided by semicolons outside parentheses, each beginning with the kind of its source.
        clauses = re.sub(r"\([^()]*\)", "", dimension.note).split("; ")
        assert all(re.match(r"(datasheet|paper|assumption): ", clause) for clause in clauses), dimension.note
        for figure in ("size", "bandwidth", "latency"):
            assert figure in dimension.note, f"{name}: where is the {figure} from? {dimension.note}"


@pytest.mark.parametrize("name", [*NETWORKS, *INSTANCES])
def test_every_file_begins_with_a_comment_on_what_it_models(name: str) -> None:
    path = {**shipped_networks(), **shipped_instances()}[name]
    first_line = path.read_text(encoding="utf-8").splitlines()[0]
    assert re.match(r"# \S", first_line)


@pytest.mark.parametrize("name", INSTANCES)
def test_every_instance_loads_on_a_shipped_network(name: str) -> None:
    assert load_instance(name).network == load_network(load_instance(name).network.name)


def test_no_instance_hides_a_network_of_the_same_name() -> None:
    assert not set(NETWORKS) & set(INSTANCES)


def test_shipped_instances_show_every_collective_and_option() -> None:
    instances = [load_instance(name) for name in INSTANCES]
    assert {instance.collective for instance in instances} == set(Collective)
    assert {instance.occupancy for instance in instances} == set(Occupancy)
    assert any(instance.dimensions for instance in instances)


def test_figure_5_known_optimum_is_what_the_count_of_busy_units_proves() -> None:
    # Each of the 8 phases has the whole chunk on one dimension (1 unit on dim1, 2 on dim2) and a quarter on the
    # other; with n of them whole on dim1 the busier dimension bounds the makespan, and the best n is 6.
    quarter = Fraction(1, 4)
    busier = [max(n * 1 + (8 - n) * quarter, n * 2 * quarter + (8 - n) * 2) for n in range(9)]
    assert min(busier) == busier[6] == 7
    known = load_instance("figure-5").known
    assert known is not None
    assert (known.makespan_ps, known.bound_ps) == (7 * 10**9, 7 * 10**9)
