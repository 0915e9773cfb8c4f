"""The networks and instances that come with the package, and how a name on the command line becomes a file."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from themis_opt.files.strict import shorten
from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.errors import InputError

_MAX_NAME_LENGTH = 255


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


def find_network(name_or_path: str | os.PathLike[str]) -> Path:
    """Return the file of a network: an existing path, or a shipped name.

    Raises
    ------
    InputError
        When it is neither.
    """
    return _find(name_or_path, shipped_networks(), "network", "'themis-opt list networks' lists them")


def find_instance(name_or_path: str | os.PathLike[str]) -> Path:
    """Return the file of an instance or network: an existing path, or a shipped name (instances first).

    Raises
    ------
    InputError
        When it is neither.
    """
    shipped = {**shipped_networks(), **shipped_instances()}
    if os.path.isdir(name_or_path) and os.fspath(name_or_path) not in shipped:
        name = os.fspath(name_or_path)
        raise InputError(f"{name}: is a folder; name an instance, network or schedule file in it")
    listing = "'themis-opt list networks' and 'themis-opt list instances' list them"
    return _find(name_or_path, shipped, "instance or network", listing)


def _find(name_or_path: str | os.PathLike[str], shipped: dict[str, Path], what: str, listing: str) -> Path:
    path, name = Path(name_or_path), os.fspath(name_or_path)
    if os.path.isfile(path):  # False, unlike Path's, for what cannot be a name
        return path
    if name in shipped:
        return shipped[name]
    if os.path.exists(path):
        return path  # a pipe, or what the reader refuses by its kind
    shown = shorten(name, _MAX_NAME_LENGTH) or "''"
    if os.sep in name or path.suffix:
        raise InputError(f"{shown}: no such file")
    raise InputError(f"{shown}: no shipped {what} and no file of this name{did_you_mean(name, shipped)}; {listing}")


def _files(folder: str) -> dict[str, Path]:
    paths = sorted((shipped_folder() / folder).glob("*.yaml"), key=lambda path: path.stem)
    return {path.stem: path for path in paths}
