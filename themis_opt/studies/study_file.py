"""Study files (``themis-opt/study/1``): from YAML to a `Study`, with every mistake named before anything runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from themis_opt.files.documents import NetworkDocument, StudyFile, expect_kind
from themis_opt.files.importing import OnImport
from themis_opt.files.instance_file import load_instance
from themis_opt.files.network_file import load_network, network_from_document
from themis_opt.files.plain import plain_mapping, read_text
from themis_opt.files.strict import decode, show
from themis_opt.problem.errors import InputError, located
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Network
from themis_opt.studies.constraints import read_constraint
from themis_opt.studies.fields import Field, Loaded, field_named
from themis_opt.studies.planning import INSTANCE_FIELDS
from themis_opt.studies.ranges import axis_values
from themis_opt.studies.study import Axis, Study
from themis_opt.studies.study_metrics import DEFAULT_METRICS, metric_named
from themis_opt.studies.tasks import read_choice

DEFAULT_SCHEDULER = "themis-scf"
MAX_NAME = 200
MAX_CONSTRAINTS = 100

Read = TypeVar("Read")


def load_study(path: str | os.PathLike[str], on_import: OnImport | None = None) -> Study:
    """Return the study in a file.

    Parameters
    ----------
    path
        The file; a relative path to a network in it starts at its folder.
    on_import
        Called with what was read when a network is an ASTRA-sim file.

    Raises
    ------
    InputError
        Naming the file, the path of the key, the value and what is allowed there.
    """
    name = os.fspath(path)
    text = read_text(path, small=True)
    data = plain_mapping(path, text)
    with located(name):
        expect_kind(data, "study")
        return study_from_document(decode(data, StudyFile), text, Path(name).parent, Path(name).stem, on_import)


def study_from_document(
    document: StudyFile, text: str, folder: Path, default_name: str, on_import: OnImport | None = None
) -> Study:
    """Return the study a document describes.

    Parameters
    ----------
    document
        What was read.
    text
        The text it was read from.
    folder
        Where relative paths begin.
    default_name
        The study's name if it has none.
    on_import
        Told of each network from somebody else's file.

    Raises
    ------
    InputError
        Naming the path of the key, the value and what is allowed there.
    """
    files = _Files(folder, on_import)
    base = _base(document.base, files)
    groups = _groups(_axes(document.axes, files), document.zip)
    if "network" not in base and all(axis.field.name != "network" for group in groups for axis in group):
        raise InputError("base.network: is missing; name a network or an instance in the base, or networks as an axis")
    _require_one_way(base, groups)
    constraints = _each("constraints", read_constraint, document.constraints)
    metrics = _each("metrics", metric_named, DEFAULT_METRICS if document.metrics is None else document.metrics)
    if not metrics:
        raise InputError(f"metrics: is empty; leave it out for {', '.join(DEFAULT_METRICS)}, or name what to measure")
    _require_distinct_columns(groups, [metric.name for metric in metrics])
    name = document.name or default_name
    if not name.isprintable() or len(name) > MAX_NAME:
        raise InputError(f"name: {show(name)} is not allowed; expected at most {MAX_NAME} printable characters")
    if len(constraints) > MAX_CONSTRAINTS:
        raise InputError(f"constraints: has {len(constraints)}; at most {MAX_CONSTRAINTS} are allowed")
    return Study(name, base, groups, constraints, metrics, text)


def _each(key: str, read: Callable[[Any], Read], entries: Sequence[Any]) -> tuple[Read, ...]:
    found = []
    for index, entry in enumerate(entries):
        with located(f"{key}[{index}]"):
            found.append(read(entry))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Files:
    """Reads what a study names by file; a relative path starts at the study's folder."""

    folder: Path
    on_import: OnImport | None

    def field(self, name: object) -> Field:
        """Return the field with this name, which reads networks and schedulers, too."""
        field = field_named(name if isinstance(name, str) else show(name))
        load = {"network": self.network, "scheduler": read_choice}.get(field.name)
        return field if load is None else replace(field, parameter=Loaded(field.name, "", load))

    def network(self, value: Any) -> Network:
        """Return a network that stands in the study, or that it names."""
        if isinstance(value, dict):
            return network_from_document(decode(value, NetworkDocument))
        return load_network(self._named(value, "a network's name or file, or a network"), self.on_import)

    def instance(self, value: Any) -> Instance:
        """Return the instance that a study names."""
        return load_instance(self._named(value, "an instance's name or file"), self.on_import)

    def _named(self, value: Any, expected: str) -> Path | str:
        if not isinstance(value, str):
            raise InputError(f"{show(value)} is not allowed; expected {expected}")
        named = self.folder / value
        return named if os.path.isfile(named) else value


def _base(data: Any, files: _Files) -> dict[str, Any]:
    flat = _flat(data)
    base: dict[str, Any] = {"scheduler": read_choice(DEFAULT_SCHEDULER)}
    if "instance" in flat:
        if "network" in flat:
            raise InputError("base.instance: stands beside network; an instance has a network of its own")
        with located("base.instance"):
            instance = files.instance(flat.pop("instance"))
        base["network"] = instance.network
        base |= {name: getattr(instance, attribute) for name, attribute in INSTANCE_FIELDS.items()}
    for name, value in flat.items():
        with located("base"):
            field = files.field(name)
        with located(f"base.{name}"):
            base[name] = field.read(value)
    return base


def _flat(data: Any) -> dict[str, Any]:
    """Return the base with what stands below ``solver`` as ``solver.…``."""
    if not isinstance(data, dict):
        raise InputError(f"base: {show(data)} is not allowed; expected a mapping of fields to values")
    flat: dict[str, Any] = {}
    for name, value in data.items():
        if name == "solver":
            if not isinstance(value, dict):
                raise InputError(
                    f"base.solver: {show(value)} is not allowed; expected a mapping of limits such as time_limit "
                    "(a solver's name goes to scheduler)"
                )
            flat |= {f"solver.{key}": entry for key, entry in value.items()}
        else:
            flat[name] = value
    return flat


def _axes(data: Any, files: _Files) -> dict[str, Axis]:
    if not isinstance(data, dict):
        raise InputError(f"axes: {show(data)} is not allowed; expected a mapping of fields to lists or ranges")
    if not data:
        raise InputError("axes: is empty; name at least one field that varies, such as size: [10 MB, 100 MB]")
    axes = {}
    for name, values in data.items():
        with located("axes"):
            field = files.field(name)
        try:
            axes[name] = Axis(field, axis_values(field, values))
        except InputError as error:
            raise error.at(f"axes.{name}", "" if str(error)[0] in "[.:" else ": ") from None
    for name in ("scheduler", "network"):
        names = [value.name for value in axes[name].values] if name in axes else []
        if len(set(names)) != len(names):
            twice = next(value for value in names if names.count(value) > 1)
            raise InputError(f"axes.{name}: two are called {show(twice)}; give them different names")
    return axes


def _groups(axes: dict[str, Axis], zips: list[list[str]]) -> tuple[tuple[Axis, ...], ...]:
    """Return the axes in groups that move together, each at the place of its first axis."""
    group_of: dict[str, tuple[Axis, ...]] = {}
    for index, names in enumerate(zips):
        for name in names:
            if name not in axes:
                raise InputError(f"zip[{index}]: {show(name)} is no axis; the axes are: {', '.join(axes)}")
            if name in group_of or names.count(name) > 1:
                raise InputError(f"zip[{index}]: {show(name)} stands in a zip twice")
        if len(names) < 2:
            raise InputError(f"zip[{index}]: {show(names)} is not allowed; expected two axes or more")
        lengths = {name: len(axes[name].values) for name in names}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise InputError(f"zip[{index}]: the axes must have as many values as each other ({told})")
        group = tuple(axes[name] for name in axes if name in names)
        group_of |= dict.fromkeys(names, group)
    groups = [group_of.get(name, (axis,)) for name, axis in axes.items()]
    return tuple(dict.fromkeys(groups))


def _require_distinct_columns(groups: tuple[tuple[Axis, ...], ...], metrics: list[str]) -> None:
    """Raise when two columns of the table would have one name."""
    varied = {axis.field.column_name: axis.field.name for group in groups for axis in group}
    for index, name in enumerate(metrics):
        if name in metrics[:index]:
            raise InputError(f"metrics[{index}]: {name} stands there twice; name every metric once")
        if name in varied:
            raise InputError(f"metrics[{index}]: {name} is the column of the axis {varied[name]}; leave it out")


def _require_one_way(base: dict[str, Any], groups: tuple[tuple[Axis, ...], ...]) -> None:
    """Raise when bandwidths are set in two ways at once, of which one would undo the other."""
    varied = [axis.field.name for group in groups for axis in group]
    ways = [name for name in ("bandwidth_split", "bandwidth_taper") if name in varied or name in base]
    alone = [name for name in varied if name.endswith("].bandwidth")]
    if len(ways) > 1 or (ways and alone):
        both = " and ".join([*ways, *alone][:2])
        raise InputError(f"axes: {both} both say how bandwidth is split; keep one of them")
    latencies = [name for name in varied if name.endswith("].latency")]
    if "latency" in varied and latencies:
        raise InputError(f"axes: latency and {latencies[0]} both say what {latencies[0]} is; keep one of them")
