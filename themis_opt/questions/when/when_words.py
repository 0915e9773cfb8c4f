"""What a comparison over message sizes says, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from themis_opt.problem.schedule import Schedule
from themis_opt.problem.units import format_size
from themis_opt.questions.when.when import Comparison, Span, Verdict, is_longer, spans


def findings(comparisons: Sequence[Comparison], themis_threshold: float, optimum_threshold: float) -> list[str]:
    """Return sentences on where the three part ways, and on what that rests.

    Parameters
    ----------
    comparisons
        One for each size, ascending.
    themis_threshold
        Themis has to be faster than the baseline by more than this part to count.
    optimum_threshold
        The optimum has to be faster than either by more than this part to count.
    """
    more, much_more = _percent(themis_threshold), _percent(optimum_threshold)
    ahead = spans(comparisons, lambda one: _is_faster(one.themis, one.baseline, themis_threshold))
    behind = spans(comparisons, lambda one: _is_faster(one.baseline, one.themis, themis_threshold))
    beats = f"Themis beats the baseline by more than {more}"
    lines = [_where(ahead, beats) if ahead else f"at no size: {beats}"]
    if behind:
        lines.append(_where(behind, f"the baseline beats Themis by more than {more}"))
    for name, of in (("Themis", _themis), ("the baseline", _baseline)):
        lines += _of_optimum(comparisons, name, of, optimum_threshold, much_more)
    return lines


def _of_optimum(
    comparisons: Sequence[Comparison], name: str, of: Callable[[Comparison], Schedule], threshold: float, percent: str
) -> list[str]:
    def spans_with(verdict: Verdict) -> tuple[Span, ...]:
        return spans(comparisons, lambda one: one.optimum_gains(of(one), threshold) is verdict)

    yes, no, unknown = (spans_with(verdict) for verdict in (Verdict.YES, Verdict.NO, Verdict.OPEN))
    lines = []
    if yes:
        lines.append(_where(yes, f"the optimum beats {name} by more than {percent} (proven by a schedule)"))
    if no:
        lines.append(_where(no, f"no schedule beats {name} by more than {percent} (proven by the bound)"))
    if unknown:
        lines.append(_where(unknown, f"it is open whether the optimum beats {name} by more than {percent}"))
    return lines


def _is_faster(one: Schedule, other: Schedule, threshold: float) -> bool:
    return is_longer(other.timed_ps, one.timed_ps, threshold)


def _where(found: Sequence[Span], what: str) -> str:
    return f"{' and '.join(map(_span, found))}: {what}"


def _span(span: Span) -> str:
    if span.from_start and span.to_end:
        return "at every size"
    first, last = format_size(span.first_bytes), format_size(span.last_bytes)
    if first == last:
        return f"at {first}"
    if span.to_end:
        return f"from {first} on"
    if span.from_start:
        return f"up to {last}"
    return f"from {first} to {last}"


def _percent(part: float) -> str:
    return f"{100 * part:g} %"


def _themis(comparison: Comparison) -> Schedule:
    return comparison.themis


def _baseline(comparison: Comparison) -> Schedule:
    return comparison.baseline
