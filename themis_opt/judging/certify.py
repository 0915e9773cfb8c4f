"""Re-proving what a schedule states from the schedule alone, in exact arithmetic, and saying why none can be faster.

No solver and no simulator is needed: the validator re-times the schedule, and the certificate's weights prove a bound
by a shortest path (`proof.certificate`). What a bound claims above that rests on the word of whoever claims it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from themis_opt.judging.validator import validate
from themis_opt.problem.bound import Bound, Sizing
from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Occupancy
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.problem.units import format_size, format_time
from themis_opt.problem.violation import Violation
from themis_opt.proof.certificate import CheapestOrder, LoadArgument, weakest_argument
from themis_opt.proof.critical_path import critical_path_bound

PHASE_NAMES = {
    Phase.REDUCE_SCATTER: "Reduce-Scatter",
    Phase.ALL_GATHER: "All-Gather",
    Phase.ALL_TO_ALL: "All-to-All",
}


@dataclass(frozen=True)
class Certification:
    """What of a schedule's statements is proven.

    Attributes
    ----------
    schedule
        The schedule.
    violations
        Every rule it breaks and everything false it states; the rest is only worked out when there is nothing.
    argument
        What the certificate proves and why; ``None`` without a certificate.
    critical_path_ps
        The shortest complete path of one chunk [ps], which needs no certificate; ``None`` without a bound.
    """

    schedule: Schedule
    violations: tuple[Violation, ...]
    argument: LoadArgument | None = None
    critical_path_ps: int | None = None

    @property
    def certified_ps(self) -> int | None:
        """What the certificate proves [ps], whatever is stated of it."""
        return None if self.argument is None else max(0, ceil(self.argument.load_ps))

    @property
    def proven_ps(self) -> int | None:
        """The part of the stated bound that is proven here [ps]: certificate or critical path, the higher."""
        bound = self.schedule.bound
        if bound is None or self.critical_path_ps is None:
            return None
        return min(bound.value_ps, max(self.certified_ps or 0, self.critical_path_ps))

    @property
    def trusted_ps(self) -> int | None:
        """The part of the stated bound that rests on the word of who made it [ps]."""
        bound, proven_ps = self.schedule.bound, self.proven_ps
        return None if bound is None or proven_ps is None else bound.value_ps - proven_ps


def certify(schedule: Schedule) -> Certification:
    """Return what of a schedule's statements can be proven from the schedule alone."""
    instance, bound = schedule.instance, schedule.bound
    # What is false needs no proof: weights may not even fit the network then.
    violations = validate(instance, schedule)
    if violations or bound is None:
        return Certification(schedule, violations)
    argument = None
    if bound.certificate is not None:
        argument = weakest_argument(instance, bound.certificate, bound.scope)
    return Certification(schedule, (), argument, critical_path_bound(instance, bound.scope).value_ps)


def summary_lines(certification: Certification) -> list[str]:
    """Return what is proven and what is not, a line each; only for a schedule without violations."""
    schedule = certification.schedule
    lines = ["no makespan is stated"]
    if schedule.makespan_ps is not None:
        lines = [f"makespan {format_time(schedule.makespan_ps)} ({schedule.makespan_ps} ps): re-proved"]
    bound = schedule.bound
    if bound is None:
        return [*lines, "no bound is stated, so nothing is certified about faster schedules"]
    lines.append(_bound_line(certification, bound))
    if bound.certificate is None:
        lines.append("no certificate: nothing here says why no schedule could be faster")
    if schedule.status is Status.OPTIMAL:
        rests = "is proven here" if not certification.trusted_ps else f"rests on the word of {bound.kind}"
        lines.append(f"optimal for {bound.scope}: that {rests}")
    elif schedule.makespan_ps is not None and bound.value_ps > 0:
        above = f"makespan {_percent(schedule.makespan_ps, bound.value_ps)} above the bound"
        if certification.trusted_ps and certification.proven_ps:
            above += f", {_percent(schedule.makespan_ps, certification.proven_ps)} above what is proven"
        lines.append(above)
    return lines


def why_lines(certification: Certification) -> list[str]:
    """Return why no schedule in the bound's scope ends before what the certificate proves, in a few lines.

    Nothing without a certificate.
    """
    argument, bound = certification.argument, certification.schedule.bound
    if argument is None or bound is None or bound.certificate is None:
        return []
    weights = ", ".join(f"dim{k + 1} {float(weight):.4f}" for k, weight in enumerate(bound.certificate))
    lines = [f"Why no schedule with {bound.scope} can end before {format_time(certification.certified_ps or 0)}:"]
    if bound.scope.min_chunks != bound.scope.max_chunks:
        lines.append(f"Of these numbers of chunks {argument.num_chunks} allows the earliest end.")
    lines.append(f"Weights {weights}.")
    if argument.sizing is Sizing.EQUAL:
        unit = f"Whatever order a chunk ({format_size(argument.unit_bytes)}) takes, it"
    else:
        unit = "Whatever order a chunk takes, every byte of it"
    lines.append(f"{unit} costs at least {format_time(argument.unit_cost)} of weighted dimension time:")
    lines += [f"  the cheapest {_order_text(order)}" for order in argument.cheapest]
    lines += _sum_lines(certification, argument)
    return lines


def _bound_line(certification: Certification, bound: Bound) -> str:
    proven_ps, trusted_ps = certification.proven_ps or 0, certification.trusted_ps
    by_path = proven_ps > (certification.certified_ps or 0)
    line = f"bound {format_time(bound.value_ps)} ({bound.value_ps} ps): "
    if not trusted_ps:
        return line + ("proven by the critical path of one chunk" if by_path else "certified")
    proof = "the critical path of one chunk proves" if by_path else "certified"
    return (
        f"{line}{proof} {format_time(proven_ps)} ({proven_ps} ps); "
        f"the {format_time(trusted_ps)} above rest on the word of {bound.kind}"
    )


def _order_text(cheapest: CheapestOrder) -> str:
    names = "-".join(f"dim{k + 1}" for k in cheapest.order)
    parts = " + ".join(format_time(cost) for cost in cheapest.stage_costs)
    total = f" = {format_time(cheapest.cost)}" if len(cheapest.stage_costs) > 1 else ""
    return f"{PHASE_NAMES[cheapest.phase]} order is {names} ({parts}{total})"


def _sum_lines(certification: Certification, argument: LoadArgument) -> list[str]:
    """Return how the units' costs add up to the bound."""
    instance, count = certification.schedule.instance, argument.num_chunks
    chunks = f"{count} chunk{'s' if count != 1 else ''}"
    if argument.sizing is Sizing.EQUAL:
        lines = [f"{chunks} carry {format_time(argument.carried_ps)}."]
    else:
        lines = [f"{format_size(argument.units)} carry {format_time(argument.carried_ps)}."]
        extras = [(argument.latency_ps, "of latency"), (argument.launch_ps, "of launch overhead")]
        added = [f"{format_time(part)} {name}" for part, name in extras if part]
        if added:
            parts = sum((part for part, _ in extras), Fraction(0))
            lines.append(f"Each of {chunks} adds {' and '.join(added)}, weighted: {format_time(count * parts)}.")
        lines.append(f"Rounding to whole picoseconds takes away at most {format_time(count * argument.rounding_ps)}.")
    if instance.occupancy is Occupancy.PIPELINED and argument.paid_once_ps:
        once = format_time(argument.paid_once_ps)
        lines.append(f"After its last transfer each dimension has one latency to go, weighted: {once}.")
    lines.append(
        "A dimension serves one stage at a time, so the makespan is at least each dimension's load, and at least the "
        f"weighted mean of the loads: {format_time(max(Fraction(0), argument.load_ps))}."
    )
    return lines


def _percent(makespan_ps: int, bound_ps: int) -> str:
    return f"{float(Fraction(makespan_ps, bound_ps) - 1):.4%}"
