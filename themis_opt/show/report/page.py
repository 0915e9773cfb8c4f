"""The HTML file itself: a template filled in, plotly's script and the data packed inside, and what the page may do."""

from __future__ import annotations

import gzip
import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from themis_opt.problem.errors import InputError

TEMPLATE = "report.html.jinja"


def page_text(context: Mapping[str, object], data: Mapping[str, object]) -> str:
    """Return the text of a page that needs nothing but itself.

    Its Content-Security-Policy allows no connection whatsoever, and only the two scripts that stand in it, by their
    hashes. Whatever the context says is text: the template escapes it.

    Parameters
    ----------
    context
        What the template shows.
    data
        What the script draws, as plain data for JSON.

    Raises
    ------
    InputError
        When plotly or jinja2 is not installed.
    """
    require_packages()
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = files("themis_opt.show.report")
    environment = Environment(
        loader=FileSystemLoader(str(folder.joinpath("templates"))),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = folder.joinpath("static", "report.js").read_text(encoding="utf-8")
    library, library_hash = _plotly()
    text = environment.get_template(TEMPLATE).render(
        **context,
        style=folder.joinpath("static", "report.css").read_text(encoding="utf-8"),
        script=script,
        policy=(
            f"default-src 'none'; script-src {_hash(script)} {library_hash}; "
            "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
        ),
        library=library,
        data=packed(json.dumps(data, separators=(",", ":"), allow_nan=False).encode()),
    )
    # Names of files may hold half a character, which UTF-8 cannot.
    return text.encode("utf-8", errors="replace").decode("utf-8")


def packed(data: bytes) -> str:
    """Return bytes compressed (gzip, without a time) and in base64: nothing in it can end a ``<script>`` element."""
    return b64encode(gzip.compress(data, 9, mtime=0)).decode("ascii")


def require_packages() -> None:
    """Raise when what a report is made with is not installed.

    Raises
    ------
    InputError
        Naming the extra that installs it.
    """
    try:
        import jinja2  # noqa: F401 - whether it is there
        import plotly  # noqa: F401
    except ImportError as error:
        raise InputError(f"reports need {error.name}: pip install 'themis-opt[report]'") from None


@cache
def _plotly() -> tuple[str, str]:
    """Return plotly's own script, packed, and its hash."""
    from plotly.offline import get_plotlyjs

    script = str(get_plotlyjs())
    return packed(script.encode("utf-8")), _hash(script)


def _hash(script: str) -> str:
    """Return a script's hash as a Content-Security-Policy names it."""
    return f"'sha256-{b64encode(hashlib.sha256(script.encode('utf-8')).digest()).decode('ascii')}'"
