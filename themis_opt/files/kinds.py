"""The ``format`` line: which kind of file this is, and in which version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from themis_opt.files.documents import FORMATS, format_line
from themis_opt.files.strict import show
from themis_opt.problem.choices import did_you_mean
from themis_opt.problem.errors import InputError

WRITTEN_ONLY = (
    "astra-workload",
    "bounds",
    "certification",
    "description",
    "explained-instance",
    "explained-schedule",
    "list",
    "provision",
    "simulation",
    "tuning",
    "validation",
    "when",
)
"""The kinds of JSON that verbs write and none reads."""


def kind_of(data: Mapping[str, Any]) -> str:
    """Return the kind named by the `format` line: ``network``, ``instance`` or ``schedule``.

    Raises
    ------
    InputError
        When the line is missing or names no kind or version this program reads.
    """
    known = {format_line(kind): kind for kind in FORMATS}
    value = data.get("format")
    if value is None:
        raise InputError(f"format: is missing; the file must say what it is, one of: {', '.join(known)}")
    if isinstance(value, str) and value.startswith("themis-opt/comparison/"):
        raise InputError("format: this is a comparison; 'themis-opt report' and 'themis-opt plot' show it")
    if isinstance(value, str) and value.removeprefix("themis-opt/").rpartition("/")[0] in WRITTEN_ONLY:
        raise InputError(f"format: {value!r} is written for other programs, and read by none of these verbs")
    if not isinstance(value, str) or value not in known:
        raise InputError(
            f"format: {show(value)} is not allowed; one of: {', '.join(known)}{did_you_mean(value, known)}"
        )
    return known[value]


def expect_kind(data: Mapping[str, Any], kind: str) -> None:
    """Raise unless the `format` line names this kind.

    Raises
    ------
    InputError
        When it is missing or another one.
    """
    found = kind_of(data)
    if found != kind:
        raise InputError(f"format: this is a {found} file; expected here is {format_line(kind)!r}")
