"""The line on stderr that shows how far a solver is while it works; nothing when stderr is no terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from themis_opt.cli.options import progress_is_visible
from themis_opt.problem.units import format_time
from themis_opt.show.words import format_gap
from themis_opt.solving.protocol import Progress

if TYPE_CHECKING:
    from rich.text import Text

REDRAWS_PER_S = 4
"""How often the line is drawn, whether or not anything is new: the seconds move, a flood of reports costs nothing."""

UNKNOWN = "-"


class Relay:
    """A listener whose target can change: whatever line is shown at the moment."""

    def __init__(self) -> None:
        self.show: Callable[[Progress], None] = lambda progress: None

    def __call__(self, progress: Progress) -> None:
        """Pass a report on."""
        self.show(progress)


class ProgressLine:
    """Incumbent, bound, gap, phase and seconds, each always at the same place of one line.

    Parameters
    ----------
    what
        Who works: the name of a solver.
    clock
        Seconds since some moment.
    """

    def __init__(self, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._clock = clock
        self._started = clock()
        self._phase = "starting"
        self._incumbent_ps: int | None = None
        self._bound_ps: int | None = None

    def show(self, progress: Progress) -> None:
        """Take a report; what it does not mention stays as it was."""
        self._phase = progress.phase
        if progress.incumbent is not None and progress.incumbent.makespan_ps is not None:
            self._incumbent_ps = progress.incumbent.makespan_ps
        if progress.bound is not None:
            self._bound_ps = progress.bound.value_ps

    def render(self) -> Text:
        """Return the line as it stands now; where the terminal is too narrow its end is cut off."""
        from rich.text import Text

        incumbent = UNKNOWN if self._incumbent_ps is None else format_time(self._incumbent_ps)
        bound = UNKNOWN if self._bound_ps is None else format_time(self._bound_ps)
        gap = UNKNOWN
        if self._incumbent_ps is not None and self._bound_ps:
            gap = format_gap(self._incumbent_ps / self._bound_ps - 1)
        # A phase is whatever a solver calls it: text, and no commands to the terminal.
        phase = "".join(character for character in self._phase if character.isprintable())
        line = (
            f"{self._what}  {self._clock() - self._started:4.0f} s  incumbent {incumbent:<10}  bound {bound:<10}  "
            f"gap {gap:<8}  {phase}"
        )
        return Text(line, no_wrap=True, overflow="ellipsis")


@contextmanager
def progress_line(what: str) -> Iterator[Callable[[Progress], None]]:
    """Show a line that the function given follows; it disappears at the end."""
    if not progress_is_visible():
        yield lambda progress: None
        return
    from rich.console import Console
    from rich.live import Live

    line = ProgressLine(what)
    live = Live(
        console=Console(stderr=True, highlight=False),
        get_renderable=line.render,
        refresh_per_second=REDRAWS_PER_S,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with live:
        yield line.show
