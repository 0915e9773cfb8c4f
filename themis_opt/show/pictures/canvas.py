"""Figures without pyplot, and their files: the same figure gives the same bytes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any

from themis_opt.files.atomic import write_bytes
from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.errors import InputError
from themis_opt.show.pictures.scales import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg", ".pdf")
"""Of the files there are."""
DEFAULT_DPI = 150
MIN_DPI, MAX_DPI = 30, 1200
MAX_SIDE = 2**16
"""Pixels of a PNG's longer side; what matplotlib's renderer can do."""
MAX_PIXELS = 10**8
"""Of a PNG; they take 4 bytes each, and as much again while they are written."""

_CHARACTER_PT = 4.8
_APART_PT = 7.0
"""The width of a character of a label, and the room between two labels."""

_STYLE: dict[str, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.0,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "hatch.linewidth": 0.6,
    "svg.hashsalt": "themis-opt",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}
_NO_DATES: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": "themis-opt"},
    ".pdf": {"CreationDate": None, "Creator": "themis-opt", "Producer": None},
}


def require_matplotlib() -> None:
    """Raise when matplotlib is not installed.

    Raises
    ------
    InputError
        Saying what to install.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("plotting needs matplotlib: pip install 'themis-opt[plot]'") from None


def ending_of(path: str | os.PathLike[str], option: str = "") -> str:
    """Return the ending of a picture's file, which says its format; `option` is for the message.

    Raises
    ------
    InputError
        When there is no such format.
    """
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in ENDINGS:
        said = f"ends in {ending!r}" if ending else "has no ending"
        where = f"{option}: " if option else ""
        raise InputError(
            f"{where}{os.fspath(path)!r} {said}; a picture's file ends in one of: {', '.join(ENDINGS)}"
            f"{did_you_mean(ending, ENDINGS) if ending else ''}"
        )
    return ending


@contextmanager
def house_style() -> Iterator[None]:
    """Draw and save as the command line does, whatever the user's own settings of matplotlib say; they come back."""
    require_matplotlib()
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        # A name may hold characters that the font has not: it shows a box.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        matplotlib.rcdefaults()
        settings: Any = matplotlib.rcParams
        settings.update(_STYLE)
        yield


def new_axes(width_in: float, height_in: float) -> Axes:
    """Return the only axes of a new figure, which leaves room for every label."""
    return new_figure(width_in, height_in).add_subplot()


def new_figure(width_in: float, height_in: float) -> Figure:
    """Return an empty figure that needs no display.

    Raises
    ------
    InputError
        When matplotlib is not installed.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width_in, height_in), layout="constrained")


def num_fitting(ax: Axes, texts: Sequence[str]) -> int:
    """Return how many labels as long as the longest of these fit below some axes, at least two."""
    width_pt = float(figure_of(ax).get_figwidth() * 72 * ax.get_position().width)
    return max(2, int(width_pt / (_CHARACTER_PT * max(map(len, texts)) + _APART_PT)))


def label_beside(ax: Axes, text: str) -> str:
    """Return a label for the vertical side of some axes: on two lines where it is longer than they are high."""
    height_pt = float(figure_of(ax).get_figheight() * 72 * ax.get_position().height)
    spaces = [idx for idx, character in enumerate(text) if character == " "]
    if not spaces or len(text) * _CHARACTER_PT <= height_pt:
        return text
    middle = min(spaces, key=lambda idx: abs(2 * idx - len(text)))
    return f"{text[:middle]}\n{text[middle + 1 :]}"


def figure_of(ax: Axes) -> Figure:
    """Return the whole figure that axes belong to."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def hatch_boxes(ax: Axes, corners: Floats, hatch: str, *, facecolor: str, edgecolor: str, zorder: float) -> None:
    """Hatch boxes with corners of shape (boxes, 4, 2): as one path, since thousands take a hundred times as long.

    Parameters
    ----------
    ax
        The axes.
    corners
        Of the boxes, shape (boxes, 4, 2).
    hatch
        matplotlib's pattern.
    facecolor, edgecolor, zorder
        As in matplotlib.
    """
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if len(corners):
        path = Path.make_compound_path_from_polys(corners)
        look = {"facecolor": facecolor, "edgecolor": edgecolor, "hatch": hatch}
        ax.add_artist(PathPatch(path, linewidth=0, zorder=zorder, **look))


def save_picture(figure: Figure, path: str | os.PathLike[str], *, dpi: float = DEFAULT_DPI) -> None:
    """Write a figure to a file, whole or not at all; its ending says the format.

    Parameters
    ----------
    figure
        The figure: ``ax.figure`` of what the functions of this package return.
    path
        A file that ends in .png, .svg or .pdf.
    dpi
        Pixels per inch of a PNG, 30 to 1200.

    Raises
    ------
    InputError
        When there is no such format, the picture would be too large, or the file cannot be written.
    """
    ending = ending_of(path)
    if not MIN_DPI <= dpi <= MAX_DPI:
        raise InputError(f"dpi is {dpi}; allowed are {MIN_DPI} to {MAX_DPI}")
    width, height = (round(side_in * dpi) for side_in in figure.get_size_inches())
    if ending == ".png" and (max(width, height) >= MAX_SIDE or width * height > MAX_PIXELS):
        raise InputError(
            f"{os.fspath(path)}: would have {width} x {height} pixels; at most {MAX_PIXELS} are possible, and below "
            f"{MAX_SIDE} a side: choose fewer dpi, a smaller figure, or .svg"
        )
    data = BytesIO()
    with house_style():
        figure.savefig(data, format=ending[1:], dpi=dpi, metadata=_NO_DATES[ending])
    write_bytes(path, data.getvalue())
