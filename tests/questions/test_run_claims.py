"""False claims in a comparison file are found, whichever of its numbers was changed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from command_line import CommandLine
from hypothesis import given, settings
from random_instances import randoms

import themis_opt
from themis_opt.problem.bound import BoundKind, Sizing
from themis_opt.problem.chunking import ChunkingChoice
from themis_opt.problem.errors import InputError, InvalidScheduleError
from themis_opt.problem.instance import Instance
from themis_opt.questions.comparison import compare
from themis_opt.questions.comparison_file import comparison_text, load_comparison
from themis_opt.solving.protocol import SolverParams

Document = dict[str, Any]
TRUSTED = [str(kind) for kind in BoundKind if kind not in (BoundKind.FLUID, BoundKind.CRITICAL_PATH)]
MOST = 8


@cache
def _text(num_chunks: int) -> str:
    """Write the baseline, Themis and a solver that chose among 1 to 8 chunks, all of it true."""
    instance = Instance(themis_opt.load_network("3d-fc-ring-sw"), size_bytes=100_000_000, num_chunks=num_chunks)
    params = SolverParams(5, num_workers=1, max_evaluations=200)
    choices = {"auto": ChunkingChoice(Sizing.EQUAL, MOST)}
    schedulers = ("baseline", "themis-scf", "themis-flex-scf")
    runs = list(compare([instance], schedulers=schedulers, solver="auto", params=params, choices=choices))
    return comparison_text(runs, {}, 0)


def true_document(random: Random) -> Document:
    return json.loads(_text(random.choice((3, 6))))  # type: ignore[no-any-return]


def results(document: Document) -> list[Document]:
    return document["runs"][0]["results"]  # type: ignore[no-any-return]


def load(document: Document) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "comparison.json"
        path.write_text(json.dumps(document))
        return load_comparison(path)


def _optimal_on_a_word(document: Document, random: Random) -> None:
    """The slowest row is optimal, says a solver; Themis, if not a row any more, still ends before it."""
    rows = results(document)
    slowest = max(rows, key=lambda row: row["makespan_ps"])
    schedule = slowest["schedule"]
    schedule.update(status="optimal", bound_ps=schedule["makespan_ps"], bound_kind=random.choice([*TRUSTED, "mine"]))
    if random.random() < 0.5:
        rows[:] = [slowest]


def _bound_on_a_word(document: Document, random: Random) -> None:
    slowest = max(results(document), key=lambda row: row["makespan_ps"])
    best_ps = min(
        row["makespan_ps"]
        for row in results(document)
        if len(row["schedule"]["chunks"]) == len(slowest["schedule"]["chunks"])
        and row["sizes"] in ("equal", slowest["sizes"])  # of other sizes a bound for equal ones does not speak
    )
    assert best_ps < slowest["makespan_ps"]
    schedule = slowest["schedule"]
    schedule.update(bound_ps=random.randint(best_ps + 1, slowest["makespan_ps"]), bound_kind=random.choice(TRUSTED))


def _any(change: Callable[[Document, Document, Random], None]) -> Callable[[Document, Random], None]:
    """Change what the solver's row says of all numbers of chunks."""

    def spoil(document: Document, random: Random) -> None:
        change(document, results(document)[-1], random)

    return spoil


def _fluid_without_certificate(_: Document, row: Document, random: Random) -> None:
    row.update(bound_any_ps=row["makespan_ps"], bound_any_kind=random.choice(("fluid", "critical-path")))


def _little_above_what_is_proven(_: Document, row: Document, random: Random) -> None:
    row.update(bound_any_ps=int(row["bound_any_ps"] * random.uniform(1.00001, 1.02)) + 1, bound_any_kind="fluid")


def _above_another_row(document: Document, row: Document, random: Random) -> None:
    best_ps = min(other["makespan_ps"] for other in results(document) if len(other["schedule"]["chunks"]) <= MOST)
    row.update(bound_any_ps=best_ps + random.randint(1, 10**6), bound_any_kind=random.choice(TRUSTED))


def _above_a_heuristic(document: Document, row: Document, random: Random) -> None:
    """Alone in the file, the baseline claims for all numbers up to 8 what it takes itself."""
    baseline = results(document)[0]
    counts = [len(baseline["schedule"]["chunks"]), MOST]
    baseline.update(
        bound_any_ps=baseline["makespan_ps"], bound_any_kind=random.choice(TRUSTED), bound_any_chunks=counts
    )
    results(document)[:] = [baseline]


def _reversed(_: Document, row: Document, random: Random) -> None:
    row["bound_any_chunks"] = [random.randint(9, 10**6), random.randint(1, MOST)]


def _not_positive(_: Document, row: Document, random: Random) -> None:
    row["bound_any_chunks"][0] = -random.randint(0, 10**20)


def _huge(_: Document, row: Document, random: Random) -> None:
    row["bound_any_chunks"][1] = random.randint(65_537, 10**30)


def _without_the_row(_: Document, row: Document, random: Random) -> None:
    count = len(row["schedule"]["chunks"])
    row["bound_any_chunks"] = random.choice(([count + 1, MOST + 9], [1, count - 1] if count > 1 else [2, 3]))


def _negative(_: Document, row: Document, random: Random) -> None:
    row["bound_any_ps"] = -random.randint(1, 10**30)


def _no_kind(_: Document, row: Document, random: Random) -> None:
    row["bound_any_kind"] = random.choice(("", " ", "Fluid", "cp_sat", "a b", "<b>", "x" * 65, "\x1b[2J", "\u202e"))


FALSE = {
    "optimal on a solver's word": _optimal_on_a_word,
    "a bound on a solver's word": _bound_on_a_word,
    "fluid and nothing that proves it": _any(_fluid_without_certificate),
    "a little above what is proven": _any(_little_above_what_is_proven),
    "above another row": _any(_above_another_row),
    "above what a heuristic finds": _any(_above_a_heuristic),
    "a reversed range": _any(_reversed),
    "no chunk or fewer": _any(_not_positive),
    "more chunks than there can be": _any(_huge),
    "a range without the row": _any(_without_the_row),
    "a negative bound": _any(_negative),
    "any text as kind": _any(_no_kind),
}


@pytest.mark.parametrize("num_chunks", [3, 6])
def test_what_is_true_is_read(num_chunks: int) -> None:
    (run,) = load(json.loads(_text(num_chunks)))
    assert [row.name for row in run.rows] == ["baseline", "themis-scf", "themis-flex-scf", "auto"]
    assert run.rows[-1].bound_any is not None
    assert run.rows[-1].bound_any.value_ps == results(json.loads(_text(num_chunks)))[-1]["bound_any_ps"]


def test_what_is_true_and_less_is_read() -> None:
    document = json.loads(_text(3))
    results(document)[-1].update(bound_any_ps=1, bound_any_kind="mine")
    (run,) = load(document)
    assert run.rows[-1].bound_any.value_ps == 1


@pytest.mark.parametrize("kind", FALSE)
@settings(max_examples=5, deadline=None)
@given(randoms())
def test_what_is_false_is_found(kind: str, random: Random) -> None:
    _check_found(kind, random)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FALSE)
@settings(max_examples=200, deadline=None)
@given(randoms())
def test_what_is_false_is_found_200_times(kind: str, random: Random) -> None:
    _check_found(kind, random)


def _check_found(kind: str, random: Random) -> None:
    document = true_document(random)
    FALSE[kind](document, random)
    with pytest.raises((InvalidScheduleError, InputError), match=r"runs\[0\]\.results\[[0-9]\]"):
        load(document)


def test_the_verbs_say_what_is_false(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    document = json.loads(_text(6))
    random = Random(1)
    _optimal_on_a_word(document, random)
    (tmp_path / "c.json").write_text(json.dumps(document))
    for arguments in (("report", "c.json", "-o", "r.html"), ("plot", "timeline", "c.json", "-o", "t.svg")):
        done = themis_opt_command(*arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("error: c.json: runs[0].results[0]: the bound is ")
        assert "ends at" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"]
