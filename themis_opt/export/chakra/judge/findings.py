"""Findings that name rank, chunk, stage and step, a handful of each kind."""

from __future__ import annotations

from collections import Counter

from themis_opt.export.chakra.judge.derivation import Derivation
from themis_opt.export.verdict import Finding

MAX_OF_A_KIND = 4


class Findings:
    """Collects findings.

    Parameters
    ----------
    derivation
        What tags stand for.
    """

    def __init__(self, derivation: Derivation) -> None:
        self._derivation = derivation
        self._num_of: Counter[str] = Counter()
        self.found: list[Finding] = []

    def __bool__(self) -> bool:
        return bool(self.found)

    def is_full(self, kind: str) -> bool:
        """Whether there are enough of a kind."""
        return self._num_of[kind] >= MAX_OF_A_KIND

    def of_message(self, kind: str, rank: int, tag: int, text: str) -> None:
        """Add a finding about the message with a tag, if there are not enough of its kind."""
        stage_idx, message = divmod(tag, self._derivation.tag_width)
        if stage_idx >= len(self._derivation.stages):
            self.of_rank(kind, rank, text)
            return
        stage = self._derivation.stages[stage_idx]
        rule = self._derivation.rule(stage)
        step = int(rule.step_of[message]) if message < rule.num_messages else None
        where = f"rank {rank}, chunk {stage.chunk}, stage {stage.position} ({stage.phase})"
        where += f", step {step}" if step is not None else ""
        self._add(kind, Finding(f"{where}: {text}", rank, stage.chunk, step))

    def of_rank(self, kind: str, rank: int, text: str) -> None:
        """Add a finding about a rank as a whole."""
        self._add(kind, Finding(f"rank {rank}: {text}", rank))

    def _add(self, kind: str, finding: Finding) -> None:
        if not self.is_full(kind):
            self.found.append(finding)
        self._num_of[kind] += 1
