"""Finding named things: built-in ones by import path, other packages' by entry point; loaded when used."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.errors import InputError

Thing = TypeVar("Thing")


class Registry(Generic[Thing]):
    """Things of one kind, by name.

    Parameters
    ----------
    kind
        What they are called in messages.
    group
        The entry-point group other packages use.
    built_in
        Import paths ``module:attribute`` by name. A built-in name cannot be taken by another package.
    refused
        Names that sound like one of them, and what to say of each.
    """

    def __init__(
        self,
        kind: str,
        group: str,
        built_in: Mapping[str, str] | None = None,
        refused: Mapping[str, str] | None = None,
    ) -> None:
        self.kind = kind
        self.group = group
        self._built_in = dict(built_in or {})
        self._refused = dict(refused or {})

    @cached_property
    def _entries(self) -> dict[str, EntryPoint]:
        # Our own come first and win: a package must not replace the baseline that speedups are over.
        own = {name: EntryPoint(name, path, self.group) for name, path in self._built_in.items()}
        found = {entry.name: entry for entry in entry_points(group=self.group) if entry.name not in self._refused}
        return {**own, **{name: found[name] for name in sorted(found) if name not in own}}

    def names(self) -> tuple[str, ...]:
        """Return all names: built-in ones in their order, then the others by name."""
        return tuple(self._entries)

    def require(self, name: str) -> None:
        """Raise unless there is a thing with this name; nothing is loaded.

        Raises
        ------
        InputError
            Listing those there are.
        """
        if name not in self._entries:
            raise InputError(self._unknown(name))

    def get(self, name: str) -> Thing:
        """Return the thing with this name.

        Raises
        ------
        InputError
            When there is none, or when the package that brings it fails to load.
        """
        # A built-in name needs no scan of the installed packages.
        path = self._built_in.get(name)
        if path is not None:
            module, _, attribute = path.partition(":")
            return getattr(import_module(module), attribute)  # type: ignore[no-any-return]
        entry = self._entries.get(name)
        if entry is None:
            raise InputError(self._unknown(name))
        try:
            loaded: Any = entry.load()
        except Exception as error:  # whatever another package raises is its failure, not ours
            raise InputError(f"{self.kind} {name!r} ({entry.value}) failed to load: {error!r}") from error
        return loaded  # type: ignore[no-any-return]

    def summary(self, name: str) -> str:
        """Return the first line of the docstring of the thing with this name."""
        return (getattr(self.get(name), "__doc__", None) or "").strip().partition("\n")[0]

    def _unknown(self, name: str) -> str:
        if name in self._refused:
            return self._refused[name]
        if not self._entries:
            return (
                f"no {self.kind} {name!r}: none is installed; entry points exist only in an installed package: "
                "run 'pip install -c constraints.txt -e .' in a checkout, or 'pip install themis-opt'"
            )
        return f"unknown {self.kind} {name!r}; there are: {', '.join(self._entries)}{did_you_mean(name, self._entries)}"
