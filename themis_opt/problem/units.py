"""Quantities with units, as people write them, to exact numbers and back.

Decimal prefixes are powers of 1000 and binary ones (``KiB``) powers of 1024; a capital ``B`` is a byte, a
small ``b`` a bit. Nothing is rounded: a quantity is a `fractions.Fraction` of bytes, bytes per second or
picoseconds. A number without a unit is refused, because "1600" has meant three different things in this
field (Gb/s, GB/s and GiB/s).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches
from fractions import Fraction
from math import floor, log10

from themis_opt.problem.checks import MAX_MAGNITUDE
from themis_opt.problem.errors import InputError

PS_PER_S = 10**12

TIME_UNITS: Mapping[str, Fraction] = {
    "ps": Fraction(1),
    "ns": Fraction(10**3),
    "us": Fraction(10**6),
    "µs": Fraction(10**6),
    "ms": Fraction(10**9),
    "s": Fraction(10**12),
}
SIZE_UNITS: Mapping[str, Fraction] = {
    "B": Fraction(1),
    **{f"{prefix}B": Fraction(1000**power) for power, prefix in enumerate("KMGT", start=1)},
    **{f"{prefix}iB": Fraction(1024**power) for power, prefix in enumerate("KMGT", start=1)},
}
BANDWIDTH_UNITS: Mapping[str, Fraction] = {
    **{f"{unit}/s": factor for unit, factor in SIZE_UNITS.items()},
    **{f"{prefix}b/s": Fraction(1000**power, 8) for power, prefix in enumerate("KMGT", start=1)},
}

_QUANTITY = re.compile(r"\s*(?P<number>\d+/\d+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)\s*(?P<unit>[^\s\d.][^\s]*)?\s*")
MAX_LENGTH = 4000
"""Of the text of a quantity; what `exact_text` makes of a quantity that `quantities.exact` takes is shorter."""
_SHOWN = 80
_MAX_EXPONENT = 30
_MAX_PLACES = 6
"""Of a value beside much larger ones in a column."""


def parse_time(text: str) -> Fraction:
    """Return the picoseconds in a text such as ``700 ns``.

    Raises
    ------
    InputError
        When the text is no number with a unit of time.
    """
    return _parse(text, "a time", TIME_UNITS, "700 ns")


def parse_bandwidth(text: str) -> Fraction:
    """Return the bytes per second in a text such as ``1600 Gb/s`` or ``150 GiB/s``.

    Raises
    ------
    InputError
        When the text is no number with a unit of bandwidth.
    """
    return _parse(text, "a bandwidth", BANDWIDTH_UNITS, "1600 Gb/s")


def parse_size(text: str) -> int:
    """Return the bytes in a text such as ``100 MB`` or ``64KiB``.

    Raises
    ------
    InputError
        When the text is no number with a unit of size, or is not a whole number of bytes.
    """
    size = _parse(text, "a size", SIZE_UNITS, "100 MB")
    if size.denominator != 1:
        raise InputError(f"{text!r} is {float(size):g} bytes; a size must be a whole number of bytes")
    return int(size)


def _parse(text: str, what: str, units: Mapping[str, Fraction], example: str) -> Fraction:
    shown = repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
    match = _QUANTITY.fullmatch(text) if len(text) <= MAX_LENGTH else None
    allowed = " ".join(units)
    if match is None:
        raise InputError(f"{shown} is not {what}; write a number and a unit, such as {example!r} ({allowed})")
    if match["unit"] is None:
        raise InputError(f"{shown} has no unit; write {what} with one of: {allowed} (such as {example!r})")
    factor = units.get(match["unit"])
    if factor is None:
        hint = _nearest_unit(match["unit"], units)
        unknown = repr(match["unit"][:_SHOWN])
        raise InputError(f"{shown}: unknown unit {unknown} for {what}; use one of: {allowed}{hint}")
    quantity = _number(match["number"], shown) * factor
    if quantity >= MAX_MAGNITUDE:
        raise InputError(f"{shown} is beyond every quantity of this field; did a digit or a unit slip in?")
    return quantity


def _nearest_unit(unit: str, units: Mapping[str, Fraction]) -> str:
    """Return a hint on the unit meant, or nothing; of units that differ in case the likest, since ``B`` is 8 ``b``."""
    near = get_close_matches(unit.lower(), {known.lower() for known in units}, n=1, cutoff=0.5)
    alike = [known for known in units if known.lower() in near]
    if not alike:
        return ""
    return f" (did you mean {max(alike, key=lambda known: SequenceMatcher(None, unit, known).ratio())!r}?)"


def _number(digits: str, shown: str) -> Fraction:
    # 1e999999999 is a short text and a number of a billion digits.
    exponent = re.search(r"[eE]([+-]?\d+)$", digits)
    if exponent is not None and abs(int(exponent[1])) > _MAX_EXPONENT:
        raise InputError(f"{shown}: the exponent is beyond {_MAX_EXPONENT}; write the number with another unit")
    try:
        return Fraction(digits)
    except ZeroDivisionError:
        raise InputError(f"{shown} divides by zero") from None


def exact_text(value: Fraction, unit: str) -> str:
    """Return a text in this unit that reads back as exactly `value` (in that unit).

    It is a decimal where there is one with fewer decimals than the fraction has characters, else a fraction.

    >>> exact_text(Fraction(3, 2), "ns"), exact_text(Fraction(1, 3), "B/s")
    ('1.5 ns', '1/3 B/s')
    """
    # A fraction is a finite decimal exactly when its denominator has no prime factors but 2 and 5.
    denominator = value.denominator
    twos = fives = 0
    while denominator % 2 == 0:
        denominator //= 2
        twos += 1
    while denominator % 5 == 0:
        denominator //= 5
        fives += 1
    ratio = f"{value.numerator}/{value.denominator} {unit}"
    places = max(twos, fives)
    if denominator != 1 or places > len(ratio):
        return ratio
    scaled = str(value.numerator * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{scaled[:-places]}.{scaled[-places:]} {unit}" if places else f"{scaled} {unit}"


def format_time(time_ps: float | Fraction) -> str:
    """Return a time for people, four to six significant digits: ``816.50 us``."""
    for unit, scale in (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3)):
        if time_ps >= scale:
            return f"{_digits(float(time_ps / scale))} {unit}"
    return f"{float(time_ps):g} ps"


def format_size(size_bytes: float | Fraction) -> str:
    """Return a size for people, in decimal units unless a binary one is exact and the decimal is not."""
    if size_bytes == int(size_bytes):
        for power, prefix in ((4, "T"), (3, "G"), (2, "M"), (1, "K")):
            if size_bytes >= 1024**power and int(size_bytes) % 1024**power == 0 and int(size_bytes) % 10**3:
                return f"{int(size_bytes) // 1024**power} {prefix}iB"
    for unit, scale in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size_bytes >= scale:
            return f"{float(size_bytes / scale):.6g} {unit}"
    return f"{float(size_bytes):g} B"


def format_bandwidth(bandwidth_Bps: float | Fraction) -> str:
    """Return a bandwidth for people, in decimal bytes per second: ``200 GB/s``."""
    for unit, scale in (("TB/s", 10**12), ("GB/s", 10**9), ("MB/s", 10**6), ("KB/s", 10**3)):
        if bandwidth_Bps >= scale:
            return f"{float(bandwidth_Bps / scale):.5g} {unit}"
    return f"{float(bandwidth_Bps):.5g} B/s"


def time_column(times_ps: Sequence[float | Fraction], *, trim: bool = False) -> list[str]:
    """Return times for people in one unit, the largest one's, so that a column can be read downwards.

    With `trim` they have no more decimals than the longest one needs: for figures that were given, not measured.

    >>> time_column([1_086_700_000, 816_500_000, 0])
    ['1.0867 ms', '0.8165 ms', '0 ms']
    """
    units = (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3), ("ps", 1))
    return _column(times_ps, units, format_time, trim)


def size_column(sizes_bytes: Sequence[float | Fraction]) -> list[str]:
    """Return sizes for people in one decimal unit, the largest one's."""
    return _column(sizes_bytes, _decimal_units("B"), format_size, True)


def bandwidth_column(bandwidths_Bps: Sequence[float | Fraction]) -> list[str]:
    """Return bandwidths for people in one decimal unit of bytes per second, the largest one's."""
    return _column(bandwidths_Bps, _decimal_units("B/s"), format_bandwidth, True)


def _decimal_units(base: str) -> list[tuple[str, int]]:
    return [(f"{prefix}{base}", 1000**power) for power, prefix in ((4, "T"), (3, "G"), (2, "M"), (1, "K"), (0, ""))]


def _column(
    values: Sequence[float | Fraction],
    units: Sequence[tuple[str, int]],
    alone: Callable[[float | Fraction], str],
    trim: bool,
) -> list[str]:
    """Return all values in the largest one's unit, with the decimals that the smallest one needs.

    Next to something a million times larger a value would have no digits left: it keeps a unit of its own.
    """
    # Everything in one unit makes a column that is compared by its digits' places, without reading the units.
    largest = max(values, default=0)
    unit, scale = next(((unit, scale) for unit, scale in units if largest >= scale), units[-1])
    numbers = [float(Fraction(value) / scale) for value in values]
    whole = all(number == int(number) for number in numbers)
    needed = [3 - floor(log10(number)) for number in numbers if number]
    places = 0 if whole else min(max([*needed, 0]), _MAX_PLACES)
    lost = {number for number in numbers if 0 < number < 10.0 ** (1 - _MAX_PLACES)}
    shown = [number for number in numbers if number not in lost]
    while trim and places and all(f"{number:.{places}f}".endswith("0") for number in shown):
        places -= 1
    return [
        alone(value) if number in lost else f"{number:.{places}f} {unit}" if number else f"0 {unit}"
        for value, number in zip(values, numbers, strict=True)
    ]


def _digits(value: float) -> str:
    return f"{value:.2f}" if value >= 100 else f"{value:.3f}" if value >= 10 else f"{value:.4f}"
