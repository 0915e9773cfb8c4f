"""What colours, units and steps of axes mean, the same for pictures and for the terminal; names as plain text.

Chunks have the colours of a ramp from dark to light (viridis without its ends), which can be read in grey and by the
colour-blind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log10

import numpy as np
from numpy.typing import NDArray

from themis_opt.problem.checks import escaped
from themis_opt.problem.instance import Instance
from themis_opt.problem.units import BANDWIDTH_UNITS, SIZE_UNITS, TIME_UNITS, format_size, format_time

Floats = NDArray[np.float64]

MAX_NAME = 44
"""Characters of a name that a picture shows."""
MAX_TITLE = 72
"""Characters of a title."""
_LEAST = 1e-4
"""Of a unit: less of it would be shown with an exponent."""
_MOST_STEPS = 5

# Nine of viridis' colours from 0.08 to 0.9: straight lines between them differ from it by less than the eye can see.
_RAMP = np.array(
    [
        (0.283, 0.116, 0.436),
        (0.262, 0.242, 0.521),
        (0.214, 0.356, 0.551),
        (0.168, 0.460, 0.558),
        (0.131, 0.556, 0.552),
        (0.130, 0.651, 0.522),
        (0.253, 0.742, 0.448),
        (0.478, 0.821, 0.318),
        (0.741, 0.873, 0.150),
    ]
)
_LUMINANCE = (0.299, 0.587, 0.114)

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


def round_step(least: float) -> float:
    """Return the next of 1, 2, 2.5 and 5 times a power of ten."""
    power = 10.0 ** floor(log10(least))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= least * (1 - 1e-9))


def round_ticks(num_chunks: int) -> list[int]:
    """Return the chunks that a long colour bar names: the first, the last, and a few round numbers between them.

    >>> round_ticks(512), round_ticks(100)
    ([0, 128, 256, 384, 511], [0, 20, 40, 60, 80, 99])
    """
    last = num_chunks - 1
    is_power_of_two = num_chunks & last == 0
    step = max(num_chunks // 4, 1) if is_power_of_two else ceil(round_step(num_chunks / _MOST_STEPS))
    return [*(tick for tick in range(0, last, step) if 2 * (last - tick) > step), last]


def chunk_colors(num_chunks: int) -> Floats:
    """Return the colour of every chunk, shape (chunks, 3), parts from 0 to 1, from dark to light."""
    places = np.linspace(0, len(_RAMP) - 1, max(num_chunks, 2))[:num_chunks]
    return np.stack([np.interp(places, np.arange(len(_RAMP)), part) for part in _RAMP.T], axis=1)


def are_dark(colors: Floats, below: float) -> NDArray[np.bool_]:
    """Return of each colour whether white is read better on it than black; `below` is the lightness of the limit."""
    dark: NDArray[np.bool_] = colors[..., :3] @ _LUMINANCE < below
    return dark


def plain_label(text: str, width: int = MAX_NAME) -> str:
    """Return a text on one line, what cannot be shown escaped, a long one without its middle.

    Whoever draws it must still tell matplotlib that it holds no mathematics (``parse_math=False``).
    """
    clean = escaped(text)
    if len(clean) <= width:
        return clean
    head = (width - 3) // 3
    return f"{clean[:head]}...{clean[head + 3 - width :]}"


def describe_instances(instances: Sequence[Instance]) -> str:
    """Return what all these instances are, their numbers of chunks left out; of different ones, what they share."""
    traits = [
        (
            plain_label(instance.network.name),
            str(instance.collective),
            format_size(instance.size_bytes),
            str(instance.occupancy),
            f"{instance.num_npus} NPUs",
        )
        for instance in instances
    ]
    return ", ".join(dict.fromkeys(trait[0] for trait in zip(*traits, strict=True) if len(set(trait)) == 1))
