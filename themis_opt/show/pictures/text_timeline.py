"""The timeline for a terminal: a letter per column and dimension, readable without colour."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from themis_opt.problem.errors import InputError
from themis_opt.show.pictures.scales import (
    MAX_TITLE,
    Floats,
    are_dark,
    chunk_colors,
    describe_instances,
    plain_label,
    round_step,
    scale_for,
    times_beside,
)
from themis_opt.show.pictures.subject import Schedules, Subject, headings, subjects_of

if TYPE_CHECKING:
    from rich.text import Text

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
IDLE = "."
MIN_WIDTH = 40
_TICKS = 5
_APART, _INDENT = "   ", "  "
_DARK_BELOW = 0.43


def text_timeline(schedules: Schedules, *, width: int = 80, title: str = "") -> Text:
    """Return when every stage holds its dimension, as lines of text with colours for those terminals that have them.

    A column is a slice of time and shows the chunk that holds the dimension for most of it: its letter, a capital in
    Reduce-Scatter and All-to-All, a small one in All-Gather; ``.`` is idle. With more than 26 chunks several
    neighbours share a letter. A caret below the rows of a schedule marks its bound.

    Parameters
    ----------
    schedules
        Schedules by name, or subjects.
    width
        Columns, at least 40.
    title
        The first line; default: what the schedules' instances are.

    Raises
    ------
    InputError
        When there is nothing to draw or too much, or the lines are too short.
    """
    from rich.text import Text

    if width < MIN_WIDTH:
        raise InputError(f"width is {width}; a timeline needs at least {MIN_WIDTH} columns")
    subjects = subjects_of(schedules)
    names = max(len(f"dim{k + 1}") for subject in subjects for k in subject.instance.involved)
    num_columns = width - names - 1
    end_ps = float(max(max(subject.makespan_ps, subject.bound.value_ps) for subject in subjects)) or 1.0
    bounds = times_beside([float(subject.bound.value_ps) for subject in subjects], end_ps)
    out = Text(no_wrap=True, end="")
    head = plain_label(title, max(width, MAX_TITLE)) or describe_instances([subject.instance for subject in subjects])
    out.append(_wrapped(head, width), "bold")
    for idx, (subject, heading) in enumerate(zip(subjects, headings(subjects), strict=True)):
        out.append("\n" + _wrapped(heading, width), "bold")
        for k in subject.instance.involved:
            out.append(f"dim{k + 1}".ljust(names) + " ")
            _append_row(out, subject, *_columns(subject, k, num_columns, end_ps))
            out.append("\n")
        out.append(
            " " * (names + 1) + _mark(subject.bound.value_ps / end_ps, f"bound {bounds[idx]}", num_columns) + "\n"
        )
    out.append("\n" + " " * (names + 1) + _axis(end_ps, num_columns) + "\n")
    for line in _legend(subjects):
        out.append(_wrapped(line, width, _APART))
    return out


def _columns(subject: Subject, dimension: int, num_columns: int, end_ps: float) -> tuple[np.ndarray, np.ndarray]:
    """Return which stage holds the dimension longest in each column (-1: none of them as long as it is idle)."""
    stages = subject.stages
    here = np.flatnonzero(stages.dimension == dimension)
    here = here[np.argsort(stages.start_ps[here], kind="stable")]  # of two that share a column evenly, the earlier one
    scale = num_columns / end_ps
    start, end = stages.start_ps[here] * scale, (stages.start_ps[here] + stages.hold_ps[here]) * scale
    held = np.zeros(num_columns)
    longest, winner = np.zeros(num_columns), np.full(num_columns, -1)
    for stage, left, right in zip(here, start, end, strict=True):
        for column in range(int(left), min(int(np.ceil(right)), num_columns)):
            share = min(right, column + 1) - max(left, column)
            held[column] += share
            if share > longest[column] + 1e-9:
                longest[column], winner[column] = share, stage
    lasts = np.clip(subject.makespan_ps * scale - np.arange(num_columns), 0.0, 1.0)
    winner[held < lasts - held - 1e-9] = -1
    return winner, lasts


def _append_row(out: Text, subject: Subject, winner: np.ndarray, lasts: Floats) -> None:
    """Append the letters of a row, nothing where the schedule has ended."""
    group, styles = _group(subject), _styles(subject.num_chunks)
    for stage, last in zip(winner, lasts, strict=True):
        if stage < 0:
            out.append(IDLE if last > 0 else " ", "dim")
            continue
        chunk = int(subject.stages.chunk[stage])
        letter = LETTERS[chunk // group]
        out.append(letter.lower() if subject.stages.gathers[stage] else letter, styles[chunk])


def _group(subject: Subject) -> int:
    """Return how many chunks share a letter."""
    return -(-subject.num_chunks // len(LETTERS))


def _styles(num_chunks: int) -> list[str]:
    """Return the colours of every chunk: its own behind black or white, whichever can be read."""
    colors = chunk_colors(num_chunks)
    return [
        f"{'white' if dark else 'black'} on rgb({','.join(str(round(255 * part)) for part in color)})"
        for color, dark in zip(colors, are_dark(colors, _DARK_BELOW), strict=True)
    ]


def _mark(part: float, label: str, num_columns: int) -> str:
    """Return a line with a caret at a part of its length, its label on the side that has room."""
    column = min(int(part * num_columns), num_columns - 1)
    if column + 2 + len(label) <= num_columns:
        return " " * column + "^ " + label
    return f"{label} ^".rjust(column + 1)


def _axis(end_ps: float, num_columns: int) -> str:
    """Return the time axis: a label under the column where its time begins."""
    scale = scale_for("ps", end_ps)
    step = round_step(end_ps / scale.factor / _TICKS)
    line = ""
    value = 0.0
    while value * scale.factor <= end_ps:
        text = f"|{value:.6g}" + ("" if value else f" {scale.unit}")
        column = int(value * scale.factor / end_ps * num_columns)
        if column + len(text) > num_columns:
            break
        line = line.ljust(column) + text
        value += step
    return line


def _legend(subjects: Sequence[Subject]) -> list[str]:
    phases = {phase.value for subject in subjects for phase in subject.instance.phases}
    parts = []
    if "rs" in phases:
        parts.append("A Reduce-Scatter")
    if "a2a" in phases:
        parts.append("A All-to-All")
    if "ag" in phases:
        parts.append("a All-Gather")
    parts += [f"{IDLE} idle for most of it", "^ bound"]
    counts = sorted({(subject.num_chunks, _group(subject)) for subject in subjects})
    chunks = [
        "A is chunk 0"
        + (f", {LETTERS[count - 1]} chunk {count - 1}" if group == 1 and count > 1 else "")
        + (f" to {group - 1}, and so on: {group} chunks a letter" if group > 1 else "")
        + (f" (of {count})" if len(counts) > 1 else "")
        for count, group in counts
    ]
    return [_APART.join(parts), *chunks]


def _wrapped(text: str, width: int, separator: str = ", ") -> str:
    """Return a text in lines of at most so many columns, broken behind separators where that will do."""
    lines: list[str] = []
    for part in text.split(separator):
        joined = f"{lines[-1]}{separator}{part}" if lines else part
        if not lines or len(joined.rstrip()) <= width:
            lines[-1:] = [joined]
        else:
            lines[-1] += separator.rstrip()
            lines.append(_INDENT + part)
    kept = [
        piece
        for line in lines
        for piece in (wrap(line, width, subsequent_indent=_INDENT) if len(line) > width else [line])
    ]
    return "".join(f"{line}\n" for line in kept)
