"""A proven lower bound on the makespan: its value, what proves it, and for which schedules it holds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from themis_opt.problem.checks import whole, whole_or_none


class Sizing(StrEnum):
    """Whether chunk sizes are fixed to be equal (to the byte) or are chosen freely."""

    EQUAL = "equal"
    FREE = "free"


class BoundKind(StrEnum):
    """The argument that proves a bound.

    Only `FLUID` and `CRITICAL_PATH` can be re-proved without a solver. `ASSIGNMENT` rests on a floating-point MILP
    solver (its value is floored with a margin), `ASSIGNMENT_EXACT` on a solver that calculates with whole numbers,
    `JOINT_CP_SAT` and `JOINT_MILP` on the solver that searched the whole problem, `SEQUENCES` on an exploration of
    all sequences in floating point (floored with a margin).
    """

    FLUID = "fluid"
    CRITICAL_PATH = "critical-path"
    ASSIGNMENT = "assignment-float"
    ASSIGNMENT_EXACT = "assignment"
    JOINT_CP_SAT = "cp-sat"
    JOINT_MILP = "milp"
    SEQUENCES = "sequences-float"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class BoundScope:
    """The schedules a bound speaks of: every one with this sizing and a number of chunks in this range."""

    sizes: Sizing
    min_chunks: int
    max_chunks: int

    def __post_init__(self) -> None:
        for field in ("min_chunks", "max_chunks"):
            object.__setattr__(self, field, whole(f"bound_scope.{field}", getattr(self, field)))

    def __str__(self) -> str:
        count = str(self.min_chunks)
        if self.max_chunks != self.min_chunks:
            count += f" to {self.max_chunks}"
        noun = "chunk" if count == "1" else "chunks"
        return f"exactly {count} {noun} of {'equal' if self.sizes is Sizing.EQUAL else 'any'} size"


@dataclass(frozen=True, slots=True)
class Bound:
    """No schedule within `scope` ends before `value_ps`.

    Attributes
    ----------
    value_ps
        The bound in integer picoseconds.
    kind
        What proves it: one of `BoundKind`, or a third-party solver's own word (letters, digits and ``. _ + -``).
    scope
        For which schedules it holds.
    certificate
        One weight per network dimension, non-negative, adding up to 1 (zero where a dimension is not involved);
        ``None`` when there is none.
    certified_ps
        What the certificate alone proves (`proof.certificate`), at most `value_ps`; stands beside a certificate.

    Raises
    ------
    InputError
        When a time is no whole number. Whether it is true is the validator's matter.
    """

    value_ps: int
    kind: str
    scope: BoundScope
    certificate: tuple[Fraction, ...] | None = None
    certified_ps: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "value_ps", whole("bound_ps", self.value_ps))
        object.__setattr__(self, "certified_ps", whole_or_none("certified_bound_ps", self.certified_ps))

    @property
    def is_taken_on_trust(self) -> bool:
        """Whether it rests on a solver's word: nobody can prove a bound of its kind again without one."""
        return self.kind not in (BoundKind.FLUID, BoundKind.CRITICAL_PATH)
