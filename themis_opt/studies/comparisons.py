"""``LEFT OP RIGHT`` as people write it: in the constraints of a study, and to choose rows of its table."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from themis_opt.files.strict import show
from themis_opt.problem.errors import InputError

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_COMPARISON = re.compile(r"\s*([^=!<>]+?)\s*(==|!=|<=|>=|=|<|>)\s*([^=\s].*?)\s*")
_MAX_LENGTH = 1000


def split_comparison(text: object, example: str) -> tuple[str, str, str]:
    """Return left side, operator and right side of a comparison.

    Raises
    ------
    InputError
        When it is none; the message shows the example.
    """
    match = _COMPARISON.fullmatch(text) if isinstance(text, str) and len(text) <= _MAX_LENGTH else None
    if match is None:
        raise InputError(f"{show(text)} is not a comparison; write it as {example} (with = != < <= > or >=)")
    return match[1], match[2], match[3]
