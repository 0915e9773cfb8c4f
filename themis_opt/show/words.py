"""Instances, bounds and ratios in words: one wording for the command line's tables and for reports."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import isinf

from themis_opt.problem.bound import Bound
from themis_opt.problem.instance import Instance
from themis_opt.problem.units import exact_text, format_size, format_time
from themis_opt.questions.speedup_reference import BEST_OF_OTHERS, OTHERS, Reference

LIST_OF_OTHERS = f"{', '.join(OTHERS[:-1])} and {OTHERS[-1]}"


def title(instance: Instance, chunks: str | None = None) -> str:
    """Return one line that says what an instance is; `chunks` stands for its number of chunks where another is meant.

    Overheads that differ look different: they are exact.
    """
    subset = ""
    if any(k not in instance.involved for k, d in enumerate(instance.network.dimensions) if d.size > 1):
        subset = " on " + "+".join(f"dim{k + 1}" for k in instance.involved)
    if chunks is None:
        chunks = count_chunks(instance.num_chunks)
    overhead = f", {_exact_time(instance.chunk_overhead_ps)} overhead each" if instance.chunk_overhead_ps else ""
    return (
        f"{instance.network.name}: {instance.collective}{subset}, {format_size(instance.size_bytes)}, "
        f"{chunks}{overhead}, {instance.occupancy}, {instance.num_npus} NPUs"
    )


def count_chunks(num_chunks: int) -> str:
    """Return a number of chunks in words."""
    return f"{num_chunks} chunk{'s' if num_chunks != 1 else ''}"


def name_reference(reference: Reference) -> str:
    """Return what speedups are over, with its number of chunks where it has one."""
    if reference.num_chunks is None:
        return reference.name
    return f"{reference.name} with {count_chunks(reference.num_chunks)}"


def describe_reference(reference: Reference) -> str:
    """Return what speedups are over, its time, and why it is that."""
    text = f"{name_reference(reference)} ({format_time(reference.makespan_ps)})"
    return f"{text}, the best of {LIST_OF_OTHERS}" if reference.asked == BEST_OF_OTHERS else text


def describe_references(references: Iterable[Reference]) -> str:
    """Return in words what the speedups on several instances are over."""
    asked = dict.fromkeys(reference.asked for reference in references)
    texts = [f"the best of {LIST_OF_OTHERS} on each instance" if one == BEST_OF_OTHERS else one for one in asked]
    return " or ".join(texts)


def describe_bound(bound: Bound) -> str:
    """Return a bound's value, kind, scope and what of it is certified."""
    text = f"{format_time(bound.value_ps)} ({bound.kind}; for {bound.scope})"
    if bound.certified_ps is not None and bound.certified_ps < bound.value_ps:
        text += f"; certified {format_time(bound.certified_ps)}"
    elif bound.certified_ps is not None:
        text += "; certified"
    return text


def format_gap(gap: float) -> str:
    """Return a gap as a percentage; exactly 0 is told apart from almost 0, and a gap to a bound of 0 is infinite."""
    if gap == 0:
        return "0 %"
    if isinf(gap):
        return "inf"
    return f"{gap:.2%}" if gap >= 0.0001 else f"{gap:.4%}" if gap >= 1e-6 else "<0.0001%"


def format_speedup(factor: float, places: int = 2) -> str:
    """Return a speedup: infinite for a makespan of 0 ps where the reference takes longer."""
    return "inf" if isinf(factor) else f"{factor:.{places}f}x"


def _exact_time(time_ps: int) -> str:
    units = (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3), ("ps", 1))
    unit, scale = next((unit, scale) for unit, scale in units if time_ps >= scale)
    return exact_text(Fraction(time_ps, scale), unit)
