"""The corpus of solved instances: its files, its records proven again, and how ``benchmarks/corpus.py`` judges changes.

Only `test_every_instance_has_a_record` wants records; whatever records there are must be true.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from corpus_kit import ROOT, disagreements

from themis_opt.files.network_file import load_network
from themis_opt.files.shipped import shipped_networks
from themis_opt.problem.bound import BoundKind, Sizing
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Occupancy
from themis_opt.problem.schedule import Status
from themis_opt.problem.units import format_size, format_time

pytest_plugins = ["corpus_fixtures"]

SOLVED = ROOT / "instances" / "solved"
MAX_FILE_BYTES = 2000
TABLE_2 = ("2d-sw-sw", "3d-sw-sw-sw-homo", "3d-sw-sw-sw-hetero", "3d-fc-ring-sw", "4d-ring-sw-sw-sw")
TABLE_2 += ("4d-ring-fc-ring-sw",)


# ---- the shipped corpus


def test_corpus_covers_what_the_project_ships(entries: list[Any]) -> None:
    instances = [entry.instance for entry in entries]
    assert len(entries) >= 60
    assert {instance.network.name for instance in instances} == set(shipped_networks())
    assert {instance.collective for instance in instances} == set(Collective)
    assert {instance.occupancy for instance in instances} == set(Occupancy)
    assert {(entry.sizing, entry.max_chunks is None) for entry in entries} == {
        (Sizing.EQUAL, True),
        (Sizing.EQUAL, False),
        (Sizing.FREE, True),
        (Sizing.FREE, False),
    }
    assert any(instance.dimensions for instance in instances)
    assert any(instance.chunk_overhead_ps for instance in instances)


def test_corpus_crosses_table_2_with_sizes_and_counts(entries: list[Any]) -> None:
    for name in TABLE_2:
        here = [entry for entry in entries if entry.instance.network.name in (name, f"{name}-artifact")]
        assert {entry.instance.network.name for entry in here} == {name, f"{name}-artifact"}
        assert len([entry for entry in here if entry.sizing is Sizing.FREE and entry.max_chunks]) >= 2
        assert len({entry.instance.size_bytes for entry in here}) >= 3
        fixed = {entry.instance.num_chunks for entry in here if entry.max_chunks is None}
        assert {4, 8, 16} <= fixed
        assert {2, 3} & fixed
    counts = {entry.instance.num_chunks for entry in entries if entry.max_chunks is None}
    assert counts == {2, 3, 4, 8, 16, 64}
    assert {10**6, 10**8, 10**9} <= {entry.instance.size_bytes for entry in entries}


def test_names_say_what_is_in_the_files(entries: list[Any]) -> None:
    for entry in entries:
        instance = entry.instance
        assert instance.network == load_network(instance.network.name)
        chunks = f"{'auto' if entry.max_chunks else ''}{instance.num_chunks}"
        parts = [
            instance.network.name,
            str(instance.collective),
            format_size(instance.size_bytes).replace(" ", ""),
            chunks + ("-free" if entry.sizing is Sizing.FREE else ""),
        ]
        if instance.dimensions is not None:
            parts.append("dims" + "".join(str(k + 1) for k in instance.dimensions))
        if instance.chunk_overhead_ps:
            overhead = format_time(instance.chunk_overhead_ps).replace(".0000", "").replace(" ", "")
            parts.append(f"overhead-{overhead}")
        if instance.occupancy is Occupancy.PIPELINED:
            parts.append("pipelined")
        assert entry.name == "_".join(parts)
        assert entry.max_chunks in (None, instance.num_chunks)
        assert entry.chunking.max_chunks == instance.num_chunks


def test_files_are_small_and_say_what_they_are_for_and_how_to_solve_them(entries: list[Any]) -> None:
    for entry in entries:
        first, second, *_ = entry.path.read_text(encoding="utf-8").splitlines()
        assert first.startswith("# ")
        assert first.endswith((".", "?"))
        assert second == f"# themis-opt solve instances/solved/{entry.path.name}{entry.options}"
    for path in SOLVED.rglob("*"):
        assert path.is_dir() or path.stat().st_size < MAX_FILE_BYTES, path


def test_every_instance_has_a_record(entries: list[Any]) -> None:
    missing = [entry.name for entry in entries if entry.record is None]
    assert missing == [], "python benchmarks/corpus.py --add writes the records that are missing"


def test_records_agree_with_the_bounds_proven_here(entries: list[Any]) -> None:
    """Loading has checked that every certificate proves what its record says; here the bounds are computed afresh."""
    assert {entry.name: disagreements(entry) for entry in entries if entry.record and disagreements(entry)} == {}


# ---- hand-made records


@pytest.fixture
def make(modules: SimpleNamespace) -> Callable[..., Any]:
    """Return a record: makespan and bound in ps, and what else is said."""

    def record(
        makespan_ps: int,
        bound_ps: int,
        *,
        kind: str = "fluid",
        certified_ps: int | None = None,
        num_chunks: int = 4,
        any_ps: int | None = None,
    ) -> Any:
        origin = modules.records.Origin(
            solver="auto", version="0.1.0", seed=0, workers=2, time="6.0 s", date="2026-01-31"
        )

        def proof(value_ps: int) -> Any:
            return modules.records.Proof(bound_ps=value_ps, kind=kind, certified_ps=certified_ps, proved=origin)

        return modules.records.Record(
            status=Status.OPTIMAL if makespan_ps == bound_ps else Status.FEASIBLE,
            num_chunks=num_chunks,
            makespan_ps=makespan_ps,
            found=origin,
            proof=proof(bound_ps),
            proof_any=None if any_ps is None else proof(any_ps),
        )

    return record


# The record: 1,000,000 ps above a bound of 900,000. The allowance of 0.02 % is 200 ps.
@pytest.mark.parametrize(
    ("found", "verdict", "words"),
    [
        ((1_000_000, 900_000), "same", ()),
        ((1_000_200, 900_000), "same", ()),  # exactly the allowance
        ((1_000_201, 900_000), "WORSE", ("makespan +0.0201 %",)),
        ((999_999, 900_000), "BETTER", ("makespan -0.0001 %",)),
        ((1_000_000, 909_000), "BETTER", ("bound +1.0000 %",)),
        ((1_000_000, 1_000_000), "BETTER", ("proven optimal", "bound +11.1111 %")),
        ((1_010_000, 909_000), "WORSE", ("makespan +1.0000 %", "bound +1.0000 %")),  # one of each is worse
        ((1_000_000, 899_820), "same", ()),  # 0.02 % less of a fluid bound
        ((1_000_000, 891_000), "WORSE", ("bound -1.0000 %",)),
        ((1_000_100, 1_000_100), "CONTRADICTION", ("a bound is above the makespan 1000000 ps",)),
        ((899_999, 890_000), "CONTRADICTION", ("a bound is above the makespan 899999 ps",)),
    ],
)
def test_verdicts(
    modules: SimpleNamespace, make: Callable[..., Any], found: tuple[int, int], verdict: str, words: tuple[str, ...]
) -> None:
    change = modules.corpus.compare(make(1_000_000, 900_000), make(*found), 0.02)
    assert (change.verdict, change.words) == (verdict, words)


def test_allowance_is_the_one_given(modules: SimpleNamespace, make: Callable[..., Any]) -> None:
    record, longer = make(1_000_000, 900_000), make(1_010_000, 900_000)
    assert modules.corpus.compare(record, longer, 1.0).verdict == "same"
    assert modules.corpus.compare(record, longer, 0.9999).verdict == "WORSE"


def test_no_record_is_new_unless_the_run_contradicts_itself(modules: SimpleNamespace, make: Callable[..., Any]) -> None:
    assert modules.corpus.compare(None, make(1_000_000, 900_000)).verdict == "new"
    assert modules.corpus.compare(None, make(1_000_000, 1_000_001)).verdict == "CONTRADICTION"


@pytest.mark.parametrize("kind", list(BoundKind))
def test_a_lost_proof_is_worse_whatever_proved_it(
    modules: SimpleNamespace, make: Callable[..., Any], kind: str
) -> None:
    proven = make(1_000_000, 1_000_000, kind=kind, certified_ps=900_000)
    lost = modules.corpus.compare(proven, make(1_000_000, 999_999, kind=kind, certified_ps=900_000))
    assert (lost.verdict, lost.words) == ("WORSE", ("the proof of optimality is lost",))
    # The bound still reaches the record's makespan: what is missing is 100 ps of the schedule, within the allowance.
    assert modules.corpus.compare(proven, make(1_000_100, 1_000_000, kind=kind)).verdict == "same"


@pytest.mark.parametrize("kind", sorted(set(BoundKind) - {BoundKind.FLUID, BoundKind.CRITICAL_PATH}))
def test_a_bound_that_was_searched_for_may_come_out_lower(
    modules: SimpleNamespace, make: Callable[..., Any], kind: str
) -> None:
    record = make(1_000_000, 950_000, kind=kind, certified_ps=900_000)
    # The clock decided about the 50,000 above the certificate, but not about what the certificate proves.
    assert modules.corpus.compare(record, make(1_000_000, 900_000)).verdict == "same"
    assert modules.corpus.compare(record, make(1_000_000, 890_000)).verdict == "WORSE"


def test_bounds_for_different_numbers_of_chunks_are_not_compared(
    modules: SimpleNamespace, make: Callable[..., Any]
) -> None:
    record = make(1_000_000, 990_000, num_chunks=6, any_ps=900_000)
    # Three chunks may end before what holds for six ...
    shorter = make(980_000, 970_000, num_chunks=3, any_ps=900_000)
    assert modules.corpus.compare(record, shorter).words == ("makespan -2.0000 %",)
    # ... but not before what holds for all numbers; and six not before what holds for six.
    assert modules.corpus.compare(record, make(899_999, 880_000, num_chunks=3, any_ps=880_000)).verdict == (
        "CONTRADICTION"
    )
    assert modules.corpus.compare(record, make(980_000, 970_000, num_chunks=6, any_ps=900_000)).verdict == (
        "CONTRADICTION"
    )
    better = modules.corpus.compare(record, make(1_000_000, 980_000, num_chunks=3, any_ps=909_000))
    assert (better.verdict, better.words) == ("BETTER", ("bound for all numbers +1.0000 %",))


def test_the_best_of_two_runs_is_kept(make: Callable[..., Any]) -> None:
    short, strong = make(1_000_000, 900_000), make(1_100_000, 950_000)
    for joined in (short.joined_with(strong), strong.joined_with(short)):
        assert (joined.makespan_ps, joined.proof.bound_ps, joined.status) == (1_000_000, 950_000, "feasible")
    assert short.joined_with(make(1_100_000, 1_000_000)).status == "optimal"
    assert short.joined_with(make(1_000_000, 900_000)) == short
    # A bound for another number of chunks does not come along, one for all numbers does.
    few, many = make(990_000, 900_000, num_chunks=3, any_ps=800_000), make(1_000_000, 980_000, any_ps=850_000)
    joined = few.joined_with(many)
    assert (joined.num_chunks, joined.proof.bound_ps, joined.proof_any.bound_ps) == (3, 900_000, 850_000)


def test_names_are_matched_by_parts_and_by_wildcards(modules: SimpleNamespace) -> None:
    matches = modules.corpus.matches
    assert matches("2d-sw-sw_all-reduce_100MB_4", [])
    assert matches("2d-sw-sw_all-reduce_100MB_4", ["hgx", "all-reduce"])
    assert matches("2d-sw-sw_all-reduce_100MB_4", ["2d-sw*_4"])
    assert not matches("2d-sw-sw_all-reduce_100MB_4", ["*-artifact*", "sw_all-gather"])
