"""Message sizes to design for: a range in equal steps on a logarithmic scale, or a list."""

from __future__ import annotations

from math import exp2, log2

from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.parameters import SIZE
from themis_opt.problem.units import format_size

MAX_SIZES = 1000
"""More sizes than anybody tunes for; a limit that turns a slip of the keyboard into a message."""


def parse_sizes(text: str, per_octave: int | None = None, points: int | None = None) -> tuple[int, ...]:
    """Return the sizes [bytes] that a text names, ascending, each once.

    Parameters
    ----------
    text
        Sizes and ranges ``START:END``, separated by commas, such as ``64KB,1MB:4GB``.
    per_octave
        How many sizes a range has for each doubling; default: one.
    points
        How many sizes a range has altogether; stands instead of `per_octave`.

    Raises
    ------
    InputError
        When a size is none, a range runs backwards, or there are too many.
    """
    if per_octave is not None and points is not None:
        raise InputError("--per-octave and --points both say how dense the sizes are; give one of them")
    if ":" not in text and (per_octave is not None or points is not None):
        raise InputError(f"--per-octave and --points are for a range such as 1MB:4GB, and {text!r} has none")
    sizes: set[int] = set()
    for part in text.split(","):
        start, colon, end = part.partition(":")
        if colon:
            sizes.update(size_range(SIZE.parse(start.strip()), SIZE.parse(end.strip()), per_octave, points))
        else:
            sizes.add(SIZE.parse(start.strip()))
    if len(sizes) > MAX_SIZES:
        raise InputError(f"{text!r} makes {len(sizes)} sizes; allowed are at most {MAX_SIZES}")
    return tuple(sorted(sizes))


def size_range(start: int, end: int, per_octave: int | None = None, points: int | None = None) -> tuple[int, ...]:
    """Return sizes from `start` to `end`, both included, in equal ratios but for the last and for rounding.

    Parameters
    ----------
    start, end
        The smallest and the largest size [bytes].
    per_octave
        How many sizes there are for each doubling; default: one.
    points
        How many there are altogether; stands instead of `per_octave`.

    >>> size_range(1000, 9000)
    (1000, 2000, 4000, 8000, 9000)
    >>> size_range(1000, 9000, points=3)
    (1000, 3000, 9000)

    Raises
    ------
    InputError
        When `end` is below `start`, or there are too many sizes.
    """
    if end < start:
        backwards, forwards = (
            f"{format_size(one)}:{format_size(other)}" for one, other in ((start, end), (end, start))
        )
        raise InputError(f"{backwards} runs backwards; write the smaller size first, {forwards}")
    octaves = log2(end / start)
    if points is not None:
        if not 1 <= points <= MAX_SIZES:
            raise InputError(f"--points is {points}; allowed are 1 to {MAX_SIZES}")
        if points == 1 and end != start:
            raise InputError("--points is 1, and a range has two ends; ask for at least 2, or name one size")
        steps = [octaves * step / max(points - 1, 1) for step in range(points)]
    else:
        dense = 1 if per_octave is None else per_octave
        if dense < 1 or dense * octaves > MAX_SIZES:
            raise InputError(f"--per-octave is {dense}; at least 1 is needed, and at most {MAX_SIZES} sizes are made")
        steps = [step / dense for step in range(int(octaves * dense) + 1)]
    # Rounding may bring two small sizes together, or carry one past an end.
    inner = [round(start * exp2(step)) for step in steps]
    return tuple(sorted({size for size in inner if start <= size <= end} | {start, end}))


def sizes_title(title: str, smallest: Instance, largest_bytes: int) -> str:
    """Return the title of an instance of the smallest size as one for all sizes up to the largest.

    Parameters
    ----------
    title
        The title, in which the size stands once behind the network's name.
    smallest
        The instance it is of.
    largest_bytes
        The largest size.
    """
    size = format_size(smallest.size_bytes)
    if smallest.size_bytes == largest_bytes:
        return title
    name = smallest.network.name  # which is anything, a size too
    return name + title.removeprefix(name).replace(size, f"{size} to {format_size(largest_bytes)}", 1)
