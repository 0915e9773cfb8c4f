"""Bytes on the wire: our own encoder against google.protobuf, and our own decoder against whatever is no trace."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest
from chakra_folders import dimension, random_schedule, write_folder
from chakra_schema import ONEOF, Node, attribute, read_trace, records
from hypothesis import given, settings
from hypothesis import strategies as st

from themis_opt import Algorithm, Collective
from themis_opt.export.chakra.judge import decoding
from themis_opt.export.chakra.judge.decoding import Decoder, read_varint
from themis_opt.export.chakra.write.nodes import (
    METADATA,
    RECEIVE,
    SEND,
    Message,
    data_deps,
    message_head,
    message_length,
    record,
    varint,
    varint_field,
    varint_length,
)
from themis_opt.problem.errors import InputError

uint64s = st.integers(0, 2**64 - 1) | st.sampled_from([0, 127, 128, 16383, 16384, 2**31, 2**63, 2**64 - 1])


@given(uint64s)
def test_varints_come_back(value: int) -> None:
    data = varint(value)
    assert read_varint(data, 0, len(data)) == (value, len(data))
    assert len(data) == varint_length(value)
    # As google.protobuf writes it: an id is field 1.
    assert varint_field(1, value) == Node(id=value).SerializeToString() or value == 0


@given(
    st.integers(1, 2**40),
    st.sampled_from([SEND, RECEIVE]),
    st.integers(1, 2**53),
    st.integers(0, 2**31 - 1),
    st.integers(0, 2**20),
    st.lists(st.integers(1, 2**31 - 1), max_size=40),
)
def test_a_node_is_what_the_official_library_writes_and_reads(
    node_id: int, node_type: int, size_bytes: int, tag: int, peer: int, deps: list[int]
) -> None:
    message = Message(node_id, node_type, size_bytes, tag)
    deps_field = data_deps(b"".join(map(varint, deps)))
    data = message_head(message, deps_field, varint_length(peer)) + varint(peer)
    assert len(data) == message_length(message, len(deps_field), varint_length(peer))
    (body,) = records(data)
    node = Node.FromString(body)
    assert (node.id, node.type, list(node.data_deps)) == (node_id, node_type, deps)
    assert attribute(node, "is_cpu_op").WhichOneof("value") == "bool_val"
    assert attribute(node, "comm_size").int64_val == size_bytes
    assert attribute(node, "comm_tag").int32_val == tag
    assert attribute(node, "comm_dst" if node_type == SEND else "comm_src").int32_val == peer
    (ours,) = Decoder().nodes(METADATA + data, "x.et", 10)
    assert (ours.node_id, ours.node_type, ours.values["comm_size"]) == (node_id, node_type, size_bytes)


@pytest.mark.parametrize("collective", [Collective.ALL_REDUCE, Collective.REDUCE_SCATTER, Collective.ALL_GATHER])
def test_traces_decode_with_the_official_schema(collective: Collective, tmp_path: Path) -> None:
    """Ids from 1, SEND and RECV only, the right member of each oneof, and zeros on the wire."""
    schedule = random_schedule([dimension(Algorithm.DIRECT, 3), dimension(Algorithm.RING, 2)], collective)
    folder = write_folder(schedule, tmp_path / "x")
    kinds = {"is_cpu_op": "bool_val", "comm_size": "int64_val", "comm_tag": "int32_val"}
    zeros = set()
    for rank in range(6):
        nodes = read_trace(tmp_path / "x" / f"rank.{rank}.et")
        assert [node.id for node in nodes] == list(range(1, folder.plan.nodes_per_rank + 1))
        assert {node.type for node in nodes} == {5, 6}
        for node in nodes:
            peer = "comm_dst" if node.type == 5 else "comm_src"
            expected = {**kinds, peer: "int32_val"}
            assert {entry.name: entry.WhichOneof("value") for entry in node.attr} == expected
            zeros |= {entry.name for entry in node.attr if not getattr(entry, expected[entry.name])}
            assert all(dep < node.id for dep in node.data_deps)
            assert not node.ctrl_deps
        (work,) = read_trace(tmp_path / "x" / f"wl.{rank}.et")
        assert (work.id, work.type) == (1, 7)
        assert {entry.name: entry.WhichOneof("value") for entry in work.attr} == {
            "is_cpu_op": "bool_val",
            "comm_type": "int64_val",
            "comm_size": "int64_val",
        }
        number = {Collective.ALL_REDUCE: 0, Collective.ALL_GATHER: 2, Collective.REDUCE_SCATTER: 7}[collective]
        assert attribute(work, "comm_type").int64_val == number
    assert zeros == {"is_cpu_op", "comm_tag", "comm_dst", "comm_src"}  # rank 0 and tag 0 are there


def make_trace() -> bytes:
    """A right file of a few nodes."""
    data = METADATA
    for node_id in range(1, 6):
        message = Message(node_id, SEND if node_id % 2 else RECEIVE, 1000 * node_id, node_id // 2)
        data += message_head(message, data_deps(varint(node_id - 1) if node_id > 1 else b""), 1) + varint(3)
    return data


TRACE = make_trace()


def decode(data: bytes) -> None:
    """Decode: nodes, or a message that says where; and no byte is looked at more than a few times."""
    said = "x.et: "
    with mock.patch.object(decoding, "read_varint", wraps=read_varint) as reading:
        try:
            Decoder().nodes(data, "x.et", 1000)
        except InputError as error:
            said = str(error)
    assert said.startswith("x.et: ")
    assert "\n" not in said
    # Each number takes a byte at least; those of attributes and dependencies are read once more inside their field.
    assert reading.call_count <= 3 * len(data) + 3


@settings(max_examples=200)
@given(st.data())
def test_spoilt_traces_are_no_traceback(data: st.DataObject) -> None:
    """Cut off, bits flipped, pieces doubled, and long varints or nested messages put in."""
    trace = bytearray(TRACE)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(trace) - 1)) if trace else 0
        match data.draw(st.sampled_from(["cut", "flip", "double", "varint", "nested"])):
            case "cut":
                del trace[place:]
            case "flip" if trace:
                trace[place] ^= 1 << data.draw(st.integers(0, 7))
            case "double":
                trace[place:place] = trace[place : place + data.draw(st.integers(1, 60))]
            case "varint":
                trace[place:place] = b"\xff" * data.draw(st.integers(1, 300))
            case "nested":
                trace[place:place] = b"\x52\x7f" * data.draw(st.integers(1, 3000))
    decode(bytes(trace))


@settings(max_examples=200)
@given(st.binary(max_size=300))
def test_any_bytes_are_no_traceback(data: bytes) -> None:
    decode(data)
    decode(METADATA + record(data))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty"),
        (TRACE[:-1], "the file ends after"),
        (TRACE[len(METADATA) :], "the first record must be metadata"),
        (METADATA + b"\xff" * 11, "a number has more than 64 bits"),
        (METADATA + b"\x80", "a number runs over its end"),
        (METADATA + record(varint_field(1, 1)), "no type"),
        (METADATA + record(varint_field(3, 5)), "no id"),
        (METADATA + record(varint_field(1, 1) + varint_field(3, 4)), "type 4 is neither COMM_SEND"),
        (METADATA + record(varint_field(1, 1) + varint_field(3, 5)), "has no comm_dst, comm_size, comm_tag, is_cpu_op"),
        (METADATA + record(varint_field(1, 1) + varint_field(4, 5)), "use data_deps only"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        Decoder().nodes(data, "x.et", 1000)
    assert str(caught.value).startswith("x.et: byte ")


@pytest.mark.parametrize("kind", sorted(set(ONEOF) - {"int64_val"}))
def test_an_attribute_of_another_type_is_refused(kind: str) -> None:
    """ASTRA-sim reads the member of the oneof it expects, and gets zero from any other."""
    node = Node.FromString(records(TRACE)[1])
    size = attribute(node, "comm_size")
    size.ClearField("value")
    setattr(size, kind, {"string_val": "7", "bytes_val": b"7"}.get(kind, 1))
    with pytest.raises(InputError, match=r"comm_size|in an attribute"):
        Decoder().nodes(METADATA + record(node.SerializeToString()), "x.et", 10)


def test_a_zero_that_is_not_on_the_wire_is_refused() -> None:
    node = Node.FromString(records(TRACE)[1])
    attribute(node, "comm_tag").ClearField("value")
    with pytest.raises(InputError, match="comm_tag has no value; a value of zero must be written too"):
        Decoder().nodes(METADATA + record(node.SerializeToString()), "x.et", 10)


def test_too_many_nodes_are_refused() -> None:
    with pytest.raises(InputError, match="more than 3 nodes"):
        Decoder().nodes(TRACE, "x.et", 3)


def test_negative_numbers_are_refused() -> None:
    node = Node.FromString(records(TRACE)[1])
    attribute(node, "comm_dst").int32_val = -1
    with pytest.raises(InputError, match="comm_dst is negative"):
        Decoder().nodes(METADATA + record(node.SerializeToString()), "x.et", 10)
