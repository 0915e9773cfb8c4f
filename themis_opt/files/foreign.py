"""Telling the files of others apart by what they hold, whatever they are called."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum
from typing import Any

from themis_opt.files import astra1_network, astra2_network, astra_system, astra_workload

_LOOKED_AT = 2**16
"""Characters of a file: its keys stand in the first of them."""
# Neither looks twice at a character of a long word or of many empty lines.
_KEY = re.compile(r"""(?<![\w-])([A-Za-z][\w-]{0,60})["']?[ \t]{0,9}:""")
_NCCL_TESTS = re.compile(
    r"^[ \t]*#[ \t]*(?:size[ \t]+count[ \t]+type|nThread[ \t]|Collective test starting|Using devices)", re.M
)
_TELLING = {"npus_count", *astra1_network.REQUIRED, "preferred-dataset-splits", *astra_system.IMPLEMENTATIONS}
"""Keys that stand in nobody else's files."""


class ForeignKind(StrEnum):
    """What somebody else's file is, as a message says it."""

    ASTRA2_NETWORK = astra2_network.FORMAT_NAME
    ASTRA1_NETWORK = astra1_network.FORMAT_NAME
    ASTRA2_SYSTEM = "an ASTRA-sim 2 system file"
    ASTRA1_SYSTEM = "an ASTRA-sim 1 system file"
    ASTRA_WORKLOAD = astra_workload.FORMAT_NAME
    NCCL_TESTS = "an nccl-tests log"


def recognise(text: str, data: object = None) -> ForeignKind | None:
    """Return what a text is, or ``None`` when it is no format of others that is read here.

    Parameters
    ----------
    text
        What the file holds.
    data
        The same as plain data, if it is well-formed YAML or JSON: then two keys at its top level tell what it is,
        else one of those that nobody else has must stand in the text.
    """
    beginning = text[:_LOOKED_AT]
    if _NCCL_TESTS.search(beginning):
        return ForeignKind.NCCL_TESTS
    lines = beginning.split("\n", 3)
    first, second = (lines[0].split(), lines[1].split()) if len(lines) > 1 else (lines[0].split(), [])
    if first and first[0] in astra_workload.PARALLELISMS and len(second) == 1:
        return ForeignKind.ASTRA_WORKLOAD
    return _of_keys(_top_level(data) if isinstance(data, dict) else _in_text(beginning), beginning)


def _of_keys(keys: set[str], text: str) -> ForeignKind | None:
    is_json = text.lstrip().startswith("{")
    known: dict[ForeignKind, Collection[str]] = {
        ForeignKind.ASTRA2_NETWORK: astra2_network.KEYS,
        ForeignKind.ASTRA1_NETWORK: astra1_network.KEYS,
    }
    if is_json:
        known[ForeignKind.ASTRA2_SYSTEM] = astra_system.KEYS[2]
    else:
        known[ForeignKind.ASTRA1_SYSTEM] = astra_system.KEYS[1]
    counts = {kind: len(keys.intersection(words)) for kind, words in known.items()}
    best = max(counts, key=lambda kind: counts[kind])
    if counts[best] >= 2 or (counts[best] == 1 and keys & _TELLING):
        return best
    return None


def _top_level(data: dict[str, Any]) -> set[str]:
    return {key for key in data if isinstance(key, str)}


def _in_text(text: str) -> set[str]:
    """Return the keys in a text that cannot be read, if one of them tells what it was meant to be."""
    keys = set(_KEY.findall(text))
    return keys if keys & _TELLING else set()
