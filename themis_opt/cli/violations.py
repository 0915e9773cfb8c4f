"""How the verbs that judge files tell a violation: the file, the rule and what is wrong, on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from themis_opt.problem.violation import Violation


def violation_line(path: str, violation: Violation) -> str:
    """Return the line; a message that begins with its rule does not get it twice."""
    rule, message = str(violation.rule), str(violation)
    return f"{path}: {message}" if message.startswith(f"{rule}:") else f"{path}: {rule}: {message}"
