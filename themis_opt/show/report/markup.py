"""HTML from text that is only text: what is not markup made here is escaped, wherever it comes from."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


class Markup(str):
    """Text that is HTML already, made by `element`."""

    __slots__ = ()


def element(tag: str, *children: str | Iterable[str], **attributes: str | bool | None) -> Markup:
    """Return an element; children that are no `Markup`, and all values of attributes, are escaped.

    Parameters
    ----------
    tag
        Its name.
    children
        Text, markup, or several of them.
    attributes
        Underscores stand for hyphens, and one at the end for nothing (``class_``); ``True`` is an attribute without a
        value, ``None`` and ``False`` leave it out.
    """
    shown = "".join(
        f" {_name(name)}" if value is True else f' {_name(name)}="{escape(value)}"'
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    return Markup(f"<{tag}{shown}>{joined(*children)}</{tag}>")


def joined(*children: str | Iterable[str]) -> Markup:
    """Return children one after the other, escaped unless they are `Markup`."""
    parts: list[str] = []
    for child in children:
        if isinstance(child, str):
            parts.append(child if isinstance(child, Markup) else escape(_text(child)))
        else:
            parts.append(joined(*child))
    return Markup("".join(parts))


def _name(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _text(text: str) -> str:
    """Return a text as UTF-8 can hold it: half a character, as names of files may have, is a question mark."""
    return text.encode("utf-8", errors="replace").decode("utf-8")
