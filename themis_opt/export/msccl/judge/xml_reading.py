"""From the text of an MSCCL XML file to its steps: no entities, no tree, no number that is none.

Document types and entities are refused before the parser sees the text: a few lines of them can grow to gigabytes, or
name files. What is left has four levels, each known element at its own, so that depth and memory are bounded by the
length of the text.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any
from xml.etree.ElementTree import ParseError, XMLParser

from themis_opt.export.msccl.executor_limits import MAX_FILE_STEPS
from themis_opt.export.msccl.judge.algorithm import XmlAlgorithm, XmlGpu, XmlStep, XmlThreadblock
from themis_opt.files.plain import read_limited
from themis_opt.files.strict import shorten
from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.errors import InputError

MAX_FILE_BYTES = 64 * 2**20
"""Twice an algorithm of 64 ranks that fills every list of the executor's parser."""
MAX_GROUPS = 40_000
"""GPUs and threadblocks together."""
MAX_TAG_LENGTH = 2**16
"""Of an element with its attributes, or a comment: the parser holds one whole."""

_LEVELS = ("algo", "gpu", "tb", "step")
_TEXTS = {"name", "proto", "coll", "type", "srcbuf", "dstbuf"}
_REQUIRED = {
    "algo": ("name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace"),
    "gpu": ("id", "i_chunks", "o_chunks", "s_chunks"),
    "tb": ("id", "send", "recv", "chan"),
    "step": ("s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"),
}
_OPTIONAL = {"algo": ("outofplace", "minBytes", "maxBytes")}
_NUMBER = re.compile(r"-?[0-9]{1,18}")
_DECLARATION = re.compile(r"<!\s*(doctype|entity|element|attlist|notation)", re.IGNORECASE)
_LONG_TAG = re.compile(rf"<[^<>]{{{MAX_TAG_LENGTH}}}")
_MAX_NUMBER = 2**31 - 1
_short = partial(shorten, most=40)


def read_xml(path: str | os.PathLike[str]) -> str:
    """Return the text of a file.

    Raises
    ------
    InputError
        When it is no regular file, too large, or not UTF-8.
    """
    return read_limited(path, MAX_FILE_BYTES, "the limit for MSCCL XML; is it the right file?")


def read_algorithm(text: str) -> XmlAlgorithm:
    """Return what the text of an MSCCL XML file says.

    Raises
    ------
    InputError
        Naming the element and the attribute, or the line, that is wrong.
    """
    declaration = _DECLARATION.search(text)
    if declaration is not None:
        line = text.count("\n", 0, declaration.start()) + 1
        raise InputError(
            f"line {line}: {declaration[0]!r} is refused: MSCCL files need no document type and no entities; remove it"
        )
    long_tag = _LONG_TAG.search(text)
    if long_tag is not None:
        line = text.count("\n", 0, long_tag.start()) + 1
        raise InputError(
            f"line {line}: an element or comment is longer than {MAX_TAG_LENGTH} characters; is it complete?"
        )
    target = _Target()
    try:
        parser = XMLParser(target=target)
        # In slices: within one the parser goes on to the end, whatever is wrong at its beginning.
        for start in range(0, len(text), MAX_TAG_LENGTH):
            parser.feed(text[start : start + MAX_TAG_LENGTH])
        parser.close()
    except ParseError as error:
        line, column = error.position
        reason = str(error).split(":")[0]
        raise InputError(
            f"line {line}, column {column + 1}: not well-formed XML: {reason}; is the file complete?"
        ) from None
    except (UnicodeError, ValueError) as error:
        raise InputError(f"not well-formed XML: {error}") from None
    if target.algorithm is None:
        raise InputError("holds no <algo>; is this an MSCCL algorithm?")
    return target.algorithm


class _Target:
    """What the parser tells of the file, element by element."""

    def __init__(self) -> None:
        self.algorithm: XmlAlgorithm | None = None
        self._path: list[str] = []
        self._num_of: Counter[str] = Counter()

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take an element, which must be known at its level.

        Raises
        ------
        InputError
            When it is not, lacks an attribute, or is one too many.
        """
        depth = len(self._path)
        expected = _LEVELS[depth] if depth < len(_LEVELS) else None
        if tag != expected:
            allowed = f"only <{expected}> may stand there" if expected else "nothing may stand there"
            raise InputError(f"{self._where()}<{_short(tag)}> is not known here; {allowed}")
        identity = {"algo": "name", "gpu": "id", "tb": "id", "step": "s"}[tag]
        self._path.append(f"{tag} {_short(attributes.get(identity, '?'))}")
        values = self._values(tag, attributes)
        self._num_of[tag] += 1
        if self._num_of["gpu"] + self._num_of["tb"] > MAX_GROUPS:
            raise InputError(f"has more than {MAX_GROUPS} gpus and threadblocks, the limit for MSCCL XML")
        if self._num_of["step"] > MAX_FILE_STEPS:
            raise InputError(f"has more than {MAX_FILE_STEPS} steps, the limit for MSCCL XML")
        if self.algorithm is None:
            self.algorithm = XmlAlgorithm(**values)
        elif tag == "gpu":
            self.algorithm.gpus.append(XmlGpu(**values))
        elif tag == "tb":
            self.algorithm.gpus[-1].tbs.append(XmlThreadblock(**values))
        else:
            self.algorithm.gpus[-1].tbs[-1].steps.append(XmlStep(**values))
        self._note_unknown(tag, attributes, self.algorithm.ignored)

    def end(self, tag: str) -> None:
        """Leave an element."""
        self._path.pop()

    def data(self, text: str) -> None:
        """Take text between elements.

        Raises
        ------
        InputError
            When it is any.
        """
        if not text.isspace():
            raise InputError(f"{self._where()}the text {_short(text.strip())!r} is not known here; remove it")

    def close(self) -> None:
        """Nothing is left to do."""

    def _where(self) -> str:
        return ", ".join(self._path) + ": " if self._path else ""

    def _values(self, tag: str, attributes: Mapping[str, str]) -> dict[str, Any]:
        """Return the known attributes of an element: texts, and numbers."""
        values: dict[str, Any] = {}
        for name in _REQUIRED[tag]:
            if name not in attributes:
                odd = [_short(other) for other in attributes if other not in _REQUIRED[tag]]
                raise InputError(f"{self._where()}{name}: is missing{did_you_mean(name, odd)}")
            values[name] = attributes[name] if name in _TEXTS else self._number(name, attributes[name])
        for name in _OPTIONAL.get(tag, ()):
            if name in attributes:
                values[name] = self._number(name, attributes[name])
        return values

    def _number(self, name: str, text: str) -> int:
        is_size = name in ("minBytes", "maxBytes")
        if not _NUMBER.fullmatch(text) or (not is_size and abs(int(text)) > _MAX_NUMBER):
            raise InputError(f"{self._where()}{name}: {_short(text)!r} is not a whole number of at most 31 bits")
        return int(text)

    def _note_unknown(self, tag: str, attributes: Mapping[str, str], ignored: list[str]) -> None:
        known = {*_REQUIRED[tag], *_OPTIONAL.get(tag, ())}
        for name in attributes:
            entry = f"{tag} {_short(name)}"
            if name not in known and entry not in ignored and len(ignored) < 8:
                ignored.append(entry)
