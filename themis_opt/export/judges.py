"""Which interpreter judges a file or folder, told from what it is."""

from __future__ import annotations

import os

from themis_opt.export.verdict import Verdict


def interpret(path: str) -> Verdict | None:
    """Return the verdict on a folder of execution traces or an MSCCL XML file; ``None`` for any other file.

    Raises
    ------
    InputError
        When it cannot be read as what it is.
    """
    if os.path.isdir(path):
        from themis_opt.export.chakra.judge.folder_judge import interpret_folder

        return interpret_folder(path)
    if _begins_like_xml(path):
        from themis_opt.export.msccl.judge.xml_judge import interpret_xml

        return interpret_xml(path)
    return None


def _begins_like_xml(path: str) -> bool:
    """Return whether a regular file's first character is an angle bracket; what cannot be read is not our matter."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(200).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    except OSError:
        return False
