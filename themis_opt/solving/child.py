"""A supervised process of this program, and what both ends say to each other: pickled objects, one a frame.

Solvers and the points of a study run in such processes, so that they can be stopped, die, or print what they like
without harm to whoever started them. Both ends are this program on this machine: nothing here reads what a user wrote.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO, NoReturn

START_LIMIT_S = 180.0
"""How long a process may take to load its packages and to compile, which it does once after installation."""

READY = "ready"
"""The first message of every process: it has loaded what it needs."""

_LENGTH = struct.Struct("<Q")
_KEPT_LINES = 20


class Child:
    """A running process, with a thread that reads what it says.

    Parameters
    ----------
    module
        The module it runs, as ``python -m`` does.
    arguments
        What it is told on its command line.
    heard
        Where its messages go, still pickled, each with this object; ``None`` once it has ended. Several may share it.
    """

    def __init__(
        self, module: str, arguments: Sequence[str], heard: queue.SimpleQueue[tuple[Child, bytes | None]]
    ) -> None:
        self._errors: list[bytes] = []
        self._process = subprocess.Popen(
            # -P: a yaml.py or queue.py in the user's folder is not ours to run.
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A session of its own, so that Ctrl-C reaches the parent alone, which then decides.
            start_new_session=True,
            # Nothing of ours does linear algebra in threads, and threads that wait for it keep processors busy.
            env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **os.environ},
        )
        threading.Thread(target=self._listen, args=(heard,), daemon=True).start()
        self._reading = threading.Thread(target=self._keep_errors, daemon=True)
        self._reading.start()

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def send(self, message: object) -> None:
        """Send a message.

        Raises
        ------
        OSError
            When the process has ended.
        """
        assert self._process.stdin is not None
        _write_frame(self._process.stdin, pickled(message))

    def kill(self) -> None:
        """End it, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def last_words(self) -> str:
        """Return how it ended: ``signal 9``, or an exit code with the last line that it wrote to stderr."""
        code = self._process.wait()
        # What it wrote last may not have been read yet; a process that it has left behind may keep stderr open.
        self._reading.join(timeout=1.0)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        last = b"".join(self._errors).decode(errors="replace").strip().splitlines()[-1:]
        return f"{how}{': ' + last[0] if last else ''}"

    def _listen(self, heard: queue.SimpleQueue[tuple[Child, bytes | None]]) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while (frame := _read_frame(self._process.stdout)) is not None:
                heard.put((self, frame))
        heard.put((self, None))

    def _keep_errors(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            for line in self._process.stderr:
                self._errors.append(line)
                del self._errors[:-_KEPT_LINES]


class Channel:
    """The other end: what a process of ours hears from whoever started it, and says to it.

    Making one takes stdout for the answers: what else is printed there goes nowhere. Ctrl-C is ignored, since the
    parent decides when to stop; when the parent closes stdin or is gone the process ends, whatever it is doing.
    """

    def __init__(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._answers = os.fdopen(os.dup(1), "wb")
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
        self._lock = threading.Lock()
        self._heard: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

    def send(self, message: object) -> None:
        """Send a message; safe to use from several threads."""
        frame = pickled(message)  # outside the lock: it takes milliseconds for thousands of chunks
        with self._lock:
            _write_frame(self._answers, frame)

    def listen(self) -> None:
        """Start to listen, and say that the process is ready."""
        self.send(READY)
        threading.Thread(target=self._read, daemon=True).start()

    def receive(self) -> tuple[float, object]:
        """Wait for a message; return when it arrived (monotonic seconds), and it."""
        arrived, frame = self._heard.get()
        return arrived, unpickled(frame)

    def _read(self) -> NoReturn:
        with contextlib.suppress(OSError, ValueError):
            while (frame := _read_frame(sys.stdin.buffer)) is not None:
                self._heard.put((time.monotonic(), frame))
        os._exit(0)  # sys.exit would end this thread only, and a solver in compiled code would go on for nobody


def pickled(message: object) -> bytes:
    """Return a message as bytes."""
    return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)


def unpickled(frame: bytes) -> object:
    """Return the message in a frame."""
    message: object = pickle.loads(frame)
    return message


def _write_frame(stream: IO[bytes], frame: bytes) -> None:
    stream.write(_LENGTH.pack(len(frame)) + frame)
    stream.flush()


def _read_frame(stream: IO[bytes]) -> bytes | None:
    """Return the next frame, or ``None`` when the stream ends, if need be in the middle of one."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    frame = stream.read(length)
    return frame if len(frame) == length else None
