"""The collective operations and the phases they are made of."""

from __future__ import annotations

from enum import StrEnum


class Phase(StrEnum):
    """What a chunk does on every involved dimension once: shrink, grow, or (All-to-All) be exchanged."""

    REDUCE_SCATTER = "rs"
    ALL_GATHER = "ag"
    ALL_TO_ALL = "a2a"


class Collective(StrEnum):
    """A collective operation over all involved NPUs.

    The size of a collective is, per NPU: the array reduced (All-Reduce, Reduce-Scatter), the array gathered
    (All-Gather, the convention of nccl-tests) or the array exchanged (All-to-All).
    """

    ALL_REDUCE = "all-reduce"
    REDUCE_SCATTER = "reduce-scatter"
    ALL_GATHER = "all-gather"
    ALL_TO_ALL = "all-to-all"

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The phases of a chunk, in the order it goes through them."""
        return _PHASES[self]

    @property
    def has_free_orders(self) -> bool:
        """Whether a chunk may choose the order in which it visits the dimensions (All-to-All may not)."""
        return self is not Collective.ALL_TO_ALL


_PHASES = {
    Collective.ALL_REDUCE: (Phase.REDUCE_SCATTER, Phase.ALL_GATHER),
    Collective.REDUCE_SCATTER: (Phase.REDUCE_SCATTER,),
    Collective.ALL_GATHER: (Phase.ALL_GATHER,),
    Collective.ALL_TO_ALL: (Phase.ALL_TO_ALL,),
}
