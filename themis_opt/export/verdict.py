"""What an interpreter says of a file or folder."""

from __future__ import annotations

from dataclasses import dataclass

from themis_opt.problem.errors import InputError


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and where.

    Attributes
    ----------
    message
        What is wrong, complete in itself: it names the rank, the chunk and the step where there are any.
    rank, chunk, step
        Where, for programs; ``None`` where it does not apply.
    """

    message: str
    rank: int | None = None
    chunk: int | None = None
    step: int | None = None

    def __str__(self) -> str:
        return self.message


class Contradiction(InputError):
    """A file that can be read says something else than another of its folder: a false claim, no bad input."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement: what was run, and what is wrong with it.

    Attributes
    ----------
    summary
        What was run and found right, in one line; it makes sense only without findings.
    findings
        Everything found wrong, in the order it was found; at most a handful of each kind.
    """

    summary: str
    findings: tuple[Finding, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings
