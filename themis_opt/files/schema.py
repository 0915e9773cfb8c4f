"""JSON Schemas of the file formats, made from the documents themselves."""

from __future__ import annotations

from typing import Any

import msgspec

from themis_opt.files.documents import FORMATS, format_line
from themis_opt.problem.choices import did_you_mean
from themis_opt.problem.errors import InputError


def json_schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a kind of file.

    Raises
    ------
    InputError
        When there is no such kind.
    """
    if kind not in FORMATS:
        raise InputError(f"no format {kind!r}; there are: {', '.join(FORMATS)}{did_you_mean(kind, FORMATS)}")
    schema = msgspec.json.schema(FORMATS[kind])
    name = schema["$ref"].rpartition("/")[2]
    schema["$defs"][name]["properties"]["format"] = {"const": format_line(kind)}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": format_line(kind), **schema}
