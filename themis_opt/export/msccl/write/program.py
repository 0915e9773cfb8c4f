"""An algorithm as MSCCL's executors understand it: ranks, their threadblocks, and the steps of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

NO_PEER = -1


class Place(NamedTuple):
    """A position in one of a rank's buffers: ``i`` input, ``o`` output, ``s`` scratch; the offset is in pieces."""

    buffer: str
    offset: int


class StepId(NamedTuple):
    """A step of a rank: its threadblock, and its number there."""

    threadblock: int
    step: int


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction.

    Attributes
    ----------
    kind
        ``s`` send, ``r`` receive, ``rrc`` receive and reduce, ``cpy`` copy here, ``nop`` only wait.
    source, target
        From where it reads and to where it writes.
    num_pieces
        How many pieces from there on; 0 for ``nop``.
    waits_for
        The step of another threadblock that must be done before.
    is_awaited
        Whether another step waits for this one.
    """

    kind: str
    source: Place
    target: Place
    num_pieces: int
    waits_for: StepId | None = None
    is_awaited: bool = False


@dataclass(frozen=True, slots=True)
class Threadblock:
    """Instructions that run one after the other, with at most one peer to send to and one to receive from."""

    send_peer: int
    receive_peer: int
    channel: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Gpu:
    """One rank: the sizes of its buffers in pieces, and its threadblocks."""

    num_input: int
    num_output: int
    num_scratch: int
    threadblocks: tuple[Threadblock, ...]


@dataclass(frozen=True, slots=True)
class Algo:
    """The whole algorithm.

    Attributes
    ----------
    name
        Letters, digits, ``-``, ``_`` and ``.`` only.
    collective
        The executors' word for it.
    is_in_place
        Whether it serves calls whose result overlaps their input, or the others.
    num_channels
        Channels that it uses.
    num_pieces
        Into how many equal pieces the whole array is cut (``nchunksperloop``).
    min_bytes, max_bytes
        For which sizes of the whole array it is to be used.
    gpus
        The ranks.
    """

    name: str
    collective: str
    is_in_place: bool
    num_channels: int
    num_pieces: int
    min_bytes: int
    max_bytes: int
    gpus: tuple[Gpu, ...]
