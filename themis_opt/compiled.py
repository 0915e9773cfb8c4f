"""Compiling a function with numba, with its cache on disk where there is a place to write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Return `function` compiled to machine code.

    numba looks for a writable cache beside the module, then below HOME, and raises *at import* when neither exists
    (a read-only installation of a service account); then the function is compiled anew in every process.
    """
    import numba

    try:
        return cast(Function, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:
        return cast(Function, numba.njit(nogil=True)(function))
