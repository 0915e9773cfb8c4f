"""Judging an MSCCL XML algorithm, by whomever: read strictly, checked against the executors' rules, run on symbols."""

from __future__ import annotations

import os

from themis_opt.export.msccl.judge.xml_reading import read_algorithm
from themis_opt.export.msccl.judge.xml_verdict import judge
from themis_opt.export.verdict import Verdict

__all__ = ["interpret_text", "interpret_xml"]


def interpret_xml(path: str | os.PathLike[str]) -> Verdict:
    """Return the verdict on an MSCCL XML file.

    Raises
    ------
    InputError
        When it cannot be read as an MSCCL algorithm, or its collective is none that can be judged.
    """
    from themis_opt.export.msccl.judge.xml_reading import read_text

    return interpret_text(read_text(path), os.fspath(path))


def interpret_text(text: str, name: str) -> Verdict:
    """Return the verdict on the text of an MSCCL XML file; `name` is for messages.

    Raises
    ------
    InputError
        As `interpret_xml`.
    """
    from themis_opt.problem.errors import InputError

    try:
        return judge(read_algorithm(text))
    except InputError as error:
        raise error.at(name) from None
