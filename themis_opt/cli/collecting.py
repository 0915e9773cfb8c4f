"""Collecting what a verb works out one by one, so that Ctrl-C, a signal or a mistake costs only what is not done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from themis_opt.cli.exits import Exit, exit_code
from themis_opt.cli.progress import Relay, progress_line
from themis_opt.problem.errors import InputError
from themis_opt.problem.interruption import INTERRUPTION


class Interruptible(Protocol):
    """A result that an interruption may have cut short."""

    @property
    def interruption(self) -> KeyboardInterrupt | None:
        """What cut it short, or ``None``."""


Result = TypeVar("Result", bound=Interruptible)


@dataclass
class Collected(Generic[Result]):
    """What is done, and what ended it early.

    Attributes
    ----------
    results
        At least one, unless there was nothing to do.
    end
        The interruption or mistake after which nothing more was done, or ``None``.
    """

    results: list[Result]
    end: InputError | KeyboardInterrupt | None = None

    def leave(self) -> None:
        """Tell what ended it early, once everything is saved.

        Raises
        ------
        InputError
            The mistake.
        Exit
            After an interruption.
        """
        if isinstance(self.end, KeyboardInterrupt):
            raise Exit(exit_code(self.end))
        if self.end is not None:
            raise self.end


def collect(
    results: Iterator[Result], labels: Iterable[str], relay: Relay, keep: Callable[[Result], None]
) -> Collected[Result]:
    """Return the results there are until the labels or the results end, or something ends them early.

    From the first one on signals wait, while a result is kept, and from the end on until the program's: everything is
    saved then. Whatever makes the next result lets them interrupt it.

    Parameters
    ----------
    results
        Works out a result whenever it is asked for the next one.
    labels
        What the progress line calls each of them.
    relay
        Passes on to that line what a solver reports.
    keep
        Saves or prints a result, after the progress line is gone.

    Raises
    ------
    InputError, KeyboardInterrupt
        When there was no result before.
    """
    found: Collected[Result] = Collected([])
    try:
        for label in labels:
            with progress_line(label) as relay.show:
                result = next(results, None)
            if result is None:
                break
            INTERRUPTION.hold()
            found.results.append(result)
            found.end = result.interruption
            keep(result)
    except (InputError, KeyboardInterrupt) as error:
        if not found.results:
            raise
        found.end = error
    INTERRUPTION.hold()
    return found
