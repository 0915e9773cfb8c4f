"""Networks from the files of others, by themselves or where one of ours is expected."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from themis_opt.files.astra1_network import Gigabyte, read_astra1_network
from themis_opt.files.astra2_network import read_astra2_network
from themis_opt.files.astra_system import AstraSystem, read_system, read_system_lines
from themis_opt.files.foreign import ForeignKind, recognise
from themis_opt.files.plain import plain_mapping, read_text
from themis_opt.files.remarks import Imported
from themis_opt.problem.errors import InputError

Result = TypeVar("Result")
OnImport = Callable[[Imported], object]
"""What is told of every network that is read from somebody else's file."""

NETWORKS = (ForeignKind.ASTRA2_NETWORK, ForeignKind.ASTRA1_NETWORK)
_SYSTEMS = (ForeignKind.ASTRA2_SYSTEM, ForeignKind.ASTRA1_SYSTEM)
_READ_BY = {
    ForeignKind.ASTRA2_NETWORK: "'themis-opt import astra-network {path} -o network.yaml' reads it",
    ForeignKind.ASTRA1_NETWORK: "'themis-opt import astra-network {path} -o network.yaml' reads it",
    ForeignKind.ASTRA2_SYSTEM: "'themis-opt import astra-network NETWORK --system {path}' reads it beside a network",
    ForeignKind.ASTRA1_SYSTEM: "'themis-opt import astra-network NETWORK --system {path}' reads it beside a network",
    ForeignKind.ASTRA_WORKLOAD: "'themis-opt import astra-workload {path}' shows its layers",
    ForeignKind.NCCL_TESTS: "'themis-opt import nccl-tests {path} -o network.yaml' makes a network of it",
}


def import_network(
    path: str | os.PathLike[str],
    *,
    system: str | os.PathLike[str] | None = None,
    gigabyte: Gigabyte = Gigabyte.DECIMAL,
    name: str | None = None,
) -> Imported:
    """Return the network in an ASTRA-sim network file of version 1 or 2, told apart by what it holds.

    Parameters
    ----------
    path
        The network file.
    system
        A system file, of either version, for the algorithms and the number of chunks.
    gigabyte
        How many bytes a "GB" of version 1 is; in version 2 it always is 2^30.
    name
        What the network shall be called; ``None``: as its file.

    Raises
    ------
    InputError
        Naming the file, the key, the value and what is allowed.
    """
    text = read_text(path, small=True)
    data = _mapping_or_none(path, text)
    kind = None if data is not None and "format" in data else recognise(text, data)
    if kind is None and data is None:
        plain_mapping(path, text)  # which says why it cannot be read
    if kind not in NETWORKS:
        what = "is no ASTRA-sim network" if kind is None else f"is {kind}, no network; {reader_of(kind, path)}"
        raise InputError(f"{os.fspath(path)}: {what}" + _own(data))
    return _network(path, text, kind, None if system is None else import_system(system), system, gigabyte, name)


def import_system(path: str | os.PathLike[str]) -> AstraSystem:
    """Return what matters of an ASTRA-sim system file of version 1 or 2, told apart by what it holds.

    Raises
    ------
    InputError
        Naming the file, the key, the value and what is allowed.
    """
    text = read_text(path, small=True)
    kind = recognise(text, _mapping_or_none(path, text))
    if kind not in _SYSTEMS:
        what = f"is {kind}" if kind is not None else "is something else"
        raise InputError(f"{os.fspath(path)}: {what}; expected an ASTRA-sim system file")
    if kind is ForeignKind.ASTRA2_SYSTEM:
        data = plain_mapping(path, text, decimals=True)
    else:
        data = _at(path, read_system_lines, text)
    return _at(path, read_system, data, 2 if kind is ForeignKind.ASTRA2_SYSTEM else 1)


def read_own_or_foreign(path: str | os.PathLike[str], *, small: bool) -> dict[str, Any] | Imported:
    """Return the plain data of a file of ours, or the network in one of the foreign network files.

    Parameters
    ----------
    path, small
        As for `plain.read_plain`.

    Raises
    ------
    InputError
        When it is neither; of another foreign file the message names the command that reads it.
    """
    text = read_text(path, small=small)
    own_error: InputError | None = None
    data: dict[str, Any] | None = None
    try:
        data = plain_mapping(path, text)
    except InputError as error:
        own_error = error
    if data is not None and "format" in data:
        return data
    kind = recognise(text, data)
    if kind is None:
        if data is None:
            assert own_error is not None
            raise own_error
        return data
    if kind not in NETWORKS:
        raise InputError(f"{os.fspath(path)}: is {kind}, no instance or network; {reader_of(kind, path)}")
    return _network(path, text, kind)


def expect_kind_of(path: str | os.PathLike[str], text: str, kind: ForeignKind) -> None:
    """Raise when a text plainly is another foreign file than this kind.

    Raises
    ------
    InputError
        Naming the file, what it is, and the command that reads it.
    """
    found = recognise(text)
    if found is not None and found is not kind:
        raise InputError(f"{os.fspath(path)}: is {found}, and {kind} is expected here; {reader_of(found, path)}")


def printable_name(path: str | os.PathLike[str]) -> str:
    """Return a name for what is in a file: the file's, without its ending and what cannot be printed."""
    return printable_text(Path(path).stem) or "network"


def printable_text(text: str) -> str:
    """Return a text with ``_`` for what cannot be printed."""
    return "".join(character if character.isprintable() else "_" for character in text).strip()


def reader_of(kind: ForeignKind, path: str | os.PathLike[str]) -> str:
    """Return the command that reads a kind of file."""
    return _READ_BY[kind].format(path=os.fspath(path))


def _network(
    path: str | os.PathLike[str],
    text: str,
    kind: ForeignKind,
    system: AstraSystem | None = None,
    system_path: str | os.PathLike[str] | None = None,
    gigabyte: Gigabyte = Gigabyte.DECIMAL,
    name: str | None = None,
) -> Imported:
    data = plain_mapping(path, text, decimals=True)
    name = printable_name(path) if name is None else name
    source = f"{kind} file, {printable_text(Path(path).name)}".removeprefix("an ")

    def read(algorithms: Any) -> Imported:
        if kind is ForeignKind.ASTRA2_NETWORK:
            return read_astra2_network(data, name, algorithms, source)
        return read_astra1_network(data, name, gigabyte, algorithms, source)

    if system is None or system_path is None:
        return replace(_at(path, read, None), path=os.fspath(path))
    sizes = tuple(dimension.size for dimension in _at(path, read, None).network.dimensions)
    imported = _at(path, read, _at(system_path, system.algorithms_on, sizes))
    remarks = (*imported.remarks, *system.remarks)
    return replace(imported, remarks=remarks, num_chunks=system.num_chunks, path=os.fspath(path))


def _at(path: str | os.PathLike[str], read: Callable[..., Result], *arguments: object) -> Result:
    try:
        return read(*arguments)
    except InputError as error:
        raise error.at(os.fspath(path)) from None


def _mapping_or_none(path: str | os.PathLike[str], text: str) -> dict[str, Any] | None:
    try:
        return plain_mapping(path, text)
    except InputError:
        return None


def _own(data: dict[str, Any] | None) -> str:
    if data is not None and "format" in data:
        return "; it has a 'format' line, so every command takes it as it is"
    return ""
