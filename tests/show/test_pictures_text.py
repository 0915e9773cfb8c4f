"""The timeline in the terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console
from test_pictures import pair, shipped

import themis_opt
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError
from themis_opt.show.pictures import text_timeline


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("dim")]


def test_by_hand() -> None:
    """Four stages of 500 ns fill 40 columns of 50 ns: ten each, and the bound at the end."""
    lines = text_timeline({"mine": themis_opt.schedule(pair(), "baseline")}, width=45).plain.splitlines()
    assert lines[0] == "pair, all-reduce, 2 KB, exclusive, 2 NPUs"
    assert lines[2:4] == ["mine: 2 chunks, makespan 2 us,", "  as short as its bound"]
    assert lines[4] == "dim1 " + "A" * 10 + "B" * 10 + "a" * 10 + "b" * 10
    assert lines[5] == "     " + "bound 2 us ^".rjust(40)
    assert lines[7] == "     |0 us     |0.5      |1        |1.5"
    assert lines[8:10] == ["A Reduce-Scatter   a All-Gather", "  . idle for most of it   ^ bound"]
    assert lines[10] == "A is chunk 0, B chunk 1"


def test_a_column_shows_what_holds_the_dimension_for_most_of_it() -> None:
    """39 columns for stages of 500 ns, a quarter of them each: 9.75 columns, and the first wins a draw."""
    text = text_timeline({"mine": themis_opt.schedule(pair(), "baseline")}, width=44).plain
    assert rows(text) == ["dim1 " + "A" * 10 + "B" * 10 + "a" * 9 + "b" * 10]


def test_a_column_is_idle_when_most_of_it_is() -> None:
    """1 chunk, pipelined: busy from 0 to 500 and from 600 to 1100 of 1200 ns; 45 columns of 26.7 ns.

    The transfers take columns 0 to 18.75 and 22.5 to 41.25.
    """
    instance = pair(100_000, num_chunks=1, size_bytes=1000, occupancy="pipelined")
    text = text_timeline({"mine": themis_opt.schedule(instance)}, width=50).plain
    assert rows(text) == ["dim1 " + "A" * 19 + "." * 3 + "a" * 19 + "." * 4]


def test_after_its_end_there_is_nothing_but_the_axis_goes_on() -> None:
    instance = shipped("3d-fc-ring-sw", num_chunks=16)
    schedules = {name: themis_opt.schedule(instance, name) for name in ("baseline", "themis-scf")}
    text = text_timeline(schedules, width=80).plain
    assert all(len(line) <= 80 for line in text.splitlines())
    baseline, themis = rows(text)[:3], rows(text)[3:]
    assert all(len(row) == 80 and row[-1] != " " for row in baseline)
    columns = round(75 * (schedules["themis-scf"].makespan_ps or 0) / (schedules["baseline"].makespan_ps or 1))
    assert {len(row.rstrip()) - 5 for row in themis} <= {columns, columns + 1}
    marks = [line for line in text.splitlines() if "bound" in line and "^" in line and "idle" not in line]
    bound_ps = themis_opt.lower_bound(instance).value_ps
    assert {line.index("^") for line in marks} == {5 + int(75 * bound_ps / (schedules["baseline"].makespan_ps or 1))}


def test_many_chunks_share_letters() -> None:
    schedule = themis_opt.schedule(shipped("4d-ring-sw-sw-sw", num_chunks=512), "baseline")
    text = text_timeline({"baseline": schedule}, width=120).plain
    assert text.splitlines()[-1] == "A is chunk 0 to 19, and so on: 20 chunks a letter"
    last = rows(text)[-1].removeprefix("dim4 ").rstrip()
    for one_phase in (filter(str.isupper, last), filter(str.islower, last)):
        letters = list(one_phase)
        assert letters == sorted(letters)  # the baseline serves them in order
    assert last[-1] == "z"


def test_all_to_all_is_named() -> None:
    schedule = themis_opt.schedule(pair(collective=Collective.ALL_TO_ALL), "baseline")
    text = text_timeline({"a": schedule}).plain
    assert "A All-to-All" in text
    assert "Gather" not in text


def test_colours_are_extra() -> None:
    """What a terminal without colour prints is the same text, and names are no markup."""
    schedule = themis_opt.schedule(pair(), "baseline")
    text = text_timeline({"[red]x[/red]\x1b[31m": schedule}, width=60)
    assert "\x1b" not in text.plain
    assert "[red]x[/red]\\x1b[31m: 2 chunks" in text.plain
    plain, coloured = StringIO(), StringIO()
    Console(file=plain, width=60).print(text, end="")
    Console(file=coloured, width=60, force_terminal=True, color_system="truecolor").print(text, end="")
    assert plain.getvalue() == text.plain
    assert "\x1b[" in coloured.getvalue()


@pytest.mark.parametrize("width", [40, 50])
def test_nothing_is_cut(width: int) -> None:
    """However narrow it is, and with a name and a title longer than a line."""
    schedule = themis_opt.schedule(shipped("3d-fc-ring-sw", num_chunks=64), "themis-scf")
    text = text_timeline({"name " * 8: schedule}, width=width, title="word " * 12).plain
    assert max(len(line) for line in text.splitlines()) <= width
    assert "..." not in text[: text.index("dim1")]
    told = " ".join(text.split())
    for words in ("above its bound", "^ bound", "3 chunks a letter", "word " * 11 + "word"):
        assert words in told


def test_times_do_not_depend_on_what_stands_beside_them() -> None:
    instance = shipped("3d-fc-ring-sw", num_chunks=4)
    baseline = themis_opt.schedule(instance, "baseline")
    alone = text_timeline({"baseline": baseline}).plain
    beside = text_timeline({"baseline": baseline, "x": themis_opt.schedule(shipped("2d-sw-sw", num_chunks=4))}).plain
    told = f"makespan {(baseline.makespan_ps or 0) / 10**9:.4f} ms"
    assert (baseline.makespan_ps or 0) > 10**9
    assert told in alone
    assert told in beside
    bound_ps = themis_opt.lower_bound(instance).value_ps
    assert f"bound {bound_ps / 10**9:.5g} ms" in alone


def test_narrow() -> None:
    with pytest.raises(InputError, match="width is 39; a timeline needs at least 40 columns"):
        text_timeline({"a": themis_opt.schedule(pair(), "baseline")}, width=39)
