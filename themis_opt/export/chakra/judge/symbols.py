"""Running a chunk on symbols: what every rank holds of every block, and whose contributions are in it.

A chunk has one block per rank, with the rank's coordinates. A message carries everything its sender holds of the parts
it is about: the blocks whose coordinate on the stage's dimension is one of them. What is sent in Reduce-Scatter is
gone, and what arrives is added: contributions only move, so that none is anywhere twice. In All-Gather what is sent
stays, and what arrives must be new.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from themis_opt.export.chakra.judge.columns import Nodes
from themis_opt.export.chakra.judge.derivation import Derivation, Findings
from themis_opt.export.chakra.judge.waiting import Run
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.schedule import Schedule

IntArray = NDArray[np.int64]
BitArray = NDArray[np.uint64]

_BATCH = 4096
"""Messages whose blocks are looked up at a time."""


def execute_chunks(
    schedule: Schedule,
    derivation: Derivation,
    nodes: Nodes,
    sends: IntArray,
    receives: IntArray,
    run: Run,
    findings: Findings,
) -> None:
    """Run every chunk's messages in the order of a run, and compare what the ranks hold at the end.

    Parameters
    ----------
    schedule, derivation
        What is run, and what its tags stand for.
    nodes, sends, receives
        All nodes, and which RECV takes which SEND.
    run
        In which order they run.
    findings
        Where what is wrong goes.
    """
    # Chunks never touch each other's blocks: one at a time takes a number-of-chunks-th of the memory.
    stage_idx = nodes.tag[sends].astype(np.int64) // derivation.tag_width
    chunk_of = stage_idx // derivation.stages_per_chunk
    by_chunk = np.argsort(chunk_of, kind="stable")
    bounds = np.searchsorted(chunk_of[by_chunk], np.arange(schedule.num_chunks + 1))
    for chunk in range(schedule.num_chunks):
        rows = by_chunk[bounds[chunk] : bounds[chunk + 1]]
        symbols = _Chunk(schedule, derivation, chunk, findings)
        if symbols.run(nodes, sends[rows], run.level[sends[rows]], run.level[receives[rows]]):
            symbols.compare()
        if findings.is_full("data"):
            return


class _Chunk:
    """What all ranks hold of one chunk.

    `held` has a bit for each contribution, shape (ranks, blocks, words): for an All-Gather alone there is only one, the
    owner's. `there` is where any bit is set.
    """

    def __init__(self, schedule: Schedule, derivation: Derivation, chunk: int, findings: Findings) -> None:
        self._collective = schedule.instance.collective
        self._derivation = derivation
        self._chunk = chunk
        self._size_bytes = schedule.chunks[chunk].size_bytes
        self._findings = findings
        self._num_ranks = count = schedule.instance.num_npus
        self._coordinates = derivation.coordinates(np.arange(count))
        gathers = self._collective is Collective.ALL_GATHER
        num_words = 1 if gathers else (count + 63) // 64
        self.held: BitArray = np.zeros((count, count, num_words), np.uint64)
        ranks = np.arange(count)
        if gathers:
            self._everybody = np.ones(1, np.uint64)
            self.held[ranks, ranks, 0] = 1
        else:
            bits = np.zeros((count, num_words), np.uint64)
            bits[ranks, ranks // 64] = np.uint64(1) << (ranks % 64).astype(np.uint64)
            self._everybody = np.bitwise_or.reduce(bits, axis=0)
            self.held[:] = bits[:, None, :]
        self.there = np.ones((count, count), np.bool_) if not gathers else np.eye(count, dtype=np.bool_)

    def run(self, nodes: Nodes, sends: IntArray, sent_at: IntArray, received_at: IntArray) -> bool:
        """Move all messages; what is read at a level is read before anything arrives at it. False after a finding.

        Parameters
        ----------
        nodes, sends
            All nodes, and the places of this chunk's SENDs.
        sent_at, received_at
            The levels of each SEND and of its RECV.
        """
        # Messages that leave at one level and arrive at one level move together: there are few such pairs.
        levels, batch_of = np.unique(np.stack([sent_at, received_at]), axis=1, return_inverse=True)
        order = np.argsort(batch_of.ravel(), kind="stable")
        bounds = np.searchsorted(batch_of.ravel()[order], np.arange(levels.shape[1] + 1))
        events = sorted(
            (int(level), is_arrival, batch)
            for is_arrival, row in enumerate(levels)
            for batch, level in enumerate(row.tolist())
        )
        travelling: dict[int, list[tuple[IntArray, IntArray, IntArray, BitArray]]] = {}
        for _, is_arrival, batch in events:
            if is_arrival:
                for message in travelling.pop(batch):
                    if not self._arrive(nodes, *message):
                        return False
                continue
            travelling[batch] = []
            rows = sends[order[bounds[batch] : bounds[batch + 1]]]
            for start in range(0, len(rows), _BATCH):
                left = self._leave(nodes, rows[start : start + _BATCH])
                if left is None:
                    return False
                travelling[batch].append(left)
        return True

    def _leave(self, nodes: Nodes, rows: IntArray) -> tuple[IntArray, IntArray, IntArray, BitArray] | None:
        """Return these SENDs, and for all they carry the message, the block and its contributions."""
        ranks = nodes.rank[rows].astype(np.int64)
        message: list[IntArray] = []
        block: list[IntArray] = []
        for members, stage_idx in self._by_stage(nodes, rows):
            stage = self._derivation.stages[stage_idx]
            rule, size = self._derivation.rule(stage), self._derivation.sizes[stage.dimension]
            number = nodes.tag[rows[members]].astype(np.int64) % self._derivation.tag_width
            first = rule.first_part[number, self._coordinates[stage.dimension][ranks[members]]]
            count = np.array(rule.num_parts)[rule.step_of[number]]
            is_about = (self._coordinates[stage.dimension] - first[:, None]) % size < count[:, None]
            has = self.there[ranks[members]] & is_about
            self._check_bytes(nodes, rows[members], has.sum(axis=1))
            which, blocks = np.nonzero(has)
            message.append(members[which])
            block.append(blocks)
        messages, blocks = np.concatenate(message), np.concatenate(block)
        contributions = self.held[ranks[messages], blocks]
        # A contribution that is sent to be added is gone here, so that it can never be in two places.
        scatters = self._scatters(nodes, rows)[messages]
        self.held[ranks[messages[scatters]], blocks[scatters]] = 0
        self.there[ranks[messages[scatters]], blocks[scatters]] = False
        return None if self._findings else (rows, messages, blocks, contributions)

    def _arrive(self, nodes: Nodes, rows: IntArray, messages: IntArray, blocks: IntArray, bits: BitArray) -> bool:
        """Add what these messages carry to what their receivers hold; False after a finding."""
        receivers = nodes.peer[rows].astype(np.int64)
        scatters = self._scatters(nodes, rows)
        # One receiver may get several messages at a level; an array takes one addition for each place at a time.
        turn = _turns(receivers)
        for now in range(int(turn.max()) + 1):
            taken = turn[messages] == now
            ranks, places, arriving = receivers[messages[taken]], blocks[taken], bits[taken]
            present = self.held[ranks, places]
            doubled = ~scatters[messages[taken]] & present.any(axis=1)
            if doubled.any():
                row = rows[messages[taken][int(doubled.argmax())]]
                place = int(places[int(doubled.argmax())])
                text = f"what it sends of block {place} is at rank {nodes.peer[row]} already"
                self._findings.of_message("data", int(nodes.rank[row]), int(nodes.tag[row]), text)
                return False
            self.held[ranks, places] = present | arriving
            self.there[ranks, places] = True
        return True

    def compare(self) -> None:
        """Find the first rank that does not end with what the collective is: a sum, a block, or all of them."""
        complete = (self.held == self._everybody).all(axis=2)
        due = np.ones_like(self.there)
        if self._collective is Collective.REDUCE_SCATTER:
            due = np.eye(self._num_ranks, dtype=np.bool_)
        wrong = (due & ~complete) | (~due & self.there)
        for rank in np.flatnonzero(wrong.any(axis=1))[:1].tolist():
            block = int(wrong[rank].argmax())
            num_bits = sum(int(word).bit_count() for word in self.held[rank, block])
            what = (
                f"ends with {num_bits} of {self._num_ranks} contributions to block {block}"
                if due[rank, block] and self._collective is not Collective.ALL_GATHER
                else f"ends with{'out' if due[rank, block] else ''} block {block}"
            )
            tag = self._chunk * self._derivation.stages_per_chunk * self._derivation.tag_width
            last = tag + (self._derivation.stages_per_chunk - 1) * self._derivation.tag_width
            self._findings.of_message("data", rank, last, what)

    def _by_stage(self, nodes: Nodes, rows: IntArray) -> Iterator[tuple[IntArray, int]]:
        stage_idx = nodes.tag[rows].astype(np.int64) // self._derivation.tag_width
        for number in np.unique(stage_idx).tolist():
            yield np.flatnonzero(stage_idx == number), number

    def _scatters(self, nodes: Nodes, rows: IntArray) -> NDArray[np.bool_]:
        stages = self._derivation.stages
        idx = nodes.tag[rows].astype(np.int64) // self._derivation.tag_width
        phases, where = np.unique(idx, return_inverse=True)
        return np.array([stages[number].phase is Phase.REDUCE_SCATTER for number in phases.tolist()])[where]

    def _check_bytes(self, nodes: Nodes, rows: IntArray, num_blocks: IntArray) -> None:
        """Find messages that carry nothing, or other bytes than they say."""
        for count in np.unique(num_blocks).tolist():
            due = max(1, _half_even(count * self._size_bytes, self._num_ranks))
            wrong = rows[(num_blocks == count) & ((nodes.size_bytes[rows] != due) | (count == 0))]
            for row in wrong[:1].tolist():
                text = f"sends {nodes.size_bytes[row]} bytes, and holds {count} blocks of what it sends: {due} bytes"
                self._findings.of_message("data", int(nodes.rank[row]), int(nodes.tag[row]), text)


def _half_even(numerator: int, denominator: int) -> int:
    """Return a quotient as the nearest whole number, of two the even one."""
    # As `round` does it with a fraction, without making millions of them.
    whole, rest = divmod(numerator, denominator)
    return whole + (2 * rest > denominator or (2 * rest == denominator and whole % 2 == 1))


def _turns(receivers: IntArray) -> IntArray:
    """Return for each message how many messages before it go to the same rank."""
    order = np.argsort(receivers, kind="stable")
    ordered = receivers[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.concatenate([first, [len(ordered)]]))
    turn = np.empty(len(receivers), np.int64)
    turn[order] = np.arange(len(ordered)) - np.repeat(first, lengths)
    return turn
