"""The README.md of a folder of traces: how to run it, what it should say, and what everything in it is."""

from __future__ import annotations

RUN_COMMAND = (
    "AstraSim_Analytical_Congestion_Unaware --workload-configuration=./wl --system-configuration=./system.json "
    "--network-configuration=./network.yml --remote-memory-configuration=./memory.json"
)
MAX_INTERPRETED_RANKS = 1024
"""What `validate` runs on symbols."""

TEMPLATE = """\
# {folder.instance.collective} of {size_text} on `{name}`, for ASTRA-sim 2

{folder.schedule.num_chunks} chunks on {folder.instance.num_npus} ranks ({sizes}), scheduled by `{scheduler}`.
Written by themis-opt; all of it can be written again from `schedule.json`.

## Run

With the analytical backend without congestion, from inside this folder, which must be writable:

    ulimit -n {open_files}
    {command}

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
"""Filled in by `folder.AstraFolder`, which is its ``folder``."""


def min_open_files(num_ranks: int) -> int:
    """Return the limit of open files that a replay needs: ASTRA-sim keeps both files of every rank open."""
    return 2 * num_ranks + 21


def code_word(text: str) -> str:
    """Return a name from a file as it may stand between backticks on a line."""
    return "".join(character if character.isprintable() and character != "`" else "?" for character in text)
