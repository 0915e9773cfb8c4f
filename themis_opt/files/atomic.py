"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from collections.abc import Sequence

from themis_opt.problem.errors import InputError

_EMPTY = "-o or --json: the name of the output file is empty; name a file, or - for standard output"


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` to `path`, replacing what is there only once all of it is on disk; ``-`` is standard output.

    The text goes to a temporary file in the same folder, which is then renamed.

    Raises
    ------
    InputError
        When it cannot be written; the old file, if any, is untouched and no temporary file is left.
    """
    name = os.fspath(path)
    if name == "-":
        # The command line lets a closed one point there, so that nothing else fails for it.
        if getattr(sys.stdout, "name", None) == os.devnull:
            raise InputError("standard output is closed; name a file with -o or --json")
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    if not name:
        raise InputError(_EMPTY)
    try:
        _write(os.path.realpath(name), text.encode("utf-8"))
    except (OSError, ValueError) as error:
        raise _cannot_write(name, error) from None


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` to the file `path` as `write_text` does it; there is no standard output for bytes.

    Raises
    ------
    InputError
        When it cannot be written; the old file, if any, is untouched and no temporary file is left.
    """
    name = os.fspath(path)
    if not name:
        raise InputError(_EMPTY)
    try:
        _write(os.path.realpath(name), data)
    except (OSError, ValueError) as error:
        raise _cannot_write(name, error) from None


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise early if a later `write_text` to this path cannot work, so that nobody waits for a lost result.

    Raises
    ------
    InputError
        When the path is a folder, or its folder does not exist or cannot be written to.
    """
    name = os.fspath(path)
    if name == "-":
        return
    if not name:
        raise InputError(_EMPTY)
    if os.path.isdir(name):
        raise InputError(f"{name}: is a folder; name a file")
    if os.path.exists(name) and not os.path.isfile(name):
        # A device or a pipe is written to itself; its folder may well be closed to us.
        if not os.access(name, os.W_OK):
            raise InputError(f"{name}: is not writable")
        return
    folder = os.path.dirname(os.path.realpath(name))
    if not os.path.isdir(folder):
        raise InputError(f"{name}: there is no folder {folder}; create it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{name}: folder {folder} is not writable")


def check_outputs(outputs: Sequence[str | None], inputs: Sequence[str] = ()) -> None:
    """Raise early when results could not be written, or would overwrite each other or what they are made from.

    Raises
    ------
    InputError
        Naming the file.
    """
    named = [path for path in outputs if path is not None]
    taken = {os.path.realpath(path) for path in inputs if os.path.exists(path)}
    for path in named:
        check_writable(path)
        place = "-" if path == "-" else os.path.realpath(path)
        if place in taken and (path == "-" or not os.path.exists(path) or os.path.isfile(path)):
            where = "standard output" if path == "-" else path
            raise InputError(f"{where}: is already read from or written to by this command; name another file")
        taken.add(place)


def _cannot_write(name: str, error: Exception) -> InputError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError(f"{name}: cannot be written: {reason}")


def _write(target: str, data: bytes) -> None:
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(target).st_mode
        if not stat.S_ISREG(mode):
            # A pipe or a device cannot be replaced by renaming.
            with open(target, "wb") as device:
                device.write(data)
            return
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".themis-opt-", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode_for(target))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _mode_for(target: str) -> int:
    """Return the permissions the file has, or those a new file would get."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(os.stat(target).st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
