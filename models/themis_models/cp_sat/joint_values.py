"""Between schedules and the variables of the joint model: hints in, solutions out."""

from __future__ import annotations

from collections.abc import Callable

from ortools.sat.python import cp_model

from themis_models.cp_sat.joint_model import JointModel
from themis_opt.problem.collective import Phase
from themis_opt.problem.schedule import Chunk, Schedule, Slot
from themis_opt.proof.order_lattice import Arc
from themis_opt.timing.sequencing import timeline_of


def add_hint(joint: JointModel, schedule: Schedule) -> None:
    """Hint the values a schedule of equal chunks gives to arcs, starts, holds and levels.

    It is read in the direction of time that (J10) wants, its chunks matched to the model's of the same size in the
    order that (J9) wants.
    """
    instance = joint.instance
    if joint.is_reversible and _lateness(schedule) < 0:
        schedule = reversed_in_time(schedule)
    timeline = schedule.derived(timeline_of)
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


def reversed_in_time(schedule: Schedule) -> Schedule:
    """Return an All-Reduce schedule read backwards: what was gathered last is reduced first."""
    opposite = {Phase.REDUCE_SCATTER: Phase.ALL_GATHER, Phase.ALL_GATHER: Phase.REDUCE_SCATTER}
    chunks = tuple(
        Chunk.along(chunk.size_bytes, [(opposite[phase], k) for phase, k in reversed(schedule.path(c))])
        for c, chunk in enumerate(schedule.chunks)
    )
    sequences = tuple(
        tuple(Slot(c, opposite[phase]) for c, phase in reversed(sequence)) for sequence in schedule.sequences
    )
    return schedule.replace(chunks=chunks, sequences=sequences, makespan_ps=None, stages=None)


def _lateness(schedule: Schedule) -> int:
    """Return by how much the dimensions on which chunks start lie after those on which they end, added up."""
    first_phase, last_phase = schedule.instance.phases[0], schedule.instance.phases[-1]
    return sum(
        schedule.order(c, first_phase)[0] - schedule.order(c, last_phase)[-1] for c in range(schedule.num_chunks)
    )


def read_schedule(joint: JointModel, value: Callable[[cp_model.IntVar], int]) -> Schedule:
    """Return the schedule of a solution, with its simulated makespan (at most the solution's).

    Stages are put in sequence by start, then by the end of their hold, then by their place in the chunk's path: stages
    that take no time then still come after those their chunk has to do first.
    """
    instance = joint.instance
    chunks = []
    keyed = []
    for c, size in enumerate(instance.equal_chunk_sizes()):
        path = []
        for phase in instance.phases:
            taken = [arc for arc in joint.lattice.arcs[phase] if value(joint.arcs[c, arc])]
            path += [(phase, k) for k in joint.lattice.order(taken)]
        for position, (phase, k) in enumerate(path):
            start = value(joint.starts[c, phase, k])
            keyed.append((start, start + value(joint.holds[c, phase, k]), position, c, phase, k))
        chunks.append(Chunk.along(size, path))
    sequences: list[list[Slot]] = [[] for _ in instance.network.dimensions]
    for *_, c, phase, k in sorted(keyed):
        sequences[k].append(Slot(c, phase))
    schedule = Schedule(instance, tuple(chunks), tuple(tuple(sequence) for sequence in sequences), scheduler="cp-sat")
    return schedule.replace(makespan_ps=schedule.derived(timeline_of).makespan_ps)
