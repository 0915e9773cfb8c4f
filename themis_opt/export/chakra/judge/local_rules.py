"""What each rank's trace must be by itself: its messages, their peers and sizes, and what every step waits for."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from themis_opt.export.chakra.judge.columns import Nodes
from themis_opt.export.chakra.judge.derivation import Derivation, Findings
from themis_opt.problem.errors import InputError

IntArray = NDArray[np.int64]

MAX_FOLLOWED = 2_000_000
"""Steps from a node to those it waits for, of a whole folder, where what it needs is not among its dependencies."""

_SIDES = {True: ("sends", "SEND", "to"), False: ("receives", "RECV", "from")}


class LocalRules:
    """Judges one rank after the other.

    Parameters
    ----------
    nodes
        All nodes.
    derivation
        What they must be.
    findings
        Where what is wrong goes.
    """

    def __init__(self, nodes: Nodes, derivation: Derivation, findings: Findings) -> None:
        self._nodes = nodes
        self._derivation = derivation
        self._findings = findings
        stages, width = derivation.stages, derivation.tag_width
        num_messages = [derivation.rule(stage).num_messages for stage in stages]
        self._tags = np.concatenate(
            [np.arange(count) + number * width for number, count in enumerate(num_messages)]
        ).astype(np.int64)
        rules = [derivation.rule(stage) for stage in stages]
        # By tag: -1 where there is no such message.
        self._size_of = np.full(len(stages) * width, -1, np.int64)
        self._step_of = np.full(len(stages) * width, -1, np.int64)
        for number, (stage, rule) in enumerate(zip(stages, rules, strict=True)):
            span = slice(number * width, number * width + rule.num_messages)
            self._step_of[span] = rule.step_of
            self._size_of[span] = np.array(stage.step_bytes, np.int64)[rule.step_of]
        self._is_on = {
            key: np.array([(stage.dimension, stage.phase) == key for stage in stages]) for key in derivation.rules
        }
        self._num_followed = 0
        self._right_shapes: set[bytes] = set()

    def judge(self, rank_place: int, rank: int) -> None:
        """Find what is wrong with the trace of one rank."""
        span = slice(int(self._nodes.first_place[rank_place]), int(self._nodes.first_place[rank_place + 1]))
        if not self._ids_are_right(rank, span) or not self._messages_are_right(rank, span):
            return
        self._judge_sizes(rank, span)
        self._judge_peers(rank, span)
        self._judge_dependencies(rank, span)

    def _ids_are_right(self, rank: int, span: slice) -> bool:
        ids = self._nodes.node_id[span]
        if len(ids) and ids.min() < 1:
            self._findings.of_rank("id", rank, "a node has id 0; ids count from 1")
            return False
        # An id that is there twice would let a node pass for another one that it is not.
        unique, counts = np.unique(ids, return_counts=True)
        if len(unique) < len(ids):
            self._findings.of_rank("id", rank, f"two nodes have id {unique[counts > 1][0]}")
            return False
        known = set(unique.tolist())
        for number in np.unique(self._nodes.deps[span]).tolist():
            unknown = set(self._nodes.dependencies[number].tolist()) - known
            if unknown:
                place = int(np.flatnonzero(self._nodes.deps[span] == number)[0])
                self._findings.of_message(
                    "unknown dependency",
                    rank,
                    int(self._nodes.tag[span][place]),
                    f"node {ids[place]} depends on node {min(unknown)}, and there is none",
                )
                return False
        return True

    def _messages_are_right(self, rank: int, span: slice) -> bool:
        """Return whether each message that the schedule needs is sent once and received once, and nothing else is."""
        right = True
        for is_send, (verb, *_) in _SIDES.items():
            tags = self._nodes.tag[span][self._nodes.is_send[span] == is_send].astype(np.int64)
            found, counts = np.unique(tags, return_counts=True)
            expected = self._tags
            for tag in np.setdiff1d(found, expected)[:2].tolist():
                self._findings.of_message("tag", rank, tag, f"{verb} a message with tag {tag}, which no message has")
            for tag in found[counts > 1][:2].tolist():
                self._findings.of_message("twice", rank, tag, f"{verb} the message with tag {tag} more than once")
            for tag in np.setdiff1d(expected, found)[:2].tolist():
                self._findings.of_message("missing", rank, tag, f"never {verb} the message with tag {tag}")
            right = right and len(tags) == len(expected) and np.array_equal(found, expected)
        return right

    def _judge_sizes(self, rank: int, span: slice) -> None:
        tags = self._nodes.tag[span]
        for place in np.flatnonzero(self._nodes.size_bytes[span] != self._size_of[tags])[:2].tolist():
            verb = _SIDES[bool(self._nodes.is_send[span][place])][0]
            text = f"{verb} {self._nodes.size_bytes[span][place]} bytes; its parts have {self._size_of[tags[place]]}"
            self._findings.of_message("size", rank, int(tags[place]), text)

    def _judge_peers(self, rank: int, span: slice) -> None:
        """Find peers that are not the algorithm's: exactly one coordinate changes, on the stage's dimension."""
        derivation = self._derivation
        own = derivation.coordinates(np.array([rank]))[:, 0]
        tags, is_send, peers = (column[span] for column in (self._nodes.tag, self._nodes.is_send, self._nodes.peer))
        stage_idx, message = np.divmod(tags, derivation.tag_width)
        expected = np.empty(len(tags), np.int64)
        for (place, phase), rule in derivation.rules.items():
            here = self._is_on[place, phase][stage_idx]
            for side, table in ((True, rule.receiver), (False, rule.sender)):
                rows = here & (is_send == side)
                member = table[message[rows], own[place]]
                expected[rows] = rank + (member - own[place]) * derivation.strides[place]
        for row in np.flatnonzero(peers != expected)[:2].tolist():
            _, node_type, way = _SIDES[bool(is_send[row])]
            text = f"a {node_type} goes {way} rank {peers[row]}; the algorithm's partner is rank {expected[row]}"
            num_changed = self._num_changed(own, int(peers[row]))
            if num_changed is not None and num_changed != 1:
                text += f" ({num_changed} coordinates change, and ASTRA-sim charges for one)"
            self._findings.of_message("peer", rank, int(tags[row]), text)

    def _num_changed(self, own: IntArray, peer: int) -> int | None:
        derivation = self._derivation
        if peer >= derivation.strides[-1] * derivation.sizes[-1]:
            return None
        return int((derivation.coordinates(np.array([peer]))[:, 0] != own).sum())

    def _judge_dependencies(self, rank: int, span: slice) -> None:
        """Find nodes that may begin before what they need is over; ranks of the same shape are judged once."""
        # Ranks differ in their peers only, which play no part here: 1024 of them have one shape, not 1024.
        columns = (self._nodes.node_id[span], self._nodes.is_send[span], self._nodes.tag[span], self._nodes.deps[span])
        shape = sha256()
        for column in columns:
            shape.update(column.tobytes())
        if shape.digest() not in self._right_shapes:
            before = len(self._findings.found)
            self._judge_shape(rank, *columns)
            if len(self._findings.found) == before:
                self._right_shapes.add(shape.digest())

    def _judge_shape(
        self, rank: int, ids: IntArray, is_send: NDArray[np.bool_], tags: NDArray[np.int32], deps: NDArray[np.int32]
    ) -> None:
        stages, width = self._derivation.stages, self._derivation.tag_width
        ids_of: dict[tuple[int, int], list[int]] = {}
        rows_of: dict[tuple[int, int], list[int]] = {}
        for row, tag in enumerate(tags.tolist()):
            key = (tag // width, int(self._step_of[tag]))
            ids_of.setdefault(key, []).append(int(ids[row]))
            rows_of.setdefault(key, []).append(row)
        last_step = [len(stage.step_bytes) - 1 for stage in stages]
        row_of_id = {int(node_id): row for row, node_id in enumerate(ids)}
        known_sets = {number: set(self._nodes.dependencies[number].tolist()) for number in np.unique(deps).tolist()}
        for (stage_idx, step), rows in rows_of.items():
            if self._findings.is_full("dependency"):
                return
            befores = [(stage_idx, step - 1)] if step else [(s, last_step[s]) for s in stages[stage_idx].waits_for]
            needed = {node_id for before in befores for node_id in ids_of[before]}
            for row in rows:
                # The exporter names all it needs. Who names less may still wait for it through others.
                missing = needed - known_sets[int(deps[row])]
                if missing:
                    missing = self._not_waited_for(missing, int(deps[row]), deps, known_sets, row_of_id)
                if missing:
                    kind = _SIDES[bool(is_send[row])][1]
                    before_tag = int(tags[row_of_id[min(missing)]])
                    other = stages[before_tag // width]
                    text = (
                        f"node {ids[row]}, a {kind}, may begin before node {min(missing)} is over "
                        f"(chunk {other.chunk}, stage {other.position}, step {self._step_of[before_tag]})"
                    )
                    self._findings.of_message("dependency", rank, int(tags[row]), text)

    def _not_waited_for(
        self,
        missing: set[int],
        deps_number: int,
        deps: NDArray[np.int32],
        known_sets: dict[int, set[int]],
        row_of_id: dict[int, int],
    ) -> set[int]:
        """Return which of these nodes are not even waited for through others."""
        seen: set[int] = set()
        waiting: list[int] = list(known_sets[deps_number])
        left = set(missing)
        while waiting and left:
            node_id = waiting.pop()
            if node_id in seen:
                continue
            self._num_followed += 1
            if self._num_followed > MAX_FOLLOWED:
                raise InputError(
                    "most nodes depend on what they need through others only, which is more than can be followed; let "
                    "them name what they need"
                )
            seen.add(node_id)
            left.discard(node_id)
            waiting.extend(known_sets[int(deps[row_of_id[node_id]])] - seen)
        return left


def judge_ranks(nodes: Nodes, ranks: Iterable[int], derivation: Derivation, findings: Findings) -> None:
    """Find what is wrong with any rank's trace by itself.

    Parameters
    ----------
    nodes, ranks
        The nodes, and the ranks they are of.
    derivation
        What they must be.
    findings
        Where what is wrong goes.
    """
    rules = LocalRules(nodes, derivation, findings)
    for place, rank in enumerate(ranks):
        rules.judge(place, rank)
