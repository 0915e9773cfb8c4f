"""A comparison written by ``compare --json`` reads back as the same runs, and believes nothing it can work out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import themis_opt
from themis_opt.problem.errors import InputError, InvalidScheduleError
from themis_opt.problem.instance import Instance
from themis_opt.questions.comparison import Run, compare
from themis_opt.questions.comparison_file import comparison_text, load_comparison, read_comparison

STORED = Path(__file__).parent / "stored" / "comparison-2.json"


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    network = themis_opt.load_network("3d-fc-ring-sw")
    instances = [Instance(network, size_bytes=10_000_000, num_chunks=count) for count in (2, 5)]
    return list(compare(instances, schedulers=("baseline", "themis-scf", "themis-best", "themis-flex-scf")))


@pytest.fixture
def document(runs: list[Run]) -> dict[str, Any]:
    return json.loads(comparison_text(runs, {"solver": "none", "gap": 0.0001}, 7))  # type: ignore[no-any-return]


def test_the_same_runs_come_back(runs: list[Run], tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(comparison_text(runs, {"solver": "none", "gap": 0.0001}, 7))
    found = read_comparison(path)
    assert (found.options, found.seed) == ({"solver": "none", "gap": 0.0001}, 7)
    for mine, theirs in zip(runs, found.runs, strict=True):
        assert theirs.instance == mine.instance
        assert theirs.bound == mine.bound
        for one, other in zip(mine.rows, theirs.rows, strict=True):
            assert (other.name, other.schedule) == (one.name, one.schedule)
            assert (other.gap, other.speedup, other.wall_s) == (
                one.gap,
                one.speedup,
                pytest.approx(one.wall_s, abs=1e-6),
            )
            assert other.timeline.stages == one.timeline.stages


@pytest.mark.slow
def test_a_solvers_bound_and_the_bound_for_all_numbers_come_back(tmp_path: Path) -> None:
    from themis_opt.problem.bound import Sizing
    from themis_opt.problem.chunking import ChunkingChoice
    from themis_opt.solving.protocol import SolverParams

    instance = Instance(themis_opt.load_network("2d-sw-sw"), num_chunks=2)
    choices = {"equal": ChunkingChoice(), "free": ChunkingChoice(Sizing.FREE, 3)}
    params = SolverParams(time_limit_s=2)
    runs = list(compare([instance], schedulers=("baseline",), solver="auto", params=params, choices=choices))
    path = tmp_path / "c.json"
    path.write_text(comparison_text(runs, {}, 0))
    (found,) = load_comparison(path)
    for mine, theirs in zip(runs[0].rows, found.rows, strict=True):
        assert (theirs.bound.value_ps, theirs.bound.kind) == (mine.bound.value_ps, mine.bound.kind)
        assert theirs.bound_any == mine.bound_any
        assert theirs.schedule.status == mine.schedule.status
    assert found.rows[2].bound_any is not None


def test_a_file_of_the_version_before_is_read() -> None:
    """Written by 0.1.0; its versions and options are those of that time, its figures are worked out again."""
    found = read_comparison(STORED)
    assert (found.seed, found.versions["themis-opt"], found.options["time_limit_s"]) == (0, "0.1.0", 10.0)
    (run,) = found.runs
    (again,) = compare([run.instance], schedulers=("baseline", "themis-best"))
    assert run.bound == again.bound
    assert [(row.name, row.makespan_ps, row.gap, row.status) for row in run.rows] == [
        (row.name, row.makespan_ps, row.gap, row.status) for row in again.rows
    ]


def _drop(key: str) -> Callable[[dict[str, Any]], Any]:
    return lambda document: document["runs"][1]["results"][2].pop(key)


def _first(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda document: document["runs"][0]["results"][0].update(changes)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d.update(format="themis-opt/comparison/1"), "format: is 'themis-opt/comparison/1'; this version"),
        (lambda d: d.update(format="themis-opt/schedule/1"), "format: is 'themis-opt/schedule/1', no comparison"),
        (lambda d: d.update(runs=[]), "runs: is empty"),
        (lambda d: d.pop("options"), "options: is missing"),
        (lambda d: d["runs"][0].pop("instance"), "runs[0].instance: is missing"),
        (lambda d: d["runs"][0].update(results=[]), "runs[0].results: is empty"),
        (lambda d: d["runs"][0]["instance"].update(size="many"), "runs[0].results[0].schedule.instance.size"),
        (_drop("schedule"), "runs[1].results[2].schedule: is missing"),
        (_first(schedule=[]), "runs[0].results[0].schedule: [] is not allowed; expected a mapping"),
        (_first(scheduler=7), "runs[0].results[0].scheduler: 7 is not allowed; expected a text"),
        (_first(bound_any_ps=1, bound_any_kind="fluid", bound_any_chunks=[1]), "bound_any_chunks: [1] is not"),
    ],
)
def test_what_is_wrong_is_named_with_its_path(
    document: dict[str, Any], tmp_path: Path, spoil: Callable[[dict[str, Any]], Any], message: str
) -> None:
    spoil(document)
    path = tmp_path / "c.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError) as caught:
        load_comparison(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_a_false_claim_is_found(document: dict[str, Any], tmp_path: Path) -> None:
    document["runs"][0]["results"][1]["schedule"]["makespan_ps"] -= 1
    path = tmp_path / "c.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidScheduleError, match=r"runs\[0\]\.results\[1\].*makespan"):
        load_comparison(path)


def test_figures_beside_the_schedules_are_not_believed(
    document: dict[str, Any], runs: list[Run], tmp_path: Path
) -> None:
    for result in document["runs"][0]["results"]:
        result.update(makespan_ps=1, gap=0.0, speedup=99.0)
    path = tmp_path / "c.json"
    path.write_text(json.dumps(document))
    assert [row.makespan_ps for row in load_comparison(path)[0].rows] == [row.makespan_ps for row in runs[0].rows]
