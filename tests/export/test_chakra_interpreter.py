"""The judge of trace folders: wrong folders are rejected, and the place is named."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chakra_folders import dimension, random_schedule, write_folder
from chakra_schema import attribute, change, read_trace

import themis_opt
from themis_opt import Algorithm, Collective, Topology
from themis_opt.export.chakra.judge.columns import read_nodes
from themis_opt.export.chakra.judge.derivation import Derivation, Findings, stage_rule
from themis_opt.export.chakra.judge.folder_judge import interpret_folder
from themis_opt.export.chakra.judge.setup import read_setup
from themis_opt.export.chakra.judge.symbols import execute_chunks
from themis_opt.export.chakra.judge.waiting import Run, match, run
from themis_opt.export.stage_messages import stage_steps
from themis_opt.export.verdict import Verdict
from themis_opt.problem.collective import Phase
from themis_opt.problem.errors import InputError

RING, DIRECT, HALVING, BRUCK = Algorithm.RING, Algorithm.DIRECT, Algorithm.HALVING_DOUBLING, Algorithm.BRUCK
pytest_plugins = ["chakra_fixtures"]

SEND, RECV = 5, 6


def judge(folder: Path) -> Verdict:
    return interpret_folder(str(folder))


def test_a_right_folder_is_right(folder: Path) -> None:
    """Per chunk 2 x 3 ring messages and 2 x 2 direct ones: 10 SENDs of 12 ranks and 2 chunks."""
    verdict = judge(folder)
    assert verdict.findings == ()
    assert verdict.summary.startswith("all-reduce on 12 ranks, 2 chunks, 480 nodes, 240 messages: every rank ends with")
    assert "makespan" in verdict.summary


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("system.json", '{"scheduling-policy": "LIFO"}', "preferred-dataset-splits: must be 1"),
        ("system.json", "[", "not valid JSON"),
        ("system.json", None, "no such file"),
        (
            "network.yml",
            "topology: [Ring]",
            "npus_count: is missing; an ASTRA-sim 2 network needs: ",
        ),
        (
            "network.yml",
            "topology: [Ring]\nnpus_count: [4]\nbandwidth: [1]\nlatency: [1]\n",
            "topology: must be a list of 2 values, one per dimension",
        ),
        ("network.yml", None, "no such file"),
        ("memory.json", "{}", "memory-type must be"),
        ("schedule.json", "{}", "format: is missing"),
        ("schedule.json", None, "has no schedule.json"),
        ("rank.3.et", None, "rank.3.et: is missing beside wl.3.et"),
        ("wl.3.et", None, "wl.3.et: is missing beside rank.3.et"),
        ("wl.3.et", "", "the file is empty"),
        ("rank.3.et", "\x7f", "a record of 127 bytes begins here"),
        ("rank.99.et", "", "is of rank 99, and the ranks are 0 to 11"),
    ],
)
def test_other_files_that_are_wrong(name: str, text: str | None, said: str, folder: Path) -> None:
    if text is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(text)
    with pytest.raises(InputError, match=said):
        judge(folder)


@pytest.mark.parametrize("prefix", ["../../x", "/etc/x", "a/../../b", "..", "x\0y", "", "a/b", 7])
def test_a_prefix_that_leads_out_of_the_folder(prefix: object, folder: Path) -> None:
    system = json.loads((folder / "system.json").read_text())
    system["all-reduce-implementation-custom"] = [prefix]
    (folder / "system.json").write_text(json.dumps(system))
    with pytest.raises(InputError, match=r"system.json: all-reduce-implementation-custom: "):
        judge(folder)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("topology", "Switch", r"topology\[0\]: is not the schedule's, ring"),
        ("npus_count", "5", r"npus_count\[0\]: is not the schedule's, 4"),
        ("bandwidth", "93", "a message gets 99.8"),
        ("latency", "999", "the latency of a stage is 2997 ns; the schedule's is 3000"),
    ],
)
def test_a_network_that_is_not_the_schedules(key: str, value: str, said: str, folder: Path) -> None:
    """It can be read, and claims something false."""
    change_network(folder, key, value)
    (finding,) = judge(folder).findings
    assert re.search(rf"^network.yml: .*{said}", str(finding))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("latency", "-1", r"latency\[0\]: -1 ns is negative"),
        ("bandwidth", "1e999", r"bandwidth\[0\]"),
    ],
)
def test_a_network_that_is_none(key: str, value: str, said: str, folder: Path) -> None:
    change_network(folder, key, value)
    with pytest.raises(InputError, match=said):
        judge(folder)


def change_network(folder: Path, key: str, value: str) -> None:
    lines = (folder / "network.yml").read_text().splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith(key))
    lines[place] = f"{key}: [{value}, {lines[place].split(', ')[1]}"
    (folder / "network.yml").write_text("\n".join(lines))


def test_an_unknown_key_of_the_network(folder: Path) -> None:
    with (folder / "network.yml").open("a") as file:
        file.write("foo: 1\n")
    with pytest.raises(InputError, match=r"network\.yml: foo: unknown key"):
        judge(folder)


def test_a_schedule_that_claims_a_false_makespan(folder: Path) -> None:
    claims = json.loads((folder / "schedule.json").read_text())
    claims["makespan_ps"] = 1
    (folder / "schedule.json").write_text(json.dumps(claims))
    (finding,) = judge(folder).findings
    assert str(finding).startswith("schedule.json: is no valid schedule: ")


def test_a_schedule_that_claims_a_bound_which_a_heuristic_refutes(folder: Path) -> None:
    claims = json.loads((folder / "schedule.json").read_text())
    count = len(claims["chunks"])
    scope = {"sizes": "equal", "num_chunks": [count, count]}
    made = themis_opt.load_schedule(folder / "schedule.json")
    least_ps = themis_opt.schedule(made.instance, "themis-scf").makespan_ps
    assert least_ps is not None
    assert least_ps < themis_opt.simulate(made.instance, made).makespan_ps
    claims.update(bound_ps=least_ps + 1, bound_kind="cp-sat", bound_scope=scope)
    (folder / "schedule.json").write_text(json.dumps(claims))
    (finding,) = judge(folder).findings
    assert str(finding).startswith(
        f"schedule.json: is no valid schedule: the bound is {least_ps + 1} ps on the word of"
    )


def test_a_readme_that_promises_another_time(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    (folder / "README.md").write_text(text.replace("expected time: ", "expected time: 1"))
    (finding,) = judge(folder).findings
    assert re.fullmatch(r"README.md: promises 1(\d+) ns, and by ASTRA-sim's rule it takes \1 ns", str(finding))
    (folder / "README.md").unlink()  # without one nothing is promised
    assert judge(folder).is_right


def test_a_workload_of_another_collective(folder: Path) -> None:
    def scatter(nodes: list[Any]) -> None:
        attribute(nodes[0], "comm_type").int64_val = 7

    change(folder / "wl.2.et", scatter)
    (finding,) = judge(folder).findings
    assert str(finding) == "wl.2.et: comm_type is 7; an all-reduce is 0"


@pytest.mark.parametrize("collective", [Collective.ALL_REDUCE, Collective.REDUCE_SCATTER, Collective.ALL_GATHER])
def test_a_workload_of_another_size(collective: Collective, tmp_path: Path) -> None:
    """Each byte counts: the simulator reports the bandwidth of the size that stands there."""
    folder = tmp_path / "x"
    write_folder(random_schedule([dimension(RING, 4), dimension(DIRECT, 3)], collective, 120_000, 2), folder)
    assert judge(folder).is_right
    size_bytes = 0

    def grow(nodes: list[Any]) -> None:
        nonlocal size_bytes
        size_bytes = attribute(nodes[0], "comm_size").int64_val
        attribute(nodes[0], "comm_size").int64_val = size_bytes + 1

    change(folder / "wl.1.et", grow)
    (finding,) = judge(folder).findings
    assert str(finding) == f"wl.1.et: comm_size is {size_bytes + 1}; the schedule's is {size_bytes}"


def test_the_older_name_of_the_key_is_named(folder: Path) -> None:
    text = (folder / "system.json").read_text().replace("-custom", "-chakra")
    (folder / "system.json").write_text(text)
    with pytest.raises(InputError, match="all-reduce-implementation-chakra is the older name"):
        judge(folder)


def test_too_many_ranks_are_refused(tmp_path: Path) -> None:
    made = random_schedule([dimension(DIRECT, 41), dimension(RING, 25)], num_chunks=1)
    write_folder(made, tmp_path / "x", [0])
    with pytest.raises(InputError, match="has 1025 ranks, and at most 1024 are interpreted"):
        judge(tmp_path / "x")


def test_too_many_nodes_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("themis_opt.export.chakra.judge.columns.MAX_NODES", 300)
    with pytest.raises(InputError, match="too many to interpret"):
        judge(folder)
    monkeypatch.setattr("themis_opt.export.chakra.judge.columns.MAX_TRACE_BYTES", 3000)
    with pytest.raises(InputError, match="bytes of traces, and at most 3000 are interpreted"):
        judge(folder)


def test_some_ranks_are_checked_by_themselves(folder: Path) -> None:
    for rank in set(range(12)) - {1, 5}:
        (folder / f"rank.{rank}.et").unlink()
        (folder / f"wl.{rank}.et").unlink()
    verdict = judge(folder)
    assert verdict.is_right
    assert verdict.summary.startswith("2 of 12 ranks, 2 chunks, 80 nodes: each rank's messages")

    def enlarge(nodes: list[Any]) -> None:
        attribute(nodes[0], "comm_size").int64_val += 1

    change(folder / "rank.5.et", enlarge)
    assert judge(folder).findings[0].rank == 5


@pytest.mark.parametrize("phase", [Phase.REDUCE_SCATTER, Phase.ALL_GATHER])
@pytest.mark.parametrize(
    ("algorithm", "size"),
    [
        (algorithm, size)
        for algorithm in Algorithm
        for size in (2, 3, 4, 7, 8)
        if algorithm is not HALVING or size not in (3, 7)  # halving-doubling needs a power of two
    ],
)
def test_two_derivations_of_the_messages_agree(algorithm: Algorithm, size: int, phase: Phase) -> None:
    """The interpreter's own rule against what exports are written from."""
    rule = stage_rule(dimension(algorithm, size, Topology.SWITCH), phase)
    for member in range(size):
        steps = stage_steps(algorithm, phase, size, member)
        sends = [(step, send) for step, sends in enumerate(steps) for send in sends]
        assert rule.num_messages == len(sends)
        for number, (step, send) in enumerate(sends):
            assert rule.step_of[number] == step
            assert rule.receiver[number, member] == send.receiver
            assert rule.first_part[number, member] == send.first_part
            assert rule.num_parts[step] == send.num_parts
            assert rule.sender[number, send.receiver] == member


@pytest.mark.parametrize("collective", [Collective.ALL_REDUCE, Collective.REDUCE_SCATTER, Collective.ALL_GATHER])
def test_symbols_see_what_moves_at_the_wrong_time(collective: Collective, folder: Path, tmp_path: Path) -> None:
    """With all messages read at once, before anything arrives, no collective comes about."""
    write_folder(random_schedule([dimension(RING, 4), dimension(DIRECT, 3)], collective, num_chunks=2), tmp_path / "y")
    setup = read_setup(str(tmp_path / "y"))
    derivation = Derivation(setup.schedule)
    nodes = read_nodes(setup)
    findings = Findings(derivation)
    sends, receives = match(nodes, setup.ranks, findings)
    right = run(nodes, sends, receives, np.zeros(len(sends), np.int64))
    execute_chunks(setup.schedule, derivation, nodes, sends, receives, right, findings)
    assert not findings
    at_once = Run(np.where(nodes.is_send, 0, 1), right.end_ns)
    execute_chunks(setup.schedule, derivation, nodes, sends, receives, at_once, findings)
    assert findings.found
    assert all(finding.chunk is not None for finding in findings.found)


def test_the_traces_are_really_read(folder: Path) -> None:
    """The fixture's own file, for whoever changes it: rank 5 has 40 nodes."""
    assert len(read_trace(folder / "rank.5.et")) == 40
