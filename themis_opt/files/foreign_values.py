"""Values in the files of others, each with the path of its key: exact numbers and words, or a message that says it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from themis_opt.files.strict import shorten, show
from themis_opt.problem.checks import did_you_mean
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


def dimension_lists(data: Mapping[str, Any], whats: Mapping[str, str]) -> dict[str, list[Entry]]:
    """Return the lists at the keys of `whats` that are there, equally long, one entry per dimension.

    `whats` says by key of what there is a list, for messages.

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
    return {key: [Entry(entry, f"{key}[{k}]") for k, entry in enumerate(value)] for key, value in lists.items()}


@dataclass(frozen=True, slots=True)
class Entry:
    """A value that stands in a file at the path of a key; what is asked of it and it is not is an `InputError`."""

    value: object
    path: str

    def number(self, unit: str) -> Fraction:
        """Return it as an exact number that is not negative; `unit` is for messages."""
        value = Fraction(self.value) if type(self.value) is int else self.value
        if not isinstance(value, Fraction):
            raise self._error(f"expected a number of {unit}, such as 100 or 187.5")
        if value < 0:
            raise InputError(f"{self.path}: {show(value)} {unit} is negative; write zero or more")
        return value

    def positive(self, unit: str) -> Fraction:
        """Return it as an exact number above zero; `unit` is for messages."""
        value = self.number(unit)
        if value == 0:
            raise InputError(f"{self.path}: 0 {unit} is not allowed; it must be above zero")
        return value

    def whole(self, what: str, least: int = 1, most: int = MAX_SIZE) -> int:
        """Return it as a whole number.

        Parameters
        ----------
        what
            Of what it is a number, for messages.
        least, most
            The range that is allowed.
        """
        if type(self.value) is not int or not least <= self.value <= most:
            raise self._error(f"expected a number of {what}, whole and from {least} to {most}")
        return self.value

    def word(self, known: Collection[str]) -> str:
        """Return it as one of some words, whose case matters."""
        if isinstance(self.value, str) and self.value in known:
            return self.value
        # Of a list, which may nest deeper than anything can print it, nothing is near.
        hint = did_you_mean(self.value, known) if isinstance(self.value, str) else ""
        if isinstance(self.value, str) and self.value.lower() in {name.lower() for name in known}:
            hint = hint.replace("?)", "? case matters)")
        raise self._error(f"one of: {', '.join(known)}{hint}")

    def _error(self, expected: str) -> InputError:
        return InputError(f"{self.path}: {show(self.value)} is not allowed; {expected}")
