"""Writing a file or a folder whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from themis_opt.problem.checks import escaped
from themis_opt.problem.errors import InputError
from themis_opt.problem.interruption import INTERRUPTION

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
        if sys.stdout.isatty():
            # What goes to a file or a pipe is as it is; a terminal would take some texts for commands.
            text = "\n".join(map(escaped, text.replace("\r\n", "\n").split("\n")))
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    write_bytes(name, text.encode("utf-8"))


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
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{name}: cannot be written: {reason}") from None


@contextmanager
def saving() -> Iterator[Callable[[str | None, Callable[[str], None]], bool]]:
    """Let files be saved so that a full disk costs no more than them: what fails is told when everything else is done.

    Yields a function of a path, or ``None`` for none, and of what saves to it; it returns whether there is such a file
    now.

    Raises
    ------
    InputError
        At the end: the first that a save has raised.
    """
    errors: list[InputError] = []

    def save(path: str | None, write: Callable[[str], None]) -> bool:
        if path is None:
            return False
        try:
            write(path)
        except InputError as error:
            errors.append(error)
            return False
        return True

    yield save
    if errors:
        raise errors[0]


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
    require_working_directory()
    folder = os.path.dirname(os.path.realpath(name))
    if not os.path.isdir(folder):
        raise InputError(f"{name}: there is no folder {folder}; create it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{name}: folder {folder} is not writable")


def require_working_directory() -> None:
    """Raise when somebody has removed the folder that this process runs in.

    Raises
    ------
    InputError
        Saying so: the system's own message names no file.
    """
    try:
        os.getcwd()
    except FileNotFoundError:
        raise InputError("the folder you are in no longer exists; change to one that does") from None


def check_outputs(outputs: Sequence[str | None], inputs: Sequence[str] = ()) -> None:
    """Raise early when results could not be written, or would overwrite each other or what they are made from.

    Raises
    ------
    InputError
        Naming the file.
    """
    named = [path for path in outputs if path is not None]
    if named:
        require_working_directory()
    taken = {os.path.realpath(path) for path in inputs if os.path.exists(path)}
    for path in named:
        check_writable(path)
        place = "-" if path == "-" else os.path.realpath(path)
        if place in taken and (path == "-" or not os.path.exists(path) or os.path.isfile(path)):
            where = "standard output" if path == "-" else path
            raise InputError(f"{where}: is already read from or written to by this command; name another file")
        taken.add(place)


def check_folder(name: str, *, force: bool, in_place: bool = False, goes: str = "") -> None:
    """Raise early if a later `write_folder` to this path cannot work.

    Parameters
    ----------
    name
        The folder.
    force
        Whether it may have files.
    in_place
        Whether files will be written into it one by one: then the folder around one that exists does not matter.
    goes
        What becomes of its files with `force`, for the message.

    Raises
    ------
    InputError
        When the path is no folder or one with files in it, or there is no folder around it that can be written to.
    """
    if not name or name == "-":
        raise InputError(f"-o {name or repr(name)}: a folder is written; name one")
    require_working_directory()
    target = os.path.realpath(name)
    if os.path.lexists(target):
        if not os.path.isdir(target):
            raise InputError(f"{name}: is a file, and a folder is written; name another")
        try:
            if not force and os.listdir(target):
                rest = f": {goes}" if goes else ""
                raise InputError(
                    f"{name}: has files in it; name a new folder, or write into this one with --force{rest}"
                )
        except OSError as error:
            raise InputError(f"{name}: cannot be read: {error.strerror}") from None
    around = target if in_place and os.path.isdir(target) else os.path.dirname(target)
    if not os.path.isdir(around):
        raise InputError(f"{name}: there is no folder {around}; create it first")
    for writable in (around, target):
        if os.path.isdir(writable) and not os.access(writable, os.W_OK | os.X_OK):
            raise InputError(f"{name}: folder {writable} is not writable")


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
    try:
        free = shutil.disk_usage(os.path.dirname(target)).free
        if free < num_bytes:
            raise InputError(f"{name}: cannot be written: it takes {num_bytes} bytes, and the disk has {free} left")
        temporary = tempfile.mkdtemp(dir=os.path.dirname(target), prefix=".themis-opt-", suffix=".tmp")
        try:
            fill(Path(temporary))
            # A signal from here on waits until the folder is whole.
            with INTERRUPTION.held():
                os.chmod(temporary, _mode_for(target, 0o777))
                _put_in_place(temporary, target, ours, last)
        finally:
            with INTERRUPTION.held():
                shutil.rmtree(temporary, ignore_errors=True)  # which is gone, if it was renamed
    except OSError as error:
        place = "" if error.filename is None else f" ({os.path.basename(error.filename)})"
        raise InputError(f"{name}: cannot be written: {error.strerror or error}{place}") from None


def _put_in_place(temporary: str, target: str, ours: re.Pattern[str], last: str) -> None:
    """Rename a folder to `target`; if that has files, move all into it, after those that are ours are gone.

    Raises
    ------
    OSError
        When a folder stands where a file of ours goes; then nothing has been touched.
    """
    there = os.listdir(target) if os.path.isdir(target) else []
    if not there:
        os.rename(temporary, target)
        return
    written = os.listdir(temporary)
    for entry in sorted({*there, *written}):
        path = os.path.join(target, entry)
        if ours.fullmatch(entry) and os.path.isdir(path) and not os.path.islink(path):
            raise IsADirectoryError(errno.EISDIR, "a folder stands where a file of the export goes; remove it", entry)
    # The one that says that all is there goes first, and comes last.
    for entry in sorted(filter(ours.fullmatch, there), key=lambda entry: entry != last):
        os.unlink(os.path.join(target, entry))
    for entry in sorted(written, key=lambda entry: entry == last):
        os.replace(os.path.join(temporary, entry), os.path.join(target, entry))


def _write(target: str, data: bytes) -> None:
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(target).st_mode
        if not stat.S_ISREG(mode):
            # A pipe or a device cannot be replaced by renaming.
            with open(target, "wb") as device:
                device.write(data)
            return
    # In the same folder: a file cannot be renamed across file systems.
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".themis-opt-", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            # Before it is renamed: else a power cut may leave the new name and nothing in it.
            os.fsync(file.fileno())
        os.chmod(temporary, _mode_for(target, 0o666))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _mode_for(target: str, new: int) -> int:
    """Return the permissions that a file or folder has, or those a new one gets that asks for `new`."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(os.stat(target).st_mode)
    # The mask cannot be read but by setting it.
    umask = os.umask(0)
    os.umask(umask)
    return new & ~umask
