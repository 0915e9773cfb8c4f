"""``themis-opt --version --verbose``: the version of everything a result can depend on, for bug reports."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, entry_points, requires, version

from themis_opt.problem.version import VERSION

GROUPS = ("themis_opt.solvers", "themis_opt.bounds", "themis_opt.schedulers")
"""The entry-point groups through which other packages take part."""


def version_lines() -> list[str]:
    """Return the versions of the program, Python, the machine, every dependency and extra, and who brings plug-ins.

    Nothing is imported: what fails to load still tells its version.
    """
    from themis_opt.solving.resources import usable_processors

    lines = [
        f"themis-opt {VERSION}",
        f"Python {platform.python_version()} ({platform.python_implementation()})",
        f"{platform.platform()}, {usable_processors()} usable processors",
    ]
    needed, extras = _dependencies()
    lines += [f"{name} {_installed(name)}" for name in needed]
    lines += [f"{name} {_installed(name)} (extra {extra})" for name, extra in extras.items()]
    for group in GROUPS:
        for entry in sorted(entry_points(group=group)):
            home = f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unknown package"
            lines.append(f"{group.rpartition('.')[2][:-1]} {entry.name} from {home}")
    return lines


def _dependencies() -> tuple[list[str], dict[str, str]]:
    """Return the names of the packages that themis-opt needs, and of those that an extra adds, with the extra."""
    needed: list[str] = []
    extras: dict[str, str] = {}
    try:
        told = requires("themis-opt") or []
    except PackageNotFoundError:  # run from a checkout that was not installed
        told = []
    for requirement in told:
        what, _, condition = requirement.partition(";")
        name = what.split("[")[0]
        for sign in "<>=!~ ":
            name = name.split(sign)[0]
        extra = condition.partition("extra ==")[2].strip(" '\"")
        if not extra:
            needed.append(name)
        elif extra not in ("all", "dev"):
            extras[name] = extra
    return needed, extras


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
