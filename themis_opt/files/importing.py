"""Networks from the files of others, by themselves or where one of ours is expected, told apart by what they hold."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from themis_opt.files import astra1_network, astra2_network, astra_system, nccl_tests
from themis_opt.files.astra1_network import Gigabyte, read_astra1_network
from themis_opt.files.astra2_network import read_astra2_network
from themis_opt.files.astra_system import AstraSystem, read_system, read_system_lines
from themis_opt.files.plain import plain_mapping, read_text
from themis_opt.files.remarks import Imported
from themis_opt.problem.errors import InputError, located
from themis_opt.problem.network import Algorithm

OnImport = Callable[[Imported], object]
"""What is told of every network that is read from somebody else's file."""


class ForeignKind(StrEnum):
    """What somebody else's file is, as a message says it."""

    ASTRA2_NETWORK = astra2_network.FORMAT_NAME
    ASTRA1_NETWORK = astra1_network.FORMAT_NAME
    ASTRA2_SYSTEM = "an ASTRA-sim 2 system file"
    ASTRA1_SYSTEM = "an ASTRA-sim 1 system file"
    NCCL_TESTS = nccl_tests.FORMAT_NAME

    def reader(self, path: str | os.PathLike[str]) -> str:
        """Return the command that reads a file of this kind."""
        if self in NETWORKS:
            return f"'themis-opt import astra-network {os.fspath(path)} -o network.yaml' reads it"
        if self in _SYSTEMS:
            return f"'themis-opt import astra-network NETWORK --system {os.fspath(path)}' reads it beside a network"
        return f"'themis-opt import nccl-tests {os.fspath(path)} -o network.yaml' makes a network of it"


NETWORKS = (ForeignKind.ASTRA2_NETWORK, ForeignKind.ASTRA1_NETWORK)
_SYSTEMS = (ForeignKind.ASTRA2_SYSTEM, ForeignKind.ASTRA1_SYSTEM)

_LOOKED_AT = 2**16
"""Characters of a file: its keys stand in the first of them."""
# Neither looks twice at a character of a long word or of many empty lines.
_KEY = re.compile(r"""(?<![\w-])([A-Za-z][\w-]{0,60})["']?[ \t]{0,9}:""")
_NCCL_TESTS = re.compile(
    r"^[ \t]*#[ \t]*(?:size[ \t]+count[ \t]+type|nThread[ \t]|Collective test starting|Using devices)", re.M
)
_TELLING = {"npus_count", *astra1_network.REQUIRED, "preferred-dataset-splits", *astra_system.IMPLEMENTATIONS}
"""Keys that stand in nobody else's files."""


def recognise(text: str, data: dict[str, Any] | None = None) -> ForeignKind | None:
    """Return what a text is, or ``None`` when it is no format of others that is read here.

    Parameters
    ----------
    text
        What the file holds.
    data
        The same as plain data, if it is well-formed YAML or JSON: then two keys at its top level tell what it is,
        else one of those that nobody else has must stand in the text.
    """
    beginning = text[:_LOOKED_AT]
    if _NCCL_TESTS.search(beginning):
        return ForeignKind.NCCL_TESTS
    keys = set(_KEY.findall(beginning)) if data is None else set(data)
    if data is None and not keys & _TELLING:
        return None
    known: dict[ForeignKind, Collection[str]] = {
        ForeignKind.ASTRA2_NETWORK: astra2_network.KEYS,
        ForeignKind.ASTRA1_NETWORK: astra1_network.KEYS,
    }
    if beginning.lstrip().startswith("{"):
        known[ForeignKind.ASTRA2_SYSTEM] = astra_system.KEYS[2]
    else:
        known[ForeignKind.ASTRA1_SYSTEM] = astra_system.KEYS[1]
    counts = {kind: len(keys.intersection(words)) for kind, words in known.items()}
    best = max(counts, key=lambda kind: counts[kind])
    return best if counts[best] >= 2 or (counts[best] == 1 and keys & _TELLING) else None


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
    is_ours = data is not None and "format" in data
    kind = None if is_ours else recognise(text, data)
    if kind is None and data is None:
        plain_mapping(path, text)  # which says why it cannot be read
    if kind not in NETWORKS:
        what = "is no ASTRA-sim network" if kind is None else f"is {kind}, no network; {kind.reader(path)}"
        own = "; it has a 'format' line, so every command takes it as it is" if is_ours else ""
        raise InputError(f"{os.fspath(path)}: {what}{own}")
    if system is None:
        return _network(path, text, kind, gigabyte=gigabyte, name=name)
    told = import_system(system)
    sizes = tuple(d.size for d in _network(path, text, kind).network.dimensions)
    with located(os.fspath(system)):
        algorithms = told.algorithms_on(sizes)
    imported = _network(path, text, kind, algorithms, gigabyte, name)
    return replace(imported, remarks=(*imported.remarks, *told.remarks), num_chunks=told.num_chunks)


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
        with located(os.fspath(path)):
            return read_system(data, 2)
    with located(os.fspath(path)):
        return read_system(read_system_lines(text), 1)


def read_own_or_foreign(path: str | os.PathLike[str], *, small: bool) -> dict[str, Any] | Imported:
    """Return the plain data of a file of ours, or the network in one of the foreign network files.

    Parameters
    ----------
    path, small
        As for `plain.read_text`.

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
    if kind in NETWORKS:
        return _network(path, text, kind)
    if kind is not None:
        raise InputError(f"{os.fspath(path)}: is {kind}, no instance or network; {kind.reader(path)}")
    if data is None:
        assert own_error is not None
        raise own_error
    return data


def expect_kind_of(path: str | os.PathLike[str], text: str, kind: ForeignKind) -> None:
    """Raise when a text plainly is another foreign file than this kind.

    Parameters
    ----------
    path
        The file, for messages.
    text
        What it holds.
    kind
        What it should be.

    Raises
    ------
    InputError
        Naming the file, what it is, and the command that reads it.
    """
    found = recognise(text)
    if found is not None and found is not kind:
        raise InputError(f"{os.fspath(path)}: is {found}, and {kind} is expected here; {found.reader(path)}")


def printable_name(path: str | os.PathLike[str]) -> str:
    """Return a name for what is in a file: the file's, without its ending and what cannot be printed."""
    return printable_text(Path(path).stem) or "network"


def printable_text(text: str) -> str:
    """Return a text with ``_`` for what cannot be printed."""
    return "".join(character if character.isprintable() else "_" for character in text).strip()


def _network(
    path: str | os.PathLike[str],
    text: str,
    kind: ForeignKind,
    algorithms: tuple[Algorithm, ...] | None = None,
    gigabyte: Gigabyte = Gigabyte.DECIMAL,
    name: str | None = None,
) -> Imported:
    data = plain_mapping(path, text, decimals=True)
    name = printable_name(path) if name is None else name
    source = f"{kind} file, {printable_text(Path(path).name)}".removeprefix("an ")
    with located(os.fspath(path)):
        if kind is ForeignKind.ASTRA2_NETWORK:
            imported = read_astra2_network(data, name, algorithms, source)
        else:
            imported = read_astra1_network(data, name, gigabyte, algorithms, source)
    return replace(imported, path=os.fspath(path))


def _mapping_or_none(path: str | os.PathLike[str], text: str) -> dict[str, Any] | None:
    try:
        return plain_mapping(path, text)
    except InputError:
        return None
