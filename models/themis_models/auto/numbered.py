"""Numbered starts of a search, run by several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class NumberedStarts:
    """Runs starts 0, 1, 2 … in threads; a later call goes on where the last one stopped.

    The compiled kernel lets threads run side by side. With one thread the same starts follow each other in every run.

    Parameters
    ----------
    start
        Runs the start of a number.
    is_over
        Whether no further start is wanted.
    """

    def __init__(self, start: Callable[[int], None], is_over: Callable[[], bool]) -> None:
        self._start = start
        self._is_over = is_over
        self._lock = threading.Lock()
        self._next = 0

    def run(self, num_workers: int, num_starts: int | None = None) -> None:
        """Run so many further starts, or all until it is over."""
        end = None if num_starts is None else self._next + num_starts
        with ThreadPoolExecutor(num_workers) as pool:
            workers = [pool.submit(self._work, end) for _ in range(num_workers)]
            for worker in workers:
                worker.result()

    def _work(self, end: int | None) -> None:
        while not self._is_over():
            with self._lock:
                number = self._next
                if end is not None and number >= end:
                    return
                self._next += 1
            self._start(number)
