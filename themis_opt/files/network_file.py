"""Network files (``themis-opt/network/1``): reading, writing, and finding shipped ones by name."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

from themis_opt.files.atomic import write_text
from themis_opt.files.documents import DimensionDocument, NetworkDocument, NetworkFile, format_line
from themis_opt.files.importing import OnImport, read_own_or_foreign
from themis_opt.files.kinds import expect_kind
from themis_opt.files.remarks import Imported
from themis_opt.files.shipped import shipped_networks, shown_name
from themis_opt.files.strict import decode
from themis_opt.problem.choices import did_you_mean
from themis_opt.problem.errors import InputError
from themis_opt.problem.network import Dimension, Network
from themis_opt.problem.units import exact_text, parse_bandwidth, parse_time


def load_network(name_or_path: str | os.PathLike[str], on_import: OnImport | None = None) -> Network:
    """Return a shipped network by its name, or the network in a file: ours, or an ASTRA-sim one as it is.

    Parameters
    ----------
    name_or_path
        Which one.
    on_import
        Called with what was read when it is an ASTRA-sim file: its remarks say what became of every quantity.

    Raises
    ------
    InputError
        When there is none or its file is wrong.
    """
    path = find_network(name_or_path)
    data = read_own_or_foreign(path, small=True)
    if isinstance(data, Imported):
        if on_import is not None:
            on_import(data)
        return data.network
    try:
        expect_kind(data, "network")
        return network_from_document(decode(data, NetworkFile))
    except InputError as error:
        raise error.at(os.fspath(path)) from None


def find_network(name_or_path: str | os.PathLike[str]) -> Path:
    """Return the file of a network: an existing path, or a shipped name.

    Raises
    ------
    InputError
        When it is neither.
    """
    path = Path(name_or_path)
    if os.path.isfile(path):  # False, unlike Path's, for what cannot be a name
        return path
    shipped = shipped_networks()
    name = os.fspath(name_or_path)
    if name in shipped:
        return shipped[name]
    if os.path.exists(path):
        return path  # a pipe, or what the reader refuses by its kind
    if os.sep in name or path.suffix:
        raise InputError(f"{shown_name(name)}: no such file")
    raise InputError(
        f"{shown_name(name)}: no shipped network and no file of this name{did_you_mean(name, shipped)}; "
        "'themis-opt list networks' lists them"
    )


def network_from_document(document: NetworkDocument) -> Network:
    """Return the network a document describes.

    Raises
    ------
    InputError
        Naming the key whose value is out of range.
    """
    dimensions = []
    for index, dimension in enumerate(document.dimensions):
        try:
            dimensions.append(_dimension(dimension))
        except InputError as error:
            raise InputError(f"dimensions[{index}].{error}") from None
    return Network(document.name, tuple(dimensions), document.source, document.note)


def network_document(network: Network) -> dict[str, Any]:
    """Return a network as plain data that reads back as the same network."""
    data: dict[str, Any] = {"name": network.name}
    if network.source:
        data["source"] = network.source
    if network.note:
        data["note"] = network.note
    data["dimensions"] = [_dimension_document(dimension) for dimension in network.dimensions]
    return data


def save_network(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network file, whole or not at all; ``-`` is standard output.

    Raises
    ------
    InputError
        When it cannot be written.
    """
    data = {"format": format_line("network"), **network_document(network)}
    write_text(path, yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120))


def _dimension(document: DimensionDocument) -> Dimension:
    reduction = document.reduction_bandwidth
    latency_ps = _quantity(parse_time, "latency", document.latency)
    reduction_Bps = None if reduction is None else _quantity(parse_bandwidth, "reduction_bandwidth", reduction)
    bandwidth_Bps = _aggregate_bandwidth(document)
    return Dimension(
        document.topology,
        document.size,
        bandwidth_Bps,
        latency_ps,
        document.algorithm,
        document.links,
        reduction_Bps,
        document.note,
    )


def _aggregate_bandwidth(document: DimensionDocument) -> Fraction:
    """Return the bandwidth of all links of an NPU together."""
    if document.links is None:
        if document.bandwidth_per_link is not None:
            raise InputError("bandwidth_per_link: needs links beside it (links per NPU); or write bandwidth instead")
        if document.bandwidth is None:
            raise InputError("bandwidth: is missing (or write links and bandwidth_per_link)")
        return _quantity(parse_bandwidth, "bandwidth", document.bandwidth)
    if document.bandwidth is not None:
        raise InputError(
            f"bandwidth: {document.bandwidth!r} stands beside links; write bandwidth_per_link instead "
            "(bandwidth is the sum over all links)"
        )
    if document.bandwidth_per_link is None:
        raise InputError("bandwidth_per_link: is missing beside links")
    return document.links * _quantity(parse_bandwidth, "bandwidth_per_link", document.bandwidth_per_link)


def _quantity(parse: Any, key: str, text: str) -> Fraction:
    try:
        return Fraction(parse(text))
    except InputError as error:
        raise InputError(f"{key}: {error}") from None


def _dimension_document(dimension: Dimension) -> dict[str, Any]:
    data: dict[str, Any] = {"topology": str(dimension.topology), "size": dimension.size}
    if dimension.links is None:
        data["bandwidth"] = _bandwidth_text(dimension.bandwidth_Bps)
    else:
        data["links"] = dimension.links
        data["bandwidth_per_link"] = _bandwidth_text(dimension.bandwidth_Bps / dimension.links)
    data["latency"] = exact_text(dimension.latency_ps / 1000, "ns")
    data["algorithm"] = str(dimension.algorithm)
    if dimension.reduction_bandwidth_Bps is not None:
        data["reduction_bandwidth"] = _bandwidth_text(dimension.reduction_bandwidth_Bps)
    if dimension.note:
        data["note"] = dimension.note
    return data


def _bandwidth_text(bandwidth_Bps: Fraction) -> str:
    gibi = bandwidth_Bps / 2**30
    if gibi.denominator == 1:
        return exact_text(gibi, "GiB/s")
    return exact_text(bandwidth_Bps / 10**9, "GB/s")
