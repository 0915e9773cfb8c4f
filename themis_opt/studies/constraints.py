"""``LEFT OP RIGHT`` as people write it: what every point of a study has to meet, and how rows are chosen."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from themis_opt.files.strict import show
from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.units import parse_bandwidth, parse_size, parse_time
from themis_opt.timing import metrics

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_COMPARISON = re.compile(r"\s*([^=!<>]+?)\s*(==|!=|<=|>=|=|<|>)\s*([^=\s].*?)\s*")
_MAX_LENGTH = 1000
_EXAMPLE = "'total_bandwidth = 600 GB/s' or 'num_npus <= 1024'"
_QUANTITIES: dict[str, tuple[str, Callable[[Instance], Fraction | int]]] = {
    "total_bandwidth": ("B/s", metrics.total_bandwidth_Bps),
    "size": ("B", lambda instance: instance.size_bytes),
    "chunk_size": ("B", lambda instance: Fraction(instance.size_bytes, instance.num_chunks)),
    "chunk_overhead": ("ps", lambda instance: instance.chunk_overhead_ps),
    "chunks": ("", lambda instance: instance.num_chunks),
    "num_npus": ("", lambda instance: instance.num_npus),
    "num_dimensions": ("", lambda instance: instance.network.num_dimensions),
}
_PER_DIMENSION = re.compile(r"dimensions\[(0|[1-9][0-9]?)\]\.(bandwidth|latency|size)")
_OF_DIMENSION = {"bandwidth": ("B/s", "bandwidth_Bps"), "latency": ("ps", "latency_ps"), "size": ("", "size")}
PARSERS: dict[str, Callable[[str], Fraction | int]] = {"B": parse_size, "B/s": parse_bandwidth, "ps": parse_time}


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


def split_comparison(text: object, example: str) -> tuple[str, str, str]:
    """Return left side, operator and right side of a comparison.

    Raises
    ------
    InputError
        When it is none; the message shows the example.
    """
    match = _COMPARISON.fullmatch(text) if isinstance(text, str) and len(text) <= _MAX_LENGTH else None
    if match is None:
        raise InputError(f"{show(text)} is not a comparison; write it as {example} (with = != < <= > or >=)")
    return match[1], match[2], match[3]


def read_constraint(text: Any) -> Constraint:
    """Return the constraint in a text.

    Raises
    ------
    InputError
        When it is no comparison of a quantity of an instance with another one or a value in its unit.
    """
    left_text, sign, right_text = split_comparison(text, _EXAMPLE)
    left = _named(left_text)
    right: str | Fraction
    if re.match(r"[\d.]", right_text):
        right = _value(left, right_text)
    else:
        right = _named(right_text)
        if _unit(right) != _unit(left):
            raise InputError(f"{show(text)} compares {left} with {right}, which are of different kinds")
    return Constraint(str(text), left, sign, right)


def _named(text: str) -> str:
    name = re.sub(r"\s+", "_", text.strip())
    if name not in _QUANTITIES and _PER_DIMENSION.fullmatch(name) is None:
        known = [*_QUANTITIES, "dimensions[0].bandwidth", "dimensions[0].latency", "dimensions[0].size"]
        raise InputError(f"{show(text)} is no quantity of an instance; there are: {', '.join(known)}"
                         f"{did_you_mean(name, known)}")  # fmt: skip
    return name


def _unit(name: str) -> str:
    return _QUANTITIES[name][0] if name in _QUANTITIES else _OF_DIMENSION[name.rpartition(".")[2]][0]


def _value(left: str, text: str) -> Fraction:
    parser = PARSERS.get(_unit(left))
    if parser is not None:
        return Fraction(parser(text))
    try:
        return Fraction(text if len(text) < 40 else "")
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{show(text)} is not a number; {left} has no unit") from None


def _quantity(instance: Instance, name: str) -> Fraction | None:
    match = _PER_DIMENSION.fullmatch(name)
    if match is None:
        return Fraction(_QUANTITIES[name][1](instance))
    dimensions = instance.network.dimensions
    return (
        Fraction(getattr(dimensions[int(match[1])], _OF_DIMENSION[match[2]][1]))
        if int(match[1]) < len(dimensions)
        else None
    )
