"""What a study is: a base, axes that vary from it, constraints, and what is measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from themis_opt.problem.network import Network
from themis_opt.studies.constraints import Constraint
from themis_opt.studies.fields import Field
from themis_opt.studies.study_metrics import Metric


@dataclass(frozen=True, slots=True)
class Axis:
    """One quantity that varies, with its values in order."""

    field: Field
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Study:
    """A design-space study.

    Attributes
    ----------
    name
        Its name.
    base
        Values by field name that hold wherever no axis varies them; always a `Network` under ``network``.
    groups
        The axes: those of one group move together (a zip), and every combination of the groups is a point. The last
        group changes fastest.
    constraints
        What every point has to meet.
    metrics
        What is measured.
    text
        The study as it was written, for whoever finds its results.
    """

    name: str
    base: Mapping[str, Any]
    groups: tuple[tuple[Axis, ...], ...]
    constraints: tuple[Constraint, ...]
    metrics: tuple[Metric, ...]
    text: str

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All axes, in the order of the table's columns."""
        return tuple(axis for group in self.groups for axis in group)

    @property
    def networks(self) -> tuple[Network, ...]:
        """The networks of the base and of the axes, each once."""
        varied = [value for axis in self.axes if axis.field.name == "network" for value in axis.values]
        return tuple(dict.fromkeys(varied or [self.base["network"]]))

    @property
    def num_combinations(self) -> int:
        """How many points there are before constraints."""
        return prod(len(group[0].values) for group in self.groups)

    def combinations(self) -> Iterator[tuple[Any, ...]]:
        """Yield the values of all axes, in their order, for every combination of the groups."""
        steps = [list(zip(*(axis.values for axis in group), strict=True)) for group in self.groups]
        for chosen in product(*steps):
            yield tuple(value for values in chosen for value in values)
