"""The quantities that options, studies and calls of the library share: each has one name, unit, range and parser.

A parameter reads what a person types (`Parameter.parse`) and what a file holds (`Parameter.read`). What it raises says
what is wrong with the value; whoever asked puts the option's or the key's name in front (`InputError.at`).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, Generic, TypeVar

from themis_opt.problem.bound import Sizing
from themis_opt.problem.checks import choose, real, shown, whole
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import MAX_CHUNKS, Occupancy
from themis_opt.problem.units import PS_PER_S, parse_size, parse_time

DEFAULT_TIME_LIMIT_S = 10.0
DEFAULT_GAP = 1e-4
"""The gap at which solving stops unless told otherwise."""
DEFAULT_MAX_CHUNKS = 16
"""How many chunks a solver may choose at most where only ``auto`` is said."""
MAX_TIME_LIMIT_S = 10**7
MAX_GAP = 100

Value = TypeVar("Value")
Amount = TypeVar("Amount", int, Fraction, int | Fraction)
Member = TypeVar("Member", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Parameter(ABC, Generic[Value]):
    """One quantity.

    Attributes
    ----------
    name
        What messages of the library call it.
    help
        A line for whoever has to choose a value.
    unit
        Of its values: ``B``, ``B/s``, ``ps`` or nothing.
    is_number, is_whole
        Whether its values are (whole) numbers, so that a range of them makes sense.
    """

    name: str
    help: str
    unit: str = field(default="", kw_only=True)
    is_whole: bool = field(default=False, kw_only=True)
    is_number: ClassVar[bool] = False

    @abstractmethod
    def parse(self, text: str) -> Value:
        """Return the value in a text.

        Raises
        ------
        InputError
            When there is none, or it is out of range; the message does not name the parameter.
        """

    def read(self, data: object) -> Value:
        """Return the value in what a file holds: a text, or a number where it has no unit.

        Raises
        ------
        InputError
            As `parse` does.
        """
        if not isinstance(data, str):
            raise InputError(f"{as_written(data)} is not allowed; expected a text")
        return self.parse(data)


@dataclass(frozen=True, slots=True)
class WholeNumber(Parameter[int]):
    """A count, or a number that only names something, such as a seed.

    Attributes
    ----------
    least, most
        Its range, both included.
    what
        What it counts, for messages: ``number of chunks``.
    example
        One that makes sense.
    """

    least: int
    most: int
    what: str
    example: int
    is_whole: bool = field(default=True, init=False)
    is_number = True

    def parse(self, text: str) -> int:
        """Return the whole number in a text of digits."""
        digits = text.strip()
        if not digits.isascii() or not digits.isdigit() or len(digits) > _MAX_DIGITS:
            raise InputError(f"{shown(text)} is not a {self.what}; write a whole number such as {self.example}")
        return self._in_range(int(digits))

    def read(self, data: object) -> int:
        """Return a whole number that stands in a file as one."""
        # `type`, since YAML's true is an int to isinstance.
        if type(data) is not int:
            raise InputError(
                f"{as_written(data)} is not allowed; expected a whole number from {self.least} to {self.most}"
            )
        return self._in_range(data)

    def check(self, value: object) -> int:
        """Return what a caller of the library gave as a plain integer.

        Raises
        ------
        InputError
            When it is no whole number, or out of range; the message names the parameter.
        """
        number = whole(self.name, value)
        if not self.least <= number <= self.most:
            raise InputError(f"{self.name} is {shown(number)}; allowed are {self.least} to {self.most}")
        return number

    def _in_range(self, number: int) -> int:
        if not self.least <= number <= self.most:
            raise InputError(f"{shown(number)} is not allowed; allowed are {self.least} to {self.most}")
        return number


@dataclass(frozen=True, slots=True)
class Quantity(Parameter[Amount]):
    """Something with a unit.

    Attributes
    ----------
    parser
        Makes such a value of a text.
    above, below
        Its range, both excluded; ``None`` for no limit but the parser's.
    range_words
        What the message on a value out of range says.
    """

    parser: Callable[[str], Amount]
    above: int | None = 0
    below: int | None = None
    range_words: str = "it must be above zero"
    is_number = True

    def parse(self, text: str) -> Amount:
        """Return the quantity in a text such as ``100 MB``."""
        amount = self.parser(text)
        if (self.above is not None and amount <= self.above) or (self.below is not None and amount >= self.below):
            raise InputError(f"{shown(text)} is not allowed; {self.range_words}")
        return amount

    def read(self, data: object) -> Amount:
        """Return the quantity in a text; a bare number is refused, because it has meant too many things."""
        if not isinstance(data, str):
            raise InputError(f"{as_written(data)} is not allowed; a quantity needs its unit (100 MB, 700 ns, 2 GB/s)")
        return self.parse(data)


@dataclass(frozen=True, slots=True)
class Word(Parameter[Member]):
    """One of a closed set of words.

    Attributes
    ----------
    kind
        The set.
    """

    kind: type[Member]

    def parse(self, text: str) -> Member:
        """Return the member of the set that is written so."""
        return choose(self.kind, text, self.name)


@dataclass(frozen=True, slots=True)
class Gap(Parameter[float]):
    """How far a makespan may lie above its bound."""

    def parse(self, text: str) -> float:
        """Return a gap given as ``0.1%``, ``0.001`` or ``1/1000``."""
        # A ratio such as 1/1000 is exact; float() takes the rest, and also the nan that the range refuses.
        number = text.strip().removesuffix("%")
        try:
            gap = float(Fraction(number)) if _RATIO.fullmatch(number) else float(number)
        except (ValueError, ZeroDivisionError):
            raise InputError(f"{shown(text)} is not a gap; write it as 0.1% or 0.001") from None
        if text.strip().endswith("%"):
            gap /= 100
        if not 0 <= gap < MAX_GAP:
            raise InputError(f"{shown(text)} is not allowed; a gap must not be negative, and below {MAX_GAP}00%")
        return gap

    def read(self, data: object) -> float:
        """Return a gap as `parse` does, or a whole number."""
        return self.parse(str(data)) if type(data) is int else Parameter.read(self, data)

    def check(self, value: object) -> float:
        """Return what a caller of the library gave as a plain float.

        Raises
        ------
        InputError
            When it is no number, or out of range.
        """
        gap = real(self.name, value)
        if not 0 <= gap < MAX_GAP:
            raise InputError(f"{self.name} is {gap:g}; it must not be negative, and below {MAX_GAP}")
        return gap


@dataclass(frozen=True, slots=True)
class Indices(Parameter[tuple[int, ...]]):
    """A set of dimensions."""

    def parse(self, text: str) -> tuple[int, ...]:
        """Return the indices in a text such as ``0,2``."""
        parts = [part.strip() for part in text.split(",")]
        if not all(part.isascii() and part.isdigit() and len(part) <= _MAX_INDEX_DIGITS for part in parts):
            raise InputError(f"{shown(text)} is not a list of indices; write it as 0,2")
        return self._distinct(text, [int(part) for part in parts])

    def read(self, data: object) -> tuple[int, ...]:
        """Return the indices in a list such as ``[0, 2]``."""
        if not isinstance(data, list) or not data or not all(type(entry) is int for entry in data):
            raise InputError(f"{as_written(data)} is not a list of dimension indices such as [0, 2]")
        return self._distinct(data, data)

    def _distinct(self, given: object, indices: list[int]) -> tuple[int, ...]:
        if len(set(indices)) != len(indices):
            raise InputError(f"{shown(given)} names an index twice; each may stand in it once")
        return tuple(indices)


def as_written(data: object) -> str:
    """Return what data of a file looks like there, shortened."""
    text = shown(data)
    return {"True": "true", "False": "false", "None": "null"}.get(text, text)


def parse_chunk_counts(text: str) -> tuple[tuple[int, ...], int | None]:
    """Return numbers of chunks (``16,64``), or none and the largest one that may be chosen (``auto``, ``auto:32``).

    Raises
    ------
    InputError
        When the text is neither, or a number is out of range.
    """
    # `auto` leaves the number free; a list of numbers is a list of problems.
    word, colon, limit = text.partition(":")
    if word != "auto":
        return tuple(CHUNKS.parse(part.strip()) for part in text.split(",")), None
    return (), CHUNKS.parse(limit) if colon else DEFAULT_MAX_CHUNKS


def parse_whole_time(text: str) -> int:
    """Return the picoseconds in a text such as ``5 us``.

    Raises
    ------
    InputError
        When it is no time, or no whole number of picoseconds.
    """
    time_ps = parse_time(text)
    if time_ps.denominator != 1:
        raise InputError(f"{shown(text)} is not a whole number of picoseconds")
    return int(time_ps)


_RATIO = re.compile(r"[0-9]{1,18}/[0-9]{1,18}")
_MAX_INDEX_DIGITS = 3
_MAX_DIGITS = 40
_ONE_BYTE = "at least one byte is needed"

COLLECTIVE = Word("collective", "all-reduce, reduce-scatter, ...", Collective)
SIZE = Quantity("size", "Bytes per NPU, such as 100MB.", parse_size, range_words=_ONE_BYTE, unit="B", is_whole=True)
CHUNKS = WholeNumber("chunks", "Number of chunks.", 1, MAX_CHUNKS, "number of chunks", 64)
OCCUPANCY = Word("occupancy", "exclusive or pipelined.", Occupancy)
CHUNK_OVERHEAD = Quantity(
    "chunk overhead", "What launching a chunk costs, such as 5us.", parse_whole_time, None, unit="ps", is_whole=True
)
DIMENSIONS = Indices("dimensions", "Indices of the dimensions that take part, such as 0,2 (dim1 is 0).")
SEED = WholeNumber("seed", "Source of randomness.", 0, 2**31 - 1, "seed", 1)
WORKERS = WholeNumber("workers", "Solver threads.", 1, 1024, "number of workers", 4)
EVALUATIONS = WholeNumber(
    "evaluations",
    "Schedules the solver may time, per call: repeatable runs, unless the time limit is met first.",
    1,
    10**15,  # years of work
    "number of evaluations",
    1_000_000,
)
TIME_LIMIT = Quantity(
    "time limit",
    "Per solver call, such as 10s.",
    parse_time,
    below=MAX_TIME_LIMIT_S * PS_PER_S,
    range_words="it must be above zero and below 10^7 s",
    unit="ps",
    is_whole=True,
)
GAP = Gap("gap", "Stop so near the bound.")
SIZING = Word("sizes", "equal or free chunk sizes.", Sizing)
GRANULARITY = Quantity(
    "granularity", "Free sizes are multiples.", parse_size, range_words=_ONE_BYTE, unit="B", is_whole=True
)
MIN_CHUNK = Quantity("least chunk", "Least free size.", parse_size, range_words=_ONE_BYTE, unit="B", is_whole=True)
