"""The README.md of a folder of traces: how to run it, what it should say, and what everything in it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from themis_opt.problem.units import format_size

if TYPE_CHECKING:
    from themis_opt.export.chakra.write.folder import AstraFolder

BINARY = "AstraSim_Analytical_Congestion_Unaware"
FLAGS = (
    "--workload-configuration=./wl --system-configuration=./system.json "
    "--network-configuration=./network.yml --remote-memory-configuration=./memory.json"
)


MAX_INTERPRETED_RANKS = 1024
"""What `validate` runs on symbols."""


def min_open_files(num_ranks: int) -> int:
    """Return the limit of open files that a replay needs: ASTRA-sim keeps both files of every rank open."""
    return 2 * num_ranks + 21


def readme_text(folder: AstraFolder) -> str:
    """Return the text."""
    instance, size = folder.instance, folder.size
    name, scheduler = _word(instance.network.name), _word(folder.schedule.scheduler or "nobody knows whom")
    notes = "".join(f"- {remark[0].upper()}{remark[1:]}.\n" for remark in folder.remarks)
    tag = f"(chunk * {folder.plan.stages_per_chunk} + stage) * {folder.plan.tag_width} + message"
    too_large = (
        f"\n(It takes at most {MAX_INTERPRETED_RANKS} ranks: export a smaller network of the same shape for that.)"
        if instance.num_npus > MAX_INTERPRETED_RANKS
        else ""
    )
    sizes = " x ".join(str(instance.network.dimensions[k].size) for k in instance.involved)
    return f"""# {instance.collective} of {format_size(instance.size_bytes)} on `{name}`, for ASTRA-sim 2

{folder.schedule.num_chunks} chunks on {instance.num_npus} ranks ({sizes}), scheduled by `{scheduler}`.
Written by themis-opt; all of it can be written again from `schedule.json`.

## Run

With the analytical backend without congestion, from inside this folder, which must be writable:

    ulimit -n {min_open_files(instance.num_npus)}
    {BINARY} {FLAGS}

(`astra-sim/build/astra_analytical/build/bin/` is where its build puts the program.) Replaying takes about
{size.replay_text} of memory.

## Expect

    expected time: {folder.expected_ns} ns

The schedule's own time is {folder.makespan_ps} ps; the replay is {folder.deviation:+z.4%} off. ASTRA-sim counts whole
bytes and cuts every step to whole nanoseconds: floor(hops * latency + bytes / bandwidth).
The run is right when **every** rank has a line `sys[i] finished, {folder.expected_ns} cycles` and no line says
`unreleased nodes`. The exit status proves nothing.
{chr(10) + notes if notes else ""}
## Check without ASTRA-sim

    themis-opt validate .

runs the traces on symbols: every rank must end with every contribution exactly once.{too_large}

## Files

| file | what it is |
|---|---|
| `network.yml` | {len(instance.involved)} dimensions; `bandwidth`: GiB/s of one message, `latency`: ns per hop |
| `system.json` | one custom algorithm, `rank`; `preferred-dataset-splits` stays 1, the chunks are in the traces |
| `memory.json` | no memory model |
| `wl.<rank>.et` | the workload: one collective |
| `rank.<rank>.et` | the rank's messages: {folder.plan.nodes_per_rank} nodes, SENDs and RECVs |
| `schedule.json` | the schedule, for themis-opt |

{size.num_nodes} nodes in {size.num_bytes} bytes. Rank = a0 + a1 * P0 + a2 * P0 * P1 ..., with the coordinates a of the
dimensions in the order of network.yml. Tag = {tag}: the stages of a
chunk and the messages of a stage count from 0, step by step, those of a direct step by their distance.
"""


def _word(text: str) -> str:
    """Return a name from a file as it may stand between backticks on a line."""
    return "".join(character if character.isprintable() and character != "`" else "?" for character in text)
