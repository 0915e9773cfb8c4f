"""A bound on a solver's word is refused when a shipped heuristic ends before it.

The problem of `spoilt`: two chunks of 8 bytes, All-Reduce on 2 × 2 NPUs at 1 byte/ps. A stage takes 4 ps where
the whole chunk is there and 2 ps where half of it is. Both chunks in the order 1 2, 2 1 (the baseline) end at 16 ps:
dim1 alone is busy for 4 + 4 + 4 + 4 ps. Themis sends the second chunk the other way round, 2 1, 1 2, and ends at
12 ps::

    dim1  | 0 rs |1rs|1ag| 0 ag |           0-4, 4-6, 6-8, 8-12
    dim2  | 1 rs |0rs|0ag| 1 ag |           0-4, 4-6, 6-8, 8-12
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from random_instances import AG, RS, dimension, network

import themis_opt
from themis_opt.files.schedule_file import save_schedule
from themis_opt.judging.refute import refutations
from themis_opt.judging.validator import validate
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Schedule, Slot, Status

INSTANCE = Instance(network(dimension(2), dimension(2)), size_bytes=16, num_chunks=2)
TWO_EQUAL = BoundScope(Sizing.EQUAL, 2, 2)
SCHEDULE = Schedule(
    INSTANCE,
    chunks=(Chunk(8, (0, 1), (1, 0)), Chunk(8, (0, 1), (1, 0))),
    sequences=(
        (Slot(0, RS), Slot(1, RS), Slot(0, AG), Slot(1, AG)),
        (Slot(0, RS), Slot(0, AG), Slot(1, RS), Slot(1, AG)),
    ),
    makespan_ps=16,
    status=Status.OPTIMAL,
    bound=Bound(16, BoundKind.JOINT_CP_SAT, TWO_EQUAL),
)


def test_a_heuristic_refutes_a_claim_of_optimality() -> None:
    assert validate(INSTANCE, SCHEDULE) == ()  # nothing in the file itself contradicts it
    (violation,) = refutations(SCHEDULE)
    assert (violation.rule, violation.expected, violation.found) == ("bound", 12, 16)
    assert violation.message == (
        "the bound is 16 ps on the word of cp-sat, but themis-fifo with 2 chunks ends at 12 ps; "
        "so the schedule is not optimal"
    )


@pytest.mark.parametrize(
    ("bound", "ends_ps"),
    [
        (Bound(13, "cp-sat", TWO_EQUAL), 12),
        (Bound(13, "a-third-party", BoundScope(Sizing.FREE, 2, 2)), 12),
        # Where one chunk is allowed too: 8 + 4 + 4 + 8 ps, so two chunks refute it.
        (Bound(16, "milp", BoundScope(Sizing.EQUAL, 1, 2)), 12),
    ],
)
def test_what_refutes_a_bound_without_optimality(bound: Bound, ends_ps: int) -> None:
    (violation,) = refutations(SCHEDULE.replace(status=Status.FEASIBLE, bound=bound))
    assert violation.expected == ends_ps
    assert "optimal" not in violation.message


@pytest.mark.parametrize("bound", [None, Bound(12, "cp-sat", TWO_EQUAL), Bound(99, BoundKind.FLUID, TWO_EQUAL)])
def test_what_is_not_refuted(bound: Bound | None) -> None:
    """No bound, one that may be true, and one whose kind the validator proves again itself."""
    assert refutations(SCHEDULE.replace(bound=bound)) == ()


def test_its_own_chunks_served_otherwise_refute_it() -> None:
    # Reduce-Scatter, chunks of 12 and 4 bytes. Chunk 0 takes 6 ps on dim1, then 3 ps on dim2; chunk 1 takes 2 ps on
    # dim2, then 1 ps on dim1. Letting dim1 wait for chunk 1 first ends at 3 + 6 + 3 = 12 ps; served as they come: 9 ps.
    instance = replace(INSTANCE, collective="reduce-scatter")
    schedule = Schedule(
        instance,
        (Chunk(12, (0, 1)), Chunk(4, (1, 0))),
        ((Slot(1, RS), Slot(0, RS)), (Slot(1, RS), Slot(0, RS))),
        makespan_ps=12,
        bound=Bound(10, "cp-sat", BoundScope(Sizing.FREE, 2, 2)),
    )
    assert validate(instance, schedule) == ()
    (violation,) = refutations(schedule)
    assert "but serving its chunks by fifo with 2 chunks ends at 9 ps" in violation.message


@pytest.fixture
def optimal_document(tmp_path: Path) -> dict[str, Any]:
    """A schedule file that claims to be optimal on a solver's word, which nothing refutes, as plain data.

    Three chunks of 8 bytes: the critical path of one takes 4 + 2 + 2 + 4 = 12 ps, themis-fifo 20 ps for all of them.
    """
    schedule = themis_opt.schedule(Instance(INSTANCE.network, size_bytes=24, num_chunks=3), "themis-fifo")
    assert schedule.makespan_ps == 20
    bound = Bound(20, BoundKind.JOINT_CP_SAT, BoundScope(Sizing.EQUAL, 3, 3))
    save_schedule(replace(schedule, status=Status.OPTIMAL, bound=bound), tmp_path / "claim.json")
    document: dict[str, Any] = json.loads((tmp_path / "claim.json").read_text())
    return document


def test_the_verb_says_on_whose_word_it_is_optimal(
    optimal_document: dict[str, Any], themis_opt_command: CommandLine
) -> None:
    done = themis_opt_command("validate", "claim.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "claim.json: valid: 3 chunks, makespan 20 ps, bound 20 ps on the word of cp-sat (re-proved: 12 ps), "
        "optimal on the same word\n"
    )


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"certified_bound_ps": -1}, "certified-bound: the certified bound is -1 ps; a time is at least 0 ps"),
        ({"certificate": ["1/2", "1/2"]}, "certified-bound: there is a certificate, and no certified bound"),
        ({"certified_bound_ps": 12}, "certificate: the certified bound is 12 ps, and there is no certificate"),
        ({"bound_ps": -20}, "bound: the bound is -20 ps; a time is at least 0 ps"),
        ({"bound_kind": "Fluid"}, "bound: bound_kind is 'Fluid'; write it 'fluid'"),
        ({"bound_kind": "critical_path"}, "bound: bound_kind is 'critical_path'; write it 'critical-path'"),
        ({"bound_kind": "by looking at it"}, "bound: bound_kind is 'by looking at it'; it must be a word"),
        ({"bound_kind": ""}, "bound: bound_kind is ''; it must be a word"),
        ({"bound_kind": "fluid"}, "certificate: the bound of 20 ps is fluid, and there is no certificate"),
        ({"bound_ps": 19}, "status: the status is optimal, but the makespan is 20 ps and the bound 19 ps"),
    ],
    ids=str,
)
def test_a_claim_that_is_false_or_malformed(
    changes: dict[str, Any],
    line: str,
    optimal_document: dict[str, Any],
    tmp_path: Path,
    themis_opt_command: CommandLine,
) -> None:
    if changes.get("certified_bound_ps") == -1:
        changes = {**changes, "certificate": ["1/2", "1/2"]}
    (tmp_path / "claim.json").write_text(json.dumps({**optimal_document, **changes}))
    done = themis_opt_command("validate", "claim.json")
    assert done.returncode == 1
    assert any(printed.startswith(f"claim.json: {line}") for printed in done.stdout.splitlines()), done.stdout


def test_a_third_party_s_word_is_named_as_such(
    optimal_document: dict[str, Any], tmp_path: Path, themis_opt_command: CommandLine
) -> None:
    (tmp_path / "claim.json").write_text(json.dumps({**optimal_document, "bound_kind": "gurobi-12"}))
    done = themis_opt_command("validate", "claim.json")
    assert done.returncode == 0
    assert "bound 20 ps on the word of gurobi-12, a kind unknown here (re-proved: 12 ps)" in done.stdout


def test_what_is_proved_needs_nobody_s_word(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    # Two chunks take 12 ps, and so does the critical path of one: whoever claimed it first, it is proved here.
    schedule = themis_opt.schedule(INSTANCE, "themis-fifo")
    save_schedule(replace(schedule, status=Status.OPTIMAL, bound=Bound(12, "cp-sat", TWO_EQUAL)), tmp_path / "it.json")
    done = themis_opt_command("validate", "it.json")
    assert done.stdout == "it.json: valid: 2 chunks, makespan 12 ps, bound 12 ps, optimal\n"


def test_the_verb_refutes(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    save_schedule(SCHEDULE.replace(bound=Bound(16, "cp-sat", TWO_EQUAL)), tmp_path / "it.json")
    done = themis_opt_command("validate", "it.json")
    assert done.returncode == 1
    assert done.stdout.startswith(
        "it.json: bound: the bound is 16 ps on the word of cp-sat, but themis-fifo with 2 chunks"
    )
