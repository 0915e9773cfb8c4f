"""Results as JSON: what the struct of every result file has in common, and the one encoder of all of them.

A result file is what a verb writes with ``--json``. Its struct stands beside the question it answers, has the format
line for a tag, and its keys in the order in which they are written::

    class Answer(ResultDocument, tag="themis-opt/answer/1"):
        makespan_ps: int
        note: str | UnsetType = UNSET  # not written where there is none

    write_text(path, result_text(Answer(makespan_ps=7)))
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

ONE_LINE = 2**63
"""More characters than any file has."""

_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What commands a terminal or turns lines around, and half characters, as names of files may have; JSON itself escapes
the controls below a space."""


class ResultDocument(msgspec.Struct, kw_only=True, tag_field="format"):
    """A result; the tag of each kind of it is the format line, which is the first key of the file."""


def result_text(document: ResultDocument, *, line: int = 0) -> str:
    """Return the text of a result file.

    Parameters
    ----------
    document
        The result; numbers, texts and enums as they are, in structs, dataclasses, mappings and sequences.
    line
        What fits into so many characters stands on one line; 0: every entry has its own.
    """
    data = msgspec.to_builtins(document)
    text = "\n".join(_lines(data, line, "")) if line else json.dumps(data, indent=1, ensure_ascii=False)
    return json_safe(text) + "\n"


def json_safe(text: str) -> str:
    """Return a JSON text that a terminal may show, and UTF-8 can hold; whoever reads it reads the same."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _lines(value: Any, line: int, indent: str) -> list[str]:
    """Return the lines of a JSON text: what fits stands on one, everything else an entry a line."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) + len(indent) <= line or not isinstance(value, dict | list | tuple) or not value:
        return [text]
    inner = indent + " "
    if isinstance(value, dict):
        brackets = "{}"
        entries = [(f"{json.dumps(key, ensure_ascii=False)}: ", entry) for key, entry in value.items()]
    else:
        brackets = "[]"
        entries = [("", entry) for entry in value]
    lines = [brackets[0]]
    for key, entry in entries:
        first, *rest = _lines(entry, line, inner)
        lines += [inner + key + first, *rest]
        lines[-1] += ","
    lines[-1] = lines[-1][:-1]
    return [*lines, indent + brackets[1]]
