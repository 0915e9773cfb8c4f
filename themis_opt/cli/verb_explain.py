"""``themis-opt explain``: what a schedule waits for, and where a network has too much or too little bandwidth."""

from __future__ import annotations

from itertools import islice
from typing import Any

import click
from rich.console import Console

from themis_opt.cli.options import Overrides, instance_options, overrides_from, read_argument, require_fixed_count
from themis_opt.cli.tables import console, make_table
from themis_opt.cli.wrapping import print_sentence
from themis_opt.files.atomic import check_outputs, saving, write_text
from themis_opt.judging.certify import PHASE_NAMES
from themis_opt.problem.bound import BoundKind
from themis_opt.problem.errors import DeadlockError, InputError, located
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.units import bandwidth_column, format_time, time_column
from themis_opt.questions.explain.account import InstanceAccount, ScheduleAccount, explain, explained_text
from themis_opt.questions.explain.critical_chain import Leg
from themis_opt.questions.explain.idle import Idleness
from themis_opt.questions.explain.supply import Supply
from themis_opt.show.words import count_chunks, format_gap, title
from themis_opt.timing import metrics

_SHOWN_LEGS = 16
_SHOWN_CHUNKS = 6


@click.command("explain")
@click.argument("argument", metavar="SCHEDULE|INSTANCE")
@instance_options
@click.option("--json", "json_path", metavar="FILE|-", help="Write everything as JSON.")
def command(argument: str, json_path: str | None, **options: Any) -> None:
    """Say why a schedule takes as long as it does, or how the bandwidth of a network fits its dimensions.

    Of a schedule: the critical path, what every dimension waits for, where more bandwidth gains most, and the
    dimensions that make the bound. Of an instance: which dimensions are over-, just or under-provisioned for the
    baseline order, and what 1 GB/s more on each is worth to the best schedule.
    """
    overrides = overrides_from(options)
    require_fixed_count(overrides)
    check_outputs((json_path,), (argument,))
    account = _account(argument, overrides)
    with saving() as save:
        save(json_path, lambda path: write_text(path, explained_text(account)))
        if json_path == "-":
            return
        if isinstance(account, ScheduleAccount):
            _print_schedule(console(), account)
        else:
            _print_instance(console(), account)


def _account(argument: str, overrides: Overrides) -> ScheduleAccount | InstanceAccount:
    """Return what there is to say of what an argument names; failures name it, too."""
    thing = read_argument(argument)
    if not isinstance(thing, Schedule):
        return explain(overrides.apply_to_one(thing, argument))
    if overrides != Overrides():
        raise InputError(f"{argument}: is a schedule; the options of an instance do not apply to it")
    try:
        with located(argument):
            return explain(thing)
    except DeadlockError as error:
        error.args = (f"{argument}: {error}",)
        raise


def _print_schedule(out: Console, account: ScheduleAccount) -> None:
    schedule = account.schedule
    print_sentence(out, title(schedule.instance, count_chunks(schedule.num_chunks)), style="bold")
    name = schedule.scheduler or "schedule"
    print_sentence(out, f"{name}: makespan {format_time(account.makespan_ps)}")
    if schedule.makespan_ps is not None and schedule.makespan_ps != account.makespan_ps:
        print_sentence(
            out,
            f"the file claims {schedule.makespan_ps} ps, the timing rule gives {account.makespan_ps} ps; see 'certify'",
        )
    out.print("\ncritical path", style="bold")
    for line in _chain_lines(account.legs):
        out.print(line, soft_wrap=True)
    out.print()
    _print_idle(out, account.idle)
    out.print("\nwhat to change", style="bold")
    gains = ", ".join(f"dim{k + 1} {format_time(gain_ps)}" for k, gain_ps in account.gains_ps.items())
    everywhere = format_time(account.gain_everywhere_ps)
    print_sentence(out, f"1 % more bandwidth, this schedule kept, gains: {gains}, all together {everywhere}")
    best = account.best_dimensions
    if best:
        share = format_gap(account.gains_ps[best[0]] / account.makespan_ps)
        out.print(f"most: {_names(best)} ({share} of the makespan)", soft_wrap=True)
    else:
        out.print("no dimension's bandwidth alone gains anything", soft_wrap=True)
    chunk = account.busiest_chunk
    taken = format_time(account.chunk_ps[chunk])
    out.print(f"chunk {chunk} takes up most of the critical path: {taken}", soft_wrap=True)
    for line in _bound_lines(account):
        print_sentence(out, line)


def _bound_lines(account: ScheduleAccount) -> list[str]:
    """Return what the certificate's weights prove, and on what the rest of the bound stands."""
    bound, certified_ps = account.bound, account.certified_ps
    if certified_ps is None:
        return []
    weights = ", ".join(f"dim{k + 1} {float(weight):.4f}" for k, weight in account.binding.items())
    lines = [f"the weighted loads of {weights} prove a bound of {format_time(certified_ps)}"]
    if certified_ps < bound.value_ps:
        if bound.is_taken_on_trust:
            rest = f"rests on the word of {bound.kind}"
        elif bound.kind == BoundKind.CRITICAL_PATH:
            rest = "is the shortest path of one chunk"
        else:
            rest = "is claimed and not proven; see 'certify'"
        lines.append(f"the higher bound of {format_time(bound.value_ps)} {rest}")
    return lines


def _chain_lines(legs: tuple[Leg, ...]) -> list[str]:
    lines = []
    for position, leg in enumerate(legs):
        hand_over = f"then chunk {leg.visits[0].chunk} goes on: " if position else ""
        lines.append(f"{_span(leg.start_ps, leg.end_ps)}  {hand_over}{_leg_text(leg)}")
    if len(lines) > _SHOWN_LEGS:
        half = _SHOWN_LEGS // 2
        lines[half:-half] = [f"... {len(lines) - 2 * half} more (all in --json)"]
    return lines


def _leg_text(leg: Leg) -> str:
    if len(leg.visits) == 1:
        (visit,) = leg.visits
        return f"dim{leg.dimension + 1} serves chunk {visit.chunk} ({PHASE_NAMES[visit.phase]})"
    chunks = list(dict.fromkeys(visit.chunk for visit in leg.visits))
    shown = ", ".join(map(str, chunks[:_SHOWN_CHUNKS])) + (", ..." if len(chunks) > _SHOWN_CHUNKS else "")
    plural = "s" if len(chunks) > 1 else ""
    return f"dim{leg.dimension + 1} serves {len(leg.visits)} stages back to back (chunk{plural} {shown})"


def _print_idle(out: Console, idle: tuple[Idleness, ...]) -> None:
    table = make_table(
        [
            ("", "left"),
            ("idle", "right"),
            ("start-up", "right"),
            ("between", "right"),
            ("drained", "right"),
        ]
    )
    rows = [(entry.total_ps, entry.start_up_ps, entry.between_ps, entry.drained_ps) for entry in idle]
    times = iter(time_column([time_ps for row in rows for time_ps in row]))
    for entry, row in zip(idle, rows, strict=True):
        table.add_row(f"dim{entry.dimension + 1}", *islice(times, len(row)))
    out.print(table)
    for entry in idle:
        for line in _wait_lines(entry):
            out.print(f"dim{entry.dimension + 1} {line}", soft_wrap=True)


def _wait_lines(entry: Idleness) -> list[str]:
    lines = []
    if entry.start_up is not None:
        lines.append(f"starts when chunk {entry.start_up.chunk} arrives from dim{entry.start_up.source + 1}")
    if entry.longest is not None:
        longest = entry.longest
        times = f"{len(entry.between)} times" if len(entry.between) > 1 else "once"
        lines.append(
            f"waits {times} between chunks, longest {format_time(longest.length_ps)} "
            f"for chunk {longest.chunk} from dim{longest.source + 1}"
        )
    return lines


def _print_instance(out: Console, account: InstanceAccount) -> None:
    instance = account.instance
    print_sentence(out, title(instance), style="bold")
    first = f"dim{account.provisions[0].dimension + 1}"
    table = make_table(
        [
            ("", "left"),
            ("\nbandwidth", "right"),
            ("baseline order\nneeds", "right"),
            ("\nhas/needs", "right"),
            ("for the\nbaseline order", "left"),
            ("best orders gain\nby +1 GB/s", "right"),
        ]
    )
    provisions = account.provisions
    bandwidths = bandwidth_column([provision.bandwidth_Bps for provision in provisions])
    needs = bandwidth_column([provision.needed_Bps for provision in provisions])
    values = time_column([account.values_ps[provision.dimension] for provision in provisions])
    for provision, bandwidth, needed, value in zip(provisions, bandwidths, needs, values, strict=True):
        ratio = f"{float(provision.ratio):.4g}"
        table.add_row(f"dim{provision.dimension + 1}", bandwidth, needed, ratio, str(provision.supply), value)
    out.print(table)
    use = metrics.bw_utilization(instance, account.fluid.value_ps)
    print_sentence(out, f"the baseline order needs on a dimension what lets it keep pace with {first}")
    has_over = any(provision.supply is Supply.OVER for provision in provisions)
    if not instance.collective.has_free_orders:
        print_sentence(out, "All-to-All has one order: what is over-provisioned stays unused")
    elif has_over:
        print_sentence(out, "over-provisioned: the baseline order cannot use all of it, the best orders may")
    print_sentence(
        out,
        f"no schedule with {account.fluid.scope} uses more than {use:.1%} of the bandwidth "
        f"(fluid bound {format_time(account.fluid.value_ps)})",
    )
    if account.best_dimensions:
        print_sentence(out, f"in the best orders 1 GB/s more is worth most on {_names(account.best_dimensions)}")
    else:
        print_sentence(out, "1 GB/s more gains nothing on any one dimension")


def _names(dimensions: tuple[int, ...]) -> str:
    return " and ".join(f"dim{k + 1}" for k in dimensions)


def _span(start_ps: int, end_ps: int) -> str:
    return f"{format_time(start_ps):>9} - {format_time(end_ps):>9}"
