"""The folder that ASTRA-sim 2 runs as it is: what is in it, how large it is, and what replaying it will say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from themis_opt.export.chakra.write.nodes import workload_trace
from themis_opt.export.chakra.write.plan import TracePlan, whole_bytes
from themis_opt.export.chakra.write.replay import replay_network, replay_ns
from themis_opt.export.chakra.write.traces import TraceSize, exact_size, least_size, write_traces
from themis_opt.files.astra2_network import astra2_network_text
from themis_opt.files.schedule_file import schedule_text
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.network import Algorithm, Network
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.units import format_size

MAX_INTERPRETED_RANKS = 1024
"""What `validate` runs on symbols."""
_NUM_SMALL_FILES = 5

_README = """\
# {folder.instance.collective} of {size_text} on `{name}`, for ASTRA-sim 2

{folder.schedule.num_chunks} chunks on {folder.instance.num_npus} ranks ({sizes}), scheduled by `{scheduler}`.
Written by themis-opt; all of it can be written again from `schedule.json`.

## Run

With the analytical backend without congestion, from inside this folder, which must be writable:

    ulimit -n {open_files}
    AstraSim_Analytical_Congestion_Unaware --workload-configuration=./wl --system-configuration=./system.json \
--network-configuration=./network.yml --remote-memory-configuration=./memory.json

(`astra-sim/build/astra_analytical/build/bin/` is where its build puts the program.) Replaying takes about
{folder.size.replay_text} of memory.

## Expect

    expected time: {folder.expected_ns} ns

The schedule's own time is {folder.makespan_ps} ps; the replay is {folder.deviation:+z.4%} off. ASTRA-sim counts whole
bytes and cuts every step to whole nanoseconds: floor(hops * latency + bytes / bandwidth).
The run is right when **every** rank has a line `sys[i] finished, {folder.expected_ns} cycles` and no line says
`unreleased nodes`. The exit status proves nothing.
{notes}
## Check without ASTRA-sim

    themis-opt validate .

runs the traces on symbols: every rank must end with every contribution exactly once.{too_large}

## Files

| file | what it is |
|---|---|
| `network.yml` | {num_dimensions} dimensions; `bandwidth`: GiB/s of one message, `latency`: ns per hop |
| `system.json` | one custom algorithm, `rank`; `preferred-dataset-splits` stays 1, the chunks are in the traces |
| `memory.json` | no memory model |
| `wl.<rank>.et` | the workload: one collective |
| `rank.<rank>.et` | the rank's messages: {folder.plan.nodes_per_rank} nodes, SENDs and RECVs |
| `schedule.json` | the schedule, for themis-opt |

{folder.size.num_nodes} nodes in {folder.size.num_bytes} bytes. \
Rank = a0 + a1 * P0 + a2 * P0 * P1 ..., with the coordinates a of the
dimensions in the order of network.yml. Tag = {tag}: the stages of a
chunk and the messages of a stage count from 0, step by step, those of a direct step by their distance.
"""


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
        self.num_files = 2 * len(self.ranks) + _NUM_SMALL_FILES
        self.plan = TracePlan(schedule)
        self.makespan_ps = self.plan.timeline.makespan_ps
        """The schedule's own time."""

    @property
    def least_size(self) -> TraceSize:
        """A size that is too small, at once: for a schedule that is too large to work out its size."""
        return least_size(self.plan, len(self.ranks))

    @cached_property
    def size(self) -> TraceSize:
        """The exact size of the traces."""
        return exact_size(self.plan, self.ranks)

    @cached_property
    def network(self) -> Network:
        """The involved dimensions as ASTRA-sim sees them."""
        # Not before it is wanted: of a group of a billion it would never end, and its traces are refused by their size.
        return replay_network(self.instance)

    @cached_property
    def network_text(self) -> str:
        """The text of network.yml."""
        return astra2_network_text(self.network)

    @cached_property
    def expected_ns(self) -> int:
        """The time that ASTRA-sim will report."""
        return replay_ns(self.plan, self.network_text)

    @property
    def deviation(self) -> float:
        """By how much the time that ASTRA-sim will report is off the schedule's own, as a fraction of that."""
        return (self.expected_ns * 1000 - self.makespan_ps) / self.makespan_ps if self.makespan_ps else 0.0

    @cached_property
    def changed(self) -> tuple[int, ...]:
        """The involved dimensions whose figures in network.yml are not those of their links, by network index."""
        given = ((k, self.instance.network.dimensions[k]) for k in self.instance.involved)
        return tuple(
            k
            for (k, own), seen in zip(given, self.network.dimensions, strict=True)
            if (seen.bandwidth_Bps, seen.latency_ps) != (own.bandwidth_Bps, own.latency_ps)
        )

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What the replay does not do as the schedule has it, and what you might not expect, a sentence each."""
        num_ranks, num_npus = len(self.ranks), self.instance.num_npus
        partial = f"only {num_ranks} of {num_npus} ranks are written, so ASTRA-sim cannot run this folder"
        return (*([partial] if self.is_partial else ()), *_remarks(self.instance, self.changed))

    def write(self, folder: Path) -> None:
        """Write everything into an empty folder.

        Raises
        ------
        InputError
            When a time is beyond what ASTRA-sim can count.
        OSError
            When a file cannot be written.
        """
        system = {
            "scheduling-policy": "LIFO",
            # More chunks here than one, or none, and nothing finishes: the chunks are in the traces.
            "preferred-dataset-splits": 1,
            f"{self.instance.collective}-implementation-custom": ["rank"],
        }
        texts = {
            "network.yml": self.network_text,
            "system.json": _json(system),
            "memory.json": _json({"memory-type": "NO_MEMORY_EXPANSION"}),
            "README.md": self._readme(),
            "schedule.json": schedule_text(self.schedule),
        }
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        size_bytes = self.instance.size_bytes
        # ASTRA-sim's size of an All-Gather is what each rank starts with.
        gathers = self.instance.collective is Collective.ALL_GATHER
        array_bytes = max(1, size_bytes // self.instance.num_npus) if gathers else whole_bytes(Fraction(size_bytes))
        workload = workload_trace(self.instance.collective, array_bytes)
        for rank in self.ranks:
            # The same for all, and a file for each: ASTRA-sim opens one by the number of its rank.
            (folder / f"wl.{rank}.et").write_bytes(workload)
        write_traces(self.plan, self.ranks, folder)

    def _readme(self) -> str:
        instance, plan = self.instance, self.plan
        notes = "".join(f"- {remark[0].upper()}{remark[1:]}.\n" for remark in self.remarks)
        too_large = (
            f"\n(It takes at most {MAX_INTERPRETED_RANKS} ranks: export a smaller network of the same shape for that.)"
        )
        return _README.format(
            folder=self,
            name=_code_word(instance.network.name),
            scheduler=_code_word(self.schedule.scheduler or "nobody knows whom"),
            size_text=format_size(instance.size_bytes),
            sizes=" x ".join(str(dimension.size) for dimension in self.network.dimensions),
            num_dimensions=len(self.network.dimensions),
            # ASTRA-sim keeps both files of every rank open.
            open_files=2 * instance.num_npus + 21,
            notes=f"\n{notes}" if notes else "",
            too_large=too_large if instance.num_npus > MAX_INTERPRETED_RANKS else "",
            tag=f"(chunk * {plan.stages_per_chunk} + stage) * {plan.tag_width} + message",
        )


def _json(data: dict[str, object]) -> str:
    return json.dumps(data, indent=1) + "\n"


def _code_word(text: str) -> str:
    """Return a name from a file as it may stand between backticks on a line."""
    return "".join(character if character.isprintable() and character != "`" else "?" for character in text)


def _remarks(instance: Instance, changed: Sequence[int]) -> list[str]:
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
    return found
