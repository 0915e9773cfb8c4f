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
from themis_opt.export.chakra.write.readme import (
    MAX_INTERPRETED_RANKS,
    RUN_COMMAND,
    TEMPLATE,
    code_word,
    min_open_files,
)
from themis_opt.export.chakra.write.replay import Replay
from themis_opt.export.chakra.write.traces import TraceSize, exact_size, least_size, write_traces
from themis_opt.files.schedule_file import schedule_text
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.network import Algorithm
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.units import format_size

SMALL_FILES = ("README.md", "network.yml", "system.json", "memory.json", "schedule.json")
"""The files besides the traces; the schedule is put in place last, so that a folder that has it is complete."""


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
        makespan_ps = self.makespan_ps
        return (self.expected_ns * 1000 - makespan_ps) / makespan_ps if makespan_ps else 0.0

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What the replay does not do as the schedule has it, and what a reader might not expect, a sentence each."""
        num_ranks, num_npus = len(self.ranks), self.instance.num_npus
        partial = f"only {num_ranks} of {num_npus} ranks are written, so ASTRA-sim cannot run this folder"
        return ((partial,) if self.is_partial else ()) + _remarks(self.instance, self.replay.changed)

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
            "README.md": self._readme(),
            "schedule.json": schedule_text(self.schedule),
        }
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        workload = workload_trace(self.instance.collective, self._workload_bytes)
        for rank in self.ranks:
            # The same for all, and a file for each: ASTRA-sim opens one by the number of its rank.
            (folder / f"wl.{rank}.et").write_bytes(workload)
        write_traces(self.plan, self.ranks, self._patterns, folder)

    @cached_property
    def _patterns(self) -> PeerPatterns:
        return PeerPatterns(self.instance, self.ranks)

    def _readme(self) -> str:
        instance, plan = self.instance, self.plan
        notes = "".join(f"- {remark[0].upper()}{remark[1:]}.\n" for remark in self.remarks)
        too_large = (
            f"\n(It takes at most {MAX_INTERPRETED_RANKS} ranks: export a smaller network of the same shape for that.)"
        )
        return TEMPLATE.format(
            folder=self,
            name=code_word(instance.network.name),
            scheduler=code_word(self.schedule.scheduler or "nobody knows whom"),
            size_text=format_size(instance.size_bytes),
            sizes=" x ".join(str(instance.network.dimensions[k].size) for k in instance.involved),
            num_dimensions=len(instance.involved),
            open_files=min_open_files(instance.num_npus),
            command=RUN_COMMAND,
            notes=f"\n{notes}" if notes else "",
            too_large=too_large if instance.num_npus > MAX_INTERPRETED_RANKS else "",
            tag=f"(chunk * {plan.stages_per_chunk} + stage) * {plan.tag_width} + message",
        )

    def _system(self) -> dict[str, object]:
        # More chunks here than one, or none, and nothing finishes: the chunks are in the traces.
        return {
            "scheduling-policy": "LIFO",
            "preferred-dataset-splits": 1,
            f"{self.instance.collective}-implementation-custom": ["rank"],
        }

    @property
    def _workload_bytes(self) -> int:
        """The collective's size as ASTRA-sim counts it: of an All-Gather, what each rank starts with."""
        if self.instance.collective is Collective.ALL_GATHER:
            return max(1, self.instance.size_bytes // self.instance.num_npus)
        return whole_bytes(Fraction(self.instance.size_bytes))


def _json(data: dict[str, object]) -> str:
    return json.dumps(data, indent=1) + "\n"


def _remarks(instance: Instance, changed: Sequence[int]) -> tuple[str, ...]:
    """Return what a reader has to know to compare a replay with its schedule.

    Parameters
    ----------
    instance
        The problem.
    changed
        Dimensions whose figures in network.yml are not those of their links.
    """
    dimensions = instance.network.dimensions
    found = []
    left_out = [f"dim{k + 1}" for k in range(len(dimensions)) if k not in instance.involved]
    if left_out:
        found.append(
            f"{', '.join(left_out)} of {instance.network.name} {'take' if len(left_out) > 1 else 'takes'} no "
            f"part: the ranks are the {instance.num_npus} NPUs of one group of the others, and every other group does "
            "the same"
        )
    if instance.occupancy is Occupancy.PIPELINED:
        found.append(
            "the schedule is pipelined, and a trace is not: in it a stage begins when the one before it has arrived, "
            "latency included, so the replay takes longer than the schedule"
        )
    reducing = [f"dim{k + 1}" for k in instance.involved if dimensions[k].reduction_bandwidth_Bps is not None]
    if reducing and Phase.REDUCE_SCATTER in instance.phases:
        found.append(
            f"reducing what arrives takes time on {', '.join(reducing)} in the schedule, and none in the replay"
        )
    if instance.chunk_overhead_ps:
        found.append("launching a chunk takes time in the schedule, and none in the replay")
    for k in changed:
        dimension = dimensions[k]
        is_direct = dimension.algorithm is Algorithm.DIRECT
        what = f"one of its {dimension.size - 1} parallel messages gets" if is_direct else "one message gets"
        found.append(
            f"dim{k + 1} runs {dimension.algorithm} on a {dimension.topology} topology: its figures in network.yml are "
            f"what {what}, and latency per hop, such that a stage takes what the schedule says; they are not those "
            "of its links"
        )
    return tuple(found)
