"""The folder that ASTRA-sim 2 runs as it is: what is in it, how large it is, and what replaying it will say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from themis_opt.export.chakra.write.nodes import workload_trace
from themis_opt.export.chakra.write.peers import PeerPatterns
from themis_opt.export.chakra.write.plan import TracePlan, whole_bytes
from themis_opt.export.chakra.write.readme import readme_text
from themis_opt.export.chakra.write.replay import Replay
from themis_opt.export.chakra.write.trace_remarks import deviation, remarks
from themis_opt.export.chakra.write.trace_size import TraceSize, exact_size, least_size
from themis_opt.export.chakra.write.traces import write_traces
from themis_opt.files.schedule_file import schedule_text
from themis_opt.problem.collective import Collective
from themis_opt.problem.schedule import Schedule

TRACE_PREFIX, WORKLOAD_PREFIX = "rank", "wl"
SMALL_FILES = ("README.md", "network.yml", "system.json", "memory.json", "schedule.json")
"""The files besides the traces; the schedule is put in place last, so that a folder that has it is complete."""


def workload_name(rank: int) -> str:
    """Return the file name of a rank's workload."""
    return f"{WORKLOAD_PREFIX}.{rank}.et"


class AstraFolder:
    """A schedule as ASTRA-sim 2 takes it.

    Parameters
    ----------
    schedule
        A schedule that breaks no rule.
    ranks
        The ranks whose traces are written; ``None``: all.

    Raises
    ------
    InputError
        When the schedule cannot be expressed: All-to-All, too many messages, too large ones.
    """

    def __init__(self, schedule: Schedule, ranks: Sequence[int] | None = None) -> None:
        self.schedule = schedule
        self.instance = schedule.instance
        self.ranks: Sequence[int] = range(self.instance.num_npus) if ranks is None else ranks
        self.is_partial = len(self.ranks) < self.instance.num_npus
        self.plan = TracePlan(schedule)
        self.replay = Replay(self.instance)

    @property
    def num_files(self) -> int:
        """Files in the folder: two per rank, and the small ones."""
        return 2 * len(self.ranks) + len(SMALL_FILES)

    @property
    def least_size(self) -> TraceSize:
        """A size that is too small, at once: for a schedule that is too large to work out its size."""
        return least_size(self.plan, len(self.ranks))

    @cached_property
    def size(self) -> TraceSize:
        """The exact size of the traces."""
        return exact_size(self.plan, self.ranks, self._patterns)

    @cached_property
    def expected_ns(self) -> int:
        """The time that ASTRA-sim will report."""
        return self.replay.makespan_ns(self.plan)

    @property
    def makespan_ps(self) -> int:
        """The schedule's own time."""
        return self.plan.timeline.makespan_ps

    @property
    def deviation(self) -> float:
        """By how much the time that ASTRA-sim will report is off the schedule's own, as a fraction of that."""
        return deviation(self)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the replay does not do as the schedule has it, and what a reader might not expect, a sentence each."""
        return remarks(self)

    def write(self, folder: Path) -> None:
        """Write everything into an empty folder.

        Raises
        ------
        InputError
            When a time is beyond what ASTRA-sim can count.
        OSError
            When a file cannot be written.
        """
        texts = {
            "network.yml": self.replay.network_text,
            "system.json": _json(self._system()),
            "memory.json": _json({"memory-type": "NO_MEMORY_EXPANSION"}),
            "README.md": readme_text(self),
            "schedule.json": schedule_text(self.schedule),
        }
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        workload = workload_trace(self.instance.collective, self._workload_bytes)
        for rank in self.ranks:
            (folder / workload_name(rank)).write_bytes(workload)
        write_traces(self.plan, self.ranks, self._patterns, folder)

    @cached_property
    def _patterns(self) -> PeerPatterns:
        return PeerPatterns(self.instance, self.ranks)

    def _system(self) -> dict[str, object]:
        # More chunks here than one, or none, and nothing finishes: the chunks are in the traces.
        return {
            "scheduling-policy": "LIFO",
            "preferred-dataset-splits": 1,
            f"{self.instance.collective}-implementation-custom": [TRACE_PREFIX],
        }

    @property
    def _workload_bytes(self) -> int:
        """The collective's size as ASTRA-sim counts it: of an All-Gather, what each rank starts with."""
        if self.instance.collective is Collective.ALL_GATHER:
            return max(1, self.instance.size_bytes // self.instance.num_npus)
        return whole_bytes(Fraction(self.instance.size_bytes))


def _json(data: dict[str, object]) -> str:
    return json.dumps(data, indent=1) + "\n"
