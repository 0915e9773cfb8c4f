"""Values that come from a caller: numbers, whatever library made them, and words of a closed set; or a message.

Type annotations bind nobody at run time. A float, a truth value or a text where a whole number is meant is refused
where the object is made, not where it does harm; an integer of another library (numpy's overflow silently) becomes
Python's own.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from difflib import get_close_matches
from enum import StrEnum
from fractions import Fraction
from operator import index
from typing import TypeVar

from themis_opt.problem.errors import InputError

Member = TypeVar("Member", bound=StrEnum)

MAX_MAGNITUDE = 10**60
"""Beyond it a quantity is a slip; products of a few such quantities still are floats when they are printed."""
_MAX_BITS = 3321
"""Of a numerator or denominator: a thousand digits, which a file can always hold (`units.MAX_LENGTH`)."""


def whole(field: str, value: object) -> int:
    """Return a whole number as a plain integer.

    Parameters
    ----------
    field
        What it is called in the message.
    value
        An integer of Python or of any library whose integers can be indices.

    Raises
    ------
    InputError
        When it is anything else: a truth value, a float (even ``4.0``), a text.
    """
    # Nearly all values pass here, by the million: the cheapest test comes first.
    if type(value) is int:
        return value
    if not isinstance(value, bool):  # an int by inheritance, but True chunks is a slip
        try:
            return index(value)  # type: ignore[arg-type]
        except TypeError:
            pass
    raise InputError(f"{field} is {shown(value)}; it must be a whole number")


def whole_or_none(field: str, value: object) -> int | None:
    """Return a whole number as a plain integer, and ``None`` as it is.

    Raises
    ------
    InputError
        When it is anything else.
    """
    return None if value is None else whole(field, value)


def wholes(field: str, values: object) -> tuple[int, ...]:
    """Return a sequence of whole numbers as a tuple of plain integers.

    Raises
    ------
    InputError
        When it is none, or one of them is anything else.
    """
    try:
        entries: tuple[object, ...] | None = (
            None if isinstance(values, str | bytes) else tuple(values)  # type: ignore[arg-type]
        )
    except TypeError:
        entries = None
    if entries is None:
        raise InputError(f"{field} is {shown(values)}; it must be a sequence of whole numbers")
    return tuple(whole(f"{field}[{place}]", value) for place, value in enumerate(entries))


def real(field: str, value: object) -> float:
    """Return a finite number as a plain float.

    Raises
    ------
    InputError
        When it is no number, not finite or beyond the range of a float.
    """
    fraction = _fraction(value)
    if fraction is None:
        raise InputError(f"{field} is {shown(value)}; it must be a finite number")
    try:
        return float(fraction)
    except OverflowError:
        raise InputError(f"{field} is {shown(value)}; it is beyond the range of a float") from None


def exact(field: str, value: object) -> Fraction:
    """Return a number as the fraction it is exactly.

    Parameters
    ----------
    field
        What it is called in the message.
    value
        An integer, a fraction, or a finite float or decimal (taken as the exact number it stands for).

    Raises
    ------
    InputError
        When it is no number, not finite, beyond `MAX_MAGNITUDE` or longer than a thousand digits.
    """
    fraction = _fraction(value)
    if fraction is None:
        raise InputError(f"{field} is {shown(value)}; it must be a number: an integer, a fraction or a finite float")
    if max(fraction.numerator.bit_length(), fraction.denominator.bit_length()) > _MAX_BITS:
        raise InputError(f"{field} has more than a thousand digits; round it")
    if abs(fraction) >= MAX_MAGNITUDE or 0 < abs(fraction) <= Fraction(1, MAX_MAGNITUDE):
        exponent = len(str(abs(fraction.numerator))) - len(str(fraction.denominator))
        raise InputError(f"{field} is about 10^{exponent}; quantities lie between 10^-60 and 10^60")
    return fraction


def choose(kind: type[Member], value: str, field: str) -> Member:
    """Return the member of `kind` written `value`.

    Parameters
    ----------
    kind
        The closed set of words.
    value
        One of them, or a text that may be none.
    field
        What it is called in the message.

    Raises
    ------
    InputError
        When there is none; the message lists the members and the nearest one.
    """
    try:
        return kind(value)
    except ValueError:
        words = [member.value for member in kind]
        raise InputError(
            f"{field} is {str(value)!r}; allowed are: {', '.join(words)}{did_you_mean(value, words)}"
        ) from None


_MAX_WORD = 100
"""Characters of a word that anybody can have meant."""


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return `` (did you mean 'ring'?)`` for the known word nearest to `word`, or nothing if none is near."""
    # Below 0.5 difflib's guesses amuse more than they help.
    folded = {candidate.lower(): candidate for candidate in known if len(candidate) <= _MAX_WORD}
    # The search takes memory in proportion to the word: 4 GB for 100 MB of a hostile one.
    if isinstance(word, str) and len(word) > _MAX_WORD:
        return ""
    near = get_close_matches(str(word)[:_MAX_WORD].lower(), folded, n=1, cutoff=0.5)
    return f" (did you mean {folded[near[0]]!r}?)" if near else ""


def escaped(text: str) -> str:
    """Return a text whose characters are all printable: the others stand as in a program.

    No text from a file is a command to the terminal, nor does it turn lines around.
    """
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def shown(value: object) -> str:
    """Return what a value looks like, shortened; values that cannot be printed are named by their type."""
    try:
        return reprlib.repr(value)
    except Exception:  # a third party's __repr__ may do anything, and printing a huge integer raises
        return f"a {type(value).__name__} too long to print"


def _fraction(value: object) -> Fraction | None:
    if isinstance(value, Fraction):
        # A Fraction of numpy integers computes in 64 bits, and overflows without a word.
        return value if type(value.numerator) is int else Fraction(index(value.numerator), index(value.denominator))
    if isinstance(value, bool):
        return None
    try:
        return Fraction(index(value))  # type: ignore[arg-type]
    except TypeError:
        pass
    # Floats of every library and decimals say exactly what they are; a text does not, and is refused.
    ratio = getattr(value, "as_integer_ratio", None)
    if ratio is None:
        return None
    try:
        numerator, denominator = ratio()
    except (ValueError, OverflowError):  # not finite
        return None
    return Fraction(index(numerator), index(denominator))
