"""``themis-opt export --to astra2``: a folder that ASTRA-sim 2 runs as it is."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click

from themis_opt.cli.verb_export import ExportOptions
from themis_opt.problem.errors import InputError

if TYPE_CHECKING:
    from themis_opt.export.chakra.write.folder import AstraFolder

OPTIONS = frozenset({"ranks", "max_bytes", "force"})
TAKES_SEVERAL = False

DEFAULT_MAX_BYTES = 10**9
_MAX_COUNTED_NODES = 50_000_000
"""Of traces that are too large in any case: beyond this their exact size is not worth the time."""
_BLOCK_BYTES = 4096
"""What a file takes on a disk at least: most of a folder of small traces."""
_RANKS = re.compile(r"[0-9]{1,12}(?:-[0-9]{1,12})?")
_OURS = re.compile(r"(?:rank|wl)\.[0-9]+\.et|network\.yml|system\.json|memory\.json|README\.md|schedule\.json")


def export(schedules: tuple[str, ...], output: str, options: ExportOptions) -> None:
    """Write the folder, and say beforehand what it comes to."""
    from themis_opt.cli.exporting import read_valid_schedule
    from themis_opt.cli.main import printable
    from themis_opt.export.chakra.write.folder import AstraFolder
    from themis_opt.files.atomic import check_folder, write_folder

    (path,) = schedules
    force = bool(options.force)
    max_bytes = _max_bytes(options.max_bytes)
    check_folder(output, force=force)
    _check_source(path, output)
    schedule = read_valid_schedule(path)
    ranks = None if options.ranks is None else parse_ranks(options.ranks, schedule.instance.num_npus)
    try:
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
    except InputError as error:
        raise error.at(path) from None
    num_bytes = folder.size.num_bytes + folder.num_files * _BLOCK_BYTES
    write_folder(output, folder.write, num_bytes, force=force, ours=_OURS, last="schedule.json")
    if folder.is_partial:
        click.echo(f"{printable(output)}: {len(folder.ranks)} of {schedule.instance.num_npus} ranks written")
    else:
        click.echo(
            f"{printable(output)}: written; ASTRA-sim 2 will report {expected_ns} cycles of 1 ns, "
            f"{folder.deviation:+z.3%} off the schedule's time (how to run it: README.md in it)"
        )


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


def _max_bytes(text: str | None) -> int:
    from themis_opt.problem.units import parse_size

    if text is None:
        return DEFAULT_MAX_BYTES
    try:
        return parse_size(text)
    except InputError as error:
        raise error.at("--max-bytes") from None


def _check_size(folder: AstraFolder, max_bytes: int) -> None:
    """Raise when the traces are larger than allowed, before anything takes long."""
    from themis_opt.problem.units import format_size

    size, about = folder.least_size, "at least "
    if size.num_bytes <= max_bytes or size.num_nodes <= _MAX_COUNTED_NODES:
        size, about = folder.size, ""
    if size.num_bytes > max_bytes:
        raise InputError(
            f"the traces of {size.num_ranks} ranks have {size.num_nodes} nodes in {about}{size.num_bytes} bytes "
            f"({size.bytes_text}), more than --max-bytes {format_size(max_bytes)}; allow more, "
            "write some ranks only (--ranks 0-15), or make a schedule of fewer chunks"
        )


def _check_source(path: str, output: str) -> None:
    """Raise when the schedule lies in the folder that is written, under a name that is replaced."""
    folder, name = os.path.split(os.path.realpath(path))
    if folder == os.path.realpath(output) and _OURS.fullmatch(name):
        raise InputError(
            f"{path}: would be replaced by its own export; copy it elsewhere first, or name another folder"
        )
