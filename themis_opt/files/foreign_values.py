"""Values in the files of others: lists of exact numbers, whole numbers and words, or a message that says what is wrong.

Every function takes the path of a key and raises an `InputError` that begins with it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from themis_opt.files.strict import shorten, show
from themis_opt.problem.choices import did_you_mean
from themis_opt.problem.errors import InputError
from themis_opt.problem.network import MAX_DIMENSIONS, MAX_SIZE


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
            hint = did_you_mean(key, [*missing, *(k for k in known if k not in missing)])
            raise InputError(f"{shorten(key)}: unknown key; {what} has: {', '.join(known)}{hint}")
    if missing:
        raise InputError(f"{missing[0]}: is missing; {what} needs: {', '.join(required)}")


def dimension_lists(data: Mapping[str, Any], whats: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return the lists at the keys of `whats` that are there, equally long, one entry per dimension.

    Parameters
    ----------
    data
        The mapping.
    whats
        By key, of what there is a list, for messages.

    Raises
    ------
    InputError
        When one is no list, empty or longer than a network can be, or differs in length from the first of them.
    """
    lists = {key: data[key] for key in whats if key in data}
    for key, value in lists.items():
        if not isinstance(value, list):
            raise InputError(f"{key}: {show(value)} is not allowed; expected a list of {whats[key]}, one per dimension")
        if not 1 <= len(value) <= MAX_DIMENSIONS:
            raise InputError(f"{key}: has {len(value)} values; a network has 1 to {MAX_DIMENSIONS} dimensions")
    first, wanted = next((key, len(value)) for key, value in lists.items())
    for key, value in lists.items():
        if len(value) != wanted:
            raise InputError(
                f"{key}: has {len(value)} value{'' if len(value) == 1 else 's'}, but {first} has {wanted}; "
                "every list has one value per dimension"
            )
    return lists


def number(value: object, path: str, unit: str) -> Fraction:
    """Return an exact number that is not negative.

    Parameters
    ----------
    value
        What stands in the file.
    path
        The path of its key.
    unit
        Of what it is a number, for messages.

    Raises
    ------
    InputError
        When it is anything else.
    """
    if type(value) is int:
        value = Fraction(value)
    if not isinstance(value, Fraction):
        raise InputError(f"{path}: {show(value)} is not allowed; expected a number of {unit}, such as 100 or 187.5")
    if value < 0:
        raise InputError(f"{path}: {show(value)} {unit} is negative; write zero or more")
    return value


def positive(value: object, path: str, unit: str) -> Fraction:
    """Return an exact number above zero.

    Parameters
    ----------
    value, path, unit
        As for `number`.

    Raises
    ------
    InputError
        When it is anything else.
    """
    given = number(value, path, unit)
    if given == 0:
        raise InputError(f"{path}: 0 {unit} is not allowed; it must be above zero")
    return given


def whole_number(value: object, path: str, least: int, what: str, most: int = MAX_SIZE) -> int:
    """Return a whole number.

    Parameters
    ----------
    value
        What stands in the file.
    path
        The path of its key.
    least, most
        The range that is allowed.
    what
        Of what it is a number, for messages.

    Raises
    ------
    InputError
        When it is anything else.
    """
    if type(value) is not int or not least <= value <= most:
        raise InputError(
            f"{path}: {show(value)} is not allowed; expected a number of {what}, whole and from {least} to {most}"
        )
    return value


def word(value: object, path: str, known: Collection[str]) -> str:
    """Return one of some words, whose case matters.

    Parameters
    ----------
    value
        What stands in the file.
    path
        The path of its key.
    known
        The words.

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
        raise InputError(f"{path}: {show(value)} is not allowed; one of: {', '.join(known)}{hint}")
    return value
