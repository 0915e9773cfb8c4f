"""``themis-opt export``: a schedule in the files of other simulators, runtimes and viewers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from themis_opt.cli.main import printable
from themis_opt.cli.options import read_argument
from themis_opt.cli.violations import violation_line
from themis_opt.files.atomic import check_folder, check_outputs, write_folder, write_text
from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.errors import InputError, InvalidScheduleError, located
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.units import format_size, parse_size

if TYPE_CHECKING:
    from themis_opt.export.chakra.write.folder import AstraFolder

DEFAULT_MAX_BYTES = 10**9
_MAX_COUNTED_NODES = 50_000_000
"""Of traces that are too large in any case: beyond this their exact size is not worth the time."""
_BLOCK_BYTES = 4096
"""What a file takes on a disk at least: most of a folder of small traces."""
_RANKS = re.compile(r"[0-9]{1,12}(?:-[0-9]{1,12})?")
_ASTRA2_FILES = re.compile(r"(?:rank|wl)\.[0-9]+\.et|network\.yml|system\.json|memory\.json|README\.md|schedule\.json")
_MAX_SHOWN = 4


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What only some targets take; ``None`` means that it was not given."""

    ranks: str | None = None
    max_bytes: str | None = None
    in_place: bool | None = None
    force: bool | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """For whom a schedule is written.

    Attributes
    ----------
    export
        Writes schedules (their paths) to an output, under the options given.
    options
        Those of `ExportOptions` that it takes.
    takes_several
        Whether it writes several schedules into one file.
    """

    export: Callable[[tuple[str, ...], str, ExportOptions], None]
    options: Collection[str] = ()
    takes_several: bool = False


def _export_astra2(schedules: tuple[str, ...], output: str, options: ExportOptions) -> None:
    """Write a folder that ASTRA-sim 2 runs as it is, and say beforehand what it comes to."""
    from themis_opt.export.chakra.write.folder import AstraFolder

    (path,) = schedules
    force = bool(options.force)
    with located("--max-bytes"):
        max_bytes = DEFAULT_MAX_BYTES if options.max_bytes is None else parse_size(options.max_bytes)
    check_folder(output, force=force)
    around, name = os.path.split(os.path.realpath(path))
    if around == os.path.realpath(output) and _ASTRA2_FILES.fullmatch(name):
        raise InputError(
            f"{path}: would be replaced by its own export; copy it elsewhere first, or name another folder"
        )
    schedule = read_valid_schedule(path)
    ranks = None if options.ranks is None else parse_ranks(options.ranks, schedule.instance.num_npus)
    with located(path):
        folder = AstraFolder(schedule, ranks)
        _check_size(folder, max_bytes)
        click.echo(
            f"{printable(output)}: {folder.num_files} files, {folder.size.num_nodes} nodes, {folder.size.bytes_text}; "
            f"replaying takes about {folder.size.replay_text} of memory",
            err=True,
        )
        for remark in folder.remarks:
            click.echo(f"note: {printable(remark)}", err=True)
        expected_ns = folder.expected_ns
    num_bytes = folder.size.num_bytes + folder.num_files * _BLOCK_BYTES
    write_folder(output, folder.write, num_bytes, force=force, ours=_ASTRA2_FILES, last="schedule.json")
    if folder.is_partial:
        click.echo(f"{printable(output)}: {len(folder.ranks)} of {schedule.instance.num_npus} ranks written")
    else:
        click.echo(
            f"{printable(output)}: written; ASTRA-sim 2 will report {expected_ns} cycles of 1 ns, "
            f"{folder.deviation:+z.3%} off the schedule's time (how to run it: README.md in it)"
        )


def _export_msccl(schedules: tuple[str, ...], output: str, options: ExportOptions) -> None:
    """Write an algorithm for MSCCL's executors, in place unless told otherwise, and the rule under which it is used.

    It has been run on symbols before.
    """
    from themis_opt.export.msccl.judge.xml_judge import interpret_text
    from themis_opt.export.msccl.write.lowering import lower
    from themis_opt.export.msccl.write.xml_writing import command_lines, usage_rule, xml_text

    (path,) = schedules
    schedule = read_valid_schedule(path)
    with located(path):
        algo = lower(schedule, in_place=options.in_place is not False)
    rule = usage_rule(algo, schedule.instance)
    examples = command_lines(algo, schedule.instance, "FILE" if output == "-" else output)
    text = xml_text(algo, (*rule, *command_lines(algo, schedule.instance, "FILE")))
    verdict = interpret_text(text, output)
    if not verdict.is_right:
        raise RuntimeError(f"the algorithm made of {path} is wrong, please report it: {verdict.findings[0]}")
    write_text(output, text)
    for line in (f"{output}: {verdict.summary}", *rule, "Try it with nccl-tests:", *examples):
        click.echo(printable(line), err=output == "-")


def _export_perfetto(schedules: tuple[str, ...], output: str, options: ExportOptions) -> None:
    """Write schedules side by side as a trace."""
    from themis_opt.export.perfetto import perfetto_text

    loaded = [(path, read_valid_schedule(path)) for path in schedules]
    named = [(f"{schedule.scheduler} ({path})" if schedule.scheduler else path, schedule) for path, schedule in loaded]
    write_text(output, perfetto_text(named))


def _export_csv(schedules: tuple[str, ...], output: str, options: ExportOptions) -> None:
    """Write every stage of schedules as a row."""
    from themis_opt.export.stages_csv import stages_csv_text

    write_text(output, stages_csv_text([(path, read_valid_schedule(path)) for path in schedules]))


def _export_graphml(schedules: tuple[str, ...], output: str, options: ExportOptions) -> None:
    """Write the network of a schedule, an instance or a network file as a graph; as JSON if the output is called so."""
    from themis_opt.export.graphml import graphml_text, node_link_text

    (path,) = schedules
    thing = read_argument(path)
    if isinstance(thing, Schedule):
        require_valid(path, thing)
        thing = thing.instance
    with located(path):
        text = (node_link_text if output.lower().endswith(".json") else graphml_text)(thing.network)
    write_text(output, text)


TARGETS = {
    "astra2": Target(_export_astra2, ("ranks", "max_bytes", "force")),
    "msccl-xml": Target(_export_msccl, ("in_place",)),
    "perfetto": Target(_export_perfetto, takes_several=True),
    "csv": Target(_export_csv, takes_several=True),
    "graphml": Target(_export_graphml),
}


def _target(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Return the name of a target there is."""
    if value not in TARGETS:
        raise InputError(f"--to: {value!r} is not allowed; one of: {', '.join(TARGETS)}{did_you_mean(value, TARGETS)}")
    return value


@click.command("export")
@click.argument("schedules", metavar="SCHEDULE...", nargs=-1, required=True)
@click.option("--to", "target", required=True, metavar=f"[{'|'.join(TARGETS)}]", callback=_target, help="For whom.")
@click.option("-o", "--output", required=True, metavar="FILE|DIR|-", help="Where to; a folder for astra2.")
@click.option("--ranks", metavar="LIST", help="astra2: only these ranks, such as 0,3 or 0-15.")
@click.option("--max-bytes", metavar="SIZE", help="astra2: refuse to write more than this, such as 2GB.")
@click.option("--in-place/--out-of-place", "in_place", default=None, help="msccl-xml: where the result goes.")
@click.option("--force", is_flag=True, default=None, help="astra2: write into a folder that has files already.")
def command(schedules: tuple[str, ...], target: str, output: str, **options: Any) -> None:
    """Write SCHEDULE in somebody else's format.

    \b
    astra2     a folder that ASTRA-sim 2 runs as it is
    msccl-xml  an algorithm for MSCCL's executor
    perfetto   a trace for ui.perfetto.dev; several schedules side by side
    csv        a row for every stage; several schedules one below the other
    graphml    the network, also of an instance, as a graph with capacities;
               node-link JSON where FILE ends in .json

    A schedule that breaks a rule or claims something false is not exported: exit code 1, as with 'validate'.
    """  # noqa: D301 - click wants the character itself
    chosen, given = TARGETS[target], ExportOptions(**options)
    for name, value in asdict(given).items():
        if value is not None and name not in chosen.options:
            flag = "--out-of-place" if (name, value) == ("in_place", False) else f"--{name.replace('_', '-')}"
            owners = " and ".join(owner for owner, other in TARGETS.items() if name in other.options)
            raise InputError(f"{flag}: is not for --to {target} but for {owners}")
    if len(schedules) > 1 and not chosen.takes_several:
        raise InputError(
            f"--to {target}: takes one schedule, and {len(schedules)} are given: {', '.join(schedules)}; "
            "export them one by one"
        )
    if target != "astra2":
        check_outputs((output,), schedules)
    chosen.export(schedules, output, given)


def parse_ranks(text: str, num_ranks: int) -> list[int]:
    """Return the ranks in a list such as ``0,3,8-15``, ascending, each once.

    Raises
    ------
    InputError
        When it is no such list, or names a rank that does not exist.
    """
    ranks: set[int] = set()
    for word in text.split(","):
        part = word.strip()
        if not _RANKS.fullmatch(part):
            raise InputError(f"--ranks: {part[:40]!r} is no rank and no range of ranks; write a list such as 0,3,8-15")
        first, _, last = part.partition("-")
        start, stop = int(first), int(last or first)
        if start > stop:
            raise InputError(f"--ranks: {part} runs backwards; write {stop}-{start}")
        if stop >= num_ranks:
            raise InputError(f"--ranks: {part} names rank {stop}, and the ranks are 0 to {num_ranks - 1}")
        ranks.update(range(start, stop + 1))
    return sorted(ranks)


def _check_size(folder: AstraFolder, max_bytes: int) -> None:
    """Raise when the traces are larger than allowed, before anything takes long."""
    size, about = folder.least_size, "at least "
    if size.num_bytes <= max_bytes or size.num_nodes <= _MAX_COUNTED_NODES:
        size, about = folder.size, ""
    if size.num_bytes > max_bytes:
        raise InputError(
            f"the traces of {size.num_ranks} ranks have {size.num_nodes} nodes in {about}{size.num_bytes} bytes "
            f"({size.bytes_text}), more than --max-bytes {format_size(max_bytes)}; allow more, "
            "write some ranks only (--ranks 0-15), or make a schedule of fewer chunks"
        )


def read_valid_schedule(path: str) -> Schedule:
    """Return the schedule in a file: only one that breaks no rule leaves the house.

    Raises
    ------
    InputError
        When there is no such file, or it is no schedule.
    InvalidScheduleError
        When the schedule breaks a rule, never ends or claims something false.
    """
    thing = read_argument(path)
    if not isinstance(thing, Schedule):
        raise InputError(
            f"{path}: is no schedule but an instance or a network; make a schedule of it first: "
            f"themis-opt solve {path} -o best.json"
        )
    require_valid(path, thing)
    return thing


def require_valid(path: str, schedule: Schedule) -> None:
    """Raise when a schedule is wrong, as `validate` tells it; `path` is for the message.

    Raises
    ------
    InvalidScheduleError
        When the schedule breaks a rule, never ends or claims something false.
    """
    from themis_opt.judging.refute import refutations
    from themis_opt.judging.validator import validate

    violations = validate(schedule.instance, schedule) or refutations(schedule)
    if violations:
        lines = [violation_line(path, violation) for violation in violations[:_MAX_SHOWN]]
        num_more = len(violations) - len(lines)
        more = f", and {num_more} more violation{'s' if num_more > 1 else ''}" if num_more else ""
        error = InvalidScheduleError(violations)
        error.args = ("\n".join([*lines, f"{path}: is not exported{more}; see 'themis-opt validate {path}'"]),)
        raise error
