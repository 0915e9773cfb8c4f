"""What the verbs over message sizes, tune and when, are asked alike: sizes, an instance without one, a solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from themis_opt.cli.collecting import Collected, Result, collect
from themis_opt.cli.option_help import with_help
from themis_opt.cli.options import (
    Overrides,
    choosing_instance_options,
    overrides_from,
    read_chosen_instance,
    solver_options,
)
from themis_opt.cli.progress import Relay
from themis_opt.problem.errors import InputError, located
from themis_opt.problem.instance import Instance
from themis_opt.problem.parameters import DEFAULT_MAX_CHUNKS
from themis_opt.problem.units import format_size
from themis_opt.questions.message_sizes import parse_sizes, sizes_title
from themis_opt.show.words import title
from themis_opt.solving.protocol import SolverParams
from themis_opt.solving.resources import default_workers

over_sizes = with_help(
    {
        "--sizes": "Message sizes, bytes per NPU: 1MB:4GB, or 1MB,10MB. (Chunk sizes are found.)",
        "--size": None,
        "--chunks": "auto:MAX: the solver chooses up to MAX chunks.  [default: auto:16]",
        "--solver": "A solver's name; none: schedulers alone.",
    }
)
"""Says in a verb's help what shared options mean to it; --size, and numbers of chunks, are refused."""


def size_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name message sizes."""
    for option in (
        click.option("--points", type=int, metavar="N", help="Sizes in a range, its ends included."),
        click.option("--per-octave", type=int, metavar="N", help="Sizes for each doubling in a range.  [default: 1]"),
        click.option("--sizes", default="1MB:1GB", show_default=True, help="Message sizes: 1MB:4GB, or 1MB,10MB."),
    ):
        command = option(command)
    return command


def solved_instance_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the instance and of its solver."""
    return choosing_instance_options(solver_options(command))


@dataclass(frozen=True)
class SizesAsked:
    """What is asked, in the words of `questions.tune`.

    Attributes
    ----------
    problem
        The instance; its size does not matter.
    sizes_bytes
        The message sizes, ascending.
    limits
        Solver, its limits and the most chunks it may choose: the keyword arguments of `tune` and `when`.
    told
        The same for a result file.
    relay
        Hears the solver's progress.
    """

    problem: Instance
    sizes_bytes: tuple[int, ...]
    limits: dict[str, Any]
    told: dict[str, Any]
    relay: Relay

    @classmethod
    def of(cls, verb: str, name: str, options: dict[str, Any]) -> SizesAsked:
        """Return what a verb's arguments ask.

        Parameters
        ----------
        verb
            The verb.
        name
            Its argument: an instance or a network.
        options
            The options that this module adds.

        Raises
        ------
        InputError
            Naming the option that is wrong.
        """
        overrides = overrides_from(options)
        max_chunks = _max_chunks(overrides, verb)
        with located("--sizes"):
            sizes_bytes = parse_sizes(options["sizes"], options["per_octave"], options["points"])
        problem = read_chosen_instance(name, replace(overrides, max_chunks=None))
        solver, evaluations = options["solver"], options["evaluations"]
        workers = options["workers"] or default_workers(evaluations)
        relay = Relay()
        params = SolverParams(
            options["time_limit"], workers, options["seed"], max_evaluations=evaluations, on_progress=relay
        )
        told = {
            "solver": solver,
            "time_limit_s": options["time_limit"],
            "max_evaluations": evaluations,
            "max_chunks": max_chunks,
            "workers": workers,
            "seed": options["seed"],
        }
        limits = {"solver": None if solver == "none" else solver, "params": params, "max_chunks": max_chunks}
        return cls(problem, sizes_bytes, limits, told, relay)

    def collect(self, question: Callable[..., Any], keep: Callable[[Result], None]) -> Collected[Result]:
        """Return what `tune` or `when` finds for each size until something ends it early; see `collecting.collect`."""
        results = question(self.problem, self.sizes_bytes, **self.limits)
        return collect(results, map(format_size, self.sizes_bytes), self.relay, keep)

    def title(self, found: Sequence[Any]) -> str:
        """Return what is shown, for the sizes done."""
        # Titles say one number of chunks, and here each size has its own.
        first = replace(self.problem, size_bytes=found[0].size_bytes, num_chunks=1, known=None)
        return sizes_title(title(first, "best chunks"), first, found[-1].size_bytes)

    def stopped(self, found: Sequence[Any]) -> list[str]:
        """Return a line on what is not done, if anything."""
        done, asked = len(found), len(self.sizes_bytes)
        return [f"stopped: {done} of {asked} sizes are done"] if done < asked else []


def _max_chunks(overrides: Overrides, verb: str) -> int:
    """Return how many chunks the solver may choose; raise where an option says what the verb finds out."""
    if overrides.sizes:
        raise InputError(f"--size is for one size; {verb} takes --sizes, such as 1MB:4GB or 1MB,10MB")
    if overrides.chunks:
        raise InputError(
            f"--chunks: {verb} finds the number of chunks; --chunks auto:MAX limits what the solver may choose"
        )
    return overrides.max_chunks or DEFAULT_MAX_CHUNKS
