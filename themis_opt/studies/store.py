"""The file of a study: one SQLite database with the plan and every result, safe to kill at any moment.

Results are keyed by what they depend on (`Task.key`), so that a study that has changed keeps what still holds. Each is
committed as it arrives, in write-ahead mode: whatever ends the program, the file stays whole and lacks at most what
was being computed.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec
from filelock import FileLock, Timeout

from themis_opt.files.atomic import check_writable
from themis_opt.files.network_file import network_document
from themis_opt.problem.errors import InputError
from themis_opt.problem.version import VERSION
from themis_opt.studies.study_engine import Finding
from themis_opt.studies.table import Value

if TYPE_CHECKING:
    from themis_opt.studies.planning import Point
    from themis_opt.studies.study import Study

APPLICATION_ID = 0x7468656D
"""Stands in the header of the file (``them``), so that no other database is taken for a study's."""

FORMAT_VERSION = 1

_KEPT = "; what was written before is kept"
_HEADER = b"SQLite format 3\x00"
_LOOKED_AT = 4096
_WAIT_S = 30.0
"""How long a write waits for somebody who reads in a mode that locks."""

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE points (
    place INTEGER PRIMARY KEY,
    axis_values TEXT NOT NULL,
    key TEXT,
    reason TEXT NOT NULL
);
CREATE TABLE results (
    key TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    figures TEXT NOT NULL,
    seconds REAL NOT NULL,
    reason TEXT NOT NULL,
    version TEXT NOT NULL
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """A point as it stands in the file, with its result if there is one."""

    axis_values: tuple[Value, ...]
    reason: str
    finding: Finding | None


class StudyStore:
    """A study's file, open for writing by this process alone; use it as a context manager.

    Parameters
    ----------
    path
        The file; it is made if there is none.

    Raises
    ------
    InputError
        When it cannot be written, is no study's file or one of another version, or another sweep is writing to it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._name = os.fspath(path)
        if self._name == "-":
            raise InputError("-o: a study's results are a database; name a file")
        check_writable(self._name)
        _require_study_or_nothing(self._name)
        if os.path.exists(self._name) and os.stat(self._name).st_nlink > 1:
            raise InputError(
                f"{self._name}: has a second name (a hard link), by which another sweep might write; name a copy"
            )
        self._lock = _locked(self._name)
        try:
            with _told(self._name):
                self._connection = _open(self._name)
            self._identity = os.stat(self._name)
        except BaseException:
            _unlock(self._lock)
            raise

    def __enter__(self) -> StudyStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # What is committed is safe already; this only tidies up, and a full disk is no reason to fail now.
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.execute("PRAGMA journal_mode = DELETE")
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()
        _unlock(self._lock)

    def plan(self, study: Study, points: Sequence[Point]) -> None:
        """Write what the study is and which points it has, in the place of what stood there.

        Raises
        ------
        InputError
            When the file cannot be written.
        """
        rows = (
            (place, json.dumps(point.values), None if point.task is None else point.task.key, point.reason)
            for place, point in enumerate(points)
        )
        meta = {
            "name": study.name,
            "text": study.text,
            "axes": json.dumps([axis.field.name for axis in study.axes]),
            "metrics": json.dumps([metric.name for metric in study.metrics]),
            "version": VERSION,
            "networks": json.dumps([network_document(network) for network in study.networks]),
        }
        with _told(self._name), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("DELETE FROM points")
            self._connection.executemany("INSERT INTO points VALUES (?, ?, ?, ?)", rows)
            self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())

    def findings(self) -> list[Finding]:
        """Return everything that was found before, whichever study asked for it.

        Raises
        ------
        InputError
            When the file is damaged.
        """
        return _all_findings(self._name, self._connection)

    def add(self, *findings: Finding) -> None:
        """Write down what was found.

        Raises
        ------
        InputError
            When the file cannot be written, or somebody has removed or replaced it.
        """
        self._require_still_there()
        rows = [
            (found.key, found.status, json.dumps(found.figures), found.seconds, found.reason, VERSION)
            for found in findings
        ]
        with _told(self._name, _KEPT), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?)", rows)

    def _require_still_there(self) -> None:
        """Raise when the file is not the one that was opened: what is written now would be lost."""
        with contextlib.suppress(OSError):
            if os.path.samestat(self._identity, os.stat(self._name)):
                return
        raise InputError(f"{self._name}: was removed or replaced while the study ran; run it again")


def read_rows(path: str | os.PathLike[str]) -> tuple[dict[str, str], list[PlannedRow]]:
    """Return what a study's file says of the study, and its points in order with their results.

    It may be read while a sweep writes to it.

    Raises
    ------
    InputError
        When there is no such file, or it is no study's.
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        raise InputError(f"{name}: no such file; 'themis-opt sweep STUDY.yaml -o {name}' makes it")
    if not _require_study_or_nothing(name):
        raise InputError(f"{name}: is empty; 'themis-opt sweep STUDY.yaml -o {name}' fills it")
    with _told(name), contextlib.closing(_connect(name, "ro")) as connection:
        _require_version(name, connection)
        connection.execute("BEGIN")
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        found = connection.execute(
            "SELECT axis_values, points.reason, results.key, status, figures, seconds, results.reason "
            "FROM points LEFT JOIN results ON points.key = results.key ORDER BY place"
        ).fetchall()
    if "axes" not in meta:
        raise InputError(f"{name}: holds no study yet; 'themis-opt sweep STUDY.yaml -o {name}' fills it")
    with undamaged(name):
        texts = msgspec.convert(meta, dict[str, str])
        for key in ("name", "text", "version"):
            if key not in texts:
                raise ValueError(f"no {key}")
        planned = [
            PlannedRow(
                _decoded(values, tuple[Value, ...]),
                msgspec.convert(reason, str),
                None if rest[0] is None else _finding(*rest),
            )
            for values, reason, *rest in found
        ]
    return texts, planned


def read_findings(path: str | os.PathLike[str]) -> list[Finding]:
    """Return everything that a study's file holds, whichever study asked for it; nothing of an empty file.

    Raises
    ------
    InputError
        When it is no study's.
    """
    name = os.fspath(path)
    if not _require_study_or_nothing(name):
        return []
    with _told(name), contextlib.closing(_connect(name, "ro")) as connection:
        _require_version(name, connection)
        return _all_findings(name, connection)


def _all_findings(name: str, connection: sqlite3.Connection) -> list[Finding]:
    with _told(name):
        found = connection.execute("SELECT key, status, figures, seconds, reason FROM results").fetchall()
    with undamaged(name):
        return [_finding(*row) for row in found]


def _finding(key: object, status: object, figures: object, seconds: object, reason: object) -> Finding:
    measured = _decoded(figures, dict[str, Value])
    return msgspec.convert(
        {"key": key, "status": status, "figures": measured, "seconds": seconds, "reason": reason}, Finding
    )


def _decoded(text: object, kind: Any) -> Any:
    """Return what a column of JSON holds; numbers that JSON does not know are refused, and endless ones."""
    return msgspec.json.decode(msgspec.convert(text, str), type=kind)


@contextlib.contextmanager
def undamaged(name: str) -> Iterator[None]:
    """Turn what comes of a file that somebody has edited or damaged into one message."""
    try:
        yield
    except (ValueError, RecursionError, InputError) as error:
        what = str(error).partition("\n")[0][:100] or type(error).__name__
        raise InputError(f"{name}: is damaged ({what}); name another file, or run the study anew") from None


def _require_study_or_nothing(name: str) -> bool:
    """Return whether there is something in the file; raise when that is no database."""
    try:
        if os.path.exists(name) and not os.path.isfile(name):
            raise InputError(f"{name}: is no regular file; a study's results are one")
        with open(name, "rb") as file:
            beginning = file.read(len(_HEADER))
            if beginning != _HEADER:
                beginning += file.read(_LOOKED_AT)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from None
    if beginning and beginning != _HEADER:
        if b"themis-opt/study/" in beginning:
            raise InputError(f"{name}: is a study, not its results; run 'themis-opt sweep {name} -o results.db' first")
        raise InputError(f"{name}: is no file of a study's results; name another file")
    return bool(beginning)


def _connect(name: str, mode: str) -> sqlite3.Connection:
    uri = f"file:{quote(os.path.abspath(name))}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=_WAIT_S, isolation_level=None)


def _open(name: str) -> sqlite3.Connection:
    connection = _connect(name, "rwc")
    try:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
            connection.executescript(
                f"BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION_ID}; "
                f"PRAGMA user_version = {FORMAT_VERSION}; {_TABLES} COMMIT;"
            )
        _require_version(name, connection)
        # Where write-ahead is not to be had (some network file systems) the old way is as safe, only slower.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        writer = f"process {os.getpid()} on {socket.gethostname()}"
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('writer', ?)", (writer,))
    except BaseException:
        connection.close()
        raise
    return connection


def _require_version(name: str, connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise InputError(f"{name}: is a database, but not of a study's results; name another file")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != FORMAT_VERSION:
        raise InputError(
            f"{name}: was written in format {version}, and this version of themis-opt reads format {FORMAT_VERSION}; "
            "name another file"
        )


@contextlib.contextmanager
def _told(name: str, more: str = "") -> Iterator[None]:
    """Turn what SQLite raises into a message with the file's name."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        # Python itself raises errors without a code, of text that is none, even of a message: that is damage, too.
        code = getattr(error, "sqlite_errorcode", None)
        if isinstance(error, sqlite3.OperationalError) and code is not None:
            # A full disk, a lock: the file itself is whole.
            hint = "; another program has it open: wait for it" if code == sqlite3.SQLITE_BUSY else ""
            raise InputError(f"{name}: {error}{hint}{more}") from None
        raise InputError(f"{name}: {error}; it is damaged: name another file, or remove this one{more}") from None


def _locked(name: str) -> FileLock:
    """Keep a second sweep away: a lock on a file beside the study's, which the system releases with the process.

    Raises
    ------
    InputError
        When somebody else has it, or no file can be made there.
    """
    path = Path(os.path.realpath(name))
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(
            f"{name}: another sweep is writing to it ({_writer(name)}); wait for it, or name another file"
        ) from None
    except OSError as error:
        raise InputError(f"{name}: cannot be locked ({lock.lock_file}: {error.strerror})") from None
    return lock


def _unlock(lock: FileLock) -> None:
    """Let others write, and leave nothing behind."""
    with contextlib.suppress(OSError):  # while it is held: who has opened it meanwhile sees that it is gone
        os.unlink(lock.lock_file)
    lock.release()


def _writer(name: str) -> str:
    """Return who writes to a study's file, as that one wrote there."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(_connect(name, "ro")) as connection:
        for (writer,) in connection.execute("SELECT value FROM meta WHERE key = 'writer'"):
            return str(writer)
    return "another process"
