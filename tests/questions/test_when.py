"""Where baseline, Themis and the optimum part ways: what is proven, what is open, and how it is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import CommandLine
from random_instances import dimension, network

import themis_opt
from themis_opt.cli.verb_when import command
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.questions.when import Parting, Verdict, findings, spans, when
from themis_opt.solving.protocol import SolverParams

MB = 10**6
DOCS = Path(__file__).parents[2] / "docs" / "designing.md"


def parting(size_bytes: int, baseline_ps: int, themis_ps: int, best_ps: int, bound_ps: int) -> Parting:
    """Return what is known of schedules that take so long; what they look like does not matter."""
    instance = Instance(network(dimension(2)), size_bytes=size_bytes, num_chunks=1)

    def taking(makespan_ps: int) -> Schedule:
        return Schedule(instance, (), (), makespan_ps=makespan_ps)

    bound = Bound(bound_ps, BoundKind.FLUID, BoundScope(Sizing.FREE, 1, 512))
    return Parting(taking(baseline_ps), taking(themis_ps), taking(best_ps), bound)


def test_what_is_known_proves_and_what_the_bound_allows_is_open() -> None:
    one = parting(MB, 1200, 1100, 1000, 900)
    assert one.themis_gain == pytest.approx(1200 / 1100 - 1)
    assert one.least_gain(one.themis) == pytest.approx(0.1)
    assert one.most_gain(one.themis) == pytest.approx(1100 / 900 - 1)
    assert one.optimum_gains(one.themis, 0.05) is Verdict.YES
    assert one.optimum_gains(one.themis, 0.15) is Verdict.OPEN
    assert one.optimum_gains(one.themis, 0.25) is Verdict.NO
    assert one.optimum_gains(one.themis, 0.1) is Verdict.OPEN  # more than, not as much as
    assert one.optimum_gains(one.baseline, 0.15) is Verdict.YES


def test_spans_are_runs_of_neighbouring_sizes() -> None:
    sizes = [1, 2, 4, 8, 16]
    rows = [parting(size, 1, 1, 1, 1) for size in sizes]

    def of(*chosen: int) -> list[str]:
        return spans(rows, lambda one: one.size_bytes in chosen)

    assert of() == []
    assert of(*sizes) == ["at every size"]
    assert of(1, 4, 8) == ["at 1 B", "from 4 B to 8 B"]
    assert of(1, 2, 8) == ["up to 2 B", "at 8 B"]
    assert of(2, 8, 16) == ["at 2 B", "from 8 B on"]


def test_the_words_say_where_and_on_what_it_rests() -> None:
    rows = [
        parting(1 * MB, 1000, 1050, 1000, 1000),  # Themis behind; nothing beats it by more than 5 %, exactly
        parting(2 * MB, 1000, 1000, 990, 900),  # open
        parting(4 * MB, 1100, 1000, 900, 900),
        parting(8 * MB, 1100, 1000, 900, 900),
    ]
    assert findings(rows, 0.01, 0.05) == [
        "from 4 MB on: Themis beats the baseline by more than 1 %",
        "at 1 MB: the baseline beats Themis by more than 1 %",
        "from 4 MB on: the optimum beats Themis by more than 5 % (proven by a schedule)",
        "at 1 MB: no schedule beats Themis by more than 5 % (proven by the bound)",
        "at 2 MB: it is open whether the optimum beats Themis by more than 5 %",
        "from 4 MB on: the optimum beats the baseline by more than 5 % (proven by a schedule)",
        "at 1 MB: no schedule beats the baseline by more than 5 % (proven by the bound)",
        "at 2 MB: it is open whether the optimum beats the baseline by more than 5 %",
    ]
    assert findings(rows[2:], 0.5, 0.05) == [
        "at no size: Themis beats the baseline by more than 50 %",
        "at every size: the optimum beats Themis by more than 5 % (proven by a schedule)",
        "at every size: the optimum beats the baseline by more than 5 % (proven by a schedule)",
    ]


def test_each_heuristic_has_its_own_best_number_of_chunks() -> None:
    instance = Instance(themis_opt.load_network("2d-sw-sw"))
    (row,) = when(instance, [8 * MB], solver=None)

    def best_ps(*names: str) -> int:
        sized = [replace(instance, size_bytes=8 * MB, num_chunks=2**power) for power in range(10)]
        return min(themis_opt.schedule(one, name).makespan_ps or 0 for one in sized for name in names)

    assert row.baseline.makespan_ps == best_ps("baseline")
    assert row.themis.makespan_ps == best_ps("themis-fifo", "themis-scf")
    assert row.best.makespan_ps <= min(row.baseline.makespan_ps or 0, row.themis.makespan_ps or 0)
    assert row.bound.value_ps <= (row.best.makespan_ps or 0)
    (solved,) = when(instance, [8 * MB], params=SolverParams(0.3, 2))
    assert solved.baseline.makespan_ps == row.baseline.makespan_ps
    assert (solved.best.makespan_ps or 0) < (row.best.makespan_ps or 0)
    assert solved.optimum_gains(solved.themis, 0.05) is Verdict.YES


def test_the_command(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    done = themis_opt_command(
        "when", "3d-fc-ring-sw", "--sizes", "256KB:1MB", "--solver", "none", "--json", "when.json",
        "--themis-gain", "2%",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
    document = json.loads((tmp_path / "when.json").read_text())
    assert document["format"] == "themis-opt/when/1"
    text = DOCS.read_text()
    assert [
        key for key in {*document, *document["rows"][0], *document["dimensions"][0]} if f"`{key}`" not in text
    ] == []
    # Sec. 6.3: 175, 100 and 50 GB/s, and the baseline order needs 23.4 and 1.37 GB/s of the last two.
    assert [entry["supply"] for entry in document["dimensions"]] == ["just enough"] + 2 * ["over-provisioned"]
    assert document["dimensions"][1]["ratio"] == pytest.approx(100 / (175 * 15 / 16 / 8 / (7 / 8)))
    assert [row["size_bytes"] for row in document["rows"]] == [256_000, 512_000, MB]
    assert document["options"]["themis_gain"] == 0.02
    told = done.stdout.replace("\n  ", " ")
    for line in document["findings"]:
        assert line in told
    for row in document["rows"]:
        over = row["optimum_over_themis"]
        assert 0 <= over["at_least"] <= over["at_most"]


def test_percentages_may_be_large() -> None:
    gain = next(option for option in command.params if option.name == "optimum_gain")
    context = command.make_context("when", ["2d-sw-sw", "--optimum-gain", "500%", "--themis-gain", "0.999"])
    assert context.params[gain.name or ""] == 5
    assert context.params["themis_gain"] == 0.999


def test_the_help_shows_no_option_that_is_refused() -> None:
    shown = command.get_help(command.make_context("when", ["2d-sw-sw"]))
    assert "--size " not in shown
    assert "Number of chunks" not in shown
    assert "Message sizes" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sizes", "4GB:1MB"], "--sizes: 4 GB:1 MB runs backwards"),
        (["--size", "1MB"], "--size is for one size; when takes --sizes"),
        (["--chunks", "8"], "--chunks: when finds the number of chunks"),
        (["--themis-gain", "-1%"], "--themis-gain: '-1%' is not allowed"),
        (["--optimum-gain", "much"], "--optimum-gain: 'much' is not a gain; write it as 5% or 0.05"),
        (["--optimum-gain", "5"], "--optimum-gain: '5' without a % would be 500 %; write 5% or 0.05"),
        (["--themis-gain", "1"], "--themis-gain: '1' without a % would be 100 %"),
        (["--optimum-gain", "nan"], "--optimum-gain: 'nan' is not allowed"),
        (["--json", "nowhere/x.json"], "there is no folder"),
    ],
)
def test_bad_arguments(arguments: list[str], message: str, invoke: Callable[..., None]) -> None:
    with pytest.raises(InputError) as told:
        invoke("when", "2d-sw-sw", "--solver", "none", *arguments)
    assert message in str(told.value)
