"""What each rank's trace must be by itself: its messages, their peers and sizes, and what every step waits for."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

import numpy as np

from themis_opt.export.chakra.judge.columns import Nodes
from themis_opt.export.chakra.judge.derivation import Derivation, Findings
from themis_opt.problem.errors import InputError

MAX_FOLLOWED = 2_000_000
"""Steps from a node to those it waits for, of a whole folder, where what it needs is not among its dependencies."""

_SIDES = {True: ("sends", "SEND", "to"), False: ("receives", "RECV", "from")}


class LocalRules:
    """Judges one rank after the other, each by its own nodes (`Nodes.of_rank`).

    Parameters
    ----------
    derivation
        What they must be.
    findings
        Where what is wrong goes.
    """

    def __init__(self, derivation: Derivation, findings: Findings) -> None:
        self._derivation = derivation
        self._findings = findings
        stages, width = derivation.stages, derivation.tag_width
        # By tag: -1 where there is no such message.
        self._size_of = np.full(len(stages) * width, -1, np.int64)
        self._step_of = np.full(len(stages) * width, -1, np.int64)
        for number, stage in enumerate(stages):
            rule = derivation.rule(stage)
            span = slice(number * width, number * width + rule.num_messages)
            self._step_of[span] = rule.step_of
            self._size_of[span] = np.array(stage.step_bytes, np.int64)[rule.step_of]
        self._tags = np.flatnonzero(self._step_of >= 0)
        self._is_on = {
            key: np.array([(stage.dimension, stage.phase) == key for stage in stages]) for key in derivation.rules
        }
        self._num_followed = 0
        self._right_shapes: set[bytes] = set()

    def judge(self, rank: int, own: Nodes) -> None:
        """Find what is wrong with the trace of one rank."""
        if self._ids_are_right(rank, own) and self._messages_are_right(rank, own):
            self._judge_sizes(rank, own)
            self._judge_peers(rank, own)
            self._judge_dependencies(rank, own)

    def _ids_are_right(self, rank: int, own: Nodes) -> bool:
        if len(own) and own.node_id.min() < 1:
            self._findings.of_rank("id", rank, "a node has id 0; ids count from 1")
            return False
        # An id that is there twice would let a node pass for another one that it is not.
        unique, counts = np.unique(own.node_id, return_counts=True)
        if len(unique) < len(own):
            self._findings.of_rank("id", rank, f"two nodes have id {unique[counts > 1][0]}")
            return False
        # Sets of Python: the lists are short, and there are half a million of them in a folder of a million nodes.
        known = set(unique.tolist())
        for number in np.unique(own.deps).tolist():
            unknown = set(own.dependencies[number].tolist()) - known
            if unknown:
                row = int(np.flatnonzero(own.deps == number)[0])
                text = f"node {own.node_id[row]} depends on node {min(unknown)}, and there is none"
                self._findings.of_message("unknown dependency", rank, int(own.tag[row]), text)
                return False
        return True

    def _messages_are_right(self, rank: int, own: Nodes) -> bool:
        """Return whether each message that the schedule needs is sent once and received once, and nothing else is."""
        right = True
        for is_send, (verb, *_) in _SIDES.items():
            tags = own.tag[own.is_send == is_send].astype(np.int64)
            found, counts = np.unique(tags, return_counts=True)
            for kind, wrong, text in (
                ("tag", np.setdiff1d(found, self._tags), f"{verb} a message with tag {{}}, which no message has"),
                ("twice", found[counts > 1], f"{verb} the message with tag {{}} more than once"),
                ("missing", np.setdiff1d(self._tags, found), f"never {verb} the message with tag {{}}"),
            ):
                for tag in wrong[:2].tolist():
                    self._findings.of_message(kind, rank, tag, text.format(tag))
            right = right and len(tags) == len(self._tags) and np.array_equal(found, self._tags)
        return right

    def _judge_sizes(self, rank: int, own: Nodes) -> None:
        for row in np.flatnonzero(own.size_bytes != self._size_of[own.tag])[:2].tolist():
            verb, tag = _SIDES[bool(own.is_send[row])][0], int(own.tag[row])
            text = f"{verb} {own.size_bytes[row]} bytes; its parts have {self._size_of[tag]}"
            self._findings.of_message("size", rank, tag, text)

    def _judge_peers(self, rank: int, own: Nodes) -> None:
        """Find peers that are not the algorithm's: exactly one coordinate changes, on the stage's dimension."""
        derivation = self._derivation
        here = derivation.coordinates(np.array([rank]))[:, 0]
        stage_idx, message = np.divmod(own.tag, derivation.tag_width)
        expected = np.empty(len(own), np.int64)
        for (place, phase), rule in derivation.rules.items():
            is_on = self._is_on[place, phase][stage_idx]
            for side, table in ((True, rule.receiver), (False, rule.sender)):
                rows = is_on & (own.is_send == side)
                member = table[message[rows], here[place]]
                expected[rows] = rank + (member - here[place]) * derivation.strides[place]
        for row in np.flatnonzero(own.peer != expected)[:2].tolist():
            peer = int(own.peer[row])
            _, node_type, way = _SIDES[bool(own.is_send[row])]
            text = f"a {node_type} goes {way} rank {peer}; the algorithm's partner is rank {expected[row]}"
            if peer < derivation.strides[-1] * derivation.sizes[-1]:
                num_changed = int((derivation.coordinates(np.array([peer]))[:, 0] != here).sum())
                if num_changed != 1:
                    text += f" ({num_changed} coordinates change, and ASTRA-sim charges for one)"
            self._findings.of_message("peer", rank, int(own.tag[row]), text)

    def _judge_dependencies(self, rank: int, own: Nodes) -> None:
        """Find nodes that may begin before what they need is over; ranks of the same shape are judged once."""
        # Ranks differ in their peers only, which play no part here: 1024 of them have one shape, not 1024.
        shape = sha256()
        for column in (own.node_id, own.is_send, own.tag, own.deps):
            shape.update(column.tobytes())
        if shape.digest() not in self._right_shapes:
            before = len(self._findings.found)
            self._judge_shape(rank, own)
            if len(self._findings.found) == before:
                self._right_shapes.add(shape.digest())

    def _judge_shape(self, rank: int, own: Nodes) -> None:
        stages, width = self._derivation.stages, self._derivation.tag_width
        ids, tags = own.node_id.tolist(), own.tag.tolist()
        rows_of: dict[tuple[int, int], list[int]] = {}
        for row, tag in enumerate(tags):
            rows_of.setdefault((tag // width, int(self._step_of[tag])), []).append(row)
        row_of_id = {node_id: row for row, node_id in enumerate(ids)}
        known_sets = {number: set(own.dependencies[number].tolist()) for number in np.unique(own.deps).tolist()}
        deps_of = {node_id: known_sets[number] for node_id, number in zip(ids, own.deps.tolist(), strict=True)}
        for (stage_idx, step), rows in rows_of.items():
            if self._findings.is_full("dependency"):
                return
            last_steps = ((before, len(stages[before].step_bytes) - 1) for before in stages[stage_idx].waits_for)
            befores = [(stage_idx, step - 1)] if step else last_steps
            needed = {ids[row] for before in befores for row in rows_of[before]}
            for row in rows:
                # The exporter names all it needs. Who names less may still wait for it through others.
                missing = needed - deps_of[ids[row]]
                if missing:
                    missing = self._not_waited_for(missing, deps_of[ids[row]], deps_of)
                if missing:
                    before_tag = tags[row_of_id[min(missing)]]
                    other = stages[before_tag // width]
                    text = (
                        f"node {ids[row]}, a {_SIDES[bool(own.is_send[row])][1]}, may begin before node {min(missing)} "
                        f"is over (chunk {other.chunk}, stage {other.position}, step {self._step_of[before_tag]})"
                    )
                    self._findings.of_message("dependency", rank, tags[row], text)

    def _not_waited_for(self, missing: set[int], named: set[int], deps_of: dict[int, set[int]]) -> set[int]:
        """Return which of these nodes are not even waited for through others."""
        seen: set[int] = set()
        waiting, left = list(named), set(missing)
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
            waiting.extend(deps_of[node_id] - seen)
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
    rules = LocalRules(derivation, findings)
    for place, rank in enumerate(ranks):
        rules.judge(rank, nodes.of_rank(place))
