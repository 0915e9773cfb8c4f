"""Options that several verbs share: what makes an instance, and what limits a solver."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from themis_opt.problem.bound import Sizing
from themis_opt.problem.chunking import ChunkingChoice
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.parameters import (
    CHUNK_OVERHEAD,
    CHUNKS,
    COLLECTIVE,
    DIMENSIONS,
    EVALUATIONS,
    GAP,
    GRANULARITY,
    MIN_CHUNK,
    OCCUPANCY,
    SEED,
    SIZE,
    SIZING,
    TIME_LIMIT,
    WORKERS,
    Parameter,
    parse_chunk_counts,
)
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.units import PS_PER_S

if TYPE_CHECKING:
    from themis_opt.files.importing import OnImport

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Overrides:
    """What the command line says about instances; several values of an option make a cross product."""

    collectives: tuple[Collective, ...] = ()
    sizes: tuple[int, ...] = ()
    chunks: tuple[int, ...] = ()
    occupancies: tuple[Occupancy, ...] = ()
    dimensions: tuple[tuple[int, ...], ...] = ()
    max_chunks: int | None = None
    chunk_overheads: tuple[int, ...] = ()

    def apply(self, instance: Instance) -> list[Instance]:
        """Return the instances that the options make of one."""
        given = {option: (field, values) for option, (field, values) in self._by_option().items() if values}
        if not given:
            return [instance]
        fields = [field for field, _ in given.values()]
        choices = itertools.product(*(values for _, values in given.values()))
        if self.max_chunks is not None and self.sizes:
            # The instance's own number is nobody's choice then, and must not forbid a small size.
            instance = replace(instance, known=None, num_chunks=min(instance.num_chunks, *self.sizes))
        try:
            # What is known was known of the instance as it stood.
            return [replace(instance, known=None, **dict(zip(fields, choice, strict=True))) for choice in choices]
        except InputError as error:
            raise error.at(", ".join(given)) from None

    def apply_to_one(self, instance: Instance, name: str) -> Instance:
        """Return the one instance that the options make of one; `name` is what the user called it.

        Raises
        ------
        InputError
            When options with several values make more than one.
        """
        instances = self.apply(instance)
        if len(instances) != 1:
            several = " and ".join(option for option, (_, values) in self._by_option().items() if len(values) > 1)
            raise InputError(
                f"{several}: make {len(instances)} instances of {name}; this verb takes one value of each "
                "('compare' takes several)"
            )
        return instances[0]

    def _by_option(self) -> dict[str, tuple[str, Sequence[Any]]]:
        """Return, for every option, the instance's field it overrides and its values."""
        return {
            "--collective": ("collective", self.collectives),
            "--size": ("size_bytes", self.sizes),
            "--chunks": ("num_chunks", self.chunks),
            "--occupancy": ("occupancy", self.occupancies),
            "--chunk-overhead": ("chunk_overhead_ps", self.chunk_overheads),
            "--dimensions": ("dimensions", self.dimensions),
        }


def instance_options(command: Command) -> Command:
    """Add the options that override an instance's fields, for a verb that chooses nothing; see `overrides_from`."""
    return _with_instance_options(command, CHUNKS.help)


def choosing_instance_options(command: Command) -> Command:
    """Add the options that override an instance's fields, for a verb with a solver; see `overrides_from`."""
    return _with_instance_options(command, f"{CHUNKS.help[:-1]}; auto[:MAX] lets the solver choose.")


def _with_instance_options(command: Command, help_of_chunks: str) -> Command:
    for option in reversed(
        [
            click.option("--collective", callback=_many(COLLECTIVE), help=COLLECTIVE.help),
            click.option("--size", callback=_many(SIZE), help=SIZE.help),
            click.option("--chunks", callback=_chunks, help=help_of_chunks),
            click.option("--occupancy", callback=_many(OCCUPANCY), help=OCCUPANCY.help),
            click.option("--chunk-overhead", callback=_many(CHUNK_OVERHEAD), help=CHUNK_OVERHEAD.help),
            click.option(
                "--dimensions",
                multiple=True,
                callback=lambda ctx, param, value: tuple(_told(param, DIMENSIONS.parse, text) for text in value),
                help=f"{DIMENSIONS.help[:-1]}; for compare, repeat it for several sets.",
            ),
        ]
    ):
        command = option(command)
    return command


def overrides_from(options: dict[str, Any]) -> Overrides:
    """Take the instance options out of a verb's keyword arguments."""
    counts, max_chunks = options.pop("chunks")
    names = ("collective", "size", "occupancy", "dimensions")
    collective, size, occupancy, dimensions = (options.pop(name) for name in names)
    return Overrides(collective, size, counts, occupancy, dimensions, max_chunks, options.pop("chunk_overhead"))


def solver_options(command: Command) -> Command:
    """Add the options that choose and limit a solver."""
    for option in reversed(
        [
            click.option("--solver", default="auto", show_default=True, callback=_solver, help="A solver's name."),
            click.option(
                "--time-limit",
                default="10s",
                show_default=True,
                callback=_seconds,
                help=TIME_LIMIT.help,
            ),
            click.option("--evaluations", callback=_one(EVALUATIONS), metavar="N", help=EVALUATIONS.help),
            click.option("--seed", type=click.IntRange(SEED.least, SEED.most), default=0, show_default=True),
            click.option(
                "--workers",
                type=click.IntRange(WORKERS.least, WORKERS.most),
                help="Solver threads.  [default: processors; with --evaluations: 1]",
            ),
        ]
    ):
        command = option(command)
    return command


def chunking_options(command: Command) -> Command:
    """Add the options on what a solver may choose about the chunks, and on when it may stop."""
    for option in reversed(
        [
            click.option("--sizes", callback=_one(SIZING), help=f"{SIZING.help}  [default: equal]"),
            click.option(
                "--granularity", callback=_one(GRANULARITY), help=f"{GRANULARITY.help}  [default: NPUs x 4 B]"
            ),
            click.option("--min-chunk", callback=_one(MIN_CHUNK), help=f"{MIN_CHUNK.help}  [default: the granularity]"),
            click.option(
                "--gap",
                default="0.01%",
                show_default=True,
                callback=_one(GAP),
                help=f"{GAP.help[:-1]}; with --chunks auto, the one over all numbers.",
            ),
        ]
    ):
        command = option(command)
    return command


def choice_from(options: dict[str, Any], overrides: Overrides) -> ChunkingChoice | None:
    """Take the chunking options out of a verb's keyword arguments; ``None`` when nothing may be chosen."""
    sizing, granule, least = options.pop("sizes"), options.pop("granularity"), options.pop("min_chunk")
    if sizing is not Sizing.FREE and (granule is not None or least is not None):
        raise InputError("--granularity and --min-chunk are for --sizes free")
    if sizing is None and overrides.max_chunks is None:
        return None
    return ChunkingChoice(sizing or Sizing.EQUAL, overrides.max_chunks, granule, least)


def told_choice(choice: ChunkingChoice | None) -> dict[str, Any]:
    """Return what a solver could choose, as a comparison file tells it: nothing where nothing could be chosen."""
    if choice is None:
        return {}
    return {
        "sizes": str(choice.sizing),
        "max_chunks": choice.max_chunks,
        "granularity_bytes": choice.granule_bytes,
        "min_chunk_bytes": choice.min_chunk_bytes,
    }


def require_fixed_count(overrides: Overrides) -> None:
    """Raise when ``--chunks auto`` is given to a verb that chooses nothing.

    Raises
    ------
    InputError
        Naming the verbs that do.
    """
    if overrides.max_chunks is not None:
        raise InputError("--chunks auto is for solve and compare; name a number of chunks here")


def read_argument(name: str) -> Instance | Schedule:
    """Return the instance (of an instance or network file, or a shipped name) or the schedule an argument names.

    Raises
    ------
    InputError
        When there is none.
    """
    from themis_opt.cli.import_remarks import announce
    from themis_opt.files.documents import kind_of
    from themis_opt.files.importing import read_own_or_foreign
    from themis_opt.files.instance_file import instance_from_data
    from themis_opt.files.remarks import Imported
    from themis_opt.files.schedule_file import schedule_from_data
    from themis_opt.files.shipped import find_instance

    path = find_instance(name)
    data = read_own_or_foreign(path, small=False)
    if isinstance(data, Imported):
        return instance_from_data(data, path, announce)
    try:
        kind = kind_of(data)
    except InputError as error:
        raise error.at(os.fspath(path)) from None
    if kind == "schedule":
        return schedule_from_data(data, path, announce)
    return instance_from_data(data, path, announce)


def read_chosen_instance(name: str, overrides: Overrides, on_import: OnImport | None = None) -> Instance:
    """Return the one instance an argument and the options make, for a verb whose solver may choose the chunks.

    Of a network from somebody else's file `on_import` is told; by default stderr says what was read.

    Parameters
    ----------
    name
        The argument: a shipped network, or a file.
    overrides
        What the options say.
    on_import
        Told of a network from somebody else's file; by default stderr says what was read.

    Raises
    ------
    InputError
        When there is none, or options with several values make more than one.
    """
    from themis_opt.cli.import_remarks import announce
    from themis_opt.files.instance_file import load_instance

    return overrides.apply_to_one(load_instance(name, on_import or announce), name)


def read_instance(name: str, overrides: Overrides, on_import: OnImport | None = None) -> Instance:
    """Return the one instance an argument and the options make, for a verb that chooses nothing.

    The rest is as with `read_chosen_instance`.

    Parameters
    ----------
    name, overrides, on_import
        As with `read_chosen_instance`.
    """
    require_fixed_count(overrides)
    return read_chosen_instance(name, overrides, on_import)


def progress_is_visible() -> bool:
    """Return whether somebody watches stderr."""
    import sys

    return sys.stderr.isatty()


def _many(parameter: Parameter[Any]) -> Callable[[click.Context, click.Parameter, str | None], tuple[Any, ...]]:
    def callback(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[Any, ...]:
        if value is None:
            return ()
        return tuple(_told(param, parameter.parse, part.strip()) for part in value.split(","))

    return callback


def _one(parameter: Parameter[Any]) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    def callback(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
        return None if value is None else _told(param, parameter.parse, value)

    return callback


def _told(param: click.Parameter, parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except InputError as error:
        raise error.at(param.opts[0]) from None


def _chunks(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[tuple[int, ...], int | None]:
    """Return the numbers of chunks, and the largest number where it may be chosen."""
    return ((), None) if value is None else _told(param, parse_chunk_counts, value)


def _solver(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Return the name of a solver there is, or ``none``; each verb says what that means to it."""
    if value != "none":
        from themis_opt.solving.protocol import SOLVERS

        _told(param, SOLVERS.require, value)
    return value


def _seconds(ctx: click.Context, param: click.Parameter, value: str) -> float:
    return float(_told(param, TIME_LIMIT.parse, value) / PS_PER_S)
