"""ASTRA-sim's system files: algorithms and chunks are taken over, schedulers named, the rest said to be ignored."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from astra_texts import FC, RING, SWITCH, TABLE_2, Row, astra1_system_text, astra1_text

from themis_opt.files.importing import import_network, import_system
from themis_opt.problem.errors import InputError
from themis_opt.problem.network import Algorithm
from themis_opt.schedulers.registry import SCHEDULERS

ROW = Row((RING, FC, SWITCH), (4, 8, 8), (1, 7, 1), (1, 1, 1), (1, 1, 1))
VERSION_2 = {
    "scheduling-policy": "LIFO",
    "endpoint-delay": 10,
    "active-chunks-per-dimension": 1,
    "preferred-dataset-splits": 4,
    "all-reduce-implementation": ["ring", "direct", "halvingDoubling"],
    "all-gather-implementation": ["ring", "direct", "ring"],
    "collective-optimization": "localBWAware",
    "local-mem-bw": 1600.5,
    "peak-perf": 900,
    "roofline-enabled": 0,
    "inter-dimension-scheduling": "themis",
    "boost-mode": 0,
}


def remarks_of(folder: Path, text: str) -> list[str]:
    (folder / "system").write_text(text)
    return [str(remark) for remark in import_system(folder / "system").remarks]


def message_with(folder: Path, text: str, row: Row = ROW) -> str:
    """Return what is wrong with a system file beside a network."""
    (folder / "system").write_text(text)
    (folder / "net.json").write_text(astra1_text(row))
    with pytest.raises(InputError) as caught:
        import_network(folder / "net.json", system=folder / "system")
    return str(caught.value).removeprefix(f"{folder / 'system'}: ")


def test_version_2_says_what_becomes_of_every_key(tmp_path: Path) -> None:
    assert remarks_of(tmp_path, json.dumps(VERSION_2)) == [
        "converted: preferred-dataset-splits: 4 splits = 4 chunks, an instance's: --chunks 4",
        "converted: all-reduce-implementation: ring, direct, halvingDoubling: algorithms ring, direct, "
        "halving-doubling, for every collective",
        "ignored: all-gather-implementation: ring, direct, ring: differs from all-reduce-implementation, which counts "
        "for every collective",
        "ignored: inter-dimension-scheduling: 'themis': nobody reads it in ASTRA-sim 2",
        "ignored: scheduling-policy: 'LIFO': which of several collectives goes first; one collective is scheduled here",
        "ignored: endpoint-delay: 10: not modelled; add it to the latency of a step if it matters",
        "ignored: active-chunks-per-dimension: 1: exclusive occupancy is 1, and no other number is modelled",
        "ignored: collective-optimization: 'localBWAware': the orders are the schedulers': localBWAware is baseline's",
        "ignored: local-mem-bw: 1600.5: the memory is not modelled",
        "ignored: peak-perf: 900: computation is not modelled",
        "ignored: roofline-enabled: 0: computation is not modelled",
        "ignored: boost-mode: 0: nobody reads it in ASTRA-sim 2",
    ]


def test_either_version_goes_with_either_network(tmp_path: Path) -> None:
    """The algorithms are those of the system file, not the topologies' own."""
    (tmp_path / "net.json").write_text(astra1_text(ROW))
    (tmp_path / "v2").write_text(json.dumps({**VERSION_2, "all-reduce-implementation": ["direct", "direct7", "ring"]}))
    (tmp_path / "v1").write_text(astra1_system_text(ROW, all_reduce_implementation="direct_direct_ring"))
    for system, num_chunks in (("v2", 4), ("v1", 64)):
        result = import_network(tmp_path / "net.json", system=tmp_path / system)
        algorithms = [dimension.algorithm for dimension in result.network.dimensions]
        assert algorithms == [Algorithm.DIRECT, Algorithm.DIRECT, Algorithm.RING]
        assert result.num_chunks == num_chunks


def test_without_all_reduce_the_next_collective_counts_but_never_all_to_all(tmp_path: Path) -> None:
    (tmp_path / "net.json").write_text(astra1_text(ROW))
    for key, expected in (("reduce-scatter", ["ring"] * 3), ("all-to-all", ["ring", "direct", "halving-doubling"])):
        text = json.dumps({f"{key}-implementation": ["ring"] * 3, "preferred-dataset-splits": 1})
        (tmp_path / "system").write_text(text)
        result = import_network(tmp_path / "net.json", system=tmp_path / "system")
        assert [dimension.algorithm for dimension in result.network.dimensions] == expected


def test_a_flat_algorithm_is_the_plain_one_on_one_dimension(tmp_path: Path) -> None:
    row = Row((SWITCH,), (8,), (1,), (1,), (1,))
    (tmp_path / "net.json").write_text(astra1_text(row))
    (tmp_path / "system").write_text(astra1_system_text(row, all_reduce_implementation="oneRing"))
    result = import_network(tmp_path / "net.json", system=tmp_path / "system")
    assert result.network.dimensions[0].algorithm is Algorithm.RING


@pytest.mark.parametrize("version", [1, 2])
def test_one_ring_through_several_dimensions_is_a_scheduler(version: int, tmp_path: Path) -> None:
    (tmp_path / "net.json").write_text(astra1_text(ROW))
    text = json.dumps({"all-reduce-implementation": ["oneRing"] * 3, "preferred-dataset-splits": 4})
    if version == 1:
        text = astra1_system_text(ROW, all_reduce_implementation="oneRing_oneRing_oneRing")
    (tmp_path / "system").write_text(text)
    result = import_network(tmp_path / "net.json", system=tmp_path / "system")
    assert [str(dimension.algorithm) for dimension in result.network.dimensions] == [
        "ring",
        "direct",
        "halving-doubling",
    ]
    (said,) = [str(remark) for remark in result.remarks if "oneRing" in str(remark)]
    assert "one ring through all NPUs is scheduler flat-ring" in said


@pytest.mark.parametrize(
    ("scheduler", "queue", "names"),
    [
        ("baseline", "FIFO", ["baseline", "baseline-astra"]),
        ("themis", "FIFO", ["themis-fifo", "themis-astra-fifo"]),
        ("themis", "SCF", ["themis-scf", "themis-astra-scf"]),
        ("offlineGreedyFlex", "SCF", ["themis-flex-scf"]),
        ("roundRobin", "FIFO", ["round-robin"]),
        ("baseline", "SCF", []),
        ("themis", "RG", []),
    ],
)
def test_version_1_names_our_scheduler(scheduler: str, queue: str, names: list[str], tmp_path: Path) -> None:
    said = remarks_of(tmp_path, astra1_system_text(ROW, scheduler, queue))
    (line,) = [line for line in said if "inter-dimension-scheduling: " in line]
    told = re.findall(r"[a-z-]+", line.partition("use scheduler ")[2])
    assert [name for name in told if name in SCHEDULERS.names()] == names
    assert ("no scheduler here serves" in line) == (not names)


@pytest.mark.parametrize(
    ("implementation", "expected"),
    [
        (
            "ring_direct",
            "all-reduce-implementation: names 2 algorithms, but the network has 3 dimensions; name one per dimension",
        ),
        (
            "ring_direct_doubleBinaryTree",
            "all-reduce-implementation[2]: 'doubleBinaryTree' is no dimension's algorithm here; write ring, direct or "
            "halvingDoubling (the scheduler double-binary-tree predicts one tree through all NPUs)",
        ),
        (
            "oneRing_ring_ring",
            "all-reduce-implementation[0]: 'oneRing' joins all NPUs of all dimensions in one group, and a chunk visits "
            "every dimension here; write 'ring'",
        ),
        (
            "ring_direct3_ring",
            "all-reduce-implementation[1]: 'direct3' sends 3 messages at a time, and 8 NPUs have 7 to send; only all "
            "at once is modelled: write 'direct'",
        ),
        (
            "ring_direct_halvingdoubling",
            "all-reduce-implementation[2]: 'halvingdoubling' is not allowed; one of: ring, direct, halvingDoubling, "
            "oneRing, oneDirect, oneHalvingDoubling, doubleBinaryTree (did you mean 'halvingDoubling'? case matters)",
        ),
    ],
)
def test_algorithms_without_counterpart(implementation: str, expected: str, tmp_path: Path) -> None:
    text = astra1_system_text(ROW, all_reduce_implementation=implementation)
    assert message_with(tmp_path, text) == expected


def test_halving_doubling_needs_a_power_of_two(tmp_path: Path) -> None:
    row = Row((SWITCH,), (6,), (1,), (1,), (1,))
    assert message_with(tmp_path, astra1_system_text(row), row) == (
        "all-reduce-implementation[0]: 'halvingDoubling' needs a power of two, and this dimension has 6 NPUs "
        "(ASTRA-sim ends without completing it); write ring or direct"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            astra1_system_text(ROW, prefered_dataset_splits="64"),
            "prefered-dataset-splits: unknown key; an ASTRA-sim 1 system file has: preferred-dataset-splits, ",
        ),
        (json.dumps({**VERSION_2, "local_mem_bw": 1}), "local_mem_bw: unknown key; an ASTRA-sim 2 system file has: "),
        (
            astra1_system_text(ROW, preferred_dataset_splits="0"),
            "preferred-dataset-splits: 0 is not allowed; expected a number of chunks, whole and from 1 to 65536",
        ),
        (
            json.dumps({**VERSION_2, "preferred-dataset-splits": 4.5}),
            "preferred-dataset-splits: 4.5 is not allowed; expected a number of chunks, whole and from 1 to 65536",
        ),
        (
            astra1_system_text(ROW, "themes"),
            "inter-dimension-scheduling: 'themes' is not allowed; one of: baseline, ascending, themis, offlineGreedy, "
            "offlineGreedyFlex, roundRobin (did you mean 'themis'?)",
        ),
        (
            astra1_system_text(ROW, queue="scf"),
            "intra-dimension-scheduling: 'scf' is not allowed; one of: FIFO, SCF, smallestFirst, RG, "
            "lessRemainingPhaseFirst (did you mean 'SCF'? case matters)",
        ),
        (
            json.dumps({**VERSION_2, "all-reduce-implementation": "ring_direct_ring"}),
            "all-reduce-implementation: 'ring_direct_ring' is not allowed; expected a list of words, such as "
            '["ring", "direct"]',
        ),
        (
            astra1_system_text(ROW, all_reduce_implementation="7"),
            "all-reduce-implementation: 7 is not allowed; expected words joined by _, such as ring_direct",
        ),
        (astra1_system_text(ROW) + "boost-mode: 1\n", "line 13: 'boost-mode' stands twice; remove one"),
        (
            astra1_system_text(ROW) + "and no colon\n",
            "line 13: 'and no colon' is not allowed; expected a key, a colon and a value",
        ),
        (astra1_text(ROW), "is an ASTRA-sim 1 network; expected an ASTRA-sim system file"),
        ("hello\n", "is something else; expected an ASTRA-sim system file"),
    ],
)
def test_wrong_system_files(text: str, expected: str, tmp_path: Path) -> None:
    assert message_with(tmp_path, text).startswith(expected)


def test_a_misspelt_key_has_a_hint(tmp_path: Path) -> None:
    text = astra1_system_text(ROW, prefered_dataset_splits="64")
    assert message_with(tmp_path, text).endswith("(did you mean 'preferred-dataset-splits'?)")


@pytest.mark.parametrize("name", TABLE_2)
def test_a_remark_stands_for_every_key(name: str, tmp_path: Path) -> None:
    text = astra1_system_text(TABLE_2[name])
    said = remarks_of(tmp_path, text)
    for line in text.splitlines():
        key = line.partition(":")[0]
        assert any(key in remark for remark in said), key
