"""Traces with one thing wrong: the judge rejects them and names rank, chunk and step."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from chakra_schema import Node, attribute, change
from hypothesis import given, settings
from hypothesis import strategies as st

from themis_opt.export.chakra.judge.folder_judge import interpret, interpret_folder
from themis_opt.export.verdict import Verdict
from themis_opt.problem.errors import InputError

pytest_plugins = ["chakra_fixtures"]

SEND, RECV = 5, 6


def judge(folder: Path) -> Verdict:
    return interpret_folder(str(folder))


def first(nodes: list[Any], node_type: int, skip: int = 0) -> Any:
    return [node for node in nodes if node.type == node_type][skip]


def drop(nodes: list[Any]) -> None:
    nodes.remove(first(nodes, SEND, 3))


def drop_the_last(nodes: list[Any]) -> None:
    nodes.pop()


def double(nodes: list[Any]) -> None:
    twin = Node.FromString(first(nodes, SEND, 3).SerializeToString())
    twin.id = nodes[-1].id + 1
    nodes.append(twin)


def enlarge(nodes: list[Any]) -> None:
    attribute(first(nodes, SEND, 3), "comm_size").int64_val += 1


def enlarge_what_is_expected(nodes: list[Any]) -> None:
    attribute(first(nodes, RECV, 3), "comm_size").int64_val += 1


def retag(nodes: list[Any]) -> None:
    attribute(first(nodes, SEND, 3), "comm_tag").int32_val ^= 1


def tag_of_nothing(nodes: list[Any]) -> None:
    attribute(first(nodes, SEND, 3), "comm_tag").int32_val = 10**6


def readdress(nodes: list[Any]) -> None:
    peer = attribute(first(nodes, SEND, 3), "comm_dst")
    peer.int32_val = (peer.int32_val + 1) % 12


def address_beyond(nodes: list[Any]) -> None:
    attribute(first(nodes, SEND, 3), "comm_dst").int32_val = 999


def expect_another(nodes: list[Any]) -> None:
    peer = attribute(first(nodes, RECV, 3), "comm_src")
    peer.int32_val = (peer.int32_val + 1) % 12


def forget_a_dependency(nodes: list[Any]) -> None:
    del first(nodes, SEND, 3).data_deps[0]


def forget_all_dependencies(nodes: list[Any]) -> None:
    del first(nodes, RECV, 3).data_deps[:]


def depend_on_nothing(nodes: list[Any]) -> None:
    first(nodes, SEND, 3).data_deps.append(10**6)


def depend_on_itself(nodes: list[Any]) -> None:
    node = first(nodes, SEND, 3)
    node.data_deps.append(node.id)


def depend_on_what_comes_later(nodes: list[Any]) -> None:
    nodes[0].data_deps.append(nodes[-1].id)


def swap_ids(nodes: list[Any]) -> None:
    nodes[0].id, nodes[-1].id = nodes[-1].id, nodes[0].id


def repeat_an_id(nodes: list[Any]) -> None:
    nodes[4].id = nodes[3].id


def count_from_zero(nodes: list[Any]) -> None:
    nodes[0].id = 0


@pytest.mark.parametrize(
    ("mutate", "said", "names_step"),
    [
        (drop, "depends on node", True),
        (drop_the_last, "never ", True),
        (double, "more than once", True),
        (enlarge, "its parts have", True),
        (enlarge_what_is_expected, "its parts have", True),
        (retag, "more than once", True),
        (tag_of_nothing, "which no message has", False),
        (readdress, "the algorithm's partner is", True),
        (address_beyond, "the algorithm's partner is", True),
        (expect_another, "the algorithm's partner is", True),
        (forget_a_dependency, "may begin before", True),
        (forget_all_dependencies, "may begin before", True),
        (depend_on_nothing, "there is none", True),
        (depend_on_itself, "waits for itself", True),
        (depend_on_what_comes_later, "waits for itself", True),
        (swap_ids, "may begin before", True),
        (repeat_an_id, "two nodes have id", False),
    ],
)
def test_a_wrong_trace_is_rejected(
    mutate: Callable[[list[Any]], None], said: str, names_step: bool, folder: Path
) -> None:
    """One rank's file is changed; the verdict names the rank, and the chunk and step where there are any."""
    path = folder / "rank.5.et"
    change(path, mutate)
    verdict = judge(folder)
    assert not verdict.is_right
    assert any(said in str(finding) for finding in verdict.findings), verdict.findings
    finding = next(finding for finding in verdict.findings if said in str(finding))
    assert finding.rank == 5
    assert str(finding).startswith("rank 5")
    if names_step:
        assert finding.chunk in (0, 1)
        assert finding.step in (0, 1, 2)
        assert f"chunk {finding.chunk}" in str(finding)
        assert f"step {finding.step}" in str(finding)


def test_an_id_of_zero_is_rejected(folder: Path) -> None:
    """The official library does not even write it."""
    change(folder / "rank.5.et", count_from_zero)
    with pytest.raises(InputError, match=r"rank.5.et: byte \d+, node 1 of the file: the node has no id"):
        judge(folder)
    # On the wire it is wrong, too.
    data = (folder / "rank.4.et").read_bytes()
    (folder / "rank.4.et").write_bytes(data.replace(b"\x08\x01\x18\x05", b"\x08\x00\x18\x05", 1))
    shutil.copy(folder / "rank.4.et", folder / "rank.5.et")
    assert any("a node has id 0; ids count from 1" in str(finding) for finding in judge(folder).findings)


def test_dependencies_through_others_are_as_good(folder: Path) -> None:
    """A SEND that waits for a RECV of its own step, which waits for the step before, waits for that too."""

    def detour(nodes: list[Any]) -> None:
        send = next(node for node in nodes if node.type == SEND and node.data_deps)
        beside = next(node for node in nodes if node.type == RECV and node.data_deps == send.data_deps)
        send.data_deps[:] = [beside.id]

    before = interpret(str(folder)).makespan_ns or 0
    change(folder / "rank.5.et", detour)
    (slower,) = interpret(str(folder)).findings
    assert f"README.md: promises {before} ns, and by ASTRA-sim's rule it takes " in str(slower)
    (folder / "README.md").unlink()
    found = interpret(str(folder))
    assert found.findings == ()
    assert found.makespan_ns is not None
    # It sends only when it has received, which its neighbours notice.
    assert found.makespan_ns > before


def test_two_ranks_that_wait_for_each_other(folder: Path) -> None:
    """In every rank's first step the SENDs wait for its RECVs: nobody ever sends."""

    def wait(nodes: list[Any]) -> None:
        step = [node for node in nodes if not node.data_deps]
        receive = next(node for node in step if node.type == RECV)
        for node in step:
            if node.type == SEND:
                node.data_deps.append(receive.id)

    for rank in range(12):
        change(folder / f"rank.{rank}.et", wait)
    verdict = judge(folder)
    assert any("waits for itself" in str(finding) for finding in verdict.findings)


@settings(max_examples=200)
@given(data=st.data())
def test_two_swapped_bytes_are_rejected_or_change_nothing(data: st.DataObject, right: Path) -> None:
    """What passes is the same collective in the same time: a name's letters cannot be swapped, a list's order can."""
    scratch = right.parent / "swapped"
    if not scratch.exists():
        shutil.copytree(right, scratch)
    trace = bytearray((right / "rank.5.et").read_bytes())
    here, there = (data.draw(st.integers(0, len(trace) - 1)) for _ in range(2))
    trace[here], trace[there] = trace[there], trace[here]
    (scratch / "rank.5.et").write_bytes(trace)
    with contextlib.suppress(InputError):
        found = interpret(str(scratch))
        assert found.findings or found.makespan_ns == interpret(str(right)).makespan_ns


def test_detours_without_end_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every node names only the one before: right, but what each waits for takes the whole file to find out."""

    def chain(nodes: list[Any]) -> None:
        for before, node in pairwise(nodes):
            node.data_deps[:] = [before.id]

    for rank in range(12):
        change(folder / f"rank.{rank}.et", chain)
    (folder / "README.md").unlink()  # they take longer than it says
    assert judge(folder).is_right
    monkeypatch.setattr("themis_opt.export.chakra.judge.local_rules.MAX_FOLLOWED", 100)
    with pytest.raises(InputError, match="depend on what they need through others only"):
        judge(folder)
