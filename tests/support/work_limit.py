"""An end for work that would not end: a limit on the processor, far above what anything here takes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

LIMIT_S = 20.0
"""Of the process's own work, whatever else the machine does: some hundred times what the slowest hostile file takes."""


class EndlessWorkError(AssertionError):
    """Something went on and on."""


@contextmanager
def limited_work() -> Iterator[None]:
    """Stop what is inside when it is without end, or as good as: what grows with the square of a file does not pass."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise EndlessWorkError("it does not end")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
