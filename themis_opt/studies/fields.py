"""The quantities a study can set: each with its unit, how it is read from a file, and how it stands in the table."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from themis_opt.files.strict import show
from themis_opt.problem import parameters
from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.errors import InputError
from themis_opt.problem.network import Algorithm, Network, Topology
from themis_opt.problem.parameters import Parameter, Quantity, WholeNumber, Word
from themis_opt.problem.units import exact_text, parse_bandwidth, parse_time
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
    parameter
        What it is, with unit, range and parser.
    takes_null
        Whether it may be left open.
    dimension
        The index of the dimension it belongs to, or ``None``.
    """

    name: str
    parameter: Parameter[Any]
    takes_null: bool = False
    dimension: int | None = None

    def read(self, data: object) -> Any:
        """Return the value that a file holds.

        Raises
        ------
        InputError
            When it is none.
        """
        return None if data is None and self.takes_null else self.parameter.read(data)

    @property
    def unit(self) -> str:
        """Of its values in the table: ``B``, ``B/s``, ``ps`` or nothing."""
        return self.parameter.unit

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
        return replace(template, name=name, dimension=int(match[1]))
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


@dataclass(frozen=True, slots=True)
class _Ratio(Parameter[Fraction]):
    """How many times one thing is another."""

    is_number = True

    def parse(self, text: str) -> Fraction:
        """Return a number such as ``4``, ``2.5`` or ``1/3``."""
        try:
            number = Fraction(text if len(text) <= _MAX_DIGITS else "")
        except (ValueError, ZeroDivisionError):
            raise InputError(f"{show(text)} is not a number; write it as 4, 2.5 or 1/3") from None
        if not Fraction(1, 10**9) <= number <= 10**9:
            raise InputError(f"{show(text)} is not allowed; it must lie between 10^-9 and 10^9")
        return number

    def read(self, data: object) -> Fraction:
        """Return a number as `parse` does, or a whole one."""
        if type(data) is not int and not isinstance(data, str):
            raise InputError(f"{show(data)} is not a number; write it as 4, 2.5 or 1/3")
        return self.parse(str(data))


@dataclass(frozen=True, slots=True)
class _Split(Parameter[tuple[Fraction, ...]]):
    """How a sum is shared out."""

    def parse(self, text: str) -> tuple[Fraction, ...]:
        """Return the parts of a split such as ``2:1:1``."""
        try:
            return tuple(_TAPER.parse(part.strip()) for part in text.split(":"))
        except InputError as error:
            raise InputError(f"{show(text)} is not a split such as 2:1:1: {error}") from None


@dataclass(frozen=True, slots=True)
class Loaded(Parameter[Any]):
    """What only the study's reader can make something of, because files belong to it.

    Attributes
    ----------
    load
        Makes a value of what the file holds.
    """

    load: Callable[[Any], Any]

    def parse(self, text: str) -> Any:
        """Return what a text names."""
        return self.load(text)

    def read(self, data: object) -> Any:
        """Return what the file names or holds."""
        return self.load(data)


def _unread(name: str) -> Loaded:
    return Loaded(name, "A name, or a mapping.", lambda data: data)


_TAPER = _Ratio("bandwidth_taper", "Each dimension has so many times the bandwidth of the next.")
_BANDWIDTH = Quantity("bandwidth", "Of one NPU, one way.", parse_bandwidth, unit="B/s")
_LATENCY = Quantity("latency", "Of a step.", parse_time, above=None, unit="ps")
_FIELDS = {
    field.name: field
    for field in (
        Field("network", _unread("network")),
        Field("collective", parameters.COLLECTIVE),
        Field("size", parameters.SIZE),
        Field("chunks", parameters.CHUNKS),
        Field("occupancy", parameters.OCCUPANCY),
        Field("chunk_overhead", parameters.CHUNK_OVERHEAD),
        Field("dimensions", parameters.DIMENSIONS, takes_null=True),
        Field("latency", _LATENCY),
        Field("total_bandwidth", _BANDWIDTH),
        Field("bandwidth_split", _Split("bandwidth_split", "The dimensions' parts of all bandwidth.")),
        Field("bandwidth_taper", _TAPER),
        Field("scheduler", _unread("scheduler")),
        Field("seed", parameters.SEED),
        Field("solver.sizes", parameters.SIZING),
        Field("solver.max_chunks", parameters.CHUNKS, takes_null=True),
        Field("solver.granularity", parameters.GRANULARITY, takes_null=True),
        Field("solver.min_chunk", parameters.MIN_CHUNK, takes_null=True),
        Field("solver.gap", parameters.GAP),
        Field("solver.time_limit", parameters.TIME_LIMIT),
        Field("solver.evaluations", parameters.EVALUATIONS, takes_null=True),
    )
}
_DIMENSION_FIELDS = {
    field.name: field
    for field in (
        Field("bandwidth", _BANDWIDTH),
        Field("latency", _LATENCY),
        Field("size", WholeNumber("size", "NPUs of a group.", 1, 10**9, "number of NPUs", 8)),
        Field("topology", Word("topology", "How a group is joined.", Topology)),
        Field("algorithm", Word("algorithm", "How a group communicates.", Algorithm), takes_null=True),
        Field("reduction_bandwidth", _BANDWIDTH, takes_null=True),
    )
}
SOLVER_FIELDS = tuple(name.removeprefix("solver.") for name in _FIELDS if name.startswith("solver."))
"""What may stand below ``solver`` and in the entry of a solver."""
