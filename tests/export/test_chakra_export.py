"""Schedules to folders of traces and back: the same stages, the same bytes, the same time."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
import yaml
from chakra_folders import dimension, random_schedule, write_folder, written_and_read
from chakra_schema import attribute, read_trace

from themis_opt import Algorithm, Collective, Instance, Network, Topology, load_instance, schedule, simulate
from themis_opt.export.chakra.judge.folder_judge import interpret
from themis_opt.export.chakra.write.folder import AstraFolder
from themis_opt.export.chakra.write.replay import num_hops, replay_network
from themis_opt.files.schedule_file import load_schedule
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Occupancy
from themis_opt.problem.network import Dimension
from themis_opt.problem.schedule import Schedule

REDUCING = (Collective.ALL_REDUCE, Collective.REDUCE_SCATTER, Collective.ALL_GATHER)
RING, DIRECT, HALVING, BRUCK = Algorithm.RING, Algorithm.DIRECT, Algorithm.HALVING_DOUBLING, Algorithm.BRUCK

NETWORKS = {
    "ring": [dimension(RING, 5)],
    "direct": [dimension(DIRECT, 6)],
    "halving": [dimension(HALVING, 8)],
    "bruck-3": [dimension(BRUCK, 3)],
    "bruck-7": [dimension(BRUCK, 7)],
    "all-algorithms": [dimension(RING, 3), dimension(DIRECT, 3, GBps=200), dimension(HALVING, 4), dimension(BRUCK, 3)],
    "direct-through-a-switch": [dimension(DIRECT, 6, Topology.SWITCH), dimension(RING, 2)],
    "ring-through-a-switch": [dimension(RING, 4, Topology.SWITCH), dimension(DIRECT, 3)],
    "ring-on-full": [dimension(RING, 5, Topology.FULLY_CONNECTED), dimension(BRUCK, 2)],
    "direct-on-a-ring": [dimension(DIRECT, 7, Topology.RING)],
    "halving-on-a-ring": [dimension(HALVING, 8, Topology.RING), dimension(RING, 3)],
    "bruck-on-a-ring": [dimension(BRUCK, 6, Topology.RING)],
    "bruck-on-full": [dimension(BRUCK, 6, Topology.FULLY_CONNECTED), dimension(HALVING, 2)],
}


@pytest.mark.parametrize("collective", REDUCING)
@pytest.mark.parametrize("name", NETWORKS)
def test_traces_move_what_the_schedule_says_in_the_time_it_says(
    name: str, collective: Collective, tmp_path: Path
) -> None:
    """Every algorithm on every topology, orders and sequences at random, sizes that nothing divides.

    README's time is the interpreter's to the nanosecond, and the schedule's within 0.05 %.
    """
    made = random_schedule(NETWORKS[name], collective, 64_000_001)
    folder, found = written_and_read(made, tmp_path / "x")
    assert found.makespan_ns == folder.expected_ns
    assert f"expected time: {found.makespan_ns} ns" in (tmp_path / "x" / "README.md").read_text()
    table = simulate(made.instance, made).table
    for stage in found.traffic:
        assert table.paths[stage.chunk][stage.position] == (stage.phase, stage.dimension)
        steps = made.instance.network.dimensions[stage.dimension].num_steps()
        assert stage.num_steps == steps
        # Whole messages: at most half a byte each from the exact bytes.
        exact = table.costs[stage.chunk][stage.position].sent_bytes
        assert abs(stage.sent_bytes - exact) <= Fraction(stage.num_messages, 2)
    assert len(found.traffic) == made.num_chunks * table.num_stages
    assert found.makespan_ns is not None
    assert found.makespan_ns * 1000 == pytest.approx(simulate(made.instance, made).makespan_ps, rel=5e-4)


SHIPPED = [
    "2d-figure-5", "tpu-v4-64", "gaudi2-128:0", "gb200-nvl72-576:0", "hgx-h100-256:0",
    # The others have more ranks than a quick test can run: some of their dimensions.
    "2d-sw-sw:0", "2d-sw-sw:1", "3d-fc-ring-sw:0,2", "3d-fc-ring-sw:1", "4d-ring-fc-ring-sw:0,2",
    "4d-ring-fc-ring-sw:1,3", "4d-ring-sw-sw-sw:0,1", "3d-sw-sw-sw-hetero:1,2",
]  # fmt: skip


@pytest.mark.parametrize("collective", REDUCING)
@pytest.mark.parametrize(("size_bytes", "off"), [(64_000_000, 5e-4), (1_000_000, 5e-3)])
@pytest.mark.parametrize("name", SHIPPED)
def test_replays_of_shipped_networks(
    name: str, size_bytes: int, off: float, collective: Collective, tmp_path: Path
) -> None:
    network, _, subset = name.partition(":")
    dimensions = tuple(map(int, subset.split(","))) if subset else None
    instance = Instance(load_instance(network).network, collective, size_bytes, 4, dimensions=dimensions)
    assert instance.num_npus <= 72
    made = schedule(instance, "themis-scf")
    folder, found = written_and_read(made, tmp_path / "x")
    assert found.makespan_ns == folder.expected_ns
    assert made.makespan_ps is not None
    assert found.makespan_ns is not None
    assert found.makespan_ns * 1000 == pytest.approx(made.makespan_ps, rel=off)


def test_a_time_by_hand(tmp_path: Path) -> None:
    """Two chunks of 1001 bytes among 3 on a ring of 7 GB/s and 500.5 ns a step, Reduce-Scatter.

    A message has 1001/3 = 333.67, so 334 bytes: 500.5 + 334/7 = 548.2 ns, cut to 548. Two steps, two chunks: 2192 ns.
    """
    ring = Dimension(Topology.RING, 3, Fraction(7 * 10**9), Fraction(500_500))
    made = random_schedule([ring], Collective.REDUCE_SCATTER, 2002, 2)
    _, found = written_and_read(made, tmp_path / "x")
    assert found.makespan_ns == 2192


def test_sizes_below_a_byte_are_a_byte(tmp_path: Path) -> None:
    """One byte in one chunk among 4 x 3: every message would have a fraction of it."""
    made = random_schedule([dimension(HALVING, 4), dimension(RING, 3)], Collective.ALL_REDUCE, 1, 1)
    _, found = written_and_read(made, tmp_path / "x")
    sizes = {attribute(node, "comm_size").int64_val for node in read_trace(tmp_path / "x" / "rank.7.et")}
    assert sizes == {1}
    assert found.makespan_ns == 2 * (2 + 2) * 1000  # each byte arrives within the nanosecond of its latency


def test_dependencies_by_hand(tmp_path: Path) -> None:
    """One chunk, Reduce-Scatter on a ring of 3 (two steps), then a pair: everything waits for both sides before it."""
    made = random_schedule([dimension(RING, 3), dimension(DIRECT, 2)], Collective.REDUCE_SCATTER, 600, 1, seed=1)
    assert made.chunks[0].rs_order == (0, 1)
    write_folder(made, tmp_path / "x")
    nodes = read_trace(tmp_path / "x" / "rank.4.et")
    rows = [
        (
            node.id,
            {5: "send", 6: "recv"}[node.type],
            attribute(node, "comm_dst" if node.type == 5 else "comm_src").int32_val,
            attribute(node, "comm_size").int64_val,
            attribute(node, "comm_tag").int32_val,
            list(node.data_deps),
        )
        for node in nodes
    ]
    # Rank 4 is member 1 of its ring (3, 4, 5) and paired with rank 1. Tags: two for each of the two stages.
    assert rows == [
        (1, "send", 5, 200, 0, []),
        (2, "recv", 3, 200, 0, []),
        (3, "send", 5, 200, 1, [1, 2]),
        (4, "recv", 3, 200, 1, [1, 2]),
        (5, "send", 1, 100, 2, [3, 4]),
        (6, "recv", 1, 100, 2, [3, 4]),
    ]


def test_network_file_by_hand() -> None:
    """1.073741824 bytes/ns are the file's 1 "GB/s"; a switch has two hops, and a full link 1/(P-1) of the NPU's."""
    full = Dimension(Topology.FULLY_CONNECTED, 5, Fraction(4 * 2**30), Fraction(700_000))
    ring = Dimension(Topology.RING, 4, Fraction(3 * 2**30), Fraction(20_000))
    switch = Dimension(Topology.SWITCH, 8, Fraction(2**30, 3), Fraction(1_700_000))
    instance = Instance(Network("n", (full, ring, switch)))
    text = AstraFolder(schedule(instance, "baseline")).network_text
    assert list(yaml.safe_load(text)) == ["topology", "npus_count", "bandwidth", "latency"]
    assert text == (
        "topology: [FullyConnected, Ring, Switch]\nnpus_count: [5, 4, 8]\n"
        f"bandwidth: [1, 3, 0.{'3' * 30}]\nlatency: [700, 20, 850]\n"
    )
    assert replay_network(instance).dimensions[0].bandwidth_Bps == full.bandwidth_Bps


def test_network_file_of_other_algorithms_is_what_a_message_gets() -> None:
    """Direct through a switch: 4 messages share 4 GiB/s. Direct on a ring of 5: two hops share the latency."""
    through = Dimension(Topology.SWITCH, 5, Fraction(4 * 2**30), Fraction(700_000), DIRECT)
    around = Dimension(Topology.RING, 5, Fraction(4 * 2**30), Fraction(700_000), DIRECT)
    one = Dimension(Topology.FULLY_CONNECTED, 5, Fraction(4 * 2**30), Fraction(700_000), RING)
    folder = AstraFolder(schedule(Instance(Network("n", (through, around, one))), "baseline"))
    data = yaml.safe_load(folder.network_text)
    assert data["bandwidth"] == [1, 1, 4]
    assert data["latency"] == [350, 350, 700]
    assert folder.changed == (0, 1, 2)
    assert any("dim2 runs direct on a ring topology" in remark for remark in folder.remarks)


@pytest.mark.parametrize(("size", "hops"), [(2, [1]), (5, [1, 2, 2, 1]), (6, [1, 2, 3, 2, 1])])
def test_hops_on_a_ring(size: int, hops: list[int]) -> None:
    assert [num_hops(Topology.RING, size, ahead) for ahead in range(1, size)] == hops


def test_the_system_file_names_the_collective(tmp_path: Path) -> None:
    for collective in REDUCING:
        folder = tmp_path / collective
        write_folder(random_schedule([dimension(RING, 2)], collective), folder)
        system = json.loads((folder / "system.json").read_text())
        assert system == {
            "scheduling-policy": "LIFO",
            "preferred-dataset-splits": 1,
            f"{collective}-implementation-custom": ["rank"],
        }
        assert json.loads((folder / "memory.json").read_text()) == {"memory-type": "NO_MEMORY_EXPANSION"}


@pytest.mark.parametrize("ranks", [None, [0], [1, 3, 130, 179]])
def test_the_size_is_known_to_the_byte(ranks: list[int] | None, tmp_path: Path) -> None:
    """180 ranks: their peers take one byte or two."""
    dimensions = [dimension(DIRECT, 9), dimension(RING, 5), dimension(HALVING, 4)]
    folder = write_folder(random_schedule(dimensions, num_chunks=5), tmp_path / "x", ranks)
    files = list((tmp_path / "x").glob("rank.*.et"))
    assert len(files) == len(ranks or range(180))
    assert folder.size.num_bytes == sum(file.stat().st_size for file in files)
    assert folder.size.num_nodes == sum(len(read_trace(file)) for file in files)
    assert folder.least_size.num_bytes <= folder.size.num_bytes
    assert len(list((tmp_path / "x").iterdir())) == folder.num_files


def test_a_rank_is_the_same_alone_and_among_all(tmp_path: Path) -> None:
    made = random_schedule([dimension(BRUCK, 5), dimension(HALVING, 4), dimension(DIRECT, 3)])
    write_folder(made, tmp_path / "all")
    write_folder(made, tmp_path / "some", [7, 42])
    for rank in (7, 42):
        name = f"rank.{rank}.et"
        assert (tmp_path / "all" / name).read_bytes() == (tmp_path / "some" / name).read_bytes()


def test_pieces_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = random_schedule([dimension(DIRECT, 5), dimension(HALVING, 4)])
    write_folder(made, tmp_path / "whole")
    monkeypatch.setattr("themis_opt.export.chakra.write.traces.MAX_PIECE_NODES", 1)
    write_folder(made, tmp_path / "pieces")
    for rank in range(20):
        name = f"rank.{rank}.et"
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "pieces" / name).read_bytes()


def test_only_involved_dimensions_have_ranks(tmp_path: Path) -> None:
    """Of 4 x 1 x 3 x 2 with dim4 left out: 12 ranks of two dimensions, and a remark."""
    dimensions = tuple(dimension(RING, size) for size in (4, 1, 3, 2))
    instance = Instance(Network("n", dimensions), num_chunks=2, dimensions=(0, 1, 2))
    folder, found = written_and_read(schedule(instance, "themis-fifo"), tmp_path / "x")
    assert len(folder.ranks) == 12
    assert "npus_count: [4, 3]" in folder.network_text
    assert {stage.dimension for stage in found.traffic} == {0, 2}
    assert any(remark.startswith("dim2, dim4 of n take no part") for remark in folder.remarks)


@pytest.mark.parametrize(
    ("changes", "slower", "said"),
    [
        ({"occupancy": Occupancy.PIPELINED}, 1, "the schedule is pipelined, and a trace is not"),
        ({"chunk_overhead_ps": 5_000_000}, -1, "launching a chunk takes time in the schedule, and none in the replay"),
    ],
)
def test_what_a_replay_cannot_do_is_said(changes: dict[str, object], slower: int, said: str, tmp_path: Path) -> None:
    network = Network("n", (dimension(RING, 4), dimension(HALVING, 4)))
    instance = Instance(network, size_bytes=1_000_000, num_chunks=4, **changes)  # type: ignore[arg-type]
    folder, found = written_and_read(schedule(instance, "baseline"), tmp_path / "x")
    assert any(said in remark for remark in folder.remarks)
    assert said[1:] in (tmp_path / "x" / "README.md").read_text()
    assert found.makespan_ns is not None
    assert (found.makespan_ns * 1000 - folder.makespan_ps) * slower > 0.05 * folder.makespan_ps


def test_reduction_takes_no_time_in_a_replay(tmp_path: Path) -> None:
    """At 100 GB/s for sending and for reducing alike, Reduce-Scatter takes half as long there."""
    ring = dimension(RING, 4)
    slow = Dimension(ring.topology, 4, ring.bandwidth_Bps, reduction_bandwidth_Bps=ring.bandwidth_Bps)
    folder, found = written_and_read(random_schedule([slow], Collective.REDUCE_SCATTER), tmp_path / "x")
    assert any("reducing what arrives takes time on dim1" in remark for remark in folder.remarks)
    assert found.makespan_ns is not None
    assert 2 * found.makespan_ns * 1000 == pytest.approx(folder.makespan_ps, rel=1e-4)


def test_an_all_to_all_is_refused() -> None:
    made = random_schedule([dimension(RING, 2)], Collective.ALL_TO_ALL)
    with pytest.raises(InputError, match="this is an all-to-all"):
        AstraFolder(made)


def test_tags_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """3 chunks of 4 stages of up to 4 messages: 48 tags."""
    made = random_schedule([dimension(DIRECT, 5), dimension(RING, 2)])
    monkeypatch.setattr("themis_opt.export.chakra.write.plan.MAX_TAG", 48)
    AstraFolder(made)
    monkeypatch.setattr("themis_opt.export.chakra.write.plan.MAX_TAG", 47)
    with pytest.raises(InputError, match="3 chunks of 4 stages of up to 4 messages need tags above 47"):
        AstraFolder(made)


def test_more_ranks_than_an_int32_are_refused() -> None:
    made = random_schedule([dimension(RING, 2000)] * 3, num_chunks=1)
    with pytest.raises(InputError, match="8000000000 NPUs, and a trace numbers at most 2147483647"):
        AstraFolder(made, [0])


def test_one_rank_of_a_large_network(tmp_path: Path) -> None:
    """Nothing is worked out for the 399,999 others."""
    made = random_schedule([dimension(RING, 20_000), dimension(HALVING, 4), dimension(BRUCK, 5)], num_chunks=1)
    folder = write_folder(made, tmp_path / "x", [399_999])
    nodes = read_trace(tmp_path / "x" / "rank.399999.et")
    assert len(nodes) == folder.size.num_nodes == 2 * 2 * (19_999 + 2 + 3)
    assert interpret_error(tmp_path / "x") == "has 400000 ranks, and at most 1024 are interpreted"


def interpret_error(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        interpret(str(folder))
    return str(caught.value).split(": ")[1].split(";")[0]


def test_the_folder_has_the_schedule(tmp_path: Path) -> None:
    made: Schedule = random_schedule([dimension(RING, 3)])
    write_folder(made, tmp_path / "x")
    assert load_schedule(tmp_path / "x" / "schedule.json") == made
