"""Reading traces: length-delimited protocol buffer records to columns of numbers, refusing everything that is not one.

Strict on purpose: a field or attribute that a SEND or RECV does not need is refused, since nobody can say what a
simulator makes of it. Attributes and dependencies repeat from rank to rank, so each different one is decoded once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from themis_opt.problem.errors import InputError

IntArray = NDArray[np.int64]

SEND, RECEIVE, COLLECTIVE = 5, 6, 7
MAX_REMEMBERED = 200_000
"""Different attributes, and different lists of dependencies, of a folder; real ones have far fewer."""

_VARINT, _LENGTH_DELIMITED = 0, 2
_ID, _NAME, _TYPE, _CTRL_DEPS, _DATA_DEPS, _ATTRIBUTE = 1, 2, 3, 4, 5, 10
_INT32, _INT64, _BOOL = 7, 9, 27
_KIND_NAMES = {_INT32: "int32", _INT64: "int64", _BOOL: "bool"}
_KINDS = {
    "is_cpu_op": _BOOL,
    "comm_size": _INT64,
    "comm_tag": _INT32,
    "comm_dst": _INT32,
    "comm_src": _INT32,
    "comm_type": _INT64,
}
"""The attributes of our nodes, and the type each must have on the wire."""
_NEEDED = {
    SEND: {"is_cpu_op", "comm_size", "comm_tag", "comm_dst"},
    RECEIVE: {"is_cpu_op", "comm_size", "comm_tag", "comm_src"},
    COLLECTIVE: {"is_cpu_op", "comm_size", "comm_type"},
}
_TYPE_NAMES = {SEND: "COMM_SEND", RECEIVE: "COMM_RECV", COLLECTIVE: "COMM_COLL"}


class Malformed(Exception):
    """What is wrong with some bytes; the caller knows whose they are."""


class Node(NamedTuple):
    """One decoded node; `deps` is a number that stands for its dependencies (`Decoder.dependencies`)."""

    node_id: int
    node_type: int
    deps: int
    values: dict[str, int]


@dataclass(slots=True)
class Decoder:
    """Decodes the traces of one folder.

    Attributes
    ----------
    dependencies
        The different lists of dependencies met so far, each sorted; the first one is empty.
    """

    dependencies: list[IntArray] = field(default_factory=lambda: [np.empty(0, np.int64)])
    _deps: dict[bytes, int] = field(default_factory=lambda: {b"": 0})
    _attributes: dict[bytes, tuple[str, int]] = field(default_factory=dict)

    def nodes(self, data: bytes, name: str, max_nodes: int) -> list[Node]:
        """Return the nodes in a file's bytes.

        Parameters
        ----------
        data
            The whole file.
        name
            What it is called, for messages.
        max_nodes
            More than this are refused.

        Raises
        ------
        InputError
            With the byte where the file stops being a trace.
        """
        position, count = 0, 0
        nodes: list[Node] = []
        try:
            while position < len(data):
                length, start = read_varint(data, position, len(data))
                if length > len(data) - start:
                    raise Malformed(
                        f"a record of {length} bytes begins here, and the file ends after {len(data) - start}"
                    )
                if count == 0:
                    _check_metadata(data[start : start + length])
                elif count > max_nodes:
                    raise InputError(f"{name}: more than {max_nodes} nodes are left to read: too many to interpret")
                else:
                    nodes.append(self._node(data, start, start + length))
                position = start + length
                count += 1
            if count == 0:
                raise Malformed("the file is empty; a trace begins with its metadata")
        except Malformed as error:
            what = "its metadata" if count == 0 else f"node {count} of the file"
            raise InputError(f"{name}: byte {position}, {what}: {error}") from None
        return nodes

    def _node(self, data: bytes, position: int, end: int) -> Node:
        node_id = node_type = deps = None
        values: dict[str, int] = {}
        while position < end:
            key, position = read_varint(data, position, end)
            if key == _ID << 3 and node_id is None:
                node_id, position = read_varint(data, position, end)
            elif key == _TYPE << 3 and node_type is None:
                node_type, position = read_varint(data, position, end)
            elif key == _ATTRIBUTE << 3 | _LENGTH_DELIMITED:
                raw, position = _read_bytes(data, position, end)
                # Only ids, peers and tags differ from node to node; decoding the rest again would double the time.
                known = self._attributes.get(raw)
                name, value = known if known is not None else self._attribute(raw)
                if name in values:
                    raise Malformed(f"attribute {name} stands twice")
                values[name] = value
            elif key == _DATA_DEPS << 3 | _LENGTH_DELIMITED and deps is None:
                raw, position = _read_bytes(data, position, end)
                deps = self._deps.get(raw)
                if deps is None:
                    deps = self._dependencies(raw)
            elif key == _NAME << 3 | _LENGTH_DELIMITED:
                _, position = _read_bytes(data, position, end)
            else:
                raise Malformed(_unexpected(key))
        if node_id is None or node_type is None:
            raise Malformed(f"the node has no {'id' if node_id is None else 'type'}")
        needed = _NEEDED.get(node_type)
        if needed is None:
            raise Malformed(f"type {node_type} is neither COMM_SEND (5) nor COMM_RECV (6)")
        if values.keys() != needed:
            missing, extra = sorted(needed - values.keys()), sorted(values.keys() - needed)
            wrong = f"has no {', '.join(missing)}" if missing else f"has {', '.join(extra)} besides"
            raise Malformed(f"node {node_id}, a {_TYPE_NAMES[node_type]}, {wrong}")
        if values["is_cpu_op"]:
            raise Malformed(f"node {node_id}: is_cpu_op is true; it must be false")
        return Node(node_id, node_type, deps or 0, values)

    def _attribute(self, raw: bytes) -> tuple[str, int]:
        """Return the name and the value of an attribute, whose type must be the one its name has."""
        position = 0
        name = kind = value = None
        while position < len(raw):
            key, position = read_varint(raw, position, len(raw))
            if key == 1 << 3 | _LENGTH_DELIMITED and name is None:
                text, position = _read_bytes(raw, position, len(raw))
                name = text.decode("ascii", errors="replace")
            elif key & 7 == _VARINT and key >> 3 in _KIND_NAMES and kind is None:
                kind = key >> 3
                value, position = read_varint(raw, position, len(raw))
            else:
                raise Malformed(f"in an attribute, {_unexpected(key)}")
        if name not in _KINDS:
            raise Malformed(f"attribute {ascii(name)[:40]} is none of {', '.join(_KINDS)}")
        if kind is None or value is None:
            raise Malformed(f"attribute {name} has no value; a value of zero must be written too")
        if kind != _KINDS[name]:
            raise Malformed(
                f"attribute {name} is written as {_KIND_NAMES[kind]}; it must be {_KIND_NAMES[_KINDS[name]]}"
            )
        # A negative int32 takes ten bytes on the wire: as an unsigned number it is beyond every limit.
        most = {_INT32: 2**31 - 1, _INT64: 2**63 - 1, _BOOL: 1}[kind]
        if value > most:
            raise Malformed(f"attribute {name} is negative or beyond {_KIND_NAMES[kind]}")
        if len(self._attributes) < MAX_REMEMBERED:
            self._attributes[raw] = name, value
        return name, value

    def _dependencies(self, raw: bytes) -> int:
        if len(self.dependencies) >= MAX_REMEMBERED:
            raise Malformed(f"more than {MAX_REMEMBERED} different lists of dependencies")
        position = 0
        ids = []
        while position < len(raw):
            node_id, position = read_varint(raw, position, len(raw))
            if node_id >= 2**31:
                raise Malformed(f"depends on node {node_id}, and no file has as many")
            ids.append(node_id)
        self._deps[raw] = len(self.dependencies)
        self.dependencies.append(np.unique(np.array(ids, np.int64)))
        return self._deps[raw]


def read_varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    """Return the number at a position, and where it ends.

    Parameters
    ----------
    data
        The bytes it is in.
    position, end
        Where it begins, and what it may not run over.

    Raises
    ------
    Malformed
        When it does not end before `end`, or is beyond 64 bits.
    """
    # Most are of one byte: keys, lengths, types, small ids.
    if position < end and data[position] < 128:
        return data[position], position + 1
    value = shift = 0
    while position < end:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if value >= 2**64:
                break
            return value, position
        shift += 7
        if shift > 63:
            break
    raise Malformed("a number runs over its end" if position >= end else "a number has more than 64 bits")


def _read_bytes(data: bytes, position: int, end: int) -> tuple[bytes, int]:
    length, position = read_varint(data, position, end)
    if length > end - position:
        raise Malformed(f"a field of {length} bytes has only {end - position} left")
    return data[position : position + length], position + length


def _check_metadata(message: bytes) -> None:
    """Raise unless the first record is metadata: a version, a text."""
    key, position = read_varint(message, 0, len(message))
    if key != 1 << 3 | _LENGTH_DELIMITED:
        raise Malformed(f"the first record must be metadata with a version; {_unexpected(key)}")
    text, position = _read_bytes(message, position, len(message))
    if position != len(message):
        raise Malformed("the metadata has more than a version")
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed("the version is no text in UTF-8") from None


def _unexpected(key: int) -> str:
    number, kind = key >> 3, key & 7
    if number == _CTRL_DEPS:
        return "ctrl_deps (field 4) stand here; use data_deps only"
    return f"field {number} of wire type {kind} has no place here, or stands twice"
