"""Queue disciplines: which waiting chunk a free dimension serves next (Sec. 4.3)."""

from __future__ import annotations

from enum import StrEnum


class DispatchPolicy(StrEnum):
    """What a free dimension does when several chunks wait.

    `FIFO` and `SCF` apply all completions of an instant before any dimension chooses, and dimensions choose in index
    order. A tie goes to the earlier arrival, then to the lower chunk index.

    `FIFO`
        The earliest arrival first.
    `SCF`
        The smallest chunk first: fewest bytes per NPU before the stage.
    `FUSED_FIFO`
        As `FIFO`, but when a chunk's next stage is on the dimension it is on, that dimension serves nobody else in
        between (ASTRA-sim's baseline runs both phases of the last dimension as one).
    `ASTRA_FIFO`, `ASTRA_SCF`
        ASTRA-sim 1.0's queues: completions are applied one by one (in dimension order), a chunk that finds its
        dimension free starts at once, and a chunk joins its next queue before the freed dimension chooses. The SCF
        key is the larger of the bytes before and after the stage, the last one in wins a tie, and a stage after
        which exactly one more follows goes to the tail whatever its size.
    """

    FIFO = "fifo"
    SCF = "scf"
    FUSED_FIFO = "fused-fifo"
    ASTRA_FIFO = "astra-fifo"
    ASTRA_SCF = "astra-scf"

    @property
    def is_astra(self) -> bool:
        """Whether completions of an instant are applied one by one, as ASTRA-sim does."""
        return self in (DispatchPolicy.ASTRA_FIFO, DispatchPolicy.ASTRA_SCF)
