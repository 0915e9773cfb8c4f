"""What an importer says of a file: each quantity it converted, and what it ignored or assumed, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from themis_opt.problem.network import Network


class RemarkKind(StrEnum):
    """`CONVERTED`: a quantity got another unit or meaning. `ASSUMED`: not in the file. `IGNORED`: without effect."""

    CONVERTED = "converted"
    ASSUMED = "assumed"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing a reader of somebody's file should know.

    Attributes
    ----------
    kind
        What sort of remark it is.
    key
        The path of the key in the file, such as ``bandwidth[1]``.
    text
        The given value and what became of it: ``150 GiB/s per NPU = 161.06 GB/s``.
    """

    kind: RemarkKind
    key: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.key}: {self.text}"


def converted(key: str, text: str) -> Remark:
    """Return the remark that a quantity got another unit or meaning."""
    return Remark(RemarkKind.CONVERTED, key, text)


def assumed(key: str, text: str) -> Remark:
    """Return the remark that something is not in the file."""
    return Remark(RemarkKind.ASSUMED, key, text)


def ignored(key: str, text: str) -> Remark:
    """Return the remark that something has no effect here."""
    return Remark(RemarkKind.IGNORED, key, text)


@dataclass(frozen=True)
class Imported:
    """A network from somebody's file, and everything there is to say of how it was read.

    Attributes
    ----------
    network
        The network.
    format_name
        What the file is, for people: ``an ASTRA-sim 2 network``.
    reading
        How its units were taken, in a clause: ``"GB/s" taken as 2^30 bytes/s``.
    remarks
        In the order of the file.
    num_chunks
        How many chunks the files ask for, or ``None``: it belongs to an instance, not to a network.
    path
        The file as its reader named it; empty where there was only a text.
    """

    network: Network
    format_name: str
    reading: str
    remarks: tuple[Remark, ...] = field(default=())
    num_chunks: int | None = None
    path: str = ""

    @property
    def headline(self) -> str:
        """One line that says what was read, and how its units were taken."""
        count, npus = self.network.num_dimensions, self.network.num_npus
        dimensions = f"{count} dimension{'' if count == 1 else 's'}, {npus} NPUs"
        place = f"{self.path}: " if self.path else ""
        return f"{place}read as {self.format_name}: {dimensions}; {self.reading}"
