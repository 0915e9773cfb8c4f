"""Between schedules and the variables of the joint model: hints in, solutions out."""

from __future__ import annotations

from collections.abc import Callable

from ortools.sat.python import cp_model

from themis_models.cp_sat.model import JointModel
from themis_opt.collective import Phase
from themis_opt.lattice import Arc
from themis_opt.schedules import Chunk, Order, Schedule, Slot
from themis_opt.simulator import simulate


def add_hint(joint: JointModel, schedule: Schedule) -> None:
    """Hint the values a schedule of equal chunks gives to all arcs, starts, holds and levels.

    Its chunks are matched to the model's of the same size in the order that the model's symmetry breaking wants.
    """
    instance = joint.instance
    timeline = simulate(instance, schedule)
    first_phase = instance.phases[0]
    by_size = sorted(
        range(schedule.num_chunks),
        key=lambda c: (-schedule.chunks[c].size_bytes, schedule.order(c, first_phase)[0], timeline.starts[c][0]),
    )
    for chunk, source in enumerate(by_size):
        stage = 0
        for phase in instance.phases:
            order = schedule.order(source, phase)
            taken = {Arc(phase, frozenset(order[:position]), k) for position, k in enumerate(order)}
            for arc in joint.lattice.arcs[phase]:
                joint.model.add_hint(joint.arcs[chunk, arc], arc in taken)
            for k in order:
                start = int(timeline.starts[source][stage])
                joint.model.add_hint(joint.starts[chunk, phase, k], start)
                joint.model.add_hint(joint.holds[chunk, phase, k], timeline.table.holds[source][stage])
                joint.model.add_hint(joint.levels[chunk, stage], start)
                stage += 1
        end = int(timeline.starts[source][stage - 1]) + timeline.table.costs[source][stage - 1].duration_ps
        joint.model.add_hint(joint.levels[chunk, stage], end)
    joint.model.add_hint(joint.makespan, timeline.makespan_ps)


def read_schedule(joint: JointModel, value: Callable[[cp_model.IntVar], int]) -> Schedule:
    """Return the schedule of a solution, with its simulated makespan (at most the solution's).

    Stages are put in sequence by start, then by the end of their hold, then by their place in the chunk's path: stages
    that take no time then still come after those their chunk has to do first.
    """
    instance = joint.instance
    chunks = []
    keyed = []
    for c, size in enumerate(instance.equal_chunk_sizes()):
        orders: dict[Phase, Order] = {}
        for phase in instance.phases:
            taken = [arc for arc in joint.lattice.arcs[phase] if value(joint.arcs[c, arc])]
            orders[phase] = joint.lattice.order(taken)
        path = [(phase, k) for phase in instance.phases for k in orders[phase]]
        for position, (phase, k) in enumerate(path):
            start = value(joint.starts[c, phase, k])
            keyed.append((start, start + value(joint.holds[c, phase, k]), position, c, phase, k))
        chunks.append(Chunk(size, orders.get(Phase.REDUCE_SCATTER), orders.get(Phase.ALL_GATHER)))
    sequences: list[list[Slot]] = [[] for _ in instance.network.dimensions]
    for *_, c, phase, k in sorted(keyed):
        sequences[k].append(Slot(c, phase))
    schedule = Schedule(instance, tuple(chunks), tuple(tuple(sequence) for sequence in sequences), scheduler="cp-sat")
    return schedule.replace(makespan_ps=simulate(instance, schedule).makespan_ps)
