"""From a study to its points: the values of every axis, and what has to be computed for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.studies.fields import shown_value
from themis_opt.studies.setting import NotToBeMet, make_instance
from themis_opt.studies.study import Study
from themis_opt.studies.table import Value
from themis_opt.studies.tasks import Task, make_task

MAX_POINTS = 200_000
"""A limit that turns a slip of the keyboard into a message."""


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of the axes' values.

    Attributes
    ----------
    values
        Of the axes, in the order of the table's columns, as they stand there.
    task
        What has to be computed; ``None`` where these values make no instance.
    reason
        Why they make none, or nothing.
    """

    values: tuple[Value, ...]
    task: Task | None
    reason: str = ""


def plan(study: Study) -> tuple[Point, ...]:
    """Return the points of a study, in the order of its table: those that meet every constraint.

    Raises
    ------
    InputError
        When there are too many, no point meets the constraints, or none makes an instance.
    """
    if study.num_combinations > MAX_POINTS:
        raise InputError(
            f"axes: make {study.num_combinations} points; at most {MAX_POINTS} are allowed: use fewer values, or a zip"
        )
    met = [0] * len(study.constraints)
    num_instances = 0
    points: list[Point] = []
    for values in study.combinations():
        shown = tuple(shown_value(axis.field, value) for axis, value in zip(study.axes, values, strict=True))
        try:
            instance, settings = _instance(study, values)
        except NotToBeMet:
            continue
        except InputError as error:
            points.append(Point(shown, None, str(error)))
            continue
        num_instances += 1
        verdicts = [constraint.is_met(instance) for constraint in study.constraints]
        met = [count + is_met for count, is_met in zip(met, verdicts, strict=True)]
        if all(verdicts):
            points.append(Point(shown, make_task(instance, settings["scheduler"], settings)))
    _require_points(study, points, met, num_instances)
    return tuple(points)


def _instance(study: Study, values: tuple[Any, ...]) -> tuple[Instance, dict[str, Any]]:
    varied = {axis.field.name: value for axis, value in zip(study.axes, values, strict=True)}
    settings = {**study.base, **varied}
    totals = [constraint.fixed_total_Bps for constraint in study.constraints]
    fixed = next((total for total in totals if total is not None), None)
    return make_instance(settings, fixed, varied), settings


def _require_points(study: Study, points: list[Point], met: list[int], num_instances: int) -> None:
    if any(point.task is not None for point in points):
        return
    if num_instances == 0 and points:
        raise InputError(f"axes: not one of {len(points)} points makes an instance; the first: {points[0].reason}")
    for index, (constraint, count) in enumerate(zip(study.constraints, met, strict=True)):
        if count == 0:
            raise InputError(
                f"constraints[{index}]: {constraint.text!r} is met by none of {study.num_combinations} points; "
                "change it or the axes"
            )
    raise InputError(f"constraints: each is met by some of {study.num_combinations} points, but none meets them all")


def batches_of(points: tuple[Point, ...], wanted: set[str], max_tasks: int) -> Iterator[tuple[Task, ...]]:
    """Yield the tasks with the wanted keys, each once; those of the same problem together, at most so many.

    What is worked out for a problem (its costs, its bound, the baseline's makespan) then serves all of them.
    """
    by_problem: dict[Instance, list[Task]] = {}
    seen: set[str] = set()
    for point in points:
        task = point.task
        if task is None or task.key not in wanted or task.key in seen:
            continue
        seen.add(task.key)
        by_problem.setdefault(task.instance, []).append(task)
    for tasks in by_problem.values():
        for first in range(0, len(tasks), max_tasks):
            yield tuple(tasks[first : first + max_tasks])
