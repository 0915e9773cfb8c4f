"""Running an algorithm on symbols: every threadblock in its order, messages first in, first out, waits honoured.

A step runs when its threadblock has come to it, the step it depends on is done, and the message it receives has been
sent. Sends never wait: the executors' slots between two ranks, few as they are, are not modelled. Whatever the order in
which runnable steps are taken, the result is the same unless steps race, and races are found.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass

from themis_opt.export.msccl.judge.algorithm import READING, RECEIVING, SENDING, WRITING, XmlAlgorithm, XmlStep
from themis_opt.export.msccl.judge.clocks import Accesses, Clocks, Stamp
from themis_opt.export.msccl.judge.contributions import Meaning, Slot, Value, Wrong, added, difference
from themis_opt.export.verdict import Finding

_Link = tuple[int, int, int]
"""From rank, to rank, channel."""


@dataclass(slots=True, eq=False)
class _Threadblock:
    """One threadblock on its way: `position` is its next step."""

    index: int
    rank: int
    id: int
    steps: list[XmlStep]
    sends_on: _Link
    receives_on: _Link
    position: int = 0

    def __str__(self) -> str:
        return f"rank {self.rank}, tb {self.id}, step {self.position}"


class Run:
    """One run of an algorithm whose structure and messages have been found right.

    Parameters
    ----------
    algorithm
        The algorithm.
    meaning
        What its collective puts in and wants.

    Attributes
    ----------
    writes_input
        Whether the input is written to although the result goes elsewhere.
    """

    def __init__(self, algorithm: XmlAlgorithm, meaning: Meaning) -> None:
        self._meaning = meaning
        self._tbs = [
            _Threadblock(0, gpu.id, tb.id, tb.steps, (gpu.id, tb.send, tb.chan), (tb.recv, gpu.id, tb.chan))
            for gpu in algorithm.gpus
            for tb in gpu.tbs
        ]
        for index, tb in enumerate(self._tbs):
            tb.index = index
        self._by_id = {(tb.rank, tb.id): tb for tb in self._tbs}
        self._receivers = {tb.receives_on: tb for tb in self._tbs if tb.receives_on[0] >= 0}
        self._senders = {tb.sends_on: tb for tb in self._tbs if tb.sends_on[1] >= 0}
        self._values: defaultdict[int, dict[Slot, Value]] = defaultdict(dict)
        self._accesses: defaultdict[tuple[int, Slot], Accesses] = defaultdict(Accesses)
        self._messages: defaultdict[_Link, deque[tuple[list[Value], Stamp | None]]] = defaultdict(deque)
        self._stamps: dict[tuple[int, int], Stamp] = {}
        self._waiting: defaultdict[tuple[int, int], list[_Threadblock]] = defaultdict(list)
        num_steps = sum(len(tb.steps) for tb in self._tbs)
        self._clocks = Clocks(len(self._tbs)) if Clocks.are_feasible(len(self._tbs), num_steps) else None
        self._dependents = Counter(
            (self._by_id[tb.rank, step.depid].index, step.deps)
            for tb in self._tbs
            for step in tb.steps
            if step.depid >= 0
        )
        self._races: dict[tuple[int, int, int, int], Finding] = {}
        self.writes_input = False

    @property
    def looks_for_races(self) -> bool:
        """Whether there are few enough threadblocks and steps to look for races."""
        return self._clocks is not None

    def findings(self) -> Iterator[Finding]:
        """Run, and yield the races, what waits for ever, and what is wrong at the end."""
        ready = deque(self._tbs)
        while ready:
            tb = ready.popleft()
            while tb.position < len(tb.steps) and self._may_run(tb):
                ready.extend(self._run_step(tb))
        yield from self._races.values()
        stuck = [tb for tb in self._tbs if tb.position < len(tb.steps)]
        # What is there when it is stuck is not the result: to look at it would find nothing but what is not done.
        if stuck:
            yield self._deadlock(stuck[0])
        else:
            yield from self._wrong_results()

    def _may_run(self, tb: _Threadblock) -> bool:
        step = tb.steps[tb.position]
        if step.depid >= 0:
            awaited = self._by_id[tb.rank, step.depid]
            if awaited.position <= step.deps:
                self._waiting[awaited.index, step.deps].append(tb)
                return False
        return step.type not in RECEIVING or bool(self._messages[tb.receives_on])

    def _run_step(self, tb: _Threadblock) -> list[_Threadblock]:
        """Run the next step of a threadblock and return the threadblocks that may go on because of it."""
        step = tb.steps[tb.position]
        if self._clocks is not None and step.depid >= 0:
            awaited = (self._by_id[tb.rank, step.depid].index, step.deps)
            self._clocks.learn(tb.index, self._stamps[awaited])
            self._dependents[awaited] -= 1
            if not self._dependents[awaited]:
                del self._stamps[awaited]
        if step.type != "nop":
            self._move(tb, step)
        woken = self._waiting.pop((tb.index, tb.position), [])
        if self._clocks is not None and (tb.index, tb.position) in self._dependents:
            self._stamps[tb.index, tb.position] = self._clocks.stamp(tb.index, tb.position)
        tb.position += 1
        receiver = self._receivers.get(tb.sends_on) if step.type in SENDING else None
        return woken if receiver is None else [*woken, receiver]

    def _move(self, tb: _Threadblock, step: XmlStep) -> None:
        """Do to the data what the step does."""
        where = str(tb)
        received: list[Value] | None = None
        if step.type in RECEIVING:
            received, stamp = self._messages[tb.receives_on].popleft()
            if self._clocks is not None and stamp is not None:
                self._clocks.learn(tb.index, stamp)
        sources: list[Value] | None = None
        if step.type in READING:
            sources = [self._read(tb, step.srcbuf, step.srcoff + index) for index in range(step.cnt)]
        if step.type == "re":
            received = [self._read(tb, step.dstbuf, step.dstoff + index) for index in range(step.cnt)]
        if sources is not None and received is not None:
            values = [added(one, other, where) for one, other in zip(sources, received, strict=True)]
        else:
            values = sources or received or []
        if step.type in WRITING:
            for index, value in enumerate(values):
                self._write(tb, step.dstbuf, step.dstoff + index, value, where)
        if step.type in SENDING:
            stamp = None if self._clocks is None else self._clocks.stamp(tb.index, tb.position)
            self._messages[tb.sends_on].append((values, stamp))

    def _read(self, tb: _Threadblock, buffer: str, offset: int) -> Value:
        slot = self._meaning.slot(tb.rank, buffer, offset)
        if self._clocks is not None:
            other = self._accesses[tb.rank, slot].read(tb.index, tb.position, self._clocks)
            if other is not None:
                self._note_race(tb, other, slot, "reads", "writes")
        held = self._values[tb.rank]
        return held[slot] if slot in held else self._meaning.initial(tb.rank, slot)

    def _write(self, tb: _Threadblock, buffer: str, offset: int, value: Value, where: str) -> None:
        slot = self._meaning.slot(tb.rank, buffer, offset)
        accesses = self._accesses[tb.rank, slot]
        if self._clocks is not None:
            other = accesses.overwrite(tb.index, tb.position, self._clocks)
            if other is not None:
                self._note_race(tb, other, slot, "writes", "touches")
        else:
            accesses.write = (tb.index, tb.position)
        self.writes_input |= slot[0] == "i" and not self._meaning.in_place
        self._values[tb.rank][slot] = value if value is not None else Wrong(f"{where} writes what nobody has written")

    def _note_race(self, tb: _Threadblock, other: tuple[int, int], slot: Slot, verb: str, other_verb: str) -> None:
        index, step = other
        key = (tb.index, tb.position, index, step)
        if key not in self._races:
            self._races[key] = Finding(
                f"{tb}: {verb} {slot[0]}[{slot[1]}], which tb {self._tbs[index].id}, step {step}, {other_verb} too, "
                "and nothing says which is first: a race; a depid is missing",
                tb.rank,
                slot[1],
                tb.position,
            )

    def _deadlock(self, start: _Threadblock) -> Finding:
        """Return the circle of waits that is reached from a threadblock that cannot go on."""
        walk: list[_Threadblock] = []
        place_of: dict[int, int] = {}
        tb = start
        while tb.index not in place_of:
            place_of[tb.index] = len(walk)
            walk.append(tb)
            step = tb.steps[tb.position]
            awaited = self._by_id[tb.rank, step.depid] if step.depid >= 0 else None
            # Both ends of every message are there, so its sender is somewhere before it.
            tb = awaited if awaited is not None and awaited.position <= step.deps else self._senders[tb.receives_on]
        circle = [*walk[place_of[tb.index] :], tb]
        shown = circle if len(circle) <= 9 else [*circle[:8], circle[-1]]
        dots = " -> ... " if len(circle) > 9 else ""
        chain = " -> ".join(map(str, shown[:-1])) + f"{dots} -> {shown[-1]}"
        return Finding(
            f"deadlock: each of these waits for the next, for ever: {chain}", circle[0].rank, None, circle[0].position
        )

    def _wrong_results(self) -> Iterator[Finding]:
        for rank in range(self._meaning.num_ranks):
            for slot, due in self._meaning.results(rank):
                held = self._values[rank]
                value = held[slot] if slot in held else self._meaning.initial(rank, slot)
                if value == due:
                    continue
                write = self._accesses[rank, slot].write if (rank, slot) in self._accesses else None
                last = "" if write is None else f" (last written by tb {self._tbs[write[0]].id}, step {write[1]})"
                yield Finding(
                    f"rank {rank}: {slot[0]}[{slot[1]}]{last}, which is to hold chunk {due.chunk}, "
                    f"{difference(value, due)}",
                    rank,
                    due.chunk,
                    None if write is None else write[1],
                )
