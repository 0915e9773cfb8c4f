"""Lower bounds as JSON (``themis-opt/bounds/1``); the weights of a certificate are exact fractions in text."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from themis_opt.files.results import ResultDocument, result_text
from themis_opt.problem.bound import Bound


class BoundDocument(Struct, kw_only=True):
    """A bound, for which schedules it holds (sizing, fewest and most chunks), and what its certificate proves."""

    value_ps: int
    kind: str
    scope: tuple[str, int, int]
    certificate: list[str] | None
    certified_ps: int | None


class BoundsDocument(ResultDocument, kw_only=True, tag="themis-opt/bounds/1"):
    """What `bound` has found, and why anything is missing."""

    best: BoundDocument
    bounds: list[BoundDocument]
    notes: list[str]


def bounds_text(best: Bound, bounds: Sequence[Bound], notes: Sequence[str]) -> str:
    """Return bounds as JSON.

    Parameters
    ----------
    best
        The highest of them, with the strongest certificate.
    bounds
        All of them.
    notes
        Why any is missing.
    """
    told = [_bound(bound) for bound in bounds]
    return result_text(BoundsDocument(best=_bound(best), bounds=told, notes=list(notes)))


def _bound(bound: Bound) -> BoundDocument:
    return BoundDocument(
        value_ps=bound.value_ps,
        kind=str(bound.kind),
        scope=(str(bound.scope.sizes), bound.scope.min_chunks, bound.scope.max_chunks),
        certificate=None if bound.certificate is None else list(map(str, bound.certificate)),
        certified_ps=bound.certified_ps,
    )
