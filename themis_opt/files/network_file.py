"""Network files (``themis-opt/network/1``): reading and writing."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import yaml

from themis_opt.files.atomic import write_text
from themis_opt.files.documents import DimensionDocument, NetworkDocument, NetworkFile, expect_kind, format_line
from themis_opt.files.importing import OnImport, read_own_or_foreign
from themis_opt.files.remarks import Imported
from themis_opt.files.shipped import find_network
from themis_opt.files.strict import decode
from themis_opt.problem.errors import InputError, located
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
    with located(os.fspath(path)):
        expect_kind(data, "network")
        return network_from_document(decode(data, NetworkFile))


def network_from_document(document: NetworkDocument) -> Network:
    """Return the network a document describes.

    Raises
    ------
    InputError
        Naming the key whose value is out of range.
    """
    dimensions = []
    for index, dimension in enumerate(document.dimensions):
        with located(f"dimensions[{index}]", "."):
            dimensions.append(_dimension(dimension))
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
    write_yaml(path, "network", network_document(network))


def write_yaml(path: str | os.PathLike[str], kind: str, document: dict[str, Any]) -> None:
    """Write a document as a YAML file of a kind, whole or not at all; ``-`` is standard output.

    Parameters
    ----------
    path
        The file.
    kind
        Which of `documents.FORMATS` it is, for its `format` line.
    document
        What else is in it, as plain data.

    Raises
    ------
    InputError
        When it cannot be written.
    """
    data = {"format": format_line(kind), **document}
    write_text(path, yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120))


def _dimension(document: DimensionDocument) -> Dimension:
    reduction = document.reduction_bandwidth
    latency_ps = _quantity(parse_time, "latency", document.latency)
    return Dimension(
        topology=document.topology,
        size=document.size,
        reduction_bandwidth_Bps=(
            None if reduction is None else _quantity(parse_bandwidth, "reduction_bandwidth", reduction)
        ),
        bandwidth_Bps=_aggregate_bandwidth(document),
        latency_ps=latency_ps,
        algorithm=document.algorithm,
        links=document.links,
        note=document.note,
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


def _quantity(parse: Callable[[str], Fraction], key: str, text: str) -> Fraction:
    with located(key):
        return parse(text)


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
    return exact_text(gibi, "GiB/s") if gibi.denominator == 1 else exact_text(bandwidth_Bps / 10**9, "GB/s")
