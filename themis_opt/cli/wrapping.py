"""Sentences for people: wrapped where a terminal ends, and never between a figure and its unit."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_WIDTH = 80
"""Columns where stdout is no terminal."""

_INDENT = "  "
_GLUE = "\N{NO-BREAK SPACE}"
_FIGURE = re.compile(r"(?<=\d) (?=(?:[numk]?s|ps|[KMGT]?i?B(?:/s)?|%)(?!\w))|(?<=dim\d) (?=\d)|(?<=dim\d\d) (?=\d)")


def print_sentence(out: Console, text: str, style: str | None = None) -> None:
    """Print a text, its lines wrapped to the terminal's width, or to `PLAIN_WIDTH` where there is none.

    Parameters
    ----------
    out
        Where to.
    text
        The text.
    style
        How rich shows it; default: plain.
    """
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PLAIN_WIDTH
    for line in wrapped(text, width):
        out.print(line, style=style, soft_wrap=True)


def wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text, none wider than `width` unless one word is; those that continue one are indented.

    A line that makes two breaks before or after what stands in parentheses where it can, any other between words.

    >>> wrapped("bound 707.53 us (assignment-float; for 3 chunks); certified 641.14 us", 50)
    ['bound 707.53 us (assignment-float; for 3 chunks);', '  certified 641.14 us']
    """
    lines: list[str] = []
    for line in text.splitlines():
        if len(line) <= width:
            lines.append(line)
            continue
        halves = [
            (line[:space], _INDENT + line[space + 1 :])
            for space in (line.rfind("); ", 0, width) + 2, line.rfind(" (", 0, width))
            if space > 1 and line[space] == " "
        ]
        fitting = [pair for pair in halves if max(map(len, pair)) <= width]
        if fitting:
            lines += fitting[0]
            continue
        words = textwrap.wrap(
            _FIGURE.sub(_GLUE, line),
            width,
            subsequent_indent=_INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
        lines += [part.replace(_GLUE, " ") for part in words]
    return lines
