"""Instance files (``themis-opt/instance/1``): reading and writing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from themis_opt.files.documents import InstanceDocument, InstanceFile, KnownDocument, NetworkFile, kind_of
from themis_opt.files.importing import OnImport, read_own_or_foreign
from themis_opt.files.network_file import load_network, network_document, network_from_document, write_yaml
from themis_opt.files.remarks import Imported
from themis_opt.files.shipped import find_instance
from themis_opt.files.strict import decode
from themis_opt.problem.errors import InputError, located
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
    with located(os.fspath(path)):
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


def instance_from_document(document: InstanceDocument, folder: Path, on_import: OnImport | None = None) -> Instance:
    """Return the instance a document describes.

    Parameters
    ----------
    document
        What stands in the file.
    folder
        Where a relative path to a network starts.
    on_import
        As for `load_instance`.

    Raises
    ------
    InputError
        Naming the key whose value is wrong.
    """
    network = _network(document, folder, on_import)
    with located("size"):
        size_bytes = parse_size(document.size)
    known, overhead = document.known, document.chunk_overhead
    return Instance(
        network,
        document.collective,
        size_bytes,
        document.chunks,
        document.occupancy,
        None if document.dimensions is None else tuple(document.dimensions),
        None if known is None else _known(known),
        0 if overhead is None else _picoseconds("chunk_overhead", overhead),
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
    write_yaml(path, "instance", instance_document(instance))


def _network(document: InstanceDocument, folder: Path, on_import: OnImport | None) -> Network:
    with located("network"):
        if not isinstance(document.network, str):
            return network_from_document(document.network)
        named = folder / document.network
        return load_network(named if os.path.isfile(named) else document.network, on_import)


def _known(document: KnownDocument) -> Known:
    makespan, bound = document.makespan, document.bound
    return Known(
        None if makespan is None else _picoseconds("known.makespan", makespan),
        None if bound is None else _picoseconds("known.bound", bound),
        document.proved_by,
    )


def _picoseconds(key: str, text: str) -> int:
    with located(key):
        time_ps = parse_time(text)
        if time_ps.denominator != 1:
            raise InputError(f"{text!r} is not a whole number of picoseconds")
    return int(time_ps)


def _known_document(known: Known) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, time_ps in (("makespan", known.makespan_ps), ("bound", known.bound_ps)):
        if time_ps is not None:
            data[key] = f"{time_ps} ps"
    if known.proved_by:
        data["proved_by"] = known.proved_by
    return data
