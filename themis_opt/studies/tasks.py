"""What a point runs and what has to be computed for it, with the key under which its result is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any

from themis_opt.files.instance_file import instance_document
from themis_opt.files.strict import show
from themis_opt.problem.bound import Sizing
from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.chunking import make_chunking
from themis_opt.problem.errors import InputError, located
from themis_opt.problem.instance import Instance
from themis_opt.problem.parameters import DEFAULT_GAP, DEFAULT_TIME_LIMIT_S
from themis_opt.problem.units import PS_PER_S
from themis_opt.problem.version import VERSION
from themis_opt.schedulers.registry import COUNT_CHOOSERS, SCHEDULERS, predictor_names, row_names
from themis_opt.solving.protocol import SOLVERS, SolverParams
from themis_opt.studies.fields import SOLVER_FIELDS, field_named

BOUND = "bound"
"""The name of the choice that makes no schedule."""


class Method(StrEnum):
    """What kind of thing makes the schedule."""

    HEURISTIC = "heuristic"
    PREDICTION = "prediction"
    SOLVER = "solver"
    BOUND = "bound"


@dataclass(frozen=True, slots=True)
class SchedulerChoice:
    """What a point runs.

    Attributes
    ----------
    name
        What the table calls it.
    method
        What kind it is.
    runs
        The scheduler's or solver's name in its registry.
    options
        What is set for this choice alone, as ``(field, value)``; everything else is the study's.
    """

    name: str
    method: Method
    runs: str
    options: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return self.name


def read_choice(data: Any) -> SchedulerChoice:
    """Return the choice that an entry of ``scheduler`` names: a name, or ``{name, solver or scheduler, …}``.

    Raises
    ------
    InputError
        When there is no such scheduler or solver, or an option that it does not have.
    """
    if isinstance(data, str):
        return _named(data, data)
    if not isinstance(data, dict):
        raise InputError(f"{show(data)} is not allowed; expected a name, or {{name, solver, sizes, time_limit, ...}}")
    known = ("name", "scheduler", "solver", "seed", *SOLVER_FIELDS)
    for key in data:
        if key not in known:
            raise InputError(f"{show(key)}: unknown key; known are: {', '.join(known)}{did_you_mean(key, known)}")
    runs = [data[key] for key in ("scheduler", "solver") if key in data]
    if len(runs) != 1 or not isinstance(runs[0], str):
        raise InputError(f"{show(data)} names no scheduler or solver; write one of both, such as solver: auto")
    name = data.get("name", runs[0])
    if not isinstance(name, str) or not name or not name.isprintable():
        raise InputError(f"name: {show(name)} is not allowed; expected a text of printable characters")
    choice = _named(name, runs[0])
    options = []
    for key, value in data.items():
        if key in ("name", "scheduler", "solver"):
            continue
        field = "seed" if key == "seed" else f"solver.{key}"
        if choice.method is not Method.SOLVER and field != "seed":
            raise InputError(f"{key}: is for solvers, and {runs[0]!r} is none")
        with located(key):
            options.append((field, field_named(field).read(value)))
    return SchedulerChoice(name, choice.method, choice.runs, tuple(options))


def _named(name: str, runs: str) -> SchedulerChoice:
    if runs == BOUND:
        return SchedulerChoice(name, Method.BOUND, runs)
    solvers = SOLVERS.names()
    if runs in solvers:
        return SchedulerChoice(name, Method.SOLVER, runs)
    if runs in predictor_names():
        return SchedulerChoice(name, Method.PREDICTION, runs)
    try:
        SCHEDULERS.require(runs)
    except InputError:
        known = [*row_names(), *solvers, BOUND]
        raise InputError(
            f"no scheduler or solver {show(runs)}; there are: {', '.join(known)}{did_you_mean(runs, known)}"
        ) from None
    return SchedulerChoice(name, Method.HEURISTIC, runs)


@dataclass(frozen=True, slots=True)
class SolverLimits:
    """What a solver may choose and when it stops; see `SolverParams` and `make_chunking`."""

    sizing: Sizing = Sizing.EQUAL
    max_chunks: int | None = None
    granule_bytes: int | None = None
    min_chunk_bytes: int | None = None
    gap: float = DEFAULT_GAP
    time_limit_s: float = DEFAULT_TIME_LIMIT_S
    max_evaluations: int | None = None

    def params(self, instance: Instance, seed: int) -> SolverParams:
        """Return what the solver is told; one worker, because studies use all processors already.

        Raises
        ------
        InputError
            When the collective is too small for the chunks asked for.
        """
        chunking = make_chunking(instance, self.sizing, self.max_chunks, self.granule_bytes, self.min_chunk_bytes)
        return SolverParams(
            self.time_limit_s,
            seed=seed,
            chunking=chunking,
            gap=self.gap,
            max_evaluations=self.max_evaluations,
        )


@dataclass(frozen=True)
class Task:
    """One thing to compute.

    Attributes
    ----------
    instance
        The problem.
    method, runs
        What kind of thing answers it, and its name in its registry.
    seed
        Its source of randomness.
    limits
        Of a solver; ``None`` for the others.
    """

    instance: Instance
    method: Method
    runs: str
    seed: int = 0
    limits: SolverLimits | None = None

    @cached_property
    def key(self) -> str:
        """A digest of everything that the result depends on, and nothing else."""
        limits = self.limits
        content = {
            "version": VERSION,
            "instance": content_of(self.instance),
            "method": str(self.method),
            "runs": self.runs,
            "seed": self.seed,
            "limits": None if limits is None else {name: getattr(limits, name) for name in limits.__slots__},
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:40]


def make_task(instance: Instance, choice: SchedulerChoice, values: Mapping[str, Any]) -> Task:
    """Return the task of a point.

    What does not matter to the result is left out of it, so that points that differ in nothing else share it: the
    number of chunks where that is chosen, the limits where no solver runs.

    Parameters
    ----------
    instance
        The point's instance.
    choice
        What it runs.
    values
        The point's values by field name.
    """
    told = {**values, **dict(choice.options)}
    seed = told.get("seed", 0)
    if choice.method is not Method.SOLVER:
        if choice.runs in COUNT_CHOOSERS:
            instance = replace(instance, num_chunks=1)
        return Task(instance, choice.method, choice.runs, 0 if choice.method is Method.BOUND else seed)
    defaults = SolverLimits()
    limit_ps = told.get("solver.time_limit")
    limits = SolverLimits(
        told.get("solver.sizes", defaults.sizing),
        told.get("solver.max_chunks"),
        told.get("solver.granularity"),
        told.get("solver.min_chunk"),
        told.get("solver.gap", defaults.gap),
        defaults.time_limit_s if limit_ps is None else float(limit_ps / PS_PER_S),
        told.get("solver.evaluations"),
    )
    if limits.max_chunks is not None:
        instance = replace(instance, num_chunks=1)
    return Task(instance, choice.method, choice.runs, seed, limits)


@lru_cache(maxsize=1024)
def content_of(instance: Instance) -> str:
    """Return an instance as text, without names, sources and notes: two with the same text have the same results."""
    dimensions = tuple(replace(dimension, note="", links=None) for dimension in instance.network.dimensions)
    network = replace(instance.network, name="-", source="", note="", dimensions=dimensions)
    return json.dumps(instance_document(replace(instance, network=network, known=None)), sort_keys=True)
