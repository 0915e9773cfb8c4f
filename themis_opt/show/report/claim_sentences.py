"""What a report claims of the best schedule of an instance, and on whose word: the certificate in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from themis_opt.judging.certify import Certification, certify, summary_lines
from themis_opt.problem.schedule import Status
from themis_opt.problem.units import format_time
from themis_opt.questions.comparison import Run
from themis_opt.questions.row import Row
from themis_opt.show.report.reasons import Reason, is_by_path, reasons_of
from themis_opt.show.words import (
    count_chunks,
    describe_bound,
    describe_reference,
    format_gap,
    format_speedup,
    name_reference,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed of a schedule.

    Attributes
    ----------
    headline
        The result in a sentence.
    standing
        How far it is proven, in a few words.
    is_proven
        Whether all of the bound was proven here, without a solver.
    lines
        What was re-proved and what rests on somebody's word, as ``themis-opt certify`` says it.
    reasons
        Why no schedule in the bound's scope can be faster.
    remarks
        What speedups are over, other bounds, and notes on the rows.
    """

    headline: str
    standing: str
    is_proven: bool
    lines: tuple[str, ...]
    reasons: tuple[Reason, ...]
    remarks: tuple[str, ...]


def best_row(run: Run) -> Row:
    """Return the row with the shortest makespan, the first of several."""
    return min(run.rows, key=lambda row: row.makespan_ps)


def claim_of(run: Run) -> Claim:
    """Return what is claimed of the best schedule of a run; every schedule in it has been judged to be right."""
    row = best_row(run)
    certification = certify(row.schedule.replace(makespan_ps=row.makespan_ps))
    return Claim(
        _headline(run, row),
        _standing(row, certification),
        not certification.trusted_ps,
        tuple(summary_lines(certification)),
        reasons_of(certification),
        tuple(_remarks(run, row)),
    )


def _headline(run: Run, row: Row) -> str:
    text = f"{row.name} takes {format_time(row.makespan_ps)} with {count_chunks(row.schedule.num_chunks)}"
    if row.name != run.reference.name:
        rival = f"{name_reference(run.reference)} ({format_time(run.reference.makespan_ps)})"
        text += f", {format_speedup(row.speedup)} the speed of {rival}"
    others = [other for other in run.rows if other is not row]
    if others and all(other.makespan_ps > row.makespan_ps for other in others):
        text += f"; it is the fastest of {len(run.rows)}"
    return text + "."


def _standing(row: Row, certification: Certification) -> str:
    scope = row.bound.scope
    word = f"on the word of {row.bound.kind}"
    if not certification.trusted_ps:
        word = "proven here without a solver"
        if is_by_path(certification):
            word += ", by the critical path of one chunk"
        elif certification.argument is not None:
            word += ", by the certificate"
    if row.makespan_ps == row.bound.value_ps or row.schedule.status is Status.OPTIMAL:
        return f"Optimal for {scope}: {word}"
    return f"At most {format_gap(row.gap)} above the optimum for {scope}: {word}"


def _remarks(run: Run, best: Row) -> Sequence[str]:
    remarks = [f"speedup: over {describe_reference(run.reference)}"]
    if run.bound.scope != best.bound.scope:
        remarks.append(f"bound for the instance as asked: {describe_bound(run.bound)}")
    remarks.append(f"ideal {format_time(run.ideal_ps)} (every dimension busy all the time, no latency)")
    for row in run.rows:
        if row.bound_any is not None:
            remarks.append(
                f"{row.name}: at most {format_gap(row.gap_any or 0.0)} above {describe_bound(row.bound_any)}"
            )
        if row.note:
            remarks.append(f"{row.name}: {row.note}")
    if run.predictions:
        names = ", ".join(row.name for row in run.predictions)
        remarks.append(f"{names}: predicted by a formula; no schedule, and no bound of its own")
    return remarks
