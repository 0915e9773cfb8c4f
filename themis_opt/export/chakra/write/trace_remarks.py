"""What is different in a replay from the schedule, in sentences: for the README and for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Occupancy
from themis_opt.problem.network import Algorithm

if TYPE_CHECKING:
    from themis_opt.export.chakra.write.folder import AstraFolder


def deviation(folder: AstraFolder) -> float:
    """Return by how much the replay's time is off the schedule's, as a fraction of the latter."""
    expected_ps = folder.expected_ns * 1000
    return (expected_ps - folder.makespan_ps) / folder.makespan_ps if folder.makespan_ps else 0.0


def remarks(folder: AstraFolder) -> tuple[str, ...]:
    """Return what a reader has to know to compare a replay with its schedule."""
    instance = folder.instance
    dimensions = instance.network.dimensions
    found = []
    if folder.is_partial:
        found.append(
            f"only {len(folder.ranks)} of {instance.num_npus} ranks are written, so ASTRA-sim cannot run this folder"
        )
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
    if Phase.REDUCE_SCATTER in instance.phases:
        reducing = [f"dim{k + 1}" for k in instance.involved if dimensions[k].reduction_bandwidth_Bps is not None]
        if reducing:
            found.append(
                f"reducing what arrives takes time on {', '.join(reducing)} in the schedule, and none in the replay"
            )
    if instance.chunk_overhead_ps:
        found.append("launching a chunk takes time in the schedule, and none in the replay")
    for k in folder.replay.changed:
        dimension = dimensions[k]
        what = (
            f"one of its {dimension.size - 1} parallel messages gets"
            if dimension.algorithm is Algorithm.DIRECT
            else "one message gets"
        )
        found.append(
            f"dim{k + 1} runs {dimension.algorithm} on a {dimension.topology} topology: its figures in network.yml are "
            f"what {what}, and latency per hop, such that a stage takes what the schedule says; they are not those "
            "of its links"
        )
    return tuple(found)
