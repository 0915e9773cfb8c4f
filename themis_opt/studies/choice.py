"""What a point runs: a heuristic, a solver with its limits, or nothing but the bound."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from themis_opt.files.strict import show
from themis_opt.problem.choices import did_you_mean
from themis_opt.problem.errors import InputError
from themis_opt.questions.comparison import THEMIS_BEST
from themis_opt.schedulers.registry import SCHEDULERS
from themis_opt.solving.solvers import SOLVERS
from themis_opt.studies.fields import SOLVER_FIELDS, field_named

BOUND = "bound"
"""The name of the choice that makes no schedule."""


class Method(StrEnum):
    """What kind of thing makes the schedule."""

    HEURISTIC = "heuristic"
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
        try:
            options.append((field, field_named(field).read(value)))
        except InputError as error:
            raise error.at(key) from None
    return SchedulerChoice(name, choice.method, choice.runs, tuple(options))


def _named(name: str, runs: str) -> SchedulerChoice:
    if runs == BOUND:
        return SchedulerChoice(name, Method.BOUND, runs)
    if runs == THEMIS_BEST:
        return SchedulerChoice(name, Method.HEURISTIC, runs)
    solvers = SOLVERS.names()
    if runs in solvers:
        return SchedulerChoice(name, Method.SOLVER, runs)
    try:
        SCHEDULERS.require(runs)
    except InputError:
        known = [*SCHEDULERS.names(), THEMIS_BEST, *solvers, BOUND]
        raise InputError(
            f"no scheduler or solver {show(runs)}; there are: {', '.join(known)}{did_you_mean(runs, known)}"
        ) from None
    return SchedulerChoice(name, Method.HEURISTIC, runs)
