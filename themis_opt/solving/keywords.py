"""What every function that runs a solver may be told: limits as keywords, `SolverParams`, or both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypedDict

from themis_opt.problem.bound import Sizing
from themis_opt.problem.checks import choose, whole_or_none
from themis_opt.problem.chunking import ChunkingChoice
from themis_opt.problem.parameters import DEFAULT_GAP
from themis_opt.solving.protocol import Progress, SolverParams
from themis_opt.solving.resources import default_workers


class Limits(TypedDict, total=False):
    """Limits of a solver, as keywords; together with ``params`` they change what that says.

    Attributes
    ----------
    time_limit_s
        Wall seconds, model building included, start-up of the solver's process excluded; default 10.
    max_evaluations
        How much the solver may search: with one worker, the same inputs and seed then give the same schedule, provided
        that the time limit does not end it before. An evaluation is one candidate schedule timed, and takes 15 to 35 ns
        for each of its stages.
    num_workers
        Threads of the solver; default: the processors this process may use, with `max_evaluations` one. With several
        threads the result depends on which of them is faster.
    seed
        The solver's source of randomness.
    gap
        Stop at a makespan of at most ``1 + gap`` times the bound; default 0.01 %.
    on_progress
        Called with every better schedule and bound.
    """

    time_limit_s: float
    max_evaluations: int | None
    num_workers: int | None
    seed: int
    gap: float
    on_progress: Callable[[Progress], None] | None


class ChunkLimits(Limits, total=False):
    """Limits of a solver, and what it may choose about the chunks; together with ``choice`` they change what that says.

    Attributes
    ----------
    sizes
        ``"free"`` lets the solver choose the chunks' sizes.
    max_chunks
        Let the solver choose the number of chunks, from 1 to this.
    granularity_bytes
        Free sizes are whole multiples of it; default: four bytes for every NPU.
    min_chunk_bytes
        Least free size; default: the granularity.
    """

    sizes: Sizing | str
    max_chunks: int | None
    granularity_bytes: int | None
    min_chunk_bytes: int | None


_CHUNKS = {"max_chunks": "max_chunks", "granularity_bytes": "granule_bytes", "min_chunk_bytes": "min_chunk_bytes"}


def params_of(params: SolverParams | None, limits: Mapping[str, Any]) -> SolverParams:
    """Return what the solver is told.

    Parameters
    ----------
    params
        What was given as a whole, or ``None``.
    limits
        Keywords as in `Limits`.

    Raises
    ------
    InputError
        When a limit is out of range.
    TypeError
        When there is no such keyword.
    """
    # None stands for the default here, as it does for whoever leaves the keyword out.
    optional = ("num_workers", "on_progress")
    given = {name: value for name, value in limits.items() if value is not None or name not in optional}
    if params is not None:
        return replace(params, **given)
    workers = default_workers(given.get("max_evaluations"))
    return SolverParams(**{"num_workers": workers, "gap": DEFAULT_GAP, **given})


def choice_of(choice: ChunkingChoice | None, limits: Mapping[str, Any]) -> tuple[ChunkingChoice, dict[str, Any]]:
    """Return what the solver may choose about the chunks, and the other keywords.

    Parameters
    ----------
    choice
        What was given as a whole, or ``None``.
    limits
        Keywords as in `ChunkLimits`.

    Raises
    ------
    InputError
        When a value is no whole number, or there is no such sizing.
    """
    others = dict(limits)
    given: dict[str, Any] = {
        field: whole_or_none(name, others.pop(name)) for name, field in _CHUNKS.items() if name in others
    }
    if "sizes" in others:
        given["sizing"] = choose(Sizing, others.pop("sizes"), "sizes")
    return replace(choice or ChunkingChoice(), **given), others
