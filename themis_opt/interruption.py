"""When a signal may cut work short: while there is more to find, not while what was found is being checked and saved.

The command line's signal handler asks here; in a library nobody does, and `hold` and `release` change nothing.
"""

from __future__ import annotations

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

    def reset(self) -> None:
        """Forget everything: a program starts."""
        self._is_held = False
        self.received.clear()


INTERRUPTION = Interruption()
"""The one of this process."""
