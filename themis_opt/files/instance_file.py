"""Instance files (``themis-opt/instance/1``): reading, writing, and finding shipped ones by name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

from themis_opt.files.atomic import write_text
from themis_opt.files.documents import InstanceDocument, InstanceFile, KnownDocument, NetworkFile, format_line
from themis_opt.files.importing import OnImport, read_own_or_foreign
from themis_opt.files.kinds import kind_of
from themis_opt.files.network_file import load_network, network_document, network_from_document
from themis_opt.files.remarks import Imported
from themis_opt.files.shipped import shipped_instances, shipped_networks, shown_name
from themis_opt.files.strict import decode
from themis_opt.problem.choices import did_you_mean
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance, Known
from themis_opt.problem.network import Network
from themis_opt.problem.units import parse_size, parse_time


def load_instance(name_or_path: str | os.PathLike[str], on_import: OnImport | None = None) -> Instance:
    """Return the instance in a file or of a shipped name; a network alone means its default instance.

    Parameters
    ----------
    name_or_path
        Which one; an ASTRA-sim network file is taken as it is.
    on_import
        Called with what was read when the network is an ASTRA-sim file: its remarks say what became of every quantity.

    Raises
    ------
    InputError
        When there is none, its file is wrong, or the file is a schedule.
    """
    path = find_instance(name_or_path)
    return instance_from_data(read_own_or_foreign(path, small=True), path, on_import)


def instance_from_data(
    data: dict[str, Any] | Imported, path: str | os.PathLike[str], on_import: OnImport | None = None
) -> Instance:
    """Return the instance in the plain data of an instance or network file.

    Parameters
    ----------
    data
        What the file holds, or the network imported from it.
    path
        The file, for messages and for networks named relative to it.
    on_import
        As for `load_instance`.

    Raises
    ------
    InputError
        When the data is wrong.
    """
    try:
        if isinstance(data, Imported):
            if on_import is not None:
                on_import(data)
            return Instance(data.network)
        kind = kind_of(data)
        if kind == "network":
            return Instance(network_from_document(decode(data, NetworkFile)))
        if kind != "instance":
            raise InputError(f"format: this is a {kind} file; an instance or network file is expected here")
        return instance_from_document(decode(data, InstanceFile), Path(path).parent, on_import)
    except InputError as error:
        raise error.at(os.fspath(path)) from None


def find_instance(name_or_path: str | os.PathLike[str]) -> Path:
    """Return the file of an instance or network: an existing path, or a shipped name (instances first).

    Raises
    ------
    InputError
        When it is neither.
    """
    path = Path(name_or_path)
    if os.path.isfile(path):  # False, unlike Path's, for what cannot be a name
        return path
    name = os.fspath(name_or_path)
    shipped = {**shipped_networks(), **shipped_instances()}
    if name in shipped:
        return shipped[name]
    if os.path.isdir(path):
        raise InputError(f"{name}: is a folder; name an instance, network or schedule file in it")
    if os.path.exists(path):
        return path  # a pipe, or what the reader refuses by its kind
    if os.sep in name or path.suffix:
        raise InputError(f"{shown_name(name)}: no such file")
    raise InputError(
        f"{shown_name(name)}: no shipped instance or network and no file of this name{did_you_mean(name, shipped)}; "
        "'themis-opt list networks' and 'themis-opt list instances' list them"
    )


def instance_from_document(document: InstanceDocument, folder: Path, on_import: OnImport | None = None) -> Instance:
    """Return the instance a document describes; a relative path to a network starts at `folder`.

    `on_import` is called as by `load_instance`.

    Raises
    ------
    InputError
        Naming the key whose value is wrong.
    """
    return Instance(
        _network(document, folder, on_import),
        document.collective,
        _named("size", parse_size, document.size),
        document.chunks,
        document.occupancy,
        None if document.dimensions is None else tuple(document.dimensions),
        None if document.known is None else _known(document.known),
        0 if document.chunk_overhead is None else _picoseconds("chunk_overhead", document.chunk_overhead),
    )


def instance_document(instance: Instance) -> dict[str, Any]:
    """Return an instance, its network inline, as plain data that reads back as the same instance."""
    data: dict[str, Any] = {
        "network": network_document(instance.network),
        "collective": str(instance.collective),
        "size": f"{instance.size_bytes} B",
        "chunks": instance.num_chunks,
        "occupancy": str(instance.occupancy),
    }
    if instance.chunk_overhead_ps:
        data["chunk_overhead"] = f"{instance.chunk_overhead_ps} ps"
    if instance.dimensions is not None:
        data["dimensions"] = list(instance.dimensions)
    if instance.known is not None:
        data["known"] = _known_document(instance.known)
    return data


def save_instance(instance: Instance, path: str | os.PathLike[str]) -> None:
    """Write an instance file with its network inline, whole or not at all; ``-`` is standard output.

    Raises
    ------
    InputError
        When it cannot be written.
    """
    data = {"format": format_line("instance"), **instance_document(instance)}
    write_text(path, yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120))


def _network(document: InstanceDocument, folder: Path, on_import: OnImport | None) -> Network:
    if not isinstance(document.network, str):
        try:
            return network_from_document(document.network)
        except InputError as error:
            raise error.at("network") from None
    named = folder / document.network
    try:
        return load_network(named if os.path.isfile(named) else document.network, on_import)
    except InputError as error:
        raise error.at("network") from None


def _known(document: KnownDocument) -> Known:
    times: dict[str, int | None] = {}
    for key in ("makespan", "bound"):
        text = getattr(document, key)
        times[key] = None if text is None else _picoseconds(f"known.{key}", text)
    return Known(times["makespan"], times["bound"], document.proved_by)


def _picoseconds(key: str, text: str) -> int:
    time_ps = _named(key, parse_time, text)
    if time_ps != int(time_ps):
        raise InputError(f"{key}: {text!r} is not a whole number of picoseconds")
    return int(time_ps)


def _known_document(known: Known) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, time_ps in (("makespan", known.makespan_ps), ("bound", known.bound_ps)):
        if time_ps is not None:
            data[key] = f"{time_ps} ps"
    if known.proved_by:
        data["proved_by"] = known.proved_by
    return data


def _named(key: str, parse: Any, text: str) -> Any:
    try:
        return parse(text)
    except InputError as error:
        raise error.at(key) from None
