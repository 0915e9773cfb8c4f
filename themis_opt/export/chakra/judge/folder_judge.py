"""The judge of folders of execution traces: it runs them on symbols and knows nothing of what wrote them."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass

import numpy as np

from themis_opt.export.chakra.judge.columns import Nodes, read_nodes
from themis_opt.export.chakra.judge.derivation import Derivation, Findings
from themis_opt.export.chakra.judge.local_rules import judge_ranks
from themis_opt.export.chakra.judge.setup import Setup, expected_ns, read_setup
from themis_opt.export.chakra.judge.symbols import execute_chunks
from themis_opt.export.chakra.judge.waiting import find_circle, match, message_ns, run
from themis_opt.export.verdict import Contradiction, Finding, Verdict
from themis_opt.problem.collective import Phase

_MAX_SHOWN = 3


@dataclass(frozen=True, slots=True)
class StageTraffic:
    """What one rank sends in one stage of a chunk, counted in the traces.

    Attributes
    ----------
    chunk, position, phase, dimension
        The stage; the dimension is the network's index.
    num_steps, num_messages, sent_bytes
        What the first rank's trace has.
    """

    chunk: int
    position: int
    phase: Phase
    dimension: int
    num_steps: int
    num_messages: int
    sent_bytes: int


@dataclass(frozen=True, slots=True)
class Interpretation:
    """What running a folder on symbols has shown.

    Attributes
    ----------
    setup
        What the folder says of itself.
    num_nodes
        SENDs and RECVs of all ranks.
    traffic
        Every stage's, in the order of chunks and positions.
    makespan_ns
        When everything is over by ASTRA-sim's rule; ``None`` when ranks are missing or something is wrong.
    findings
        What is wrong.
    """

    setup: Setup
    num_nodes: int
    traffic: tuple[StageTraffic, ...]
    makespan_ns: int | None
    findings: tuple[Finding, ...]


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


def interpret(folder: str) -> Interpretation:
    """Run a folder's traces, each step only when the one before found nothing wrong.

    Raises
    ------
    InputError
        When it cannot be read.
    """
    setup = read_setup(folder)
    derivation = Derivation(setup.schedule)
    nodes = read_nodes(setup)
    findings = Findings(derivation)
    makespan_ns = None
    judge_ranks(nodes, setup.ranks, derivation, findings)
    if not findings:
        makespan_ns = _run_together(setup, derivation, nodes, findings)
    found = list(findings.found)
    promised_ns = expected_ns(folder)
    if not found and makespan_ns is not None and promised_ns not in (None, makespan_ns):
        found.append(
            Finding(f"README.md: promises {promised_ns} ns, and by ASTRA-sim's rule it takes {makespan_ns} ns")
        )
    traffic = () if found else _traffic(setup, derivation, nodes)
    return Interpretation(setup, len(nodes), traffic, None if found else makespan_ns, tuple(found))


def _run_together(setup: Setup, derivation: Derivation, nodes: Nodes, findings: Findings) -> int | None:
    """Match, run and execute all ranks; return when everything is over, or ``None``."""
    sends, receives = match(nodes, setup.ranks, findings)
    if findings or setup.is_partial:
        return None
    outcome = run(nodes, sends, receives, message_ns(nodes, derivation, setup.links, sends))
    if len(outcome.stuck):
        circle = find_circle(nodes, sends, receives, outcome)
        place = circle[0]
        text = f"node {nodes.node_id[place]} waits for itself through {_names(nodes, circle)}"
        text += f"; {len(outcome.stuck)} nodes of all ranks never run"
        findings.of_message("circle", int(nodes.rank[place]), int(nodes.tag[place]), text)
        return None
    execute_chunks(setup.schedule, derivation, nodes, sends, receives, outcome, findings)
    return int(outcome.end_ns.max(initial=0))


def _names(nodes: Nodes, circle: list[int]) -> str:
    """Return the first nodes of a circle after the one it begins with, for people."""
    if len(circle) == 1:
        return "nobody else"
    shown = [f"rank {nodes.rank[place]} node {nodes.node_id[place]}" for place in circle[1 : _MAX_SHOWN + 1]]
    return ", ".join(shown) + (f" and {len(circle) - 1 - len(shown)} more" if len(circle) - 1 > len(shown) else "")


def _traffic(setup: Setup, derivation: Derivation, nodes: Nodes) -> tuple[StageTraffic, ...]:
    first = nodes.of_rank(0)
    stage_of = first.tag[first.is_send] // derivation.tag_width
    sent: Counter[int] = Counter()
    for stage_idx, size_bytes in zip(stage_of.tolist(), first.size_bytes[first.is_send].tolist(), strict=True):
        sent[stage_idx] += size_bytes
    num_messages = np.bincount(stage_of, minlength=len(derivation.stages))
    return tuple(
        StageTraffic(
            stage.chunk,
            stage.position,
            stage.phase,
            setup.instance.involved[stage.dimension],
            len(stage.step_bytes),
            int(num_messages[number]),
            sent[number],
        )
        for number, stage in enumerate(derivation.stages)
    )
