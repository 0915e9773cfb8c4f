"""What every point of a study has to meet: ``total_bandwidth = 600 GB/s``, ``num_npus <= 1024``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from themis_opt.files.strict import show
from themis_opt.problem.choices import did_you_mean
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.units import parse_bandwidth, parse_size, parse_time
from themis_opt.studies.comparisons import OPERATORS, split_comparison
from themis_opt.studies.fields import field_named
from themis_opt.timing import metrics

_EXAMPLE = "'total_bandwidth = 600 GB/s' or 'num_npus <= 1024'"
_UNITS = {
    "total_bandwidth": "B/s",
    "size": "B",
    "chunk_size": "B",
    "chunk_overhead": "ps",
    "chunks": "",
    "num_npus": "",
    "num_dimensions": "",
}
_PER_DIMENSION = re.compile(r"dimensions\[(0|[1-9][0-9]?)\]\.(bandwidth|latency|size)")
_PARSERS: dict[str, Callable[[str], Fraction | int]] = {"B": parse_size, "B/s": parse_bandwidth, "ps": parse_time}


@dataclass(frozen=True, slots=True)
class Constraint:
    """A comparison of two quantities of an instance.

    Attributes
    ----------
    text
        As it was written.
    left
        The name of a quantity.
    operator
        ``=``, ``!=``, ``<``, ``<=``, ``>`` or ``>=``.
    right
        The name of another one, or an exact value in the unit of the first.
    """

    text: str
    left: str
    operator: str
    right: str | Fraction

    @property
    def fixed_total_Bps(self) -> Fraction | None:
        """The bandwidth that all dimensions together must have, if that is what it says."""
        is_total = self.left == "total_bandwidth" and self.operator in ("=", "==")
        return self.right if is_total and isinstance(self.right, Fraction) else None

    def is_met(self, instance: Instance) -> bool:
        """Return whether an instance meets it; one that lacks a dimension named here does not."""
        left = _quantity(instance, self.left)
        right = _quantity(instance, self.right) if isinstance(self.right, str) else self.right
        return left is not None and right is not None and OPERATORS[self.operator](left, right)


def read_constraint(text: Any) -> Constraint:
    """Return the constraint in a text.

    Raises
    ------
    InputError
        When it is no comparison of a quantity of an instance with another one or a value in its unit.
    """
    left_text, operator, right_text = split_comparison(text, _EXAMPLE)
    left = _named(left_text)
    right: str | Fraction
    if re.match(r"[\d.]", right_text):
        right = _value(left, right_text)
    else:
        right = _named(right_text)
        if _unit(right) != _unit(left):
            raise InputError(f"{show(text)} compares {left} with {right}, which are of different kinds")
    return Constraint(str(text), left, operator, right)


def _named(text: str) -> str:
    name = re.sub(r"\s+", "_", text.strip())
    if name not in _UNITS and _PER_DIMENSION.fullmatch(name) is None:
        known = [*_UNITS, "dimensions[0].bandwidth", "dimensions[0].latency", "dimensions[0].size"]
        raise InputError(f"{show(text)} is no quantity of an instance; there are: {', '.join(known)}"
                         f"{did_you_mean(name, known)}")  # fmt: skip
    return name


def _unit(name: str) -> str:
    return _UNITS[name] if name in _UNITS else field_named(name).unit


def _value(left: str, text: str) -> Fraction:
    parser = _PARSERS.get(_unit(left))
    if parser is not None:
        return Fraction(parser(text))
    try:
        return Fraction(text if len(text) < 40 else "")
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{show(text)} is not a number; {left} has no unit") from None


def _quantity(instance: Instance, name: str) -> Fraction | None:
    match = _PER_DIMENSION.fullmatch(name)
    if match is not None:
        dimensions = instance.network.dimensions
        index = int(match[1])
        if index >= len(dimensions):
            return None
        dimension = dimensions[index]
        return {
            "bandwidth": dimension.bandwidth_Bps,
            "latency": dimension.latency_ps,
            "size": Fraction(dimension.size),
        }[match[2]]
    return {
        "total_bandwidth": metrics.total_bandwidth_Bps(instance),
        "size": Fraction(instance.size_bytes),
        "chunk_size": Fraction(instance.size_bytes, instance.num_chunks),
        "chunk_overhead": Fraction(instance.chunk_overhead_ps),
        "chunks": Fraction(instance.num_chunks),
        "num_npus": Fraction(instance.num_npus),
        "num_dimensions": Fraction(instance.network.num_dimensions),
    }[name]
