"""What makes a page self-contained: data and scripts inside it, harmless, compact, and the same bytes every time."""

from __future__ import annotations

import gzip
import hashlib
import json
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from typing import Any

from themis_opt.problem.errors import InputError

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def script_json(data: Any) -> str:
    """Return JSON that can stand inside a ``<script>`` element: no character in it can end the element."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def packed(data: bytes) -> str:
    """Return bytes compressed (gzip, without a time) and in base64."""
    return b64encode(gzip.compress(data, 9, mtime=0)).decode("ascii")


def script_hash(script: str) -> str:
    """Return a script's hash as a Content-Security-Policy names it."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{b64encode(digest).decode('ascii')}'"


@dataclass(frozen=True)
class Library:
    """A script that stands in a page packed: as `packed` makes it, and the hash of what it holds."""

    packed_script: str
    script_hash: str


@cache
def plotly_library() -> Library:
    """Return plotly's own script for a page, as the installed package has it.

    Raises
    ------
    InputError
        When plotly is not installed.
    """
    require_plotly()
    from plotly.offline import get_plotlyjs

    script = str(get_plotlyjs())
    return Library(packed(script.encode("utf-8")), script_hash(script))


def require_plotly() -> None:
    """Raise when plotly is not installed.

    Raises
    ------
    InputError
        When plotly is not installed.
    """
    try:
        import plotly  # noqa: F401 - whether it is there
    except ImportError:
        raise InputError("reports need plotly: pip install 'themis-opt[report]'") from None
