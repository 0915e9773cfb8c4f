"""The judge of folders of execution traces: it runs them on symbols and knows nothing of what wrote them."""

from __future__ import annotations

import os

from themis_opt.export.verdict import Contradiction, Finding, Verdict


def interpret_folder(path: str) -> Verdict:
    """Return the verdict on a folder such as ``export --to astra2`` writes.

    Every SEND must have its RECV, nobody may wait for ever, and when all messages have moved every rank must hold what
    the collective of its schedule is: each contribution exactly once. Of a folder with the traces of some ranks only,
    each one is checked by itself. What contradicts the schedule, or the time that the README promises, is a finding.

    Raises
    ------
    InputError
        When a file is missing or malformed, or there is more than can be interpreted.
    """
    from themis_opt.export.chakra.judge.interpretation import interpret

    try:
        found = interpret(path)
    except Contradiction as error:
        return Verdict("", (Finding(str(error).removeprefix(os.path.join(path, ""))),))
    setup = found.setup
    num_chunks = setup.schedule.num_chunks
    if setup.is_partial:
        summary = (
            f"{len(setup.ranks)} of {setup.num_ranks} ranks, {num_chunks} chunks, {found.num_nodes} nodes: each rank's "
            "messages, sizes and dependencies are right; what they do together, and when, takes the others to tell"
        )
    else:
        summary = (
            f"{setup.instance.collective} on {setup.num_ranks} ranks, {num_chunks} chunks, {found.num_nodes} nodes, "
            f"{found.num_nodes // 2} messages: every rank ends with every contribution exactly once; "
            f"makespan {found.makespan_ns} ns by ASTRA-sim's rule"
        )
    return Verdict(summary, found.findings)
