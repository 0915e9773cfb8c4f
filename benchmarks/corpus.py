"""Solves the instances of ``instances/solved/`` again and prints what has changed beside their records.

One line per instance: the recorded makespan and the one found, the gap to the bound, seconds, and a verdict:

BETTER         a shorter makespan, or a higher bound for the same schedules; --update writes it into the record
WORSE          a makespan longer than the record's by more than the allowance; a proof of optimality lost; or less
               proven than the record's fluid or critical-path bound, which no clock decides
CONTRADICTION  a bound above a makespan, of the record or of the run: one of them is false, which is an error of the
               program; nothing is written
ERROR          the solver failed, or its schedule is none
new            there was no record; --add writes one

The search stops by the clock, so what looks worse is solved again, each time with another seed and twice the time, and
only if the best of all tries is worse it is called so (--retries); the line then says how many there were. Bounds that
were searched for (cp-sat, milp, assignment, assignment-float) may come out lower without being called worse as long as
that costs no proof. Run it with no less time and no more other programs than the records had. Every schedule is
validated, and its certificate proven again, before it counts.

Exits 1 after WORSE, CONTRADICTION or ERROR, 2 when it cannot begin or print, 130 after Ctrl-C, 143 after SIGTERM.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path
from types import FrameType

from records import CORPUS, Entry, Record, check_can_save, load_corpus, record_of, save_record
from solves import AutoSolver

from themis_opt.cli.exits import BAD_INPUT, BROKEN_PIPE, Terminated, exit_code
from themis_opt.files.schedule_file import save_schedule
from themis_opt.problem.errors import InputError, ThemisError
from themis_opt.problem.schedule import Schedule, Status

TIME_LIMIT_S = 6.0
ALLOWANCE_PCT = 0.02
RETRIES = 2
RETRY_TIME_FACTOR = 2


class Verdict(StrEnum):
    """What became of a record, gravest first."""

    CONTRADICTION = "CONTRADICTION"
    ERROR = "ERROR"
    WORSE = "WORSE"
    BETTER = "BETTER"
    NEW = "new"
    SAME = "same"


FAILURES = (Verdict.CONTRADICTION, Verdict.ERROR, Verdict.WORSE)


@dataclass(frozen=True, slots=True)
class Change:
    """The verdict on a run, and what it rests on, in words."""

    verdict: Verdict
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((str(self.verdict), ", ".join(self.words))).rstrip()


@dataclass(frozen=True, slots=True)
class Options:
    """How to run: seconds per solve, seed, the makespan allowed above a record's [%], and how often to try again."""

    time_limit_s: float = TIME_LIMIT_S
    seed: int = 0
    allowance_pct: float = ALLOWANCE_PCT
    retries: int = RETRIES


@dataclass(frozen=True, slots=True)
class Run:
    """What solving an instance came to: the best of all tries."""

    found: Record
    schedule: Schedule
    change: Change
    wall_s: float
    notes: tuple[str, ...]
    num_tries: int = 1


def compare(record: Record | None, found: Record, allowance_pct: float = ALLOWANCE_PCT) -> Change:
    """Return what has changed from a record to what was found."""
    known = found if record is None else record
    for one, other in ((known, found), (found, known), (found, found)):
        if one.is_contradicted_by(other):
            return Change(Verdict.CONTRADICTION, (f"a bound is above the makespan {one.makespan_ps} ps",))
    if record is None:
        return Change(Verdict.NEW)
    worse, better = [], []
    allowance = Fraction(str(allowance_pct)) / 100
    longer_pct = 100 * (found.makespan_ps / record.makespan_ps - 1)
    if found.makespan_ps < record.makespan_ps:
        better.append(f"makespan {longer_pct:+.4f} %")
    elif found.makespan_ps > record.makespan_ps * (1 + allowance):
        worse.append(f"makespan {longer_pct:+.4f} %")
    pairs = [("bound for all numbers", record.proof_any, found.proof_any)]
    if found.num_chunks == record.num_chunks:
        pairs.insert(0, ("bound", record.proof, found.proof))
        if record.status is Status.OPTIMAL and found.proof.bound_ps < record.makespan_ps:
            worse.append("the proof of optimality is lost")
        elif found.status is Status.OPTIMAL and record.status is not Status.OPTIMAL:
            better.append("proven optimal")
    for name, before, after in pairs:
        if before is None or after is None:
            continue
        change_pct = 100 * (after.bound_ps / before.bound_ps - 1)
        if after.bound_ps > before.bound_ps:
            better.append(f"{name} {change_pct:+.4f} %")
        elif after.bound_ps < before.searchless_ps * (1 - allowance):
            worse.append(f"{name} {change_pct:+.4f} %")
    return Change(Verdict.WORSE if worse else Verdict.BETTER if better else Verdict.SAME, (*worse, *better))


def run_entry(solver: AutoSolver, entry: Entry, options: Options) -> Run:
    """Solve an instance, again while it looks worse than its record and there are retries left.

    Raises
    ------
    ThemisError
        When the solver fails, or its schedule breaks a rule.
    """
    found: Record | None = None
    best: Schedule | None = None
    wall_s, notes = 0.0, []
    for number in range(options.retries + 1):
        solved = solver.solve(
            entry.instance,
            options.time_limit_s * RETRY_TIME_FACTOR**number,
            sizing=entry.sizing,
            max_chunks=entry.max_chunks,
            seed=options.seed + number,
        )
        wall_s += solved.wall_s
        notes += [solved.note] if solved.note else []
        again = record_of(solved.schedule, solved.bound_any, solver.num_workers, solved.wall_s)
        if best is None or found is None or again.makespan_ps < found.makespan_ps:
            best = solved.schedule
        found = again if found is None else found.joined_with(again)
        change = compare(entry.record, found, options.allowance_pct)
        if change.verdict is not Verdict.WORSE:
            break
    assert found is not None
    assert best is not None
    return Run(found, best, change, wall_s, tuple(notes), number + 1)


def kept(entry: Entry, run: Run, *, add: bool, update: bool) -> bool:
    """Write what is new or better into the record of an instance; return whether anything was."""
    if run.change.verdict in (Verdict.CONTRADICTION, Verdict.ERROR):
        return False
    if entry.record is None:
        best = run.found if add else None
    else:
        best = entry.record.joined_with(run.found) if update else None
    if best is None or best == entry.record:
        return False
    save_record(entry, best)
    return True


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a name is meant by one of the patterns; none mean every name."""
    return not patterns or any(fnmatchcase(name, one if set(one) & set("*?[") else f"*{one}*") for one in patterns)


def print_table_head() -> None:
    print(f"\n{'instance':<58} {'record us':>12} {'found us':>12} {'gap %':>8} {'s':>5}", flush=True)


def print_run(entry: Entry, run: Run) -> None:
    record_us = "-" if entry.record is None else f"{entry.record.makespan_ps / 1e6:,.3f}"
    tries = f" ({run.num_tries} tries)" if run.num_tries > 1 else ""
    print(
        f"{entry.name:<58} {record_us:>12} {run.found.makespan_ps / 1e6:>12,.3f} {100 * run.found.gap:>8.4f} "
        f"{run.wall_s:>5.1f}  {run.change}{tries}",
        flush=True,
    )
    for note in run.notes:
        print(f"  {note}", flush=True)


def print_records(entries: Sequence[Entry]) -> None:
    """Print what is known, running nothing: names are long, so the numbers have a line of their own."""
    print(f"instance\n{'makespan us':>16} {'chunks':>6} {'gap %':>8} {'any %':>8}  proof")
    for entry in entries:
        print(entry.name)
        record = entry.record
        if record is None:
            print(f"{'-':>16}")
            continue
        gap_any = "" if record.gap_any is None else f"{100 * record.gap_any:.4f}"
        proof = f"{record.proof.kind}{', optimal' if record.status is Status.OPTIMAL else ''}"
        print(
            f"{record.makespan_ps / 1e6:>16,.3f} {record.num_chunks:>6} {100 * record.gap:>8.4f} {gap_any:>8}  {proof}"
        )


def run_all(entries: Sequence[Entry], given: argparse.Namespace) -> int:
    """Run the instances, print a line each and the sum of verdicts, and return the exit code."""
    options = Options(given.time_limit, given.seed, given.allowance, given.retries)
    verdicts: Counter[Verdict] = Counter()
    num_written = 0
    interruption: KeyboardInterrupt | None = None
    print(f"{os.cpu_count()} processors, {os.getloadavg()[0]:.1f} programs running or waiting on average")
    try:
        print_table_head()
        with AutoSolver(given.workers) as solver:
            for entry in entries:
                try:
                    run = run_entry(solver, entry, options)
                    if given.schedules is not None:
                        save_schedule(run.schedule, given.schedules / f"{entry.name}.json")
                    num_written += kept(entry, run, add=given.add, update=given.update)
                except ThemisError as error:
                    verdicts[Verdict.ERROR] += 1
                    print(f"{entry.name:<58} {Verdict.ERROR}: {error}", flush=True)
                    continue
                verdicts[run.change.verdict] += 1
                print_run(entry, run)
    except KeyboardInterrupt as error:
        interruption = error
    counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in Verdict if verdicts[verdict])
    print(f"\n{sum(verdicts.values())} of {len(entries)} run: {counts or 'none'}; {num_written} records written")
    if interruption is not None:
        return exit_code(interruption)
    if verdicts[Verdict.BETTER] and not given.update:
        print("--update writes what is better into the records")
    return 1 if any(verdicts[verdict] for verdict in FAILURES) else 0


def chosen(entries: Sequence[Entry], given: argparse.Namespace) -> list[Entry]:
    """Return the instances to run: those with a record, those without one for --add, or both for --add --update.

    Raises
    ------
    InputError
        When there are none.
    """
    matching = [entry for entry in entries if matches(entry.name, given.only)]
    if not matching:
        raise InputError(f"--only {' '.join(given.only)}: no instance in {given.folder} has such a name; see --list")
    if given.list:
        return matching
    known = [entry for entry in matching if entry.record is not None]
    unknown = [entry for entry in matching if entry.record is None]
    if given.add:
        if not given.update and not unknown:
            raise InputError("--add: all these instances have a record; leave it out to run them, or give --update too")
        return matching if given.update else unknown
    if not known:
        raise InputError(f"none of these {len(matching)} instances has a record; --add makes them")
    if unknown:
        print(f"{len(unknown)} instances have no record and are left out; --add makes one")
    return known


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--only", nargs="+", default=[], metavar="PATTERN", help="names with this in them, or like it if it has * ? [")
    add("--list", action="store_true", help="print the records and run nothing")
    add("--add", action="store_true", help="run the instances without a record and write one for each")
    add("--update", action="store_true", help="write what is better into the records; with --add run all instances")
    add("--schedules", type=Path, metavar="FOLDER", help="write every schedule found into this folder")
    add(
        "--time-limit",
        type=_number(float, above=0),
        default=TIME_LIMIT_S,
        metavar="SECONDS",
        help="per solve (%(default)g)",
    )
    add("--workers", type=_number(int, least=1), metavar="N", help="threads of the solver (default: the processors)")
    add("--seed", type=_number(int, least=0), default=0, metavar="N", help="of the first try (0)")
    add(
        "--allowance",
        type=_number(float, least=0),
        default=ALLOWANCE_PCT,
        metavar="PERCENT",
        help="how much longer than the record's a makespan may be without being called worse (%(default)g)",
    )
    add(
        "--retries",
        type=_number(int, least=0),
        default=RETRIES,
        metavar="N",
        help="how often what looks worse is solved again, each time with twice the time (%(default)d)",
    )
    add("--folder", type=Path, default=CORPUS, help="another corpus than instances/solved")
    return parser.parse_args(arguments)


def _number(kind: type, *, above: float | None = None, least: float | None = None) -> Callable[[str], float]:
    def convert(text: str) -> float:
        try:
            value: float = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
        if not (value < 10**7 and (above is None or value > above) and (least is None or value >= least)):
            limit = f"above {above}" if above is not None else f"at least {least}"
            raise argparse.ArgumentTypeError(f"{text} is not allowed; it must be {limit} and below 10^7")
        return value

    return convert


def main(arguments: Sequence[str] | None = None) -> int:
    given = parse(arguments)
    try:
        entries = chosen(load_corpus(given.folder), given)
        if given.list:
            print_records(entries)
            return 0
        if given.add or given.update:
            check_can_save(given.folder)
        if given.schedules is not None and not given.schedules.is_dir():
            raise InputError(f"--schedules {given.schedules}: there is no such folder; create it first")
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    return run_all(entries, given)


def run_script() -> int:
    """Run as a program: SIGTERM stops it as Ctrl-C does, and output that nobody takes ends it without a traceback."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Terminated

    signal.signal(signal.SIGTERM, stop)
    try:
        code = main()
        sys.stdout.flush()
    except KeyboardInterrupt as error:
        print("error: stopped before anything was run", file=sys.stderr)
        return exit_code(error)
    except OSError as error:
        # What is left in the buffer goes nowhere, so that the interpreter's last flush is silent.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error, BrokenPipeError):
            return BROKEN_PIPE
        print(f"error: {error.filename or 'standard output'}: {error.strerror or error}", file=sys.stderr)
        return BAD_INPUT
    return code


if __name__ == "__main__":
    raise SystemExit(run_script())
