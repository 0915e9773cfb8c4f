"""YAML as people expect it to be: ``true``, ``null``, whole numbers and texts, in mappings and lists.

``12:30:00``, ``010``, ``on`` and ``1e9`` stay texts; duplicate keys, anchors, aliases and tags are refused. Built from
the parser's events, so that the parser may be the compiled one: it is fifteen times as fast.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import yaml

from themis_opt.problem.errors import InputError

MAX_DEPTH = 100

_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WHOLE_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


def parse_yaml(
    text: str, whole_number: Callable[[str], object] = int, decimal: Callable[[str], object] | None = None
) -> Any:
    """Return the plain data of a YAML text.

    Parameters
    ----------
    text
        The text, without a byte order mark.
    whole_number
        What makes an integer of its digits.
    decimal
        What makes a number of a decimal such as ``187.5`` or ``1e9``; ``None`` leaves it a text.

    Raises
    ------
    InputError
        When it is no YAML, or more of it than is allowed here.
    """
    try:
        return _build(yaml.parse(text, Loader=_PARSER), whole_number, decimal)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise InputError(f"{where}not valid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise InputError(f"not valid YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise InputError("nested too deeply") from None
    except (ValueError, OverflowError) as error:  # PyYAML's own, on code points and versions that do not exist
        raise InputError(f"not valid YAML: {error}") from None


class _Open:
    """A mapping or list that is not complete yet, and in a mapping the key whose value comes next."""

    def __init__(self, values: dict[str, Any] | list[Any]) -> None:
        self.values = values
        self.key: str | None = None

    def put(self, value: Any, event: Any) -> None:
        if isinstance(self.values, list):
            self.values.append(value)
        elif self.key is not None:
            self.values[self.key] = value
            self.key = None
        elif not isinstance(event, yaml.ScalarEvent):
            raise InputError(f"{_at(event)}: a key must be a plain word")
        elif event.value in self.values:
            raise InputError(f"{_at(event)}: {event.value}: stands twice in the same mapping; remove one")
        else:
            self.key = event.value


def _build(
    events: Iterable[Any], whole_number: Callable[[str], object], decimal: Callable[[str], object] | None
) -> Any:
    """Return what the events describe; nested mappings and lists wait on a stack, not on Python's."""
    document = _Open([])
    stack = [document]
    for event in events:
        _refuse_references(event)
        if isinstance(event, yaml.DocumentStartEvent) and document.values:
            raise InputError(f"{_at(event)}: a second document begins; a file holds one")
        if isinstance(event, yaml.ScalarEvent):
            stack[-1].put(_scalar(event, whole_number, decimal), event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            values: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
            stack[-1].put(values, event)
            stack.append(_Open(values))
            if len(stack) > MAX_DEPTH:
                raise InputError(f"{_at(event)}: nested too deeply; at most {MAX_DEPTH} levels are read")
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            stack.pop()
    assert isinstance(document.values, list)
    return document.values[0] if document.values else None


def _refuse_references(event: Any) -> None:
    if isinstance(event, yaml.AliasEvent):
        raise InputError(f"{_at(event)}: *{event.anchor} is an alias; aliases are not allowed, write the value out")
    if getattr(event, "anchor", None) is not None:
        raise InputError(f"{_at(event)}: &{event.anchor} is an anchor; anchors are not allowed")
    if getattr(event, "tag", None) is not None:
        raise InputError(f"{_at(event)}: {event.tag} is a tag; tags are not allowed")


def _scalar(event: Any, whole_number: Callable[[str], object], decimal: Callable[[str], object] | None) -> Any:
    """Return the value of a scalar: a text unless it is unquoted and a word or number of ours."""
    text: str = event.value
    # Quoted texts are texts, whatever is in them.
    if not event.implicit[0]:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE_NUMBER.fullmatch(text):
        return whole_number(text)
    # 010 is 8 to some readers and 10 to others: it stays a text.
    if decimal is not None and _DECIMAL.fullmatch(text) and not re.match(r"[-+]?0[0-9]", text):
        return decimal(text)
    return text


def _at(event: Any) -> str:
    return f"line {event.start_mark.line + 1}"
