"""What an MSCCL XML file says, as it stands there: nothing is put right, nothing is left out."""

from __future__ import annotations

from dataclasses import dataclass, field

SENDING = frozenset({"s", "rcs", "rrs", "rrcs"})
RECEIVING = frozenset({"r", "rcs", "rrc", "rrs", "rrcs"})
READING = frozenset({"s", "rrc", "rrs", "rrcs", "cpy", "re"})
"""The types that read their source."""
WRITING = frozenset({"r", "rcs", "rrc", "rrcs", "cpy", "re"})
"""The types that write their destination; `re` reads it, too."""
KINDS = SENDING | RECEIVING | {"cpy", "re", "nop"}
BUFFERS = ("i", "o", "s")


@dataclass(slots=True)
class XmlStep:
    """One `step`; attributes are named after those of the file."""

    s: int
    type: str
    srcbuf: str
    srcoff: int
    dstbuf: str
    dstoff: int
    cnt: int
    depid: int
    deps: int
    hasdep: int


@dataclass(slots=True)
class XmlThreadblock:
    """One `tb`."""

    id: int
    send: int
    recv: int
    chan: int
    steps: list[XmlStep] = field(default_factory=list)


@dataclass(slots=True)
class XmlGpu:
    """One `gpu`: a rank."""

    id: int
    i_chunks: int
    o_chunks: int
    s_chunks: int
    tbs: list[XmlThreadblock] = field(default_factory=list)

    def num_slots(self, buffer: str) -> int:
        """Return the size of a buffer."""
        return {"i": self.i_chunks, "o": self.o_chunks, "s": self.s_chunks}[buffer]


@dataclass(slots=True)
class XmlAlgorithm:
    """The whole file; `outofplace`, `minBytes` and `maxBytes` are ``None`` where older writers leave them out.

    Attributes
    ----------
    ignored
        Attributes that nobody knows, and that have no effect here.
    """

    name: str
    proto: str
    nchannels: int
    nchunksperloop: int
    ngpus: int
    coll: str
    inplace: int
    outofplace: int | None = None
    minBytes: int | None = None
    maxBytes: int | None = None
    gpus: list[XmlGpu] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
