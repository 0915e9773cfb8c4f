"""Compiling a function with numba, with its cache on disk where there is a place to write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Return `function` compiled to machine code.

    numba looks for a writable cache beside the module, then below HOME, and raises *at import* when neither exists
    (a read-only installation of a service account); then the function is compiled anew in every process. So it is when
    a file of the cache is damaged or cannot be read or written.
    """
    import numba  # a second of loading that --help need not pay

    # nogil, so that `interruptibly` can wait beside it.
    try:
        dispatcher = numba.njit(cache=True, nogil=True)(function)
    except (RuntimeError, OSError):
        return cast(Function, numba.njit(nogil=True)(function))
    if hasattr(dispatcher, "_cache"):  # not with NUMBA_DISABLE_JIT
        _survive_damage(dispatcher._cache)
    return cast(Function, dispatcher)


def inlined(function: Function) -> Function:
    """Return `function` so that compiled functions that call it contain its code.

    For what takes tuples of arrays and is called often: handing them over counts references, which may take longer than
    what is done with them.
    """
    import numba

    return cast(Function, numba.njit(inline="always")(function))


def _survive_damage(cache: Any) -> None:
    """Let a numba cache begin anew when it cannot be read, and do without it when it cannot be written.

    A file that is cut off or overwritten makes unpickling raise anything; numba lets all of it through.
    """
    load, save = cache.load_overload, cache.save_overload

    def load_overload(signature: Any, target_context: Any) -> Any:
        try:
            return load(signature, target_context)
        except Exception:
            try:
                cache.flush()
            except Exception:
                cache.disable()
            return None

    def save_overload(signature: Any, data: Any) -> None:
        try:
            save(signature, data)
        except Exception:
            cache.disable()

    cache.load_overload, cache.save_overload = load_overload, save_overload
