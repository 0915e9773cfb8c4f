"""The networks and instances that come with the package: in the wheel, and beside it in a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from themis_opt.problem.errors import InputError

_SHOWN = 255


@cache
def shipped_folder() -> Path:
    """Return the folder ``instances``: inside the installed package, or beside it in a checkout.

    Raises
    ------
    InputError
        When neither exists, because the installation is broken.
    """
    package = Path(__file__).parent.parent
    for folder in (package / "instances", package.parent / "instances"):
        if (folder / "networks").is_dir():
            return folder
    raise InputError(f"the shipped instances are missing beside {package}; install themis-opt again")


def shipped_networks() -> dict[str, Path]:
    """Return the files of the shipped networks by name."""
    return _files("networks")


def shipped_instances() -> dict[str, Path]:
    """Return the files of the shipped instances by name."""
    return _files("collectives")


def shown_name(name: str) -> str:
    """Return a name as it may stand in a message: not longer than any file's, and visible when it is empty."""
    return repr(name) if not name else name if len(name) <= _SHOWN else name[: _SHOWN - 3] + "..."


def _files(folder: str) -> dict[str, Path]:
    paths = sorted((shipped_folder() / folder).glob("*.yaml"), key=lambda path: path.stem)
    return {path.stem: path for path in paths}
