"""Processes of this program and what they say: whole frames or nothing, and an end that is told."""

from __future__ import annotations

import queue
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from themis_opt import Bound, BoundScope, Instance, SolverError, SolverParams, load_network
from themis_opt.problem.bound import Sizing
from themis_opt.solving import process as process_module
from themis_opt.solving.child import Child, pickled, unpickled
from themis_opt.solving.process import SolverProcess

WORKER = """
import os, sys
from themis_opt.solving.child import Channel

channel = Channel()
print("a solver talks")
channel.listen()
while True:
    _, message = channel.receive()
    if message == "die":
        print("no more", file=sys.stderr, flush=True)
        os._exit(7)
    if message == "half":
        channel._answers.write(b"\\xff\\0\\0\\0\\0\\0\\0\\0half a frame")
        channel._answers.flush()
        os._exit(0)
    channel.send(message)
"""

Start = Callable[[], tuple[Child, Callable[[], object]]]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start a worker that sends back what it gets; return it and what waits for its next message."""
    (tmp_path / "echoing.py").write_text(WORKER)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{':'.join(path for path in sys.path if path)}")

    children: list[Child] = []

    def started() -> tuple[Child, Callable[[], object]]:
        heard: queue.SimpleQueue[tuple[Child, bytes | None]] = queue.SimpleQueue()
        child = Child("echoing", [], heard)
        children.append(child)

        def next_message() -> object:
            who, frame = heard.get(timeout=60)
            assert who is child
            return None if frame is None else unpickled(frame)

        assert next_message() == "ready"
        return child, next_message

    yield started
    for child in children:
        child.kill()


def test_what_is_sent_comes_back_and_what_is_printed_does_not(start: Start) -> None:
    child, next_message = start()
    instance = Instance(load_network("2d-sw-sw"))
    for message in ("a word", 10**40, instance, b"\0" * 3_000_000):
        child.send(message)
        assert next_message() == message
    child.kill()
    assert next_message() is None
    assert child.has_ended


def test_an_end_is_told_with_its_last_words(start: Start) -> None:
    child, next_message = start()
    child.send("die")
    assert next_message() is None
    assert child.last_words() == "exit code 7: no more"


def test_half_a_frame_is_none(start: Start) -> None:
    child, next_message = start()
    child.send("half")
    assert next_message() is None


def test_a_bound_passes_between_processes_unchanged() -> None:
    scope = BoundScope(Sizing.FREE, 2, 7)
    bound = Bound(12, "somebody", scope)  # type: ignore[arg-type]
    assert unpickled(pickled(bound)) == bound


def test_a_message_that_cannot_be_read_is_the_solvers_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(frame: bytes) -> object:
        raise AttributeError("no such class")

    instance = Instance(load_network("2d-sw-sw"), num_chunks=1)
    with SolverProcess("auto") as process:
        process.wait_until_ready()
        monkeypatch.setattr(process_module, "unpickled", unreadable)
        with pytest.raises(SolverError, match="solver 'auto' sent what cannot be read: no such class"):
            process.solve(instance, SolverParams(5.0), lambda progress: None)
