"""The errors this package raises on purpose, one class per reaction of the caller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from themis_opt.problem.violation import Violation


class ThemisError(Exception):
    """Base class: catch it to handle everything this package raises on purpose."""


class InputError(ThemisError):
    """Something a person or a file supplied is wrong; the message says what and how to mend it.

    Catch it where input is read and show the message: it needs no traceback.
    """

    def at(self, place: str, separator: str = ": ") -> InputError:
        """Return the same error with the place it was found (a file, a key's path) in front."""
        return type(self)(f"{place}{separator}{self}")


@contextmanager
def located(place: str, separator: str = ": ") -> Iterator[None]:
    """Put a place (a file, a key's path) in front of every `InputError` that is raised inside.

    Parameters
    ----------
    place
        Where the input stands that is being looked at.
    separator
        What joins the two: ``.`` continues the path of a key.

    Raises
    ------
    InputError
        The one raised inside, with the place in front.
    """
    try:
        yield
    except InputError as error:
        raise error.at(place, separator) from None


class DeadlockError(ThemisError):
    """Sequences and chunk orders wait for each other in a circle, so the schedule never ends.

    Attributes
    ----------
    cycle
        The stages on the circle, each ``(chunk, phase, dimension)``; each one waits for the next
        and the last waits for the first.
    """

    def __init__(self, cycle: Sequence[tuple[int, str, int]]) -> None:
        self.cycle = tuple(cycle)
        steps = " -> ".join(f"chunk {c} {phase} dim{k + 1}" for c, phase, k in self.cycle)
        super().__init__(f"deadlock: each of these stages waits for the next, in a circle: {steps}")


class InvalidScheduleError(ThemisError):
    """A schedule breaks a rule or states something untrue; raised by `validation.check`.

    Attributes
    ----------
    violations
        Every violation found, in the order they were found.
    """

    def __init__(self, violations: Sequence[Violation]) -> None:
        self.violations = tuple(violations)
        shown = [str(violation) for violation in self.violations[:5]]
        if len(self.violations) > len(shown):
            shown.append(f"... and {len(self.violations) - len(shown)} more")
        super().__init__("\n".join(shown))


class SolverError(ThemisError):
    """A solver failed, died or broke its contract; the heuristics still have their schedules."""


class SchedulerError(ThemisError):
    """A scheduler failed or brought a schedule that breaks a rule; the others are not concerned."""


class NoScheduleError(ThemisError):
    """No schedule was found within the limits given; give more time or another solver."""
