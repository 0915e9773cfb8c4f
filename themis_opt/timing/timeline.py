"""What the simulator found out: when every stage runs, and how each dimension is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from themis_opt.problem.schedule import StageTime
from themis_opt.timing.stage_table import StageTable


@dataclass(frozen=True, slots=True)
class DimensionUse:
    """How one network dimension is used.

    Attributes
    ----------
    sent_bytes
        Bytes one NPU sends into it, exactly.
    busy_ps
        How long stages hold it.
    idle_gaps
        The intervals ``(start_ps, end_ps)`` between 0 and the makespan in which nothing holds it.
    """

    sent_bytes: Fraction
    busy_ps: int
    idle_gaps: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Timeline:
    """The times of all stages of a schedule.

    Attributes
    ----------
    makespan_ps
        When the last chunk is complete.
    table
        The stages and their costs.
    starts
        Start of each stage [ps], by chunk and stage (nested lists or an array).
    """

    makespan_ps: int
    table: StageTable
    starts: Sequence[Sequence[int]]

    @cached_property
    def stages(self) -> tuple[StageTime, ...]:
        """Start and end of every stage, chunk by chunk."""
        return tuple(
            StageTime(chunk, phase, k, int(start), int(start) + cost.duration_ps)
            for chunk, (path, costs) in enumerate(zip(self.table.paths, self.table.costs, strict=True))
            for (phase, k), cost, start in zip(path, costs, self.starts[chunk], strict=True)
        )

    @cached_property
    def dimensions(self) -> tuple[DimensionUse, ...]:
        """The use of every network dimension, involved or not."""
        held: list[list[tuple[int, int]]] = [[] for _ in self.table.instance.network.dimensions]
        sent = [Fraction(0)] * len(held)
        for path, costs, holds, starts in zip(
            self.table.paths, self.table.costs, self.table.holds, self.starts, strict=True
        ):
            for (_, k), cost, hold, start in zip(path, costs, holds, starts, strict=True):
                held[k].append((int(start), int(start) + hold))
                sent[k] += cost.sent_bytes
        return tuple(
            DimensionUse(bytes_, sum(end - start for start, end in intervals), self._gaps(sorted(intervals)))
            for bytes_, intervals in zip(sent, held, strict=True)
        )

    def _gaps(self, held: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        # The makespan closes the last gap, and `max` steps over stages of no length.
        gaps = []
        now = 0
        for start, end in [*held, (self.makespan_ps, self.makespan_ps)]:
            if start > now:
                gaps.append((now, start))
            now = max(now, end)
        return tuple(gaps)
