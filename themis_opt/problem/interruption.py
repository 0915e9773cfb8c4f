"""When a signal may cut work short: while there is more to find, not while what was found is being checked and saved.

The command line's signal handler asks here; in a library nobody does, and `hold` and `release` change nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")

POLL_S = 0.2
"""How often a thread that waits for a long call lets a signal through, where waiting itself does not."""

FORCE_AFTER = 3
"""So many signals end the program whatever it is doing."""


class Interruption:
    """Collects signals that arrive while they must not interrupt."""

    def __init__(self) -> None:
        self._is_held = False
        self.received: list[KeyboardInterrupt] = []

    def arrive(self, signal: KeyboardInterrupt) -> None:
        """Take a signal: raise it, or keep it for later.

        Raises
        ------
        KeyboardInterrupt
            The signal, unless it is held back.
        """
        self.received.append(signal)
        # Whoever presses Ctrl-C three times wants out, even at the price of what was being saved.
        if not self._is_held or len(self.received) >= FORCE_AFTER:
            raise signal

    def hold(self) -> None:
        """Let signals wait from now on."""
        self._is_held = True

    def release(self) -> None:
        """Let signals interrupt again; one that has waited does so at once.

        Raises
        ------
        KeyboardInterrupt
            A signal that arrived meanwhile.
        """
        was_held, self._is_held = self._is_held, False
        if was_held and self.received:
            raise self.received[0]

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let signals wait while what was found is being saved; one that has waited interrupts at the end.

        Raises
        ------
        KeyboardInterrupt
            A signal that arrived meanwhile.
        """
        self.hold()
        try:
            yield
        finally:
            self.release()

    @contextmanager
    def caught(self) -> Iterator[list[KeyboardInterrupt]]:
        """Let a signal end what stands inside, where what was found before is worth keeping.

        It is put on the list given; a second one waits until everything is saved.
        """
        signals: list[KeyboardInterrupt] = []
        try:
            yield signals
        except KeyboardInterrupt as signal:
            self.hold()
            signals.append(signal)

    def reset(self) -> None:
        """Forget everything: a program starts."""
        self._is_held = False
        self.received.clear()


INTERRUPTION = Interruption()
"""The one of this process."""


def interruptibly(work: Callable[[], Result]) -> Result:
    """Return what `work` returns; a signal interrupts it even in a long call that runs no Python.

    Python handles signals in the main thread between two of its own instructions, so a second in compiled code is a
    second without Ctrl-C. Here the main thread waits while another works. If a signal makes it stop waiting, that one
    goes on until its call is over or the program ends, and what it finds is dropped. The call has to release the
    interpreter's lock.

    Raises
    ------
    BaseException
        Whatever `work` raises, or the signal's exception.
    """
    # Only the main thread receives signals; elsewhere there is nothing to let through.
    if threading.current_thread() is not threading.main_thread():
        return work()
    outcome: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            errors.append(error)

    # A daemon does not keep the program alive when a signal has made its result worthless.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(POLL_S)
    if errors:
        raise errors[0]
    return outcome[0]
