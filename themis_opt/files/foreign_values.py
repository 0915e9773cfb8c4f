"""Values in the files of others: lists of exact numbers, whole numbers and words, or a message that says what is wrong.

Every function takes the path of a key and raises an `InputError` that begins with it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

from themis_opt.files.strict import show
from themis_opt.problem.choices import did_you_mean
from themis_opt.problem.errors import InputError
from themis_opt.problem.network import MAX_DIMENSIONS, MAX_SIZE

_MAX_SHOWN_DIGITS = 12


def shown(value: object) -> str:
    """Return a value as it may stand in a message; an exact fraction looks like the decimal it was."""
    return number_text(value) if isinstance(value, Fraction) else show(value)


def number_text(value: Fraction | int) -> str:
    """Return a number for people: all its digits where they are few, else ten.

    >>> number_text(Fraction(375, 2)), number_text(Fraction(1, 3))
    ('187.5', '0.3333333333')
    """
    value = Fraction(value)
    if value.denominator == 1:
        text = str(value.numerator)
        return text if len(text) <= _MAX_SHOWN_DIGITS else f"{float(value):.10g}"
    short = f"{float(value):.{_MAX_SHOWN_DIGITS}g}"
    return short if Fraction(short) == value else f"{float(value):.10g}"


def check_keys(data: Mapping[str, Any], known: Collection[str], required: Collection[str], what: str) -> None:
    """Raise unless all keys are known and none that is required is missing.

    Parameters
    ----------
    data
        The mapping.
    known, required
        The keys that may and that must stand in it.
    what
        Whose keys they are: ``an ASTRA-sim 2 network``.

    Raises
    ------
    InputError
        Naming the first key that is wrong, and the nearest known one.
    """
    missing = [key for key in required if key not in data]
    for key in data:
        if key not in known:
            name = key if len(key) <= 60 else key[:57] + "..."
            hint = did_you_mean(key, [*missing, *(k for k in known if k not in missing)])
            raise InputError(f"{name}: unknown key; {what} has: {', '.join(known)}{hint}")
    if missing:
        raise InputError(f"{missing[0]}: is missing; {what} needs: {', '.join(required)}")


def entries(data: Mapping[str, Any], key: str, what: str) -> list[Any]:
    """Return the list at a key, one entry per dimension; `what` says of what, for the message.

    Raises
    ------
    InputError
        When it is no list, empty or longer than a network can be.
    """
    value = data[key]
    if not isinstance(value, list):
        raise InputError(f"{key}: {shown(value)} is not allowed; expected a list of {what}, one per dimension")
    if not 1 <= len(value) <= MAX_DIMENSIONS:
        raise InputError(f"{key}: has {len(value)} values; a network has 1 to {MAX_DIMENSIONS} dimensions")
    return value


def check_lengths(data: Mapping[str, Any], keys: Sequence[str]) -> None:
    """Raise unless the lists at these keys are equally long.

    Raises
    ------
    InputError
        Naming the first that differs from the first of all.
    """
    wanted = len(data[keys[0]])
    for key in keys[1:]:
        if len(data[key]) != wanted:
            raise InputError(
                f"{key}: has {_values(len(data[key]))}, but {keys[0]} has {wanted}; "
                "every list has one value per dimension"
            )


def number(value: object, path: str, unit: str) -> Fraction:
    """Return an exact number that is not negative.

    Raises
    ------
    InputError
        When it is anything else.
    """
    if type(value) is int:
        value = Fraction(value)
    if not isinstance(value, Fraction):
        raise InputError(f"{path}: {shown(value)} is not allowed; expected a number of {unit}, such as 100 or 187.5")
    if value < 0:
        raise InputError(f"{path}: {shown(value)} {unit} is negative; write zero or more")
    return value


def positive(value: object, path: str, unit: str) -> Fraction:
    """Return an exact number above zero.

    Raises
    ------
    InputError
        When it is anything else.
    """
    given = number(value, path, unit)
    if given == 0:
        raise InputError(f"{path}: 0 {unit} is not allowed; it must be above zero")
    return given


def whole(value: object, path: str, least: int, what: str, most: int = MAX_SIZE) -> int:
    """Return a whole number from `least` to `most`; `what` says of what, for the message.

    Raises
    ------
    InputError
        When it is anything else.
    """
    if type(value) is not int or not least <= value <= most:
        raise InputError(
            f"{path}: {shown(value)} is not allowed; expected a number of {what}, whole and from {least} to {most}"
        )
    return value


def group_size(value: object, path: str) -> int:
    """Return the NPUs in a group of a dimension: ASTRA-sim has no dimension of one.

    Raises
    ------
    InputError
        When it is no whole number, or below 2.
    """
    if value == 1 and type(value) is int:
        raise InputError(f"{path}: 1 is not allowed, for a dimension joins at least 2 NPUs; leave it out of every list")
    return whole(value, path, 2, "NPUs")


def word(value: object, path: str, known: Collection[str]) -> str:
    """Return one of some words, whose case matters.

    Raises
    ------
    InputError
        When it is none; the message names the nearest one.
    """
    if not isinstance(value, str) or value not in known:
        # Of a list, which may nest deeper than anything can print it, nothing is near.
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        if isinstance(value, str) and value.lower() in {name.lower() for name in known}:
            hint = hint.replace("?)", "? case matters)")
        raise InputError(f"{path}: {shown(value)} is not allowed; one of: {', '.join(known)}{hint}")
    return value


def _values(count: int) -> str:
    return f"{count} value{'' if count == 1 else 's'}"
