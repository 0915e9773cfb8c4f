"""Chakra's official schema as google.protobuf knows it, and reading and writing traces with it.

Field numbers, names and types as published in schema/protobuf/et_def.proto of github.com/mlcommons/chakra; only what a
trace of ours or of a mutation may hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto

ONEOF = {
    "double_val": (3, _Field.TYPE_DOUBLE),
    "float_val": (5, _Field.TYPE_FLOAT),
    "int32_val": (7, _Field.TYPE_INT32),
    "int64_val": (9, _Field.TYPE_INT64),
    "uint32_val": (11, _Field.TYPE_UINT32),
    "uint64_val": (13, _Field.TYPE_UINT64),
    "sint32_val": (15, _Field.TYPE_SINT32),
    "sint64_val": (17, _Field.TYPE_SINT64),
    "bool_val": (27, _Field.TYPE_BOOL),
    "string_val": (29, _Field.TYPE_STRING),
    "bytes_val": (31, _Field.TYPE_BYTES),
}


def _messages() -> tuple[Any, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="et_def.proto", package="ChakraProtoMsg", syntax="proto3")
    attribute = file.message_type.add(name="AttributeProto")
    attribute.field.add(name="name", number=1, type=_Field.TYPE_STRING, label=_Field.LABEL_OPTIONAL)
    attribute.oneof_decl.add(name="value")
    for name, (number, kind) in ONEOF.items():
        attribute.field.add(name=name, number=number, type=kind, label=_Field.LABEL_OPTIONAL, oneof_index=0)
    metadata = file.message_type.add(name="GlobalMetadata")
    metadata.field.add(name="version", number=1, type=_Field.TYPE_STRING, label=_Field.LABEL_OPTIONAL)
    node = file.message_type.add(name="Node")
    node.field.add(name="id", number=1, type=_Field.TYPE_UINT64, label=_Field.LABEL_OPTIONAL)
    node.field.add(name="name", number=2, type=_Field.TYPE_STRING, label=_Field.LABEL_OPTIONAL)
    # An enum is an int32 on the wire.
    node.field.add(name="type", number=3, type=_Field.TYPE_INT32, label=_Field.LABEL_OPTIONAL)
    node.field.add(name="ctrl_deps", number=4, type=_Field.TYPE_UINT64, label=_Field.LABEL_REPEATED)
    node.field.add(name="data_deps", number=5, type=_Field.TYPE_UINT64, label=_Field.LABEL_REPEATED)
    node.field.add(
        name="attr",
        number=10,
        type=_Field.TYPE_MESSAGE,
        type_name=".ChakraProtoMsg.AttributeProto",
        label=_Field.LABEL_REPEATED,
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    metadata_type, node_type = (
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"ChakraProtoMsg.{name}"))
        for name in ("GlobalMetadata", "Node")
    )
    return metadata_type, node_type


GlobalMetadata, Node = _messages()


def records(data: bytes) -> list[bytes]:
    """The length-delimited records of a file."""
    found, position = [], 0
    while position < len(data):
        length = shift = 0
        while True:
            byte = data[position]
            position += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        assert position + length <= len(data)
        found.append(data[position : position + length])
        position += length
    return found


def read_trace(path: Path) -> list[Any]:
    """The nodes of a file as the official schema has them; nothing in them is unknown to it."""
    first, *rest = records(path.read_bytes())
    metadata = GlobalMetadata.FromString(first)
    assert metadata.version
    nodes = [Node.FromString(record) for record in rest]
    assert metadata.SerializeToString(deterministic=True) == first
    for node, record in zip(nodes, rest, strict=True):
        assert len(node.SerializeToString()) == len(record)  # not a byte that the schema does not know
    return nodes


def write_trace(path: Path, nodes: Iterable[Any]) -> None:
    """Write nodes with the official library."""
    data = b""
    for message in [GlobalMetadata(version="0.0.4"), *nodes]:
        body = message.SerializeToString()
        length, prefix = len(body), bytearray()
        while length > 127:
            prefix.append(length & 127 | 128)
            length >>= 7
        data += bytes([*prefix, length]) + body
    path.write_bytes(data)


def attribute(node: Any, name: str) -> Any:
    """The attribute of a node with this name."""
    (found,) = (entry for entry in node.attr if entry.name == name)
    return found


def change(path: Path, mutate: Callable[[list[Any]], None]) -> None:
    """Rewrite a trace after `mutate` has changed its nodes."""
    nodes = read_trace(path)
    mutate(nodes)
    write_trace(path, nodes)
