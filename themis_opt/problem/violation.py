"""What is wrong with a schedule: one broken rule or false claim, with where and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ViolationKind(StrEnum):
    """The rule that is broken.

    `FORM`
        A field does not have the type the data model says.
    `INSTANCE`
        The schedule answers another instance.
    `CHUNKS`, `SIZE`, `TOTAL_SIZE`
        There is no chunk; a chunk has no bytes; the sizes do not add up to the collective's.
    `ORDER`
        A chunk does not visit every involved dimension exactly once in a phase it has, or has an order of another.
    `SEQUENCE`
        A dimension's sequence does not name every stage of that dimension exactly once, or the claimed times do not
        follow it.
    `PHASE_ORDER`
        All-Gather before Reduce-Scatter.
    `DEADLOCK`
        Sequences and orders wait for each other in a circle.
    `STAGES`
        The claimed times miss a stage, repeat one or name one that does not exist.
    `DURATION`, `TOO_EARLY`, `OVERLAP`
        A stage takes another time than it costs; starts before its chunk is there; starts while its dimension is held.
    `MAKESPAN`, `STATUS`
        The claimed finish time, or the claim of optimality, is false.
    `SCOPE`, `BOUND`, `CERTIFICATE`, `CERTIFIED_BOUND`
        The bound does not speak of this schedule; is false; comes with weights that prove nothing; claims more than its
        weights prove.
    `EXECUTION`
        The data an NPU holds at the end is not the collective's result (`themis_opt.judging.execution`).
    """

    FORM = "form"
    INSTANCE = "instance"
    CHUNKS = "chunks"
    SIZE = "size"
    TOTAL_SIZE = "total-size"
    ORDER = "order"
    SEQUENCE = "sequence"
    PHASE_ORDER = "phase-order"
    DEADLOCK = "deadlock"
    STAGES = "stages"
    DURATION = "duration"
    TOO_EARLY = "too-early"
    OVERLAP = "overlap"
    MAKESPAN = "makespan"
    STATUS = "status"
    SCOPE = "scope"
    BOUND = "bound"
    CERTIFICATE = "certificate"
    CERTIFIED_BOUND = "certified-bound"
    EXECUTION = "execution"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule or false claim.

    Attributes
    ----------
    rule
        Which rule.
    message
        One sentence that names the chunk, the stage and the dimension concerned, and both values.
    chunk, phase, dimension
        Where, as far as that applies; `dimension` is a 0-based index (``dim1`` in the message is index 0).
    expected, found
        What the rule asks for and what the schedule says, where there are two such values.
    """

    rule: ViolationKind
    message: str
    chunk: int | None = None
    phase: str | None = None
    dimension: int | None = None
    expected: object = None
    found: object = None

    def __str__(self) -> str:
        return self.message
