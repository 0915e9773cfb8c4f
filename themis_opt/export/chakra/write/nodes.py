"""The nodes of a trace as bytes: SEND, RECV and the collective of a workload.

Field numbers and node types are those of Chakra's ``et_def.proto`` (github.com/mlcommons/chakra, schema/protobuf).
Names are left out: nothing reads them. Protocol buffers are written by hand, as far as a node needs them
(protobuf.dev/programming-guides/encoding): so everything but a node's peer is encoded once for all ranks, which the
official library cannot do.
"""

from __future__ import annotations

from typing import NamedTuple

from themis_opt.problem.collective import Collective

# ASTRA-sim charges at least 1 ns for a computation and never ends any other type of node.
SEND, RECEIVE, _COLLECTIVE = 5, 6, 7
_COMM_TYPES = {Collective.ALL_REDUCE: 0, Collective.ALL_GATHER: 2, Collective.REDUCE_SCATTER: 7}

_VARINT, _LENGTH_DELIMITED = 0, 2
_VERSION, _ID, _TYPE, _DATA_DEPS, _ATTRIBUTE = 1, 1, 3, 5, 10
_NAME, _INT32, _INT64, _BOOL = 1, 7, 9, 27


def varint(value: int) -> bytes:
    """Return a number from 0 to 2^64 - 1 as a varint: seven bits a byte, lowest first, the top bit on all but the last.

    >>> varint(300).hex()
    'ac02'
    """
    groups = bytearray()
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def varint_length(value: int) -> int:
    """Return how many bytes `varint` makes of a number."""
    return max(1, (value.bit_length() + 6) // 7)


def varint_field(number: int, value: int) -> bytes:
    """Return a field whose value is a varint; zero is written too."""
    return varint(number << 3 | _VARINT) + varint(value)


def bytes_field(number: int, value: bytes) -> bytes:
    """Return a field whose value is a text, a message or a packed list."""
    return varint(number << 3 | _LENGTH_DELIMITED) + record(value)


def record(message: bytes) -> bytes:
    """Return a message with its length in front, as files hold them one after the other."""
    return varint(len(message)) + message


METADATA = record(bytes_field(_VERSION, b"themis-opt"))
"""The first record of every file: GlobalMetadata with a version string."""


def _attribute(name: bytes, kind: int, value: int) -> bytes:
    # A value of zero is written: without it the oneof would be unset.
    return bytes_field(_ATTRIBUTE, bytes_field(_NAME, name) + varint_field(kind, value))


_ON_NETWORK = _attribute(b"is_cpu_op", _BOOL, 0)
_PEER_KEY = varint(_ATTRIBUTE << 3 | _LENGTH_DELIMITED)
_PEER_BODY = {
    node_type: bytes_field(_NAME, name) + varint(_INT32 << 3 | _VARINT)
    for node_type, name in ((SEND, b"comm_dst"), (RECEIVE, b"comm_src"))
}


class Message(NamedTuple):
    """What a SEND or RECV says besides its peer; the size and the tag are equal on both sides, ids count from 1."""

    node_id: int
    node_type: int
    size_bytes: int
    tag: int


def data_deps(dependencies: bytes) -> bytes:
    """Return the dependencies' field of a node, of their varints one after the other; nothing when there are none."""
    return bytes_field(_DATA_DEPS, dependencies) if dependencies else b""


def message_head(message: Message, deps_field: bytes, peer_length: int) -> bytes:
    """Return a node with its length in front up to the varint of its peer, with which it ends.

    Parameters
    ----------
    message
        What the node says.
    deps_field
        The field of what it waits for (`data_deps`).
    peer_length
        Bytes of the varint that comes after it: two lengths inside depend on them.
    """
    peer_body = _PEER_BODY[message.node_type]
    body = b"".join(
        (
            varint_field(_ID, message.node_id),
            varint_field(_TYPE, message.node_type),
            deps_field,
            _ON_NETWORK,
            _attribute(b"comm_size", _INT64, message.size_bytes),
            _attribute(b"comm_tag", _INT32, message.tag),
            _PEER_KEY,
            varint(len(peer_body) + peer_length),
            peer_body,
        )
    )
    return varint(len(body) + peer_length) + body


def message_length(message: Message, deps_length: int, peer_length: int) -> int:
    """Return the bytes of a whole node, length in front included, without copying what it waits for.

    Parameters
    ----------
    message
        What the node says.
    deps_length, peer_length
        Bytes of the field of what it waits for, and of its peer's varint.
    """
    # Without dependencies a node has less than 128 bytes, so that its length takes one of them.
    body = len(message_head(message, b"", peer_length)) - 1 + deps_length + peer_length
    return varint_length(body) + body


def workload_trace(collective: Collective, size_bytes: int) -> bytes:
    """Return the file of a workload that is one collective, the same for every rank."""
    node = varint_field(_ID, 1) + varint_field(_TYPE, _COLLECTIVE) + _ON_NETWORK
    node += _attribute(b"comm_type", _INT64, _COMM_TYPES[collective]) + _attribute(b"comm_size", _INT64, size_bytes)
    return METADATA + record(node)
