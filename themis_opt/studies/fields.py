"""The quantities a study can set: each with its unit, how it is read from a file, and how it stands in the table."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from themis_opt.files.strict import show
from themis_opt.problem.bound import Sizing
from themis_opt.problem.choices import choose, did_you_mean
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Occupancy
from themis_opt.problem.network import Algorithm, Network, Topology
from themis_opt.problem.units import exact_text, parse_bandwidth, parse_size, parse_time
from themis_opt.studies.table import Value

_PER_DIMENSION = re.compile(r"dimensions\[(0|[1-9][0-9]?)\]\.([a-z_]+)")
_MAX_DIGITS = 18
_SCALES: dict[str, tuple[tuple[int, str], ...]] = {
    "B": ((10**9, "GB"), (10**6, "MB"), (10**3, "KB"), (1, "B")),
    "B/s": ((10**9, "GB/s"), (10**6, "MB/s"), (10**3, "KB/s"), (1, "B/s")),
    "ps": ((10**12, "s"), (10**9, "ms"), (10**6, "us"), (10**3, "ns"), (1, "ps")),
}


@dataclass(frozen=True, slots=True)
class Field:
    """One quantity that a study can set or vary.

    Attributes
    ----------
    name
        As in a study: ``size``, ``dimensions[0].bandwidth``, ``solver.time_limit``.
    unit
        Of its values in the table: ``B``, ``B/s``, ``ps`` or nothing.
    is_number
        Whether its values are numbers, so that a range of them makes sense.
    is_whole
        Whether its values are whole.
    read
        Makes a value of what a file holds; raises `InputError`.
    dimension
        The index of the dimension it belongs to, or ``None``.
    """

    name: str
    unit: str
    is_number: bool
    is_whole: bool
    read: Callable[[Any], Any]
    dimension: int | None = None

    @property
    def part(self) -> str:
        """What it is of its dimension (``bandwidth``), or its name."""
        return self.name.rpartition(".")[2] if self.dimension is not None else self.name

    @property
    def column_name(self) -> str:
        """The heading of its column: the name, and the unit in the way of this project."""
        suffix = {"B": "bytes", "B/s": "Bps", "ps": "ps"}.get(self.unit)
        return f"{self.name}_{suffix}" if suffix else self.name


def field_named(name: str) -> Field:
    """Return the field with this name.

    Raises
    ------
    InputError
        When there is none; the message lists those there are, and the nearest.
    """
    if name in _FIELDS:
        return _FIELDS[name]
    match = _PER_DIMENSION.fullmatch(name)
    if match is not None and match[2] in _DIMENSION_FIELDS:
        template = _DIMENSION_FIELDS[match[2]]
        return Field(name, template.unit, template.is_number, template.is_whole, template.read, int(match[1]))
    known = [*_FIELDS, *(f"dimensions[0].{part}" for part in _DIMENSION_FIELDS)]
    raise InputError(f"unknown field {show(name)}; known are: {', '.join(known)}{did_you_mean(name, known)}")


def shown_value(field: Field, value: Any) -> Value:
    """Return a value as it stands in the table: a plain number in the field's unit, or a text."""
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    if isinstance(value, tuple):
        separator = ":" if field.name == "bandwidth_split" else "+"
        return separator.join(str(part) for part in value)
    return value.name if isinstance(value, Network) else str(value)


def exact_value_text(field: Field, value: Any) -> str:
    """Return a value as people write it, exactly: what messages and titles show."""
    if isinstance(value, Fraction | int) and field.unit:
        scales = _SCALES[field.unit]
        scale, unit = next(((scale, unit) for scale, unit in scales if value >= scale), scales[-1])
        return exact_text(Fraction(value) / scale, unit)
    return str(shown_value(field, value))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"{show(value)} is not allowed; expected a text")
    return value


def _quantity(parse: Callable[[str], Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not isinstance(value, str):
            raise InputError(f"{show(value)} is not allowed; a quantity needs its unit (100 MB, 700 ns, 2 GB/s)")
        return parse(value)

    return read


def _positive(parse: Callable[[str], Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        found = _quantity(parse)(value)
        if found <= 0:
            raise InputError(f"{show(value)} is not allowed; it must be above zero")
        return found

    return read


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is not int or not least <= value <= most:
            raise InputError(f"{show(value)} is not allowed; expected a whole number from {least} to {most}")
        return value

    return read


def _number(value: Any) -> Fraction:
    """Return a number such as ``4``, ``2.5`` or ``1/3``."""
    if type(value) is int:
        number = Fraction(value)
    else:
        try:
            number = Fraction(value if isinstance(value, str) and len(value) <= _MAX_DIGITS else "")
        except (ValueError, ZeroDivisionError):
            raise InputError(f"{show(value)} is not a number; write it as 4, 2.5 or 1/3") from None
    if not Fraction(1, 10**9) <= number <= 10**9:
        raise InputError(f"{show(value)} is not allowed; it must lie between 10^-9 and 10^9")
    return number


def read_gap(value: Any) -> float:
    """Return a gap given as ``0.1%`` or ``0.001``."""
    text = str(value) if type(value) is int else _text(value)
    number = text.strip().removesuffix("%")
    try:
        gap = float(Fraction(number if len(number) <= _MAX_DIGITS else "")) / (100 if text.strip().endswith("%") else 1)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{show(value)} is not a gap; write it as 0.1% or 0.001") from None
    if not 0 <= gap < 100:
        raise InputError(f"{show(value)} is not allowed; a gap must not be negative, and below 10000%")
    return gap


def _split(value: Any) -> tuple[Fraction, ...]:
    """Return the parts of a split such as ``2:1:1``."""
    parts = _text(value).split(":")
    try:
        return tuple(_number(part.strip()) for part in parts)
    except InputError as error:
        raise InputError(f"{show(value)} is not a split such as 2:1:1: {error}") from None


def _subset(value: Any) -> tuple[int, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not value or not all(type(entry) is int for entry in value):
        raise InputError(f"{show(value)} is not a list of dimension indices such as [0, 2]")
    return tuple(value)


def _overhead(value: Any) -> int:
    time_ps = _quantity(parse_time)(value)
    if time_ps.denominator != 1:
        raise InputError(f"{show(value)} is not a whole number of picoseconds")
    return int(time_ps)


def _or_null(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def _word(kind: Any, name: str) -> Callable[[Any], Any]:
    return lambda value: choose(kind, _text(value), name)


def _time_limit(value: Any) -> Fraction:
    time_ps: Fraction = _positive(parse_time)(value)
    if time_ps >= 10**19:
        raise InputError(f"{show(value)} is not allowed; a time limit is below 10^7 s")
    return time_ps


_SEEDS = 2**31 - 1
_FIELDS = {
    field.name: field
    for field in (
        Field("network", "", False, False, lambda value: value),
        Field("collective", "", False, False, _word(Collective, "collective")),
        Field("size", "B", True, True, _positive(parse_size)),
        Field("chunks", "", True, True, _whole(1, 65_536)),
        Field("occupancy", "", False, False, _word(Occupancy, "occupancy")),
        Field("chunk_overhead", "ps", True, True, _overhead),
        Field("dimensions", "", False, False, _subset),
        Field("latency", "ps", True, False, _quantity(parse_time)),
        Field("total_bandwidth", "B/s", True, False, _positive(parse_bandwidth)),
        Field("bandwidth_split", "", False, False, _split),
        Field("bandwidth_taper", "", True, False, _number),
        Field("scheduler", "", False, False, lambda value: value),
        Field("seed", "", True, True, _whole(0, _SEEDS)),
        Field("solver.sizes", "", False, False, _word(Sizing, "solver.sizes")),
        Field("solver.max_chunks", "", True, True, _or_null(_whole(1, 65_536))),
        Field("solver.granularity", "B", True, True, _or_null(_positive(parse_size))),
        Field("solver.min_chunk", "B", True, True, _or_null(_positive(parse_size))),
        Field("solver.gap", "", False, False, read_gap),
        Field("solver.time_limit", "ps", True, True, _time_limit),
        Field("solver.evaluations", "", True, True, _or_null(_whole(1, 10**12))),
    )
}
_DIMENSION_FIELDS = {
    field.name: field
    for field in (
        Field("bandwidth", "B/s", True, False, _positive(parse_bandwidth)),
        Field("latency", "ps", True, False, _quantity(parse_time)),
        Field("size", "", True, True, _whole(1, 10**9)),
        Field("topology", "", False, False, _word(Topology, "topology")),
        Field("algorithm", "", False, False, _or_null(_word(Algorithm, "algorithm"))),
        Field("reduction_bandwidth", "B/s", True, False, _or_null(_positive(parse_bandwidth))),
    )
}
SOLVER_FIELDS = tuple(name.removeprefix("solver.") for name in _FIELDS if name.startswith("solver."))
"""What may stand below ``solver`` and in the entry of a solver."""
