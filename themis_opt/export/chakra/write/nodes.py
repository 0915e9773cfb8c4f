"""The nodes of a trace as bytes: SEND, RECV and the collective of a workload.

Field numbers and node types are those of Chakra's ``et_def.proto`` (github.com/mlcommons/chakra, schema/protobuf).
Names are left out: nothing reads them.
"""

from __future__ import annotations

from typing import NamedTuple

from themis_opt.export.chakra.write.wire import (
    LENGTH_DELIMITED,
    bytes_field,
    record,
    varint,
    varint_field,
    varint_length,
)
from themis_opt.problem.collective import Collective

SEND, RECEIVE, COLLECTIVE = 5, 6, 7
"""The only node types in our files; ASTRA-sim charges at least 1 ns for a computation and never ends any other."""

COMM_TYPES = {Collective.ALL_REDUCE: 0, Collective.ALL_GATHER: 2, Collective.REDUCE_SCATTER: 7}

_ID, _TYPE, _DATA_DEPS, _ATTRIBUTE = 1, 3, 5, 10
_NAME, _INT32, _INT64, _BOOL = 1, 7, 9, 27
_VERSION = 1

METADATA = record(bytes_field(_VERSION, b"themis-opt"))
"""The first record of every file: GlobalMetadata with a version string."""


def _attribute(name: str, kind: int, value: int) -> bytes:
    """Return an attribute field of a node; a value of zero is written, since its oneof would be unset without it."""
    return bytes_field(_ATTRIBUTE, bytes_field(_NAME, name.encode("ascii")) + varint_field(kind, value))


_ON_NETWORK = _attribute("is_cpu_op", _BOOL, 0)
_PEER_NAMES = {SEND: b"comm_dst", RECEIVE: b"comm_src"}
_PEER_BODY = {node_type: bytes_field(_NAME, name) + varint(_INT32 << 3) for node_type, name in _PEER_NAMES.items()}
_PEER_KEY = varint(_ATTRIBUTE << 3 | LENGTH_DELIMITED)
_FIXED_LENGTH = len(
    varint_field(_ID, 0)[:-1] + varint_field(_TYPE, SEND) + _ON_NETWORK + _PEER_KEY + b"\0" + _PEER_BODY[SEND]
)


class Message(NamedTuple):
    """What a SEND or RECV says besides its peer.

    Attributes
    ----------
    node_id
        Its id in the file, from 1.
    node_type
        `SEND` or `RECEIVE`.
    size_bytes, tag
        Of the message; equal on both sides.
    """

    node_id: int
    node_type: int
    size_bytes: int
    tag: int


def data_deps(dependencies: bytes) -> bytes:
    """Return the dependencies' field of a node, of their varints one after the other; nothing when there are none."""
    return bytes_field(_DATA_DEPS, dependencies) if dependencies else b""


def message_head(message: Message, deps_field: bytes, peer_length: int) -> bytes:
    """Return a node with its length in front up to the varint of its peer, with which it ends.

    Everything but the peer is the same on every rank, so that this is made once for all ranks whose peer takes
    `peer_length` bytes.
    """
    peer_body = _PEER_BODY[message.node_type]
    body = b"".join(
        (
            varint_field(_ID, message.node_id),
            varint_field(_TYPE, message.node_type),
            deps_field,
            _ON_NETWORK,
            _attribute("comm_size", _INT64, message.size_bytes),
            _attribute("comm_tag", _INT32, message.tag),
            _PEER_KEY,
            varint(len(peer_body) + peer_length),
            peer_body,
        )
    )
    return varint(len(body) + peer_length) + body


_SIZE_LENGTH = len(_attribute("comm_size", _INT64, 0)) - 1
_TAG_LENGTH = len(_attribute("comm_tag", _INT32, 0)) - 1


def message_length(message: Message, deps_length: int, peer_length: int) -> int:
    """Return the bytes of a whole node, length in front included, whose dependencies' field has `deps_length`."""
    body = _FIXED_LENGTH + varint_length(message.node_id) + deps_length + peer_length
    body += _SIZE_LENGTH + varint_length(message.size_bytes) + _TAG_LENGTH + varint_length(message.tag)
    return varint_length(body) + body


def workload_trace(collective: Collective, size_bytes: int) -> bytes:
    """Return the file of a workload that is one collective, the same for every rank."""
    node = b"".join(
        (
            varint_field(_ID, 1),
            varint_field(_TYPE, COLLECTIVE),
            _ON_NETWORK,
            _attribute("comm_type", _INT64, COMM_TYPES[collective]),
            _attribute("comm_size", _INT64, size_bytes),
        )
    )
    return METADATA + record(node)
