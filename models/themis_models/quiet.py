"""Keeping stdout clean while a solver written in C runs.

HiGHS greets on stdout when its first object is created, whatever its options say, and it does so below Python:
replacing `sys.stdout` does not catch it. So the file descriptor itself is pointed elsewhere for a while.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock

STDOUT_FD = 1


class _Diversion:
    """The one place that knows where stdout really goes: the descriptor belongs to all threads at once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._depth = 0
        self._saved_fd: int | None = None

    def enter(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._saved_fd = self._divert()
            self._depth += 1

    def leave(self) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0 and self._saved_fd is not None:
                # What C wrote may still wait in its own buffer; let it go where it was meant to vanish.
                _flush_c_streams()
                os.dup2(self._saved_fd, STDOUT_FD)
                os.close(self._saved_fd)
                self._saved_fd = None

    @staticmethod
    def _divert() -> int | None:
        """Point stdout to nowhere; return a copy of where it went, or ``None`` when it is closed."""
        with suppress(AttributeError, ValueError, OSError):  # stdout may be None, closed or a broken pipe
            sys.stdout.flush()
        try:
            saved_fd = os.dup(STDOUT_FD)
        except OSError:
            return None
        _flush_c_streams()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, STDOUT_FD)
        os.close(nowhere)
        return saved_fd


_DIVERSION = _Diversion()


@contextmanager
def quiet_stdout() -> Iterator[None]:
    """Send everything written to file descriptor 1 to nowhere meanwhile.

    It may be nested and used by several threads: the descriptor is restored when the last one leaves. Text that
    Python has buffered before is written out first; a closed or replaced `sys.stdout` does no harm.
    """
    _DIVERSION.enter()
    try:
        yield
    finally:
        _DIVERSION.leave()


def _flush_c_streams() -> None:
    with suppress(OSError, AttributeError):  # no C library to ask: nothing to flush
        ctypes.CDLL(None).fflush(None)
