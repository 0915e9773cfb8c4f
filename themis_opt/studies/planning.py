"""From a study to its points: the values of every axis, the instance they make, and what has to be computed for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from themis_opt.problem.errors import InputError, located
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Dimension, Network
from themis_opt.studies.fields import field_named, shown_value
from themis_opt.studies.study import Study
from themis_opt.studies.table import Value
from themis_opt.studies.tasks import Task, make_task

MAX_POINTS = 200_000
"""A limit that turns a slip of the keyboard into a message."""

INSTANCE_FIELDS = {
    "collective": "collective",
    "size": "size_bytes",
    "chunks": "num_chunks",
    "occupancy": "occupancy",
    "chunk_overhead": "chunk_overhead_ps",
    "dimensions": "dimensions",
}
_OF_NETWORKS = {"network", "latency", "dimensions", "bandwidth_split", "bandwidth_taper", "total_bandwidth"}
"""What decides about the network, besides the fields of single dimensions."""
_DIMENSION_FIELDS = {
    "bandwidth": "bandwidth_Bps",
    "latency": "latency_ps",
    "size": "size",
    "topology": "topology",
    "algorithm": "algorithm",
    "reduction_bandwidth": "reduction_bandwidth_Bps",
}


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
    names = [axis.field.name for axis in study.axes]
    shown_values = [{id(value): shown_value(axis.field, value) for value in axis.values} for axis in study.axes]
    instances = _Instances(study)
    for values in study.combinations():
        shown = tuple(known[id(value)] for known, value in zip(shown_values, values, strict=True))
        settings = {**study.base, **dict(zip(names, values, strict=True))}
        try:
            instance = instances.make(values, settings)
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


class _Instances:
    """Makes the instances of a study's points; what some points share is made once.

    Values are told apart by identity: each is an entry of an axis, and comparing fractions would take longer.
    """

    def __init__(self, study: Study) -> None:
        self._varied = [axis.field.name for axis in study.axes]
        totals = [constraint.fixed_total_Bps for constraint in study.constraints]
        self._fixed_Bps = next((total for total in totals if total is not None), None)
        shapes = [axis.field.dimension is not None or axis.field.name in _OF_NETWORKS for axis in study.axes]
        self._in_network = [place for place, is_in in enumerate(shapes) if is_in]
        self._in_instance = [
            place for place, name in enumerate(self._varied) if shapes[place] or name in INSTANCE_FIELDS
        ]
        self._networks: dict[tuple[int, ...], Network] = {}
        self._instances: dict[tuple[int, ...], Instance] = {}

    def make(self, values: tuple[Any, ...], settings: Mapping[str, Any]) -> Instance:
        """Return the instance of a point, as `make_instance` makes it; `settings` are its values by field name."""
        key = tuple([id(values[place]) for place in self._in_instance])
        instance = self._instances.get(key)
        if instance is not None:
            return instance
        shape = tuple([id(values[place]) for place in self._in_network])
        network = self._networks.get(shape)
        if network is None:
            instance = make_instance(settings, self._fixed_Bps, self._varied)
            self._networks[shape] = instance.network
        else:
            instance = Instance(network, **_arguments(settings))
        self._instances[key] = instance
        return instance


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

    Parameters
    ----------
    points
        The study's points.
    wanted
        Keys of tasks.
    max_tasks
        The most tasks in a batch.
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


class NotToBeMet(InputError):
    """The bandwidths that are set leave nothing for the others, so no point can meet the constraint on their sum."""


def make_instance(
    values: Mapping[str, Any], fixed_total_Bps: Fraction | None = None, varied: Collection[str] = ()
) -> Instance:
    """Return the instance that some values describe.

    Parameters
    ----------
    values
        By field name; under ``network`` a `Network`.
    fixed_total_Bps
        What the bandwidths of the involved dimensions must add up to: those that are not varied one by one are scaled
        by one factor to make it so.
    varied
        The names of the fields that the study varies.

    Raises
    ------
    NotToBeMet
        When the varied bandwidths leave nothing for the others.
    InputError
        When a value is out of range there.
    """
    dimensions = list(values["network"].dimensions)
    if "latency" in values:
        dimensions = [replace(dimension, latency_ps=values["latency"]) for dimension in dimensions]
    for index, changes in _changes(values).items():
        if index >= len(dimensions):
            name = f"dimensions[{index}].{next(iter(changes))}"
            network_name = values["network"].name
            raise InputError(f"{name}: network {network_name!r} ends at dimensions[{len(dimensions) - 1}]")
        with located(f"dimensions[{index}]"):
            dimensions[index] = _changed(dimensions[index], changes)
    network = replace(values["network"], dimensions=tuple(dimensions))
    instance = Instance(network, **_arguments(values))
    return _with_total(_with_shares(instance, values), values, fixed_total_Bps, varied)


def _arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    return {field: values[name] for name, field in INSTANCE_FIELDS.items() if name in values}


def _changes(values: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """Return what is set of each dimension, by its index."""
    changes: dict[int, dict[str, Any]] = {}
    for name, value in values.items():
        field = field_named(name)
        if field.dimension is not None:
            changes.setdefault(field.dimension, {})[field.part] = value
    return changes


def _changed(dimension: Dimension, changes: Mapping[str, Any]) -> Dimension:
    fields = {_DIMENSION_FIELDS[part]: value for part, value in changes.items()}
    if "bandwidth" in changes:
        fields["links"] = None
    if "topology" in changes:
        # Another topology runs its own algorithm, unless one is set.
        fields.setdefault("algorithm", None)
    return replace(dimension, **fields)


def _with_shares(instance: Instance, values: Mapping[str, Any]) -> Instance:
    """Return the instance with its total bandwidth split as told; without, as it is."""
    involved = instance.involved
    shares: tuple[Fraction, ...]
    if "bandwidth_split" in values:
        shares = values["bandwidth_split"]
        if len(shares) != len(involved):
            raise InputError(
                f"bandwidth_split: has {len(shares)} parts, and {len(involved)} dimensions of network "
                f"{instance.network.name!r} take part"
            )
    elif "bandwidth_taper" in values:
        shares = tuple(1 / values["bandwidth_taper"] ** place for place in range(len(involved)))
    else:
        return instance
    total = sum((instance.network.dimensions[k].bandwidth_Bps for k in involved), Fraction(0))
    parts = {k: total * share / sum(shares) for k, share in zip(involved, shares, strict=True)}
    return _with_bandwidths(instance, parts)


def _with_total(
    instance: Instance, values: Mapping[str, Any], fixed_Bps: Fraction | None, varied: Collection[str]
) -> Instance:
    total = values.get("total_bandwidth", fixed_Bps)
    if total is None:
        return instance
    bandwidths = {k: instance.network.dimensions[k].bandwidth_Bps for k in instance.involved}
    set_alone = {k for k in bandwidths if f"dimensions[{k}].bandwidth" in varied}
    free = [k for k in bandwidths if k not in set_alone]
    if not free:
        if "total_bandwidth" in values and sum(bandwidths.values()) != total:
            raise InputError("total_bandwidth: all bandwidths vary one by one, so nothing is left to make this sum")
        return instance  # a constraint on the sum is met or not: nothing is left to adapt
    rest = total - sum(bandwidths[k] for k in set_alone)
    if rest <= 0:
        raise NotToBeMet("total_bandwidth: the bandwidths that vary leave nothing for the other dimensions")
    factor = rest / sum(bandwidths[k] for k in free)
    return _with_bandwidths(instance, {k: bandwidths[k] * factor for k in free})


def _with_bandwidths(instance: Instance, bandwidths: Mapping[int, Fraction]) -> Instance:
    dimensions: list[Dimension] = list(instance.network.dimensions)
    for k, bandwidth_Bps in bandwidths.items():
        if bandwidth_Bps != dimensions[k].bandwidth_Bps:
            dimensions[k] = replace(dimensions[k], bandwidth_Bps=bandwidth_Bps, links=None)
    network: Network = replace(instance.network, dimensions=tuple(dimensions))
    return replace(instance, network=network)
