"""What a source of a picture is, as its first bytes tell it, and what to say when the picture shows another thing."""

from __future__ import annotations

import re

from themis_opt.problem.errors import InputError

_HEAD = 4096
_SQLITE = b"SQLite format 3\x00"
_FORMAT = re.compile(rb'(?:(?:^|[\n{,])\s*"format"\s*:\s*"|(?:^|\n)format\s*:\s*["\']?)themis-opt/([a-z]+)/')
_UNDRAWN = ("tuning", "when", "provision")
_OF_SCHEDULES = (
    "'plot timeline', 'plot utilization' and 'plot loads' draw instances, networks, schedules and comparisons"
)
_OF_STUDIES = "'plot sweep' and 'plot gap-map' draw a study's database"


def kind_of_source(source: str) -> str:
    """Return ``database``, the kind in the format line of a file, or nothing where others tell what it is."""
    try:
        with open(source, "rb") as file:
            head = file.read(_HEAD)
    except (OSError, ValueError):
        return ""
    if head.startswith(_SQLITE):
        return "database"
    found = _FORMAT.search(head)
    return found[1].decode() if found else ""


def require_of_schedules(source: str, kind: str) -> None:
    """Raise when no picture of schedules shows what a source of this kind holds.

    Raises
    ------
    InputError
        Saying which pictures do, or what else can be drawn.
    """
    if kind == "database":
        raise InputError(f"{source}: is a study's database; 'plot sweep' and 'plot gap-map' draw it")
    if kind == "study":
        raise InputError(
            f"{source}: is a study; run 'themis-opt sweep {source} -o results.db' first, and 'plot sweep' and "
            "'plot gap-map' draw results.db"
        )
    _require_drawn(source, kind)


def require_of_studies(source: str, kind: str) -> None:
    """Raise when no picture of a study shows what a source of this kind holds; of other files others tell.

    Raises
    ------
    InputError
        Saying which pictures do, or what else can be drawn.
    """
    if kind in ("comparison", "instance", "network", "schedule"):
        raise InputError(f"{source}: is {'an' if kind == 'instance' else 'a'} {kind}; {_OF_SCHEDULES}; {_OF_STUDIES}")
    _require_drawn(source, kind)


def _require_drawn(source: str, kind: str) -> None:
    if kind in _UNDRAWN:
        raise InputError(
            f"{source}: themis-opt/{kind}/1 is a table that no picture shows; {_OF_SCHEDULES}; {_OF_STUDIES}"
        )
