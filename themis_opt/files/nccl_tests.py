"""Logs of nccl-tests: which collective among how many ranks, and the table of sizes and times."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from themis_opt.files.remarks import Remark, assumed, ignored
from themis_opt.files.strict import number_text, show
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError

FORMAT_NAME = "an nccl-tests log"
PROGRAMS = {
    "all_reduce": Collective.ALL_REDUCE,
    "reduce_scatter": Collective.REDUCE_SCATTER,
    "all_gather": Collective.ALL_GATHER,
    "alltoall": Collective.ALL_TO_ALL,
}
MAX_TIMES = 20_000
"""Of both ways together: a limit that turns a wrong file into a message."""

_PROGRAM = re.compile(r"\b([a-z_]+)_perf(?:_mpi)?\b")
_RANK = re.compile(r"#\s*Rank\s+(\d{1,9})\b")
_TAG = re.compile(r"\[\d+,\d+\]<std(?:out|err)>:\s?|^\s*\d+: ")
_WHOLE = re.compile(r"[0-9]{1,18}")
_DECIMAL = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?")
_NONE_WRONG = re.compile(r"N/A|0(?:\.0*)?(?:e[-+]?0+)?")
_QUAD = 4
"""Columns of one way to run it: time, algbw, busbw, #wrong; the table ends with two of them."""
_LEAST_COLUMNS = 3 + 2 * _QUAD
_CLEAR_BUSBW = 1
"""GB/s: with two decimals, a ratio of smaller ones says nothing."""
_TOLERANCE = Fraction(3, 100)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One row of a table, run one way.

    Attributes
    ----------
    size_bytes
        Of the whole array, an All-Gather's gathered one.
    time_us
        As printed.
    algbw, busbw
        In GB/s as printed, or ``None``.
    """

    size_bytes: int
    time_us: Fraction
    algbw: Fraction | None
    busbw: Fraction | None


@dataclass(frozen=True, slots=True)
class NcclLog:
    """What a log holds.

    Attributes
    ----------
    collective
        Which one its header or its rows name, or ``None``.
    num_ranks
        How many ranks its header lists, or ``None``.
    out_of_place, in_place
        The rows with a time, in their order.
    remarks
        On rows that are left out or report wrong results.
    """

    collective: Collective | None
    num_ranks: int | None
    out_of_place: tuple[Measurement, ...]
    in_place: tuple[Measurement, ...]
    remarks: tuple[Remark, ...]


def read_nccl_log(text: str, num_ranks: int | None = None) -> NcclLog:
    """Return what is in the text of a log.

    Parameters
    ----------
    text
        The log.
    num_ranks
        Among how many ranks it was made, for a log that does not say so: it helps to tell the collective.

    Raises
    ------
    InputError
        When there is no table in it, a row is cut off, or its collective is none of ours.
    """
    ways: tuple[list[Measurement], list[Measurement]] = ([], [])
    remarks: list[Remark] = []
    ranks: set[int] = set()
    programs: list[str] = []
    operators: set[str] = set()
    for place, line in enumerate(text.splitlines(), start=1):
        # mpirun and srun put the rank in front of what it prints.
        line = _TAG.sub("", line).strip()
        if line.startswith("#"):
            ranks.update(int(match[1]) for match in _RANK.finditer(line))
        columns = line.split()
        if not (columns and _WHOLE.fullmatch(columns[0]) and len(columns) > 3 and _WHOLE.fullmatch(columns[1])):
            programs += _PROGRAM.findall(line)
            if len(columns) >= _LEAST_COLUMNS and all(map(_DECIMAL.fullmatch, columns[-_QUAD:-1])):
                raise InputError(
                    f"line {place}: {columns[0][:20]!r} and {columns[1][:20]!r} are no size and count; "
                    "is the log damaged? Remove the line"
                )
            continue
        if len(columns) < _LEAST_COLUMNS:
            raise InputError(
                f"line {place}: has {len(columns)} columns; a row has a size, a count, a type and twice a time, algbw, "
                "busbw and #wrong; is the log cut off? Remove the line"
            )
        if len(ways[0]) + len(ways[1]) >= MAX_TIMES:
            raise InputError(f"line {place}: is beyond {MAX_TIMES} times, more than any test prints; cut the log")
        operators.add(columns[3])
        _add_row(place, columns, ways, remarks)
    if not any(ways):
        raise InputError(
            f"has no table; {FORMAT_NAME} has rows of size, count, type, redop, root, time (us), algbw, busbw, #wrong"
        )
    told_ranks = max(ranks) + 1 if ranks else None
    collective = _named(programs) or _by_bandwidths([*ways[0], *ways[1]], told_ranks or num_ranks, operators)
    return NcclLog(collective, told_ranks, tuple(ways[0]), tuple(ways[1]), tuple(remarks))


def bus_factor(collective: Collective, num_ranks: int) -> Fraction:
    """Return busbw/algbw: 2(n-1)/n for All-Reduce, (n-1)/n otherwise."""
    factor = Fraction(num_ranks - 1, num_ranks)
    return 2 * factor if collective is Collective.ALL_REDUCE else factor


def check_bus_factor(rows: tuple[Measurement, ...], collective: Collective, num_ranks: int) -> None:
    """Raise when the bandwidths of the rows contradict the collective or the number of ranks.

    Parameters
    ----------
    rows
        What was measured.
    collective, num_ranks
        What is said of it.

    Raises
    ------
    InputError
        Naming both ratios.
    """
    ratio = _ratio(list(rows))
    wanted = bus_factor(collective, num_ranks)
    if ratio is not None and abs(ratio - wanted) > _TOLERANCE * wanted:
        raise InputError(
            f"busbw/algbw is {number_text(round(ratio, 3))}, but {collective} among {num_ranks} has "
            f"{number_text(round(wanted, 3))}; give the right --collective and --size"
        )


def _add_row(
    place: int, columns: list[str], ways: tuple[list[Measurement], list[Measurement]], remarks: list[Remark]
) -> None:
    size_bytes = int(columns[0])
    if not size_bytes:
        remarks.append(ignored(f"line {place}", "a row of 0 bytes"))
        return
    for way, start in zip(ways, (len(columns) - 2 * _QUAD, len(columns) - _QUAD), strict=True):
        time, algbw, busbw, wrong = columns[start : start + _QUAD]
        if time == "N/A":
            continue
        if not _DECIMAL.fullmatch(time) or not Fraction(time):
            raise InputError(f"line {place}: {show(time)} is not allowed; expected a time in microseconds, above zero")
        way.append(Measurement(size_bytes, Fraction(time), _decimal(algbw), _decimal(busbw)))
        if not _NONE_WRONG.fullmatch(wrong):
            remarks.append(assumed(f"line {place}", f"#wrong is {show(wrong)}: its time is used all the same"))


def _named(programs: list[str]) -> Collective | None:
    """Return the collective of the programs named outside the table."""
    for program in programs:
        name = program.removeprefix("_")
        if name not in PROGRAMS:
            raise InputError(
                f"{name}_perf: is not scheduled here; logs of these are read: "
                f"{', '.join(f'{known}_perf' for known in PROGRAMS)}"
            )
    names = {PROGRAMS[program] for program in programs}
    if len(names) > 1:
        raise InputError(f"holds logs of several collectives ({', '.join(sorted(names))}); give each a file of its own")
    return names.pop() if names else None


def _by_bandwidths(rows: list[Measurement], num_ranks: int | None, operators: set[str]) -> Collective | None:
    """Return the collective that the ratio of its bandwidths gives away; those without an operator look alike."""
    ratio = _ratio(rows)
    if ratio is None or num_ranks is None or num_ranks < 2 or "none" in operators:
        return None
    for collective in (Collective.ALL_REDUCE, Collective.REDUCE_SCATTER):
        wanted = bus_factor(collective, num_ranks)
        if abs(ratio - wanted) <= _TOLERANCE * wanted:
            return collective
    return None


def _ratio(rows: list[Measurement]) -> Fraction | None:
    """Return busbw/algbw of the fastest row, if it is fast enough to tell."""
    fast = [(row.busbw, row.algbw) for row in rows if row.busbw and row.algbw and row.algbw >= _CLEAR_BUSBW]
    if not fast:
        return None
    busbw, algbw = max(fast)
    return busbw / algbw


def _decimal(text: str) -> Fraction | None:
    return Fraction(text) if _DECIMAL.fullmatch(text) else None
