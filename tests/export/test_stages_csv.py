"""Stages as comma-separated values: what the simulator says, row by row, and nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_instances import AG, RS, dimension, network, random_instance, random_schedule, randoms

from themis_opt import load_instance, schedule
from themis_opt.export.stages_csv import HEADER, plain_cell, stages_csv_text
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import DeadlockError
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.schedule import Chunk, Schedule, Slot
from themis_opt.timing.sequencing import simulate

Row = dict[str, str]


def read(text: str) -> list[Row]:
    """Return the rows as any reader of RFC 4180 sees them."""
    assert text.endswith("\r\n")
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert all(tuple(row) == HEADER and None not in row.values() for row in rows)
    return rows


def test_two_dimensions_by_hand() -> None:
    """12 bytes, one chunk, All-Reduce over 3 x 2 NPUs at 1 byte/ps; direct steps of 7 ps; launching costs 100 ps.

    RS on dim1: 12·2/3 = 8 bytes sent. On dim2 4 bytes are left, 2 sent. AG on dim2: from 2 bytes, 2·(2-1) = 2 sent.
    On dim1: from 4 bytes, 4·(3-1) = 8 sent.
    """
    dimensions = (dimension(3, latency_ps=7), dimension(2, latency_ps=7))
    instance = Instance(
        network(*dimensions), Collective.ALL_REDUCE, 12, 1, Occupancy.PIPELINED, chunk_overhead_ps=100
    )  # fmt: skip
    mine = Schedule(
        instance, (Chunk(12, (0, 1), (1, 0)),), ((Slot(0, RS), Slot(0, AG)), (Slot(0, RS), Slot(0, AG))),
        scheduler="by hand",
    )  # fmt: skip
    lines = stages_csv_text([("mine.json", mine)]).split("\r\n")
    # schedule, scheduler, chunk, phase, stage, dimension, its name, start, end, hold, duration, overhead, transfer,
    # latency, steps, then bytes
    assert lines[1:] == [
        "mine.json,by hand,0,rs,0,0,dim1,0,115,108,115,100,8,7,1,12,8,12,8",
        "mine.json,by hand,0,rs,1,1,dim2,115,124,2,9,0,2,7,1,4,2,4,2",
        "mine.json,by hand,0,ag,2,1,dim2,124,133,2,9,0,2,7,1,2,2,2,2",
        "mine.json,by hand,0,ag,3,0,dim1,133,148,8,15,0,8,7,1,4,8,4,8",
        "",
    ]


@given(randoms(), st.sampled_from(Collective), st.sampled_from(Occupancy), st.sampled_from([0, 12_345]))
def test_rows_are_the_simulators_stages(
    random: Random, collective: Collective, occupancy: Occupancy, overhead_ps: int
) -> None:
    instance = replace(random_instance(random, collective=collective), occupancy=occupancy)
    mine = random_schedule(random, replace(instance, chunk_overhead_ps=overhead_ps))
    timeline = simulate(mine.instance, mine)
    rows = read(stages_csv_text([("mine", mine)]))
    columns = ("chunk", "phase", "dimension", "start_ps", "end_ps")
    assert [tuple(row[key] for key in columns) for row in rows] == [tuple(map(str, stage)) for stage in timeline.stages]
    for k, use in enumerate(timeline.dimensions):
        on_k = [row for row in rows if row["dimension"] == str(k)]
        assert {row["dimension_name"] for row in on_k} <= {f"dim{k + 1}"}
        assert sum(int(row["hold_ps"]) for row in on_k) == use.busy_ps
        assert sum(Fraction(row["sent_bytes_exact"]) for row in on_k) == use.sent_bytes
    for row in rows:
        duration_ps = int(row["end_ps"]) - int(row["start_ps"])
        parts = [int(row[f"{part}_ps"]) for part in ("overhead", "transfer", "latency")]
        assert sum(parts) == int(row["duration_ps"]) == duration_ps
        # A program that knows decimals only is off by half a millionth of a byte at most.
        for column in ("sent_bytes", "resident_bytes"):
            assert abs(Fraction(row[column]) - Fraction(row[f"{column}_exact"])) <= Fraction(1, 2 * 10**6)
            assert "/" not in row[column]
        size = instance.network.dimensions[int(row["dimension"])].size
        share = size - 1 if row["phase"] == "ag" else Fraction(size - 1, size)
        assert Fraction(row["sent_bytes_exact"]) == Fraction(row["resident_bytes_exact"]) * share


def test_bytes_are_exact_where_decimals_end() -> None:
    """Of 5 bytes among 2 NPUs each sends 2.5; of 10 among 3, 20/3."""
    sent = []
    for size, num_npus in ((5, 2), (10, 3)):
        instance = Instance(network(dimension(num_npus)), Collective.REDUCE_SCATTER, size, 1)
        (row,) = read(stages_csv_text([("a", Schedule(instance, (Chunk(size, (0,)),), ((Slot(0, RS),),)))]))
        sent.append((row["sent_bytes"], row["sent_bytes_exact"]))
    assert sent == [("2.5", "5/2"), ("6.666667", "20/3")]


def test_steps_are_those_of_the_algorithms() -> None:
    """3d-fc-ring-sw: direct 1, ring of 16 15, halving-doubling of 8 3; All-to-All is direct everywhere."""
    for collective, expected in (("all-gather", {"1", "15", "3"}), ("all-to-all", {"1"})):
        instance = replace(load_instance("3d-fc-ring-sw"), collective=Collective(collective), num_chunks=2)
        rows = read(stages_csv_text([("a", schedule(instance, "baseline"))]))
        assert {row["num_steps"] for row in rows} == expected


def test_several_schedules_are_stacked() -> None:
    instance = replace(load_instance("2d-sw-sw"), num_chunks=3)
    named = [("b.json", schedule(instance, "themis-scf")), ("a.json", schedule(instance, "baseline"))]
    rows = read(stages_csv_text(named))
    assert [(row["schedule"], row["scheduler"]) for row in rows] == (
        [("b.json", "themis-scf")] * 12 + [("a.json", "baseline")] * 12
    )
    assert [(row["chunk"], row["stage"]) for row in rows[12:17]] == [
        ("0", "0"), ("0", "1"), ("0", "2"), ("0", "3"), ("1", "0"),
    ]  # fmt: skip


ONE = Schedule(Instance(network(dimension(2)), Collective.REDUCE_SCATTER, 2, 1), (Chunk(2, (0,)),), ((Slot(0, RS),),))


@given(st.text(), st.text())
def test_names_come_back_as_they_are_unless_they_could_be_formulas(name: str, scheduler: str) -> None:
    (row,) = read(stages_csv_text([(name, ONE.replace(scheduler=scheduler))]))
    for found, given_ in ((row["schedule"], name), (row["scheduler"], scheduler)):
        assert found in (given_, f"'{given_}")
        assert found.lstrip(" ")[:1] not in {*"=+-@\t\r\n＝＋－＠"} or not found


@pytest.mark.parametrize(
    "name",
    [
        "=cmd|'/c calc'!A0",
        '=HYPERLINK("http://example.org")',
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "  =1",
        "＝1",
    ],
)
def test_formulas_get_an_apostrophe(name: str) -> None:
    assert plain_cell(name) == f"'{name}"
    (row,) = read(stages_csv_text([("a.json", ONE.replace(scheduler=name))]))
    assert row["scheduler"] == f"'{name}"


@pytest.mark.parametrize("name", ["", "themis-scf", "a=b", "my, own", 'say "x"', "two\r\nlines", "'=1", "Größe 1"])
def test_other_names_are_left_alone(name: str) -> None:
    (row,) = read(stages_csv_text([("a.json", ONE.replace(scheduler=name))]))
    assert row["scheduler"] == name


def test_half_a_character_in_a_name_is_a_question_mark() -> None:
    (row,) = read(stages_csv_text([("a\ud800.json", ONE)]))
    assert row["schedule"] == "a?.json"


def test_a_deadlock_is_told() -> None:
    instance = Instance(network(dimension(2), dimension(2)), Collective.REDUCE_SCATTER, 8, 2)
    chunks = (Chunk(4, (0, 1)), Chunk(4, (1, 0)))
    crossed = ((Slot(1, RS), Slot(0, RS)), (Slot(0, RS), Slot(1, RS)))
    with pytest.raises(DeadlockError, match="in a circle"):
        stages_csv_text([("a", Schedule(instance, chunks, crossed))])
