"""The file of a study: one SQLite database with the plan and every result, safe to kill at any moment.

Results are keyed by what they depend on (`Task.key`), so that a study that has changed keeps what still holds. Each is
committed as it arrives, in write-ahead mode: whatever ends the program, the file stays whole and lacks at most what
was being computed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from themis_opt.files.atomic import check_writable
from themis_opt.files.network_file import network_document
from themis_opt.problem.errors import InputError
from themis_opt.problem.version import VERSION
from themis_opt.studies.finding import Finding

if TYPE_CHECKING:
    from themis_opt.studies.planning import Point
    from themis_opt.studies.study import Study

APPLICATION_ID = 0x7468656D
"""Stands in the header of the file (``them``), so that no other database is taken for a study's."""

FORMAT_VERSION = 1

_KEPT = "; what was written before is kept"
_HEADER = b"SQLite format 3\x00"
_LOOKED_AT = 4096
_LARGEST = 10**300
_WAIT_S = 30.0
"""How long a write waits for somebody who reads in a mode that locks."""

_ALL_FINDINGS = "SELECT key, status, figures, seconds, reason FROM results"
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

    axis_values: tuple[object, ...]
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
        self._lock = _Lock(self._name)
        try:
            with _told(self._name):
                self._connection = _open(self._name)
            self._identity = os.stat(self._name)
        except BaseException:
            self._lock.release()
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
        self._lock.release()

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
        with _told(self._name):
            found = self._connection.execute(_ALL_FINDINGS).fetchall()
        with undamaged(self._name):
            return [_finding(*row) for row in found]

    def add(self, findings: Iterable[Finding]) -> None:
        """Write down what was found.

        Raises
        ------
        InputError
            When the file cannot be written, or somebody has removed or replaced it.
        """
        self._require_still_there()
        rows = [
            (
                finding.key,
                finding.status,
                json.dumps(finding.figures),
                finding.seconds,
                finding.reason,
                VERSION,
            )
            for finding in findings
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
        for key in ("name", "text", "version"):
            _expect(meta.get(key), str)
        planned = [
            PlannedRow(tuple(_scalars(values)), _expect(reason, str), None if rest[0] is None else _finding(*rest))
            for values, reason, *rest in found
        ]
    return meta, planned


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
        found = connection.execute(_ALL_FINDINGS).fetchall()
    with undamaged(name):
        return [_finding(*row) for row in found]


def _finding(key: object, status: object, figures: object, seconds: object, reason: object) -> Finding:
    measured = json.loads(_expect(figures, str), parse_constant=_refuse)
    for name, value in _expect(measured, dict).items():
        _expect(name, str)
        _scalar(value)
    return Finding(
        _expect(key, str), _expect(status, str), measured, float(_expect(seconds, float)), _expect(reason, str)
    )


def _scalars(text: object) -> list[Any]:
    values: list[Any] = _expect(json.loads(_expect(text, str), parse_constant=_refuse), list)
    for value in values:
        _scalar(value)
    return values


def _scalar(value: object) -> None:
    if not isinstance(value, str | int | float | None) or (isinstance(value, int) and abs(value) > _LARGEST):
        raise ValueError(f"{type(value).__name__} in the place of a value")


def _expect(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{type(value).__name__} in the place of {kind.__name__}")
    return value


def _refuse(word: str) -> None:
    raise ValueError(f"{word} in the place of a number")


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
    except sqlite3.Error as error:
        reason = str(error)
        if "locked" in reason:
            reason += "; another program has it open: wait for it"
        elif any(word in reason for word in ("malformed", "not a database", "no such", "UTF-8")):
            reason += "; it is damaged: name another file, or remove this one"
        raise InputError(f"{name}: {reason}{more}") from None


class _Lock:
    """Keeps a second sweep away: a lock on a file beside the study's, which the system releases with the process."""

    def __init__(self, name: str) -> None:
        folder, base = os.path.split(os.path.realpath(name))
        self._path = os.path.join(folder, f".{base}.lock")
        while True:
            try:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            except OSError as error:
                raise InputError(f"{name}: cannot be locked ({self._path}: {error.strerror})") from None
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                owner = os.read(self._file, 200).decode(errors="replace").strip() or "another process"
                os.close(self._file)
                raise InputError(
                    f"{name}: another sweep is writing to it ({owner}); wait for it, or name another file"
                ) from None
            if self._is_the_one_on_disk():
                break
            os.close(self._file)  # its owner has just removed it: make a new one
        with contextlib.suppress(OSError):
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)

    def release(self) -> None:
        """Let others write."""
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        os.close(self._file)

    def _is_the_one_on_disk(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file), os.stat(self._path))
        except OSError:
            return False
