"""The baseline that a report compares with: with the number of chunks asked for, and at its best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.questions.comparison import Run
from themis_opt.schedulers.best_counts import baseline_best
from themis_opt.show.words import count_chunks


@dataclass(frozen=True, slots=True)
class Baseline:
    """Makespans of the baseline on one instance.

    Attributes
    ----------
    asked_chunks, asked_ps
        With the instance's number of chunks, which every ``speedup`` refers to [ps].
    best_chunks, best_ps
        With the best of 1, 2, 4 … 512 chunks and the instance's number [ps].
    """

    asked_chunks: int
    asked_ps: int
    best_chunks: int
    best_ps: int

    @property
    def is_best_as_asked(self) -> bool:
        """Whether no other of those numbers of chunks makes it shorter."""
        return self.best_ps == self.asked_ps

    @property
    def tried(self) -> str:
        """Which numbers of chunks it is at its best of."""
        powers = "1, 2, 4 \u2026 512"
        is_power = self.asked_chunks <= 512 and self.asked_chunks.bit_count() == 1
        return f"{powers} chunks" if is_power else f"{powers} or {count_chunks(self.asked_chunks)}"

    @property
    def asked(self) -> str:
        """What it is called with the instance's number of chunks."""
        return f"the baseline with {count_chunks(self.asked_chunks)}"

    @property
    def best(self) -> str:
        """What it is called at its best."""
        return f"the baseline at its best, with {count_chunks(self.best_chunks)}"


def baselines_of(runs: Sequence[Run]) -> list[Baseline]:
    """Return the baseline of every run; instances that differ in the number of chunks alone share the best one."""
    best: dict[Instance, Schedule] = {}
    baselines = []
    for run in runs:
        bare = replace(run.instance, num_chunks=1, known=None)
        if bare not in best:
            best[bare] = baseline_best(bare)
        asked_chunks, asked_ps = run.instance.num_chunks, run.rows[0].baseline_ps
        shortest = best[bare]
        best_ps = shortest.makespan_ps
        assert best_ps is not None
        if best_ps < asked_ps:
            baselines.append(Baseline(asked_chunks, asked_ps, shortest.num_chunks, best_ps))
        else:
            baselines.append(Baseline(asked_chunks, asked_ps, asked_chunks, asked_ps))
    return baselines
