"""The values of an axis: a list, or a range whose steps are equal or grow by a factor."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, groupby, repeat, takewhile
from math import ceil, log10
from typing import Any

from themis_opt.files.strict import show
from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.errors import InputError, located
from themis_opt.studies.fields import Field, exact_value_text

MAX_VALUES = 100_000
"""On one axis; a limit that turns a slip of the keyboard into a message."""

_KEYS = ("from", "to", "points", "scale", "step", "factor")
_MAX_BITS = 200
_DIGITS = 4
"""Significant digits of the values between the ends of a range with `points`."""


def axis_values(field: Field, data: Any) -> tuple[Any, ...]:
    """Return the values of an axis, in order.

    Parameters
    ----------
    field
        What varies.
    data
        A list of values, or a mapping: ``{from, to, points}`` (evenly, or with ``scale: log`` by equal factors),
        ``{from, to, step}`` or ``{from, to, factor}``. What lies between the ends of ``points`` is rounded to four
        significant digits, and to whole numbers where only those make sense.

    Raises
    ------
    InputError
        When it is neither, it is empty, or a value is wrong or stands there twice.
    """
    values: list[Any] = []
    if isinstance(data, dict):
        values = list(_range(field, data))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            with located(f"[{index}]"):
                values.append(field.read(value))
    else:
        raise InputError(f"{show(data)} is not allowed; expected a list of values or a range such as {_example(field)}")
    if not values:
        raise InputError(f"is empty; name at least one value, such as {_example(field)}")
    seen: set[str] = set()
    for value in values:
        text = repr(value)
        if text in seen:
            raise InputError(f": {exact_value_text(field, value)} stands there twice; name every value once")
        seen.add(text)
    return tuple(values)


def _range(field: Field, data: dict[str, Any]) -> Iterator[Any]:
    """Return the values of a range, which may be lazy: some have more than anybody wants."""
    for key in data:
        if key not in _KEYS:
            raise InputError(f".{show(key)}: unknown key; a range has {', '.join(_KEYS)}{did_you_mean(key, _KEYS)}")
    if not field.parameter.is_number:
        raise InputError(f"{show(data)} is not allowed; a range is of numbers, so write a list of values here")
    first, last = (_end(field, data, key) for key in ("from", "to"))
    if first > last:
        raise InputError(f": from {show(data['from'])} is above to {show(data['to'])}; swap them")
    ways = [key for key in ("points", "step", "factor") if key in data]
    if len(ways) != 1:
        raise InputError(f": has {' and '.join(ways) or 'no step'}; a range has one of points, step or factor")
    if "scale" in data and (ways != ["points"] or data["scale"] not in ("linear", "log")):
        raise InputError(f".scale: {show(data['scale'])} is not allowed; it is linear or log, and stands beside points")
    (way,) = ways
    if first <= 0 and (way == "factor" or data.get("scale") == "log"):
        raise InputError(f".from: must be above zero {'where a factor is' if way == 'factor' else 'on a log scale'}")
    with located(f".{way}"):
        if way == "points":
            values = _points(first, last, data["points"], data.get("scale") == "log")
        else:
            values = _steps(field, first, last, way, data[way])
    kept = (round(value) if field.parameter.is_whole else value for value in values)
    return (value for value, _ in groupby(kept))


def _end(field: Field, data: dict[str, Any], key: str) -> Fraction:
    with located(f".{key}"):
        if key not in data:
            raise InputError("is missing; a range has from and to")
        value = field.read(data[key])
        if value is None:
            raise InputError("null is not the end of a range")
    return Fraction(value)


def _points(first: Fraction, last: Fraction, points: Any, is_log: bool) -> Iterator[Fraction]:
    if type(points) is not int or not 1 <= points <= MAX_VALUES:
        raise InputError(f"{show(points)} is not allowed; expected a whole number from 1 to {MAX_VALUES}")
    if points == 1 and first != last:
        raise InputError("1 is not allowed where from and to differ; ask for two or more")

    def value(place: int) -> Fraction:
        if place in (0, points - 1):
            return first if place == 0 else last
        share = Fraction(place, points - 1)
        if is_log:
            between = Fraction(float(first) * float(last / first) ** float(share))
        else:
            between = first + (last - first) * share
        return min(max(_rounded(between), first), last)

    return map(value, range(points))


def _steps(field: Field, first: Fraction, last: Fraction, way: str, data: Any) -> Iterator[Fraction]:
    step = Fraction(field.read(data)) if way == "step" else _factor(data)
    if step <= 0:
        raise InputError(f"{show(data)} is not allowed; it must be above zero")
    count = (last - first) / step if way == "step" else log10(last / first) / log10(step)
    if count >= MAX_VALUES:
        raise InputError(f"makes more than {MAX_VALUES} values; take a larger {way}")
    further = accumulate(
        repeat(step), lambda value, step: value + step if way == "step" else _shortened(value * step), initial=first
    )
    return takewhile(lambda value: value <= last, further)


def _shortened(value: Fraction) -> Fraction:
    """Return a number that does not grow longer and longer with every factor."""
    long = max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_BITS
    return Fraction(f"{float(value):.15g}") if long else value


def _factor(data: Any) -> Fraction:
    try:
        factor = Fraction(data if type(data) is int or (isinstance(data, str) and len(data) < 20) else "")
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{show(data)} is not a number such as 2 or 1.5") from None
    if not Fraction(1001, 1000) <= factor <= 10**9:
        raise InputError(f"{show(data)} is not allowed; a factor is at least 1.001")
    return factor


def _rounded(value: Fraction) -> Fraction:
    """Return the nearest number with four significant digits."""
    exponent = ceil(log10(value)) if value > 0 else 0
    scale = Fraction(10) ** (exponent - _DIGITS)
    return round(value / scale) * scale


def _example(field: Field) -> str:
    if not field.parameter.is_number:
        return "[a, b]"
    values = {"B": ("1 MB", "1 GB"), "B/s": ("50 GB/s", "400 GB/s"), "ps": ("100 ns", "10 us")}
    low, high = values.get(field.unit, ("1", "64"))
    return f"{{from: {low}, to: {high}, points: 4, scale: log}}"
