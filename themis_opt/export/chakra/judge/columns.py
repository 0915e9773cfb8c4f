"""All nodes of a folder as columns of numbers, rank after rank."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from themis_opt.export.chakra.judge.decoding import COLLECTIVE, SEND, Decoder
from themis_opt.export.chakra.judge.setup import Setup
from themis_opt.export.verdict import Contradiction
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError

IntArray = NDArray[np.int64]

MAX_NODES = 4_500_000
MAX_TRACE_BYTES = 400_000_000
"""Of all traces together: what about three minutes and a GB of memory can interpret."""
MAX_WORKLOAD_BYTES = 10_000

_COMM_TYPES = {"all-reduce": 0, "all-gather": 2, "reduce-scatter": 7}


@dataclass(frozen=True)
class Nodes:
    """The nodes of all ranks; a node's *place* is its row.

    Attributes
    ----------
    first_place
        Where each rank's nodes begin, and at last where they end; by place of the rank in `Setup.ranks`.
    rank, node_id, peer, size_bytes, tag
        By node; the peer of a SEND is its receiver, that of a RECV its sender.
    is_send
        By node.
    deps
        By node, a number that stands for its list of dependencies.
    dependencies
        Those lists: sorted ids.
    """

    first_place: IntArray
    rank: NDArray[np.int32]
    node_id: IntArray
    is_send: NDArray[np.bool_]
    peer: NDArray[np.int32]
    size_bytes: IntArray
    tag: NDArray[np.int32]
    deps: NDArray[np.int32]
    dependencies: list[IntArray]

    def __len__(self) -> int:
        return len(self.node_id)

    def of_rank(self, rank_place: int) -> Nodes:
        """Return the nodes of one rank, whose places count from 0 there."""
        span = slice(*self.first_place[rank_place : rank_place + 2].tolist())
        ids = self.rank[span], self.node_id[span], self.is_send[span]
        message = self.peer[span], self.size_bytes[span], self.tag[span]
        return Nodes(self.first_place[:0], *ids, *message, self.deps[span], self.dependencies)


def read_nodes(setup: Setup) -> Nodes:
    """Return the nodes of all traces in a folder, and look at the workloads on the way.

    Raises
    ------
    InputError
        When a file is no trace, or there is more than can be interpreted.
    """
    paths = [setup.trace_path(rank) for rank in setup.ranks]
    total = sum(_size(path) for path in paths)
    if total > MAX_TRACE_BYTES:
        raise InputError(
            f"{setup.folder}: has {total} bytes of traces, and at most {MAX_TRACE_BYTES} are interpreted; "
            "check an export of fewer chunks, or of some ranks (--ranks)"
        )
    decoder = Decoder()
    columns: list[IntArray] = []
    lengths = []
    left = MAX_NODES
    for rank, path in zip(setup.ranks, paths, strict=True):
        _check_workload(setup, rank)
        nodes = decoder.nodes(_read(path), path, left)
        left -= len(nodes)
        lengths.append(len(nodes))
        rows = []
        for node_id, node_type, deps, values in nodes:
            if node_type == COLLECTIVE:
                raise InputError(
                    f"{path}: node {node_id} is a collective; a rank's trace holds COMM_SEND and COMM_RECV"
                )
            if node_id >= 2**31:
                raise InputError(f"{path}: node {node_id}: ids count from 1, and no file has as many nodes")
            is_send = node_type == SEND
            peer = values["comm_dst" if is_send else "comm_src"]
            rows.append((rank, node_id, is_send, peer, values["comm_size"], values["comm_tag"], deps))
        # Rank by rank, so that there never are more Python objects than one rank's.
        columns.append(np.array(rows, np.int64).reshape(-1, 7).T.copy())
    return _joined(columns, lengths, decoder)


def _joined(columns: list[IntArray], lengths: list[int], decoder: Decoder) -> Nodes:
    def column(index: int, kind: type[np.generic]) -> NDArray[np.generic]:
        return np.concatenate([block[index].astype(kind) for block in columns])

    return Nodes(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        column(0, np.int32),  # type: ignore[arg-type]
        column(1, np.int64),  # type: ignore[arg-type]
        column(2, np.bool_),  # type: ignore[arg-type]
        column(3, np.int32),  # type: ignore[arg-type]
        column(4, np.int64),  # type: ignore[arg-type]
        column(5, np.int32),  # type: ignore[arg-type]
        column(6, np.int32),  # type: ignore[arg-type]
        decoder.dependencies,
    )


def _check_workload(setup: Setup, rank: int) -> None:
    """Raise unless a rank's workload is the schedule's collective and nothing else."""
    path = setup.workload_path(rank)
    if _size(path) > MAX_WORKLOAD_BYTES:
        raise InputError(f"{path}: has more than {MAX_WORKLOAD_BYTES} bytes; a workload is one collective")
    nodes = Decoder().nodes(_read(path), path, 2)
    if len(nodes) != 1 or nodes[0].node_type != COLLECTIVE or nodes[0].deps:
        raise InputError(f"{path}: must be one COMM_COLL node that waits for nothing")
    expected = _COMM_TYPES[setup.instance.collective]
    if nodes[0].values["comm_type"] != expected:
        raise Contradiction(
            f"{path}: comm_type is {nodes[0].values['comm_type']}; an {setup.instance.collective} is {expected}"
        )
    size_bytes = setup.instance.size_bytes
    if setup.instance.collective is Collective.ALL_GATHER:
        # ASTRA-sim's size of an All-Gather is what each rank begins with; none of it is no collective.
        size_bytes = max(1, size_bytes // setup.num_ranks)
    if nodes[0].values["comm_size"] != size_bytes:
        raise Contradiction(f"{path}: comm_size is {nodes[0].values['comm_size']}; the schedule's is {size_bytes}")


def _size(path: str) -> int:
    try:
        if not os.path.isfile(path):
            raise InputError(f"{path}: is no file")
        return os.path.getsize(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(MAX_TRACE_BYTES)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
