"""What has to be computed for a point, and the key under which its result is kept: its content and the version."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from themis_opt.files.instance_file import instance_document
from themis_opt.problem.bound import Sizing
from themis_opt.problem.instance import Instance
from themis_opt.problem.parameters import DEFAULT_GAP, DEFAULT_TIME_LIMIT_S
from themis_opt.problem.units import PS_PER_S
from themis_opt.problem.version import VERSION
from themis_opt.questions.comparison import THEMIS_BEST
from themis_opt.studies.choice import Method, SchedulerChoice


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
        if choice.runs == THEMIS_BEST:
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
