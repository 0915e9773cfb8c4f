"""Words in pictures: names from files as plain text, units for axes, one line that says what is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from themis_opt.problem.instance import Instance
from themis_opt.problem.units import BANDWIDTH_UNITS, SIZE_UNITS, TIME_UNITS, format_size, format_time

MAX_NAME = 44
"""Characters of a name that a picture shows."""
MAX_TITLE = 72
"""Characters of a title."""
_LEAST = 1e-4
"""Of a unit: less of it would be shown with an exponent."""

_DECIMAL: Mapping[str, Mapping[str, Fraction]] = {
    "ps": {unit: factor for unit, factor in TIME_UNITS.items() if unit.isascii()},
    "B": {unit: factor for unit, factor in SIZE_UNITS.items() if "i" not in unit},
    "B/s": {unit: factor for unit, factor in BANDWIDTH_UNITS.items() if "i" not in unit and "b" not in unit},
}


@dataclass(frozen=True, slots=True)
class Scale:
    """The unit of an axis, and how many of the data's units (ps, B, B/s) make one of it."""

    unit: str
    factor: float

    def text(self, value: float) -> str:
        """Return a value of the data as the axis shows it, without its unit."""
        return f"{value / self.factor:.6g}"

    def of(self, what: str) -> str:
        """Return the label of an axis: ``time [us]``."""
        return f"{what} [{self.unit}]" if self.unit else what


def scale_for(unit: str, largest: float) -> Scale:
    """Return the decimal unit for values in `unit` (``ps``, ``B``, ``B/s``; others stay) of which this is the largest.

    >>> scale_for("ps", 816_500_000).of("time")
    'time [us]'
    """
    known = _DECIMAL.get(unit)
    if known is None:
        return Scale(unit, 1.0)
    fitting = {name: factor for name, factor in known.items() if factor <= largest} or {unit: Fraction(1)}
    name = max(fitting, key=lambda name: fitting[name])
    return Scale(name, float(fitting[name]))


def times_beside(times_ps: Sequence[float], end_ps: float) -> list[str]:
    """Return times in the unit of an axis that ends at `end_ps`, so that they can be read off against it.

    Each has five digits, whatever stands beside it; one that is next to nothing in that unit keeps its own.

    >>> times_beside([1_005_600_000, 816_500_000, 900], 1_005_600_000)
    ['1.0056 ms', '0.8165 ms', '900 ps']
    """
    scale = scale_for("ps", end_ps)
    return [
        format_time(time_ps) if 0 < time_ps < _LEAST * scale.factor else f"{time_ps / scale.factor:.5g} {scale.unit}"
        for time_ps in times_ps
    ]


def plain_label(text: str, width: int = MAX_NAME) -> str:
    """Return a text on one line, what cannot be shown escaped, a long one without its middle.

    Whoever draws it must still tell matplotlib that it holds no mathematics (``parse_math=False``).
    """
    clean = "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
    if len(clean) <= width:
        return clean
    head = (width - 3) // 3
    return f"{clean[:head]}...{clean[head + 3 - width :]}"


def describe_instances(instances: Sequence[Instance]) -> str:
    """Return what all these instances are, their numbers of chunks left out; of different ones, what they share."""
    first = instances[0]
    parts = [
        plain_label(first.network.name) if len({instance.network.name for instance in instances}) == 1 else "",
        str(first.collective) if len({instance.collective for instance in instances}) == 1 else "",
        format_size(first.size_bytes) if len({instance.size_bytes for instance in instances}) == 1 else "",
        str(first.occupancy) if len({instance.occupancy for instance in instances}) == 1 else "",
        f"{first.num_npus} NPUs" if len({instance.num_npus for instance in instances}) == 1 else "",
    ]
    return ", ".join(part for part in parts if part)
