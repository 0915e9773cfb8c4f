"""Picking one of a closed set of words, and what to say when the word is not in it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from themis_opt.problem.errors import InputError

Member = TypeVar("Member", bound=StrEnum)


def choose(kind: type[Member], value: str, field: str) -> Member:
    """Return the member of `kind` written `value`.

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


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return `` (did you mean 'ring'?)`` for the known word nearest to `word`, or nothing if none is near."""
    folded = {candidate.lower(): candidate for candidate in known}
    near = get_close_matches(str(word).lower(), folded, n=1, cutoff=0.5)
    return f" (did you mean {folded[near[0]]!r}?)" if near else ""
