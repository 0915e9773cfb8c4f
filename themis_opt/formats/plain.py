"""YAML and JSON files to plain data: one reader, strict, whose every failure is an `InputError` with the file's name.

YAML here is what people expect it to be: ``true``, ``null``, whole numbers and texts. ``12:30:00``, ``010``, ``on`` and
``1e9`` stay texts; duplicate keys, anchors, aliases and tags are refused.
"""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import yaml

from themis_opt.errors import InputError

MAX_DIGITS = 200
MAX_FILE_BYTES = 512 * 2**20
MAX_YAML_BYTES = 2 * 2**20
"""Networks and instances are small; PyYAML takes ten seconds for every million bytes."""


def read_plain(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the mapping a YAML or JSON file holds (JSON when its name ends so or its text starts with a brace).

    Raises
    ------
    InputError
        When there is no such file, it cannot be read, or it is not a well-formed mapping.
    """
    name = os.fspath(path)
    text = _read_text(name)
    is_json = name.endswith(".json") or text.lstrip().startswith("{")
    try:
        data = parse_json(text) if is_json else parse_yaml(text)
    except InputError as error:
        raise error.at(name) from None
    if not isinstance(data, dict):
        raise InputError(
            f"{name}: holds {_kind(data)}, not a mapping of keys to values; the first key must be 'format'"
        )
    return data


def parse_json(text: str) -> Any:
    """Return the plain data of a JSON text; duplicate keys and fractions of numbers are refused."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique,
            parse_int=_whole_number,
            parse_float=lambda digits: _refuse_number(digits),
            parse_constant=_refuse_number,
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}; "
            "is the file complete? Write it again"
        ) from None
    except RecursionError:
        raise InputError("nested too deeply") from None


def parse_yaml(text: str) -> Any:
    """Return the plain data of a YAML text."""
    try:
        return yaml.load(text, Loader=_StrictLoader)
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


def _read_text(name: str) -> str:
    try:
        status = os.stat(name)
        if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
            raise InputError(f"{name}: is a device; name a file")
        limit = MAX_YAML_BYTES if name.endswith((".yaml", ".yml")) else MAX_FILE_BYTES
        if status.st_size > limit:
            raise InputError(f"{name}: is {status.st_size} bytes; such files above {limit} bytes are not read")
        return Path(name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not a text in UTF-8 (byte {error.start}); is this the right file?") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{name}: cannot be read: {reason}") from None


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


def _whole_number(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise InputError(f"{digits[:20]}... has {len(digits)} digits; whole numbers here have at most {MAX_DIGITS}")
    return int(digits)


def _refuse_number(digits: str) -> Any:
    raise InputError(f"{digits[:40]} is not a whole number; quantities are whole numbers or texts with a unit")


class _StrictLoader(yaml.SafeLoader):
    """A YAML loader without YAML 1.1's surprises."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012 - as its base class declares it

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            raise InputError(f"{_at(event)}: *{event.anchor} is an alias; aliases are not allowed, write the value out")
        if getattr(event, "anchor", None) is not None:
            raise InputError(f"{_at(event)}: &{event.anchor} is an anchor; anchors are not allowed")
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise InputError(f"{_at(event)}: {tag} is a tag; tags are not allowed")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = getattr(key_node, "value", None)
            if not isinstance(key_node, yaml.ScalarNode):
                raise InputError(f"{_at(key_node)}: a key must be a plain word")
            if key in seen:
                raise InputError(f"{_at(key_node)}: {key}: stands twice in the same mapping; remove one")
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


def _at(event: Any) -> str:
    return f"line {event.start_mark.line + 1}"


def _construct_whole_number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    return _whole_number(str(loader.construct_scalar(node)))


_StrictLoader.add_constructor("tag:yaml.org,2002:int", _construct_whole_number)
for _tag, _pattern, _first in (
    ("int", r"-?(?:0|[1-9][0-9]*)", "-0123456789"),
    ("bool", r"true|false", "tf"),
    ("null", r"null|~|", ["n", "~", ""]),
):
    _StrictLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), list(_first))
