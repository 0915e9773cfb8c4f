"""YAML and JSON files to plain data: one strict reader, whose every failure is an `InputError` with the file's name."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from themis_opt.files import strict_yaml
from themis_opt.problem.errors import InputError, located

MAX_DIGITS = 200
MAX_SMALL_BYTES = 2 * 2**20
"""Of networks and instances, and of everything in YAML, which is slow to read."""
MAX_LOG_BYTES = 32 * 2**20
"""Of logs, which may hold more than what is read of them."""
MAX_FILE_BYTES = 160 * 2**20
"""Of schedules in JSON: more than the largest one with the times of all stages."""
MAX_MARKS = {"{": 200_000, "[": 4_500_000, ",": 18_000_000}
"""How often these may stand in JSON: more than in the largest schedule."""

_MAX_EXPONENT = 100
_EXPONENT = re.compile(r"[eE]([-+]?[0-9]+)")
_OPEN_STREAMS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


class NoWholeNumber:
    """A number that nothing here may be: refused where it stands, so that the message names the key."""

    def __init__(self, digits: str) -> None:
        self._digits = digits

    def __repr__(self) -> str:
        if len(self._digits) <= MAX_DIGITS:
            return self._digits[:40]
        return f"{self._digits[:12]}... ({len(self._digits)} digits, at most {MAX_DIGITS})"


def plain_mapping(path: str | os.PathLike[str], text: str, *, decimals: bool = False) -> dict[str, Any]:
    """Return the mapping in the text of a YAML or JSON file (JSON when its name ends so or it starts with a brace).

    Parameters
    ----------
    path
        The file, for its name's ending and for messages.
    text
        What it holds.
    decimals
        Whether ``187.5`` and ``1.5e2`` are numbers (exact fractions), as in the formats of others. In ours they are
        not: every quantity is a text with a unit.

    Raises
    ------
    InputError
        When it is not a well-formed mapping.
    """
    name = os.fspath(path)
    with located(name):
        data = parse_json(text, decimals=decimals) if _is_json(name, text) else parse_yaml(text, decimals=decimals)
    if not isinstance(data, dict):
        raise InputError(
            f"{name}: holds {_kind(data)}, not a mapping of keys to values; the first key must be 'format'"
        )
    return data


def parse_json(text: str, *, decimals: bool = False) -> Any:
    """Return the plain data of a JSON text; duplicate keys are refused, and no number but whole ones becomes one.

    With `decimals` the others become exact fractions (`exact_number`).

    Raises
    ------
    InputError
        When it is no JSON, or more than any file of ours holds.
    """
    # Counting takes milliseconds; building what a few hundred million marks stand for takes all memory there is.
    for mark, most in MAX_MARKS.items():
        if text.count(mark) > most:
            raise InputError(f"has more than {most} times {mark!r}, more than any schedule; is this the right file?")
    other: Callable[[str], object] = exact_number if decimals else NoWholeNumber
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique,
            parse_int=_whole_number,
            parse_float=other,
            parse_constant=NoWholeNumber,
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}; "
            "is the file complete? Write it again"
        ) from None
    except RecursionError:
        raise InputError("nested too deeply") from None


def parse_yaml(text: str, *, decimals: bool = False) -> Any:
    """Return the plain data of a YAML text (`strict_yaml`); with `decimals`, ``187.5`` is an exact fraction."""
    return strict_yaml.parse_yaml(text, _whole_number, exact_number if decimals else None)


def exact_number(digits: str) -> Fraction | NoWholeNumber:
    """Return the fraction that a decimal such as ``187.5`` or ``1.5e2`` is exactly.

    One with more than `MAX_DIGITS` characters or an exponent beyond 100 would be slow to hold and is no quantity.
    """
    exponent = _EXPONENT.search(digits)
    if len(digits) > MAX_DIGITS or (exponent is not None and abs(int(exponent[1])) > _MAX_EXPONENT):
        return NoWholeNumber(digits)
    return Fraction(digits)


def read_log(path: str | os.PathLike[str]) -> str:
    """Return the text of a log, of which most may be about something else.

    Raises
    ------
    InputError
        When there is no such file, it cannot be read or it is too large.
    """
    return read_limited(path, MAX_LOG_BYTES, "the limit for logs; cut it to its table")


def read_text(path: str | os.PathLike[str], *, small: bool = False) -> str:
    """Return the text of a file, without a byte order mark.

    Parameters
    ----------
    path
        A regular file, or a pipe that is open already (``/dev/stdin``, ``/dev/fd/63`` of a process substitution).
    small
        Whether it can only be a network or an instance, which are small.

    Raises
    ------
    InputError
        When there is no such file, it cannot be read or it is too large.
    """
    what = "the limit for networks, instances and YAML; is this the right file? A large schedule must be JSON"
    return read_limited(path, MAX_SMALL_BYTES, what, may_be_schedule=not small)


def read_limited(path: str | os.PathLike[str], most: int, limit: str, *, may_be_schedule: bool = False) -> str:
    """Return the text of a file that is not too large, without a byte order mark.

    Parameters
    ----------
    path
        The file, as for `read_text`.
    most
        How many bytes it may have.
    limit
        What limit that is, for the message.
    may_be_schedule
        Whether it may have more where it looks like a schedule in JSON.

    Raises
    ------
    InputError
        When there is no such file, it cannot be read or it is too large.
    """
    name = os.fspath(path)
    try:
        status = os.stat(name)
        _require_readable_kind(name, status.st_mode)
        with open(name, "rb") as file:
            # A pipe cannot be wound back: what tells whether it is JSON stays the beginning of the text.
            head = file.read(100)
            if may_be_schedule and _is_json(name, head.decode("utf-8-sig", errors="replace")):
                most, limit = MAX_FILE_BYTES, "the limit for schedules; is this the right file?"
            # A file that says how large it is need not be read to find out.
            data = head + file.read(most + 1 - len(head)) if status.st_size <= most else head
        if max(len(data), status.st_size) > most:
            raise InputError(f"{name}: has more than {most} bytes, {limit}")
        return data.decode("utf-8-sig")  # the byte order mark that some editors put in front is none of the text
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not a text in UTF-8 (byte {error.start}); is this the right file?") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{name}: cannot be read: {reason}") from None


def _require_readable_kind(name: str, mode: int) -> None:
    """Raise for what is no file and might never end, or never begin."""
    if stat.S_ISDIR(mode):
        raise InputError(f"{name}: is a folder; name a file in it")
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise InputError(f"{name}: is a device or a terminal; name a file")
    if stat.S_ISFIFO(mode) and not name.startswith(_OPEN_STREAMS):
        raise InputError(f"{name}: is a named pipe; name a file, or read the pipe through /dev/stdin")
    if stat.S_ISSOCK(mode):
        raise InputError(f"{name}: is a socket; name a file")


def _is_json(name: str, text: str) -> bool:
    return name.endswith(".json") or text.lstrip().startswith("{")


def _kind(data: object) -> str:
    if data is None:
        return "nothing"
    return {list: "a list", str: "a text", int: "a number"}.get(type(data), "something else")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise InputError(f"{key}: stands twice in the same mapping; remove one")
        mapping[key] = value
    return mapping


def _whole_number(digits: str) -> int | NoWholeNumber:
    return int(digits) if len(digits) <= MAX_DIGITS else NoWholeNumber(digits)
