"""Keeping a process's standard output for its answers to whoever started it."""

from __future__ import annotations

import os
from typing import BinaryIO


def private_stdout() -> BinaryIO:
    """Return the process's stdout as a stream of our own and point file descriptor 1 to nowhere."""
    private = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return os.fdopen(private, "wb")
