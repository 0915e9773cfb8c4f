"""Writing a folder whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from themis_opt.problem.errors import InputError
from themis_opt.problem.interruption import INTERRUPTION


def check_folder(name: str, *, force: bool) -> None:
    """Raise early if a later `write_folder` to this path cannot work.

    Raises
    ------
    InputError
        When the path is no folder or one with files in it, or there is no folder around it that can be written to.
    """
    if not name or name == "-":
        raise InputError(f"-o {name or repr(name)}: a folder is written; name one")
    target = os.path.realpath(name)
    if os.path.lexists(target):
        if not os.path.isdir(target):
            raise InputError(f"{name}: is a file, and a folder is written; name another")
        if not force and _has_files(name, target):
            raise InputError(f"{name}: has files in it; name a new folder, or write into this one with --force")
    around = os.path.dirname(target)
    if not os.path.isdir(around):
        raise InputError(f"{name}: there is no folder {around}; create it first")
    for writable in (around, target):
        if os.path.isdir(writable) and not os.access(writable, os.W_OK | os.X_OK):
            raise InputError(f"{name}: folder {writable} is not writable")


def _has_files(name: str, target: str) -> bool:
    try:
        with os.scandir(target) as entries:
            return any(True for _ in entries)
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from None


def write_folder(
    name: str, fill: Callable[[Path], None], num_bytes: int, *, force: bool, ours: re.Pattern[str], last: str
) -> None:
    """Let `fill` write into a temporary folder beside `name`, and put it in place when all is there.

    Parameters
    ----------
    name
        The folder; it does not exist or is empty, unless `force`.
    fill
        Writes all files into the folder it is given.
    num_bytes
        About how much that is, to say at once when the disk has less.
    force
        Whether `name` may have files: those called like `ours` go, whoever wrote them, and all others stay.
    ours
        What files of this kind are called.
    last
        The file that comes into place last: a folder that has it is complete.

    Raises
    ------
    InputError
        When it cannot be written; `name` is as it was, unless the disk failed while files were moved into place.
    """
    check_folder(name, force=force)
    target = os.path.realpath(name)
    temporary = None
    try:
        free = shutil.disk_usage(os.path.dirname(target)).free
        if free < num_bytes:
            raise InputError(f"{name}: cannot be written: it takes {num_bytes} bytes, and the disk has {free} left")
        temporary = tempfile.mkdtemp(dir=os.path.dirname(target), prefix=".themis-opt-", suffix=".tmp")
        fill(Path(temporary))
        # A signal from here on waits until the folder is whole.
        INTERRUPTION.hold()
        os.chmod(temporary, _mode_for(target))
        if os.path.isdir(target) and os.listdir(target):
            _replace(temporary, target, ours, last)
        else:
            os.rename(temporary, target)
            temporary = None
    except OSError as error:
        place = "" if error.filename is None else f" ({os.path.basename(error.filename)})"
        raise InputError(f"{name}: cannot be written: {error.strerror or error}{place}") from None
    finally:
        INTERRUPTION.hold()
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        INTERRUPTION.release()


def _replace(temporary: str, target: str, ours: re.Pattern[str], last: str) -> None:
    """Move all files into a folder that has files, after those of its earlier contents that are ours are gone.

    Raises
    ------
    OSError
        When a folder stands where a file of ours goes; then nothing has been touched.
    """
    for entry in sorted({*os.listdir(target), *os.listdir(temporary)}):
        path = os.path.join(target, entry)
        if ours.fullmatch(entry) and os.path.isdir(path) and not os.path.islink(path):
            raise IsADirectoryError(errno.EISDIR, "a folder stands where a file of the export goes; remove it", entry)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(target, last))
    for entry in os.listdir(target):
        if ours.fullmatch(entry):
            os.unlink(os.path.join(target, entry))
    written = os.listdir(temporary)
    for entry in sorted(written, key=lambda file: file == last):
        os.replace(os.path.join(temporary, entry), os.path.join(target, entry))


def _mode_for(target: str) -> int:
    """Return the permissions the folder has, or those a new one would get."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(os.stat(target).st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o777 & ~umask
