"""The line on stderr that shows incumbent, bound and gap while a solver works; nothing when stderr is no terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from themis_opt.cli.options import progress_is_visible
from themis_opt.cli.tables import format_gap
from themis_opt.solving.protocol import Progress
from themis_opt.units import format_time


class Relay:
    """A listener whose target can change: whatever line is shown at the moment."""

    def __init__(self) -> None:
        self.show: Callable[[Progress], None] = lambda progress: None

    def __call__(self, progress: Progress) -> None:
        """Pass a report on."""
        self.show(progress)


@contextmanager
def progress_line(what: str) -> Iterator[Callable[[Progress], None]]:
    """Show a line that the function given follows; it disappears at the end."""
    if not progress_is_visible():
        yield lambda progress: None
        return
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    started = time.monotonic()
    with console.status(what) as status:

        def show(progress: Progress) -> None:
            parts = [what, progress.phase]
            makespan_ps = None if progress.incumbent is None else progress.incumbent.makespan_ps
            if makespan_ps is not None:
                parts.append(f"incumbent {format_time(makespan_ps)}")
            if progress.bound is not None:
                parts.append(f"bound {format_time(progress.bound.value_ps)}")
                if makespan_ps is not None and progress.bound.value_ps > 0:
                    parts.append(f"gap {format_gap(makespan_ps / progress.bound.value_ps - 1)}")
            parts.append(f"{time.monotonic() - started:.0f} s")
            status.update(" | ".join(parts))

        yield show
