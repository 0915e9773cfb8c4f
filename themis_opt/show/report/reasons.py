"""Why no schedule in a bound's scope can be faster: each argument headed by what it proves by itself."""

from __future__ import annotations

from dataclasses import dataclass

from themis_opt.judging.certify import PHASE_NAMES, Certification, why_lines
from themis_opt.problem.bound import BoundScope
from themis_opt.problem.instance import Instance
from themis_opt.problem.units import format_size, format_time
from themis_opt.proof.order_lattice import Arc, OrderLattice
from themis_opt.show.words import count_chunks
from themis_opt.timing.cost import CostModel


@dataclass(frozen=True, slots=True)
class Reason:
    """An argument: what it proves, and its steps; a step that begins with a space belongs to the one before.

    `is_enough` says whether it proves all of the bound that is claimed.
    """

    heading: str
    steps: tuple[str, ...]
    is_enough: bool


def reasons_of(certification: Certification) -> tuple[Reason, ...]:
    """Return what proves a schedule's bound, the argument that proves most first; nothing without a bound.

    The critical path is told where it proves more than the certificate, as ``themis-opt certify`` has it.
    """
    bound, path_ps = certification.schedule.bound, certification.critical_path_ps
    if bound is None or path_ps is None:
        return ()
    reasons = []
    if is_by_path(certification):
        instance = certification.schedule.instance
        reasons.append(
            Reason(
                f"Why no schedule with {bound.scope} can end before {format_time(path_ps)}: "
                "the critical path of one chunk",
                tuple(_path_steps(instance, bound.scope, path_ps)),
                path_ps >= bound.value_ps,
            )
        )
    lines, certified_ps = why_lines(certification), certification.certified_ps
    if lines and certified_ps is not None:
        is_enough = certified_ps >= bound.value_ps
        heading = lines[0].rstrip(":")
        if not is_enough:
            heading = (
                "What the certificate alone proves, which is less: "
                f"no schedule with {bound.scope} can end before {format_time(certified_ps)}"
            )
        reasons.append(Reason(heading, tuple(lines[1:]), is_enough))
    return tuple(reasons)


def is_by_path(certification: Certification) -> bool:
    """Return whether the critical path of one chunk proves more of the bound than its certificate."""
    return (certification.proven_ps or 0) > (certification.certified_ps or 0)


def _path_steps(instance: Instance, scope: BoundScope, path_ps: int) -> list[str]:
    """Return the steps of equation (B3) of `themis_opt.proof.critical_path`, with its numbers."""
    model, lattice = instance.derived(CostModel), instance.derived(OrderLattice)
    size = -(-instance.size_bytes // scope.max_chunks)

    def duration(arc: Arc) -> int:
        return model.stage(size, *arc).duration_ps

    if scope.max_chunks == 1:
        steps = [f"The only chunk has {format_size(size)}, and goes through its stages one after another."]
    else:
        steps = [
            f"The largest of {count_chunks(scope.max_chunks)} has at least {format_size(size)}, "
            "and goes through its stages one after another."
        ]
        if scope.min_chunks != scope.max_chunks:
            steps.insert(0, f"Of these numbers of chunks {scope.max_chunks} allows the earliest end.")
    steps.append("Whatever orders it takes, and even if no other chunk is ever in its way:")
    for phase in instance.phases:
        total_ps, order = lattice.cheapest_order(phase, duration)
        names = "-".join(f"dim{k + 1}" for k in order)
        parts = " + ".join(format_time(duration(arc)) for arc in lattice.path(phase, order))
        total = f" = {format_time(total_ps)}" if len(order) > 1 else ""
        steps.append(f"  the fastest {PHASE_NAMES[phase]} order is {names} ({parts}{total})")
    steps.append(f"So it ends no earlier than {format_time(path_ps)}, and neither does the schedule.")
    return steps
