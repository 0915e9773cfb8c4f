"""Everything there is to say of the stages of a timed schedule: what the exports of single stages have in common."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from themis_opt.problem.collective import Phase
from themis_opt.problem.units import exact_text
from themis_opt.timing.cost import CostModel, StageCost, visits
from themis_opt.timing.stage_table import ChunkKind
from themis_opt.timing.timeline import Timeline


class StageRow(NamedTuple):
    """One stage of one chunk, with its times and its costs.

    Attributes
    ----------
    chunk, phase, dimension
        Which stage it is; the dimension by its network index.
    stage
        Its place on the chunk's way, from 0 over all phases.
    start_ps
        When it starts.
    hold_ps
        How long it holds its dimension, under the instance's occupancy.
    cost
        Bytes sent, and the parts of its duration.
    resident_bytes
        Bytes of the chunk that each NPU holds before it, exactly.
    num_steps
        Message exchanges in it.
    """

    chunk: int
    phase: Phase
    stage: int
    dimension: int
    start_ps: int
    hold_ps: int
    cost: StageCost
    resident_bytes: Fraction
    num_steps: int

    @property
    def end_ps(self) -> int:
        """When the chunk is there, latency included."""
        return self.start_ps + self.cost.duration_ps

    @property
    def release_ps(self) -> int:
        """When the dimension is free again."""
        return self.start_ps + self.hold_ps


def stage_rows(timeline: Timeline) -> list[StageRow]:
    """Return the stages chunk by chunk, each chunk's in the order it goes through them."""
    table = timeline.table
    dimensions = table.instance.network.dimensions
    residents = table.by_chunk([_resident_bytes(table.instance.derived(CostModel), kind) for kind in table.kinds])
    rows = []
    for chunk, kind_idx in enumerate(table.kind_of):
        kind, starts = table.kinds[kind_idx], timeline.starts[chunk]
        for stage, (phase, k) in enumerate(kind.path):
            num_steps = 1 if phase is Phase.ALL_TO_ALL else dimensions[k].num_steps()
            times = int(starts[stage]), kind.holds[stage]
            rows.append(StageRow(chunk, phase, stage, k, *times, kind.costs[stage], residents[chunk][stage], num_steps))
    return rows


def number_text(value: Fraction) -> str:
    """Return a number exactly: a decimal where there is one, else a fraction such as ``100/3``."""
    return exact_text(value, "").rstrip()


def name_text(name: str) -> str:
    """Return a name as it can be written: what no UTF-8 can hold, such as half a character, is a question mark."""
    return name.encode("utf-8", errors="replace").decode("utf-8")


def _resident_bytes(model: CostModel, kind: ChunkKind) -> list[Fraction]:
    """Return the bytes each NPU holds before every stage of a kind of chunk (C1)."""
    visited = visits(kind.path)
    return [kind.size_bytes * model.resident_fraction(phase, seen) for phase, seen, _ in visited]
