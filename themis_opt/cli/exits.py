"""Exit codes, and leaving with one after everything has been printed and saved."""

from __future__ import annotations

GOOD = 0
FALSE_CLAIM = 1
BAD_INPUT = 2
NO_SCHEDULE = 3
DEFECT = 4
INTERRUPTED = 130
BROKEN_PIPE = 141
TERMINATED = 143


class Exit(Exception):
    """Leave with this code; what there is to say has been said."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(code)


class Terminated(KeyboardInterrupt):
    """SIGTERM, or SIGHUP, has arrived: everything that handles Ctrl-C handles it the same way."""


def exit_code(interruption: BaseException | None) -> int:
    """Return the exit code after an interruption: 143 after SIGTERM, 130 after Ctrl-C."""
    return TERMINATED if isinstance(interruption, Terminated) else INTERRUPTED
