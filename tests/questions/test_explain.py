"""`explain`: the critical path, what dimensions wait for, what bandwidth is worth; by hand and as laws."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from command_line import CommandLine
from hypothesis import given, settings
from random_instances import dimension, network, schedules

import themis_opt
from themis_opt.files.instance_file import load_instance
from themis_opt.files.schedule_file import save_schedule
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.schedule import Schedule
from themis_opt.questions.explain.account import explain
from themis_opt.questions.explain.critical_chain import Visits, critical_chain, critical_ps_by_chunk
from themis_opt.questions.explain.idle import Wait, idleness
from themis_opt.questions.explain.supply import Supply, bandwidth_gains, bandwidth_values, provisioning

MS = 10**9


def figure_5(num_chunks: int = 4) -> Instance:
    """Return the paper's Figure 5: 256 MB on 4 x 4 NPUs, 48 and 24 GB/s. All its times are whole milliseconds."""
    return replace(load_instance("figure-5"), num_chunks=num_chunks, known=None)


def visits_of(schedule: Schedule) -> Visits:
    return Visits(schedule, themis_opt.simulate(schedule.instance, schedule))


def test_the_path_of_one_chunk() -> None:
    # 256 MB: RS dim1 256 · 3/4 / 48 = 4 ms, RS dim2 64 · 3/4 / 24 = 2 ms, and back the same way.
    legs = critical_chain(visits_of(themis_opt.schedule(figure_5(1), "baseline")))
    assert [(leg.dimension, len(leg.visits), leg.start_ps, leg.end_ps) for leg in legs] == [
        (0, 1, 0, 4 * MS),
        (1, 2, 4 * MS, 8 * MS),
        (0, 1, 8 * MS, 12 * MS),
    ]
    assert critical_ps_by_chunk(legs) == {0: 12 * MS}


def test_a_busy_dimension_is_one_leg() -> None:
    # Four chunks: dim1 serves 8 stages of 1 ms without a pause.
    (leg,) = critical_chain(visits_of(themis_opt.schedule(figure_5(), "baseline")))
    assert (leg.dimension, len(leg.visits), leg.end_ps) == (0, 8, 8 * MS)


def test_pipelined_latency_belongs_to_the_chunk() -> None:
    # Among 2 NPUs at 1 byte/ps, Reduce-Scatter of 8 bytes sends 4: two chunks of 8 bytes hold the dimension from 0 to 4
    # and from 4 to 8, and the second is there 10 ps later.
    instance = Instance(network(dimension(2, 1, 10)), Collective.REDUCE_SCATTER, 16, 2, Occupancy.PIPELINED)
    schedule = themis_opt.schedule(instance, "baseline")
    visits = visits_of(schedule)
    (leg,) = critical_chain(visits)
    assert [(visit.start_ps, visit.free_ps, visit.end_ps) for visit in leg.visits] == [(0, 4, 14), (4, 8, 18)]
    assert critical_ps_by_chunk((leg,)) == {0: 4, 1: 14}
    (idle,) = idleness(visits, 18)
    assert (idle.start_up, idle.between, idle.drained_ps) == (None, (), 10)


def test_what_dimensions_wait_for() -> None:
    # The path of one chunk again: dim1 waits from 4 to 8 ms for it to come back from dim2; dim2 starts at 4, ends at 8.
    first, second = idleness(visits_of(themis_opt.schedule(figure_5(1), "baseline")), 12 * MS)
    assert (first.start_up, first.between, first.drained_ps) == (None, (Wait(4 * MS, 8 * MS, 0, 1),), 0)
    assert (second.start_up, second.between, second.drained_ps) == (Wait(0, 4 * MS, 0, 0), (), 4 * MS)
    assert (first.total_ps, second.total_ps) == (4 * MS, 8 * MS)
    assert first.longest == Wait(4 * MS, 8 * MS, 0, 1)


@settings(max_examples=120, deadline=None)
@given(schedules())
def test_the_path_and_the_waits_are_complete(schedule: Schedule) -> None:
    timeline = themis_opt.simulate(schedule.instance, schedule)
    visits = Visits(schedule, timeline)
    legs = critical_chain(visits)
    assert legs[0].start_ps == 0
    assert legs[-1].end_ps == timeline.makespan_ps
    for leg, after in pairwise(legs):
        assert leg.end_ps == after.start_ps
        assert leg.visits[-1].chunk == after.visits[0].chunk
        assert leg.visits[-1].stage + 1 == after.visits[0].stage
    for leg in legs:
        assert {visit.dimension for visit in leg.visits} == {leg.dimension}
        for visit, after_it in pairwise(leg.visits):
            assert visit.free_ps == after_it.start_ps
    assert sum(critical_ps_by_chunk(legs).values()) == timeline.makespan_ps
    for idle in idleness(visits, timeline.makespan_ps):
        waits = [wait for wait in (idle.start_up, *idle.between) if wait is not None]
        gaps = [(wait.start_ps, wait.end_ps) for wait in waits]
        if idle.drained_ps:
            gaps.append((timeline.makespan_ps - idle.drained_ps, timeline.makespan_ps))
        assert tuple(gaps) == timeline.dimensions[idle.dimension].idle_gaps
        assert idle.total_ps == timeline.makespan_ps - timeline.dimensions[idle.dimension].busy_ps


def test_where_one_percent_more_bandwidth_gains() -> None:
    # dim1 is busy for all of 8 ms: 8/1.01 = 7.920792 ms. dim2 waits anyway.
    schedule = themis_opt.schedule(figure_5(), "baseline")
    gains = bandwidth_gains(schedule)
    assert gains[0] == pytest.approx(8 * MS * (1 - 1 / 1.01), abs=8)
    assert gains[1] == 0
    account = explain(schedule)
    assert account.gains_ps == gains
    assert account.best_dimensions == (0,)
    assert account.gain_everywhere_ps == gains[0]


def test_one_chunk_gains_on_both_dimensions() -> None:
    # dim1 takes 8 of the 12 ms, dim2 the other 4; everything together gains 12 (1 - 1/1.01).
    account = explain(themis_opt.schedule(figure_5(1), "baseline"))
    assert account.gains_ps[0] == pytest.approx(8 * MS * (1 - 1 / 1.01), abs=2)
    assert account.gains_ps[1] == pytest.approx(4 * MS * (1 - 1 / 1.01), abs=2)
    assert account.gain_everywhere_ps == account.gains_ps[0] + account.gains_ps[1]
    assert account.best_dimensions == (0,)
    assert account.binding == {0: Fraction(2, 3), 1: Fraction(1, 3)}  # the bound of the lattice, 6 2/3 ms


# Bandwidths of dim1 and dim2 in GB/s, of 4 x 4 NPUs: dim2 sees a quarter of the bytes, so it needs a quarter.
@pytest.mark.parametrize(
    ("collective", "second", "needed", "supply"),
    [
        (Collective.ALL_REDUCE, 24, 12, Supply.OVER),
        (Collective.ALL_REDUCE, 12, 12, Supply.JUST),
        (Collective.REDUCE_SCATTER, 12, 12, Supply.JUST),
        (Collective.ALL_GATHER, 6, 12, Supply.UNDER),
        (Collective.ALL_TO_ALL, 24, 48, Supply.UNDER),  # nothing shrinks on the way
    ],
)
def test_provisioning(collective: Collective, second: int, needed: int, supply: Supply) -> None:
    dims = [replace(dimension(4), bandwidth_Bps=Fraction(bandwidth * 10**9)) for bandwidth in (48, second)]
    instance = Instance(network(*dims), collective, 256 * 10**6, 4)
    first, other = provisioning(instance)
    assert (first.supply, first.ratio) == (Supply.JUST, 1)
    assert (other.needed_Bps, other.supply) == (needed * 10**9, supply)
    assert other.ratio == first.transfer_ps / other.transfer_ps == Fraction(second, needed)


def test_the_first_involved_dimension_is_the_measure() -> None:
    # dim2 and dim3 alone: 4 NPUs and 2; dim3 sends 1/8 of the bytes, dim2 3/4, so it needs a sixth of 12.
    dims = [replace(dimension(size), bandwidth_Bps=Fraction(12 * 10**9)) for size in (4, 4, 2)]
    instance = Instance(network(*dims), Collective.REDUCE_SCATTER, 64, 1, dimensions=(1, 2))
    assert [(entry.dimension, entry.needed_Bps) for entry in provisioning(instance)] == [
        (1, 12 * 10**9),
        (2, 2 * 10**9),
    ]


def test_what_a_gigabyte_per_second_is_worth() -> None:
    # Both orders are in use at the optimum, so all of 72 GB/s is: 480 MB / 72 GB/s = 6 2/3 ms. 1 GB/s more on either
    # dimension: 480 MB / 73 GB/s, which is 480 MB/(72 · 73) = 91.324 us less.
    bound, values = bandwidth_values(figure_5())
    assert bound.value_ps == 6_666_666_667
    assert values == {k: pytest.approx(480_000 * 10**9 / (72 * 73) / 1000, abs=100) for k in (0, 1)}
    account = explain(figure_5())
    assert account.best_dimensions == (0, 1)


@pytest.fixture
def schedule_file(tmp_path: Path) -> Path:
    save_schedule(themis_opt.schedule(figure_5(), "baseline"), tmp_path / "mine.json")
    return tmp_path / "mine.json"


def test_a_schedule_in_words(schedule_file: Path, themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("explain", schedule_file.name)
    assert (done.returncode, done.stderr) == (0, "")
    assert "dim1 serves 8 stages back to back (chunks 0, 1, 2, 3)" in done.stdout
    assert "dim2 starts when chunk 0 arrives from dim1" in done.stdout
    assert "most: dim1 (0.99% of the makespan)" in done.stdout
    assert "the weighted loads of dim1 0.6667, dim2 0.3333 prove a bound of 6.6667 ms" in done.stdout
    document = json.loads(themis_opt_command("explain", schedule_file.name, "--json", "-").stdout)
    assert document["format"] == "themis-opt/explained-schedule/1"
    assert [len(leg["stages"]) for leg in document["critical_path"]] == [8]
    assert document["best_dimensions"] == [0]


def test_a_hand_over_in_words(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    save_schedule(themis_opt.schedule(figure_5(1), "baseline"), tmp_path / "one.json")
    lines = themis_opt_command("explain", "one.json").stdout.splitlines()
    assert [" ".join(line.split()) for line in lines if "serves" in line] == [
        "0 ps - 4.0000 ms dim1 serves chunk 0 (Reduce-Scatter)",
        "4.0000 ms - 8.0000 ms then chunk 0 goes on: dim2 serves 2 stages back to back (chunk 0)",
        "8.0000 ms - 12.000 ms then chunk 0 goes on: dim1 serves chunk 0 (All-Gather)",
    ]
    assert "dim1 waits once between chunks, longest 4.0000 ms for chunk 0 from dim2" in lines


def test_an_instance_in_words(themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("explain", "figure-5")
    assert done.returncode == 0
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["dim2", "24", "GB/s", "12", "GB/s", "2", "over-provisioned", "91.32", "us"] in rows
    assert "in the best orders 1 GB/s more is worth most on dim1 and dim2" in done.stdout
    sentences = done.stdout.replace("\n  ", " ").splitlines()
    # 480 MB over 72 GB/s: all of it is in use.
    assert (
        "no schedule with exactly 4 chunks of equal size uses more than 100.0% of the bandwidth "
        "(fluid bound 6.6667 ms)" in sentences
    )
    assert "over-provisioned: the baseline order cannot use all of it, the best orders may" in sentences
    document = json.loads(themis_opt_command("explain", "figure-5", "--json", "-").stdout)
    assert [entry["supply"] for entry in document["dimensions"]] == ["just enough", "over-provisioned"]


def test_what_cannot_be_explained(schedule_file: Path, themis_opt_command: CommandLine) -> None:
    assert themis_opt_command("explain", schedule_file.name, "--chunks", "3").returncode == 2
    assert themis_opt_command("explain", "figure-5", "--chunks", "3,4").returncode == 2
    assert themis_opt_command("explain", "figure-5", "--chunks", "auto").returncode == 2
    document = json.loads(schedule_file.read_text())
    document["sequences"][0].reverse()  # All-Gather before Reduce-Scatter: it never ends
    schedule_file.write_text(json.dumps(document))
    done = themis_opt_command("explain", schedule_file.name)
    assert done.returncode == 1
    assert done.stderr.startswith("error: mine.json: deadlock: ")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sequences": [[], []]}, "mine.json: "),
        (
            {
                "bound_ps": 1,
                "bound_scope": {"sizes": "equal", "num_chunks": [4, 4]},
                "certificate": ["2/3", "2/3"],
                "certified_bound_ps": 1,
            },
            "mine.json: certificate adds up to 4/3; ",
        ),
    ],
)
def test_what_is_wrong_is_said_of_the_file(
    changes: dict[str, object], message: str, schedule_file: Path, themis_opt_command: CommandLine
) -> None:
    schedule_file.write_text(json.dumps({**json.loads(schedule_file.read_text()), **changes}))
    done = themis_opt_command("explain", schedule_file.name)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {message}")


def test_idle_times_are_in_one_unit(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    # One chunk of 51.2 MB, a fifth of 256 MB: 0.8 ms on dim1, 0.4 + 0.4 ms on dim2, and 0.8 ms on dim1 again.
    instance = replace(figure_5(1), size_bytes=51_200_000)
    save_schedule(themis_opt.schedule(instance, "baseline"), tmp_path / "one.json")
    lines = themis_opt_command("explain", "one.json").stdout.splitlines()
    assert [" ".join(line.split()) for line in lines if line.startswith("dim") and line.count(" ms") == 4] == [
        "dim1 0.8000 ms 0 ms 0.8000 ms 0 ms",
        "dim2 1.6000 ms 0.8000 ms 0 ms 0.8000 ms",
    ]


# The file's weights prove the bound of the lattice, 6 2/3 ms (two thirds of dim1's load, one of dim2's).
@pytest.mark.parametrize(
    ("value_ps", "kind", "rest"),
    [
        (7 * MS, "assignment", "the higher bound of 7.0000 ms rests on the word of assignment"),
        (7 * MS, "critical-path", "the higher bound of 7.0000 ms is the shortest path of one chunk"),
        (7 * MS, "fluid", "the higher bound of 7.0000 ms is claimed and not proven; see 'certify'"),
        (6_666_666_667, "fluid", None),
    ],
)
def test_what_the_weights_prove_and_on_whose_word_the_rest_stands(
    value_ps: int, kind: str, rest: str | None, schedule_file: Path, themis_opt_command: CommandLine
) -> None:
    changes = {
        "bound_ps": value_ps,
        "bound_kind": kind,
        "bound_scope": {"sizes": "equal", "num_chunks": [4, 4]},
        "certificate": ["2/3", "1/3"],
        "certified_bound_ps": 1,  # whatever the file states of it
    }
    schedule_file.write_text(json.dumps({**json.loads(schedule_file.read_text()), **changes}))
    lines = themis_opt_command("explain", schedule_file.name).stdout.splitlines()
    proven = "the weighted loads of dim1 0.6667, dim2 0.3333 prove a bound of 6.6667 ms"
    assert lines[lines.index(proven) :] == [proven, *([rest] if rest else [])]
    document = json.loads(themis_opt_command("explain", schedule_file.name, "--json", "-").stdout)
    assert (document["bound_ps"], document["certified_bound_ps"]) == (value_ps, 6_666_666_667)
