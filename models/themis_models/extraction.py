"""From arcs and start times, which is what a solver finds, to a schedule with the makespan that the simulator measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heapreplace

from themis_opt.schedule import Chunk, Schedule, Slot, Status

from themis_models.stage_times import StageTimes
from themis_opt.collective import Phase
from themis_opt.cost import CostModel
from themis_opt.lattice import Arc
from themis_opt.simulator import simulate

StageKey = tuple[int, Phase, int]
"""A stage by chunk, phase and network dimension."""


def extracted_schedule(
    times: StageTimes,
    arcs: Sequence[Iterable[Arc]],
    starts: Mapping[StageKey, int],
    costs: CostModel,
    solver: str,
) -> Schedule:
    """Return the schedule with these orders in which every dimension serves stages by start time.

    Its makespan is simulated: every stage moves to the earliest time that the sequences allow, so it is at most the
    solver's own.

    Parameters
    ----------
    times
        The stage times.
    arcs
        For each chunk the arcs that its orders use, in any sequence.
    starts
        When each stage starts, in units.
    costs
        A cost model of the instance.
    solver
        Who made it.
    """
    instance = times.instance
    paths = [
        [arc for phase in instance.phases for arc in sorted(arcs_of_phase(used, phase), key=_level)] for used in arcs
    ]
    chunks = tuple(
        Chunk(
            size,
            rs_order=_order(path, Phase.REDUCE_SCATTER),
            ag_order=_order(path, Phase.ALL_GATHER),
        )
        for size, path in zip(times.sizes, paths, strict=True)
    )
    schedule = Schedule(instance, chunks, _sequences(times, paths, starts), scheduler=solver, status=Status.FEASIBLE)
    return schedule.replace(makespan_ps=simulate(instance, schedule, model=costs).makespan_ps)


def arcs_of_phase(arcs: Iterable[Arc], phase: Phase) -> list[Arc]:
    """Return those of some arcs that belong to a phase."""
    return [arc for arc in arcs if arc.phase is phase]


def _level(arc: Arc) -> int:
    return len(arc.visited)


def _order(path: Sequence[Arc], phase: Phase) -> tuple[int, ...] | None:
    return tuple(arc.dimension for arc in arcs_of_phase(path, phase)) or None


def _sequences(
    times: StageTimes, paths: Sequence[Sequence[Arc]], starts: Mapping[StageKey, int]
) -> tuple[tuple[Slot, ...], ...]:
    """Return each dimension's stages by start, then by end of hold.

    Stages that take no time can start together, so the chunks' paths are merged, never sorted: a stage comes after those
    before it in its chunk whatever the times are, and no sequences made like this can deadlock. A stage without a hold goes
    before one with a hold that starts at the same time, which would delay it.
    """
    sequences: list[list[Slot]] = [[] for _ in times.instance.network.dimensions]

    def entry(chunk: int, stage: int) -> tuple[int, int, int, int]:
        arc = paths[chunk][stage]
        start = starts[chunk, arc.phase, arc.dimension]
        return (start, start + times.hold(times.sizes[chunk], arc), chunk, stage)

    heads = [entry(chunk, 0) for chunk in range(len(paths))]
    heapify(heads)
    while heads:
        _, _, chunk, stage = heads[0]
        arc = paths[chunk][stage]
        sequences[arc.dimension].append(Slot(chunk, arc.phase))
        if stage + 1 < len(paths[chunk]):
            heapreplace(heads, entry(chunk, stage + 1))
        else:
            heappop(heads)
    return tuple(map(tuple, sequences))
