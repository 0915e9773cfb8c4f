"""Judging an MSCCL XML algorithm, by whomever: read strictly, checked against the executors' rules, run on symbols.

First its structure is judged, then its messages, then it is run for each way to use it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import islice

from themis_opt.export.msccl.judge.algorithm import XmlAlgorithm
from themis_opt.export.msccl.judge.contributions import COLLECTIVES, Meaning
from themis_opt.export.msccl.judge.program_structure import pairing_findings, structure_findings
from themis_opt.export.msccl.judge.symbolic_run import Run
from themis_opt.export.msccl.judge.xml_reading import read_algorithm, read_xml
from themis_opt.export.verdict import Finding, Verdict
from themis_opt.files.strict import shorten
from themis_opt.problem.errors import InputError, located

MAX_FINDINGS = 10
MAX_MOVES = 10_000_000
"""Chunks that all steps together move."""


def interpret_xml(path: str | os.PathLike[str]) -> Verdict:
    """Return the verdict on an MSCCL XML file.

    Raises
    ------
    InputError
        When it cannot be read as an MSCCL algorithm, or its collective is none that can be judged.
    """
    return interpret_text(read_xml(path), os.fspath(path))


def interpret_text(text: str, name: str) -> Verdict:
    """Return the verdict on the text of an MSCCL XML file; `name` is for messages.

    Raises
    ------
    InputError
        As `interpret_xml`.
    """
    with located(name):
        return judge(read_algorithm(text))


def judge(algorithm: XmlAlgorithm) -> Verdict:
    """Return the verdict on an algorithm.

    Raises
    ------
    InputError
        When its collective is none that can be judged, or it moves more than `MAX_MOVES` chunks.
    """
    if algorithm.coll not in COLLECTIVES:
        raise InputError(f"coll: {algorithm.coll[:40]!r} cannot be judged; known are {', '.join(COLLECTIVES)}")
    findings = _first(structure_findings(algorithm))
    if findings:
        return Verdict(_summary(algorithm), findings)
    # A structure found right serves at least one of the two.
    meanings = [Meaning(algorithm, in_place) for in_place in (True, False) if _serves(algorithm, in_place)]
    findings = _first(pairing_findings(algorithm))
    if meanings[0].uneven:
        findings = (Finding(meanings[0].uneven), *findings)
    if findings:
        return Verdict(_summary(algorithm), findings)
    num_moves = sum(step.cnt for gpu in algorithm.gpus for tb in gpu.tbs for step in tb.steps)
    if num_moves > MAX_MOVES:
        raise InputError(f"its steps move {num_moves} chunks; at most {MAX_MOVES} can be followed")
    notes = []
    for meaning in meanings:
        run = Run(algorithm, meaning)
        findings = _first(run.findings())
        if findings:
            where = "in place: " if meaning.in_place else "out of place: "
            if len(meanings) > 1:
                findings = tuple(Finding(where + f.message, f.rank, f.chunk, f.step) for f in findings)
            break
        if run.writes_input:
            notes.append("it overwrites its input, though out of place")
        if not run.looks_for_races:
            notes.append("too large to look for races")
    return Verdict(_summary(algorithm, notes), findings)


def _serves(algorithm: XmlAlgorithm, in_place: bool) -> bool:
    """Return whether an algorithm is meant for this use; older writers do not say `outofplace`, and mean the other."""
    if in_place:
        return bool(algorithm.inplace)
    return not algorithm.inplace if algorithm.outofplace is None else bool(algorithm.outofplace)


def _first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(islice(findings, MAX_FINDINGS))


def _summary(algorithm: XmlAlgorithm, notes: Iterable[str] = ()) -> str:
    tbs = [tb for gpu in algorithm.gpus for tb in gpu.tbs]
    num_steps = sum(len(tb.steps) for tb in tbs)
    uses = [use for use, in_place in (("in place", True), ("out of place", False)) if _serves(algorithm, in_place)]
    missing = [name for name in ("outofplace", "minBytes", "maxBytes") if getattr(algorithm, name) is None]
    remarks = [*notes]
    if missing:
        remarks.append(f"it lacks {', '.join(missing)}, which newer executors need")
    if algorithm.ignored:
        remarks.append(f"without effect here: {', '.join(algorithm.ignored)}")
    return (
        f"MSCCL {algorithm.coll[:40]} {_printable(algorithm.name)}, {' and '.join(uses)}: {algorithm.ngpus} ranks, "
        f"{len(tbs)} threadblocks, {num_steps} steps; every rank ends with every contribution once, nothing waits "
        "for ever (slots between ranks not modelled)" + "".join(f"; {remark}" for remark in remarks)
    )


def _printable(name: str) -> str:
    return shorten("".join(character if character.isprintable() else "?" for character in name))
