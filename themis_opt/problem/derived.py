"""What follows from an immutable object is worked out once and travels with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self, TypeVar, cast

Derived = TypeVar("Derived")


class Deriving:
    """An immutable object that keeps what was worked out from it alone; copies in other processes work it out anew."""

    def derived(self, kind: Callable[[Self], Derived]) -> Derived:
        """Return ``kind(self)``, worked out the first time that anybody asks for it.

        So an instance has one `CostModel` and one `OrderLattice`, and a schedule is timed once (`timeline_of`), however
        many functions they are handed to.
        """
        if kind not in self._derived:
            self.keep(kind, kind(self))
        return cast(Derived, self._derived[kind])

    def keep(self, kind: Callable[[Self], Derived], derived: Derived) -> None:
        """Take over what ``kind(self)`` would give from whoever knows it already; of two threads the first wins."""
        self._derived.setdefault(kind, derived)

    @cached_property
    def _derived(self) -> dict[Callable[..., Any], Any]:
        return {}

    # Pickles go to solver processes: the stage tables would be larger than what they are worked out from.
    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_derived"}
