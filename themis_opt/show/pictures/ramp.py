"""Which colour is which chunk: a ramp from dark to light, and the bar that explains it.

The ramp (viridis without its ends) rises in lightness, so that it can be read in grey and by the colour-blind.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np

from themis_opt.show.pictures.subject import Floats, Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DARKEST, _LIGHTEST = 0.08, 0.9
_FEW = 16
"""Up to so many chunks the colour bar has a field for each."""
_MOST_STEPS = 5


def chunk_colors(num_chunks: int) -> Floats:
    """Return the colour of every chunk, shape (chunks, 4), from dark to light."""
    from matplotlib import colormaps

    return np.asarray(colormaps["viridis"](np.linspace(_DARKEST, _LIGHTEST, max(num_chunks, 2)))[:num_chunks])


def round_ticks(num_chunks: int) -> list[int]:
    """Return the chunks that a long colour bar names: the first, the last, and a few round numbers between them.

    >>> round_ticks(512), round_ticks(100)
    ([0, 128, 256, 384, 511], [0, 20, 40, 60, 80, 99])
    """
    last = num_chunks - 1
    if num_chunks & last == 0:  # a power of two: its quarters
        step = max(num_chunks // 4, 1)
    else:
        power = 10 ** floor(log10(num_chunks / _MOST_STEPS))
        step = next(int(power * part) for part in (1, 2, 5, 10) if power * part * _MOST_STEPS >= num_chunks)
    return [*(tick for tick in range(0, last, step) if 2 * (last - tick) > step), last]


def draw_chunk_bar(ax: Axes, subjects: Sequence[Subject]) -> None:
    """Draw a colour bar that says which colour is which chunk; with one chunk there is nothing to say."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap, Normalize

    counts = {subject.num_chunks for subject in subjects}
    largest = max(counts)
    if largest == 1:
        return
    figure = ax.get_figure(root=False)
    assert figure is not None
    ticks: Sequence[float]
    norm: Normalize
    if len(counts) == 1 and largest <= _FEW:
        norm, ticks = BoundaryNorm(np.arange(largest + 1) - 0.5, largest), range(largest)
        colors = ListedColormap(chunk_colors(largest))
    else:
        # Schedules with different numbers of chunks share the ramp, each from its first to its last one.
        norm, ticks = Normalize(0, largest - 1), [0, largest - 1]
        if len(counts) == 1:
            ticks = round_ticks(largest)
        colors = ListedColormap(chunk_colors(256))
    bar = figure.colorbar(ScalarMappable(norm, colors), ax=ax, pad=0.01, aspect=30, fraction=0.03, ticks=ticks)
    bar.set_label("chunk" if len(counts) == 1 else "chunk, from the first to the last of its schedule")
    bar.ax.invert_yaxis()
    bar.ax.tick_params(length=2)
    if len(counts) > 1:
        bar.ax.set_yticks(ticks, ["first", "last"])
    bar.ax.minorticks_off()
