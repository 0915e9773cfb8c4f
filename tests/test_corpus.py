"""The corpus of solved instances: its files, its records proven again, and how ``benchmarks/corpus.py`` judges changes.

Only `test_every_instance_has_a_record` wants records; whatever records there are must be true.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml
from msgspec.structs import replace as restruct

import themis_opt
from themis_opt.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.certifying import certify
from themis_opt.cli.exits import Terminated
from themis_opt.collective import Collective
from themis_opt.errors import InputError
from themis_opt.formats.instance_file import load_instance
from themis_opt.formats.network_file import load_network
from themis_opt.formats.schedule_file import load_schedule
from themis_opt.formats.shipped import shipped_networks
from themis_opt.instance import Occupancy
from themis_opt.schedules import Schedule, Status
from themis_opt.simulator import simulate
from themis_opt.solving.bounds import best_bound, bound_over_counts, equal_chunks_scope, quick_bounds
from themis_opt.units import format_size, format_time

ROOT = Path(__file__).parent.parent
SOLVED = ROOT / "instances" / "solved"
MODULES = ("proofs", "records", "solves", "corpus")
MAX_FILE_BYTES = 2000
TABLE_2 = ("2d-sw-sw", "3d-sw-sw-sw-homo", "3d-sw-sw-sw-hetero", "3d-fc-ring-sw", "4d-ring-sw-sw-sw")
TABLE_2 += ("4d-ring-fc-ring-sw",)

TINY = """\
format: themis-opt/instance/1
network: 2d-figure-5
collective: all-reduce
size: 256 MB
chunks: 2
"""
# Two chunks of 128 MB on the network of Figure 5. A chunk of 128 MB whole on dim1 takes 2 ms there and then a quarter
# of it 1 ms on dim2 (half the bandwidth). Both phases: 2 + 1 + 1 + 2 = 6 ms, the shortest path of one chunk; begun on
# dim2 it is 4 + 0.5 + 0.5 + 4 = 9 ms.
TINY_PATH_PS = 6 * 10**9


@pytest.fixture(scope="module")
def modules() -> Iterator[SimpleNamespace]:
    """The script and what it imports, as modules: importing them runs nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        for name in MODULES:
            patch.delitem(sys.modules, name, raising=False)
        loaded: dict[str, ModuleType] = {name: import_module(name) for name in MODULES}
        yield SimpleNamespace(**loaded)
        for name in MODULES:
            del sys.modules[name]


@pytest.fixture(scope="module")
def entries(modules: SimpleNamespace) -> list[Any]:
    return modules.records.load_corpus()


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


TOLERANCE = 1e-6
"""Another release of the LP solver may find other weights, worth a little less."""


def disagreements(entry: Any) -> list[str]:
    """Return what in a record cannot be, or is less than what costs milliseconds to prove."""
    record, found = entry.record, []
    own_ps = quick_ps(entry, record.num_chunks)
    if own_ps > record.makespan_ps:
        found.append("makespan")
    if not own_ps * (1 - TOLERANCE) <= record.proof.bound_ps:
        found.append("bound too low")
    if record.proof.searchless_ps > own_ps * (1 + TOLERANCE):
        found.append("bound too high")
    if record.proof_any is not None:
        over_ps = bound_over_counts(entry.instance, entry.chunking, lambda count: quick(entry, count)).value_ps
        if not over_ps * (1 - TOLERANCE) <= record.proof_any.bound_ps <= record.makespan_ps:
            found.append("bound for all numbers")
        if record.proof_any.searchless_ps > over_ps * (1 + TOLERANCE):
            found.append("bound for all numbers too high")
    return found


def quick(entry: Any, num_chunks: int) -> Bound:
    return best_bound(quick_bounds(entry.instance, entry.chunking.scope(num_chunks)))


def quick_ps(entry: Any, num_chunks: int) -> int:
    return quick(entry, num_chunks).value_ps


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


# ---- a corpus of one instance


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    (folder / "records").mkdir(parents=True)
    (folder / "tiny.yaml").write_text(TINY)
    return folder


class OneSchedule:
    """Stands in for the solver: the baseline's schedule with the quick bounds, changed as told; counts its calls."""

    num_workers = 2

    def __init__(self, solved: Callable[..., Any], folder: Path, changes: dict[str, Any]) -> None:
        instance = load_instance(folder / "tiny.yaml")
        schedule = themis_opt.schedule(instance, "baseline")
        bound = best_bound(quick_bounds(instance, equal_chunks_scope(instance)))
        stated = {"bound": bound, "status": Status.FEASIBLE, "seed": 0, **changes}
        schedule = schedule.replace(**stated)
        self._solved = solved(schedule, None, 0.5, "")
        self.asked: list[tuple[float, int]] = []

    def __call__(self, num_workers: int | None) -> OneSchedule:
        return self

    def __enter__(self) -> OneSchedule:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def solve(self, instance: Any, time_limit_s: float, *, seed: int, **choice: Any) -> Any:
        self.asked.append((time_limit_s, seed))
        return self._solved


@pytest.fixture
def stand_in(modules: SimpleNamespace, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., OneSchedule]:
    def use(**changes: Any) -> OneSchedule:
        solver = OneSchedule(modules.solves.Solved, tiny, changes)
        monkeypatch.setattr(modules.corpus, "AutoSolver", solver)
        return solver

    return use


def tamper(modules: SimpleNamespace, tiny: Path, **changes: Any) -> None:
    """Change the makespan, the status or the proof in the record, whether or not that is true."""
    (entry,) = modules.records.load_corpus(tiny)
    modules.records.save_record(entry, restruct(entry.record, **changes))


def test_a_tiny_instance_from_end_to_end(
    modules: SimpleNamespace, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--folder", str(tiny), "--only", "tiny", "--time-limit", "4", "--workers", "1"]
    assert modules.corpus.main([*options, "--add", "--schedules", str(tmp_path)]) == 0
    assert "1 of 1 run: 1 new; 1 records written" in capsys.readouterr().out
    (entry,) = modules.records.load_corpus(tiny)
    schedule = load_schedule(tmp_path / "tiny.json")
    assert certify(schedule).violations == ()
    assert schedule.makespan_ps == entry.record.makespan_ps >= TINY_PATH_PS
    assert entry.record.found.workers == 1
    assert entry.record.found.version == themis_opt.__version__

    before = entry.record_path.read_bytes()
    assert modules.corpus.main([*options, "--update"]) == 0
    assert "1 of 1 run: 1 same; 0 records written" in capsys.readouterr().out
    assert entry.record_path.read_bytes() == before
    assert modules.corpus.main([*options, "--list"]) == 0
    assert "optimal" in capsys.readouterr().out  # two chunks: a few stages, proven in no time


# The baseline: chunk 0 and 1 begin on dim1, 2 ms each; on dim2 0 runs from 2 to 3 and 1 from 4 to 5 (RS), and then
# their AG on dim2 for 1 ms each: 0 from 3 to 4, before 1 comes; 1 from 5 to 6. On dim1 2 ms each: 0 from 4 to 6,
# 1 from 6 to 8.
BASELINE_PS = 8 * 10**9


def test_the_baseline_of_the_tiny_instance(tiny: Path) -> None:
    instance = load_instance(tiny / "tiny.yaml")
    schedule: Schedule = themis_opt.schedule(instance, "baseline")
    assert simulate(instance, schedule).makespan_ps == BASELINE_PS
    path = max(quick_bounds(instance, equal_chunks_scope(instance)), key=lambda bound: bound.value_ps)
    assert path.value_ps >= TINY_PATH_PS


def test_better_is_written_only_when_asked(
    modules: SimpleNamespace, tiny: Path, stand_in: Callable[..., OneSchedule], capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in()
    arguments = ["--folder", str(tiny)]
    assert modules.corpus.main([*arguments, "--add"]) == 0
    tamper(modules, tiny, makespan_ps=10**10)
    assert modules.corpus.main(arguments) == 0
    assert "BETTER makespan -20.0000 %" in capsys.readouterr().out
    assert modules.records.load_corpus(tiny)[0].record.makespan_ps == 10**10
    assert modules.corpus.main([*arguments, "--update"]) == 0
    assert modules.records.load_corpus(tiny)[0].record.makespan_ps == BASELINE_PS


def test_worse_is_tried_again_with_more_time_and_then_fails(
    modules: SimpleNamespace, tiny: Path, stand_in: Callable[..., OneSchedule], capsys: pytest.CaptureFixture[str]
) -> None:
    solver = stand_in()
    arguments = ["--folder", str(tiny), "--time-limit", "2", "--seed", "5"]
    assert modules.corpus.main([*arguments, "--add"]) == 0
    tamper(modules, tiny, makespan_ps=BASELINE_PS * 9 // 10)
    before = (tiny / "records" / "tiny.yaml").read_bytes()
    solver.asked.clear()
    assert modules.corpus.main([*arguments, "--update"]) == 1
    assert "WORSE makespan +11.1111 % (3 tries)\n" in capsys.readouterr().out
    assert solver.asked == [(2, 5), (4, 6), (8, 7)]
    assert (tiny / "records" / "tiny.yaml").read_bytes() == before
    assert modules.corpus.main([*arguments, "--allowance", "12"]) == 0
    solver.asked.clear()
    assert modules.corpus.main([*arguments, "--retries", "0"]) == 1
    assert solver.asked == [(2, 5)]
    assert "tries" not in capsys.readouterr().out.splitlines()[-3]


def test_a_contradiction_fails_and_changes_nothing(
    modules: SimpleNamespace, tiny: Path, stand_in: Callable[..., OneSchedule], capsys: pytest.CaptureFixture[str]
) -> None:
    solver = stand_in()
    arguments = ["--folder", str(tiny), "--update"]
    assert modules.corpus.main(["--folder", str(tiny), "--add"]) == 0
    # A record of 5 ms cannot be: one chunk alone takes 6.
    record = modules.records.load_corpus(tiny)[0].record
    false = restruct(record.proof, bound_ps=10**9, kind="other", certificate=None, certified_ps=None)
    tamper(modules, tiny, makespan_ps=5 * 10**9, proof=false)
    before = (tiny / "records" / "tiny.yaml").read_bytes()
    solver.asked.clear()
    assert modules.corpus.main(arguments) == 1
    assert "CONTRADICTION a bound is above the makespan 5000000000 ps" in capsys.readouterr().out
    assert len(solver.asked) == 1
    assert (tiny / "records" / "tiny.yaml").read_bytes() == before


@pytest.mark.parametrize(
    "changes",
    [
        {"makespan_ps": BASELINE_PS - 1},
        {"bound": Bound(7 * 10**9, BoundKind.FLUID, BoundScope(Sizing.EQUAL, 2, 2), None, 7 * 10**9)},
        {"status": Status.OPTIMAL, "bound": Bound(BASELINE_PS - 1, "other", BoundScope(Sizing.EQUAL, 2, 2))},
    ],
    ids=["makespan", "certificate", "status"],
)
def test_no_record_comes_from_a_schedule_that_states_something_false(
    modules: SimpleNamespace,
    tiny: Path,
    stand_in: Callable[..., OneSchedule],
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, Any],
) -> None:
    stand_in(**changes)
    assert modules.corpus.main(["--folder", str(tiny), "--add"]) == 1
    assert "ERROR" in capsys.readouterr().out
    assert modules.records.load_corpus(tiny)[0].record is None


# ---- record files that are wrong


GOOD = """format: themis-opt/record/1
best:
  status: feasible
  num_chunks: 2
  makespan_ps: 8000000000
  found: {solver: auto, version: 0.1.0, seed: 0, workers: 2, time: 6.0 s, date: '2026-01-31'}
  proof:
    bound_ps: 6000000000
    kind: critical-path
    certificate: [1/1, 0/1]
    certified_ps: 2000000000
    proved: {solver: auto, version: 0.1.0, seed: 0, workers: 2, time: 6.0 s, date: '2026-01-31'}
"""
# All weight on dim1: each phase of each chunk has at least a quarter of its 2 ms there, 4 x 0.5 ms.


def test_a_record_by_hand_is_read(modules: SimpleNamespace, tiny: Path) -> None:
    (tiny / "records" / "tiny.yaml").write_text(GOOD)
    (entry,) = modules.records.load_corpus(tiny)
    assert entry.record.makespan_ps == BASELINE_PS
    assert 3 * entry.record.gap == pytest.approx(1)
    modules.records.save_record(entry, entry.record)
    assert entry.record_path.read_text() == GOOD


# Both chunks together, 256 MB: weights 2/3 and 1/3 make a phase cost at least 2/3 x 4 + 1/3 x 2 = 10/3 ms begun on dim1
# (and 1/3 x 8 + 2/3 x 1 = 10/3 begun on dim2), two phases 6.67 ms: more than the 6 ms of one chunk's path.
FLUID_PS = 6_666_666_667


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({}, ["bound too low"]),  # the record by hand has only the path's 6 ms
        ({"bound_ps": FLUID_PS}, []),
        ({"bound_ps": FLUID_PS, "makespan_ps": FLUID_PS - 1}, ["makespan"]),
        ({"bound_ps": FLUID_PS + 10**5, "kind": "fluid"}, ["bound too high"]),
        ({"bound_ps": FLUID_PS + 10**5, "kind": "cp-sat"}, []),
    ],
)
def test_records_that_disagree_with_the_bounds_are_found(
    modules: SimpleNamespace, tiny: Path, changes: dict[str, Any], wrong: list[str]
) -> None:
    (tiny / "records" / "tiny.yaml").write_text(GOOD)
    (entry,) = modules.records.load_corpus(tiny)
    assert quick_ps(entry, 2) == FLUID_PS
    stated = {key: changes[key] for key in ("bound_ps", "kind") if key in changes}
    proof = restruct(entry.record.proof, **stated)
    record = restruct(entry.record, proof=proof, makespan_ps=changes.get("makespan_ps", BASELINE_PS))
    assert disagreements(replace(entry, record=record)) == wrong


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("record/1", "record/2", "format: 'themis-opt/record/2' is not allowed"),
        ("status: feasible", "status: optimal", "best.status: 'optimal' is not allowed"),
        ("status: feasible", "status: heuristic", "best.status: 'heuristic' is not allowed"),
        ("makespan_ps: 8000000000", "makespan_ps: 6000000000", "best.status: 'feasible' is not allowed"),
        ("makespan_ps: 8000000000", "makespan_ps: 5999999999", "best: a bound is above makespan_ps (5999999999)"),
        ("num_chunks: 2", "num_chunks: 3", "best.num_chunks: 3 is not allowed; 2 to 2"),
        ("bound_ps: 6", "bound_ps: 7", "best.proof.bound_ps: 7000000000 is not what is proven here, 6000000000"),
        ("bound_ps: 6", "bound_ps: 5", "best.proof.bound_ps: 5000000000 is not what is proven here, 6000000000"),
        ("critical-path", "fluid", "best.proof.bound_ps: 6000000000 is not what is proven here, 2000000000"),
        ("certified_ps: 2", "certified_ps: 3", "best.proof.certified_ps: 3000000000 is not what the certificate"),
        ("[1/1, 0/1]", "[1/2, 1/2]", "best.proof.certified_ps: 2000000000 is not what the certificate"),
        ("[1/1, 0/1]", "[1/1, 1/1]", "best.proof: certificate adds up to 2"),
        ("[1/1, 0/1]", "[1/1, x]", "best.proof.certificate: holds what is no fraction"),
        ("[1/1, 0/1]", "[1/0, 1/1]", "best.proof.certificate: holds what is no fraction"),
        ("[1/1, 0/1]", "['1e99999999', 0/1]", "best.proof.certificate: holds what is no fraction"),
        ("best:\n", "max_chunks: 2\nbest:\n", "best.proof_any: is missing: max_chunks is given"),
        ("time: 6.0 s", "seconds: 6.0 s", "best.found.seconds: unknown key"),
        ("makespan_ps: 8000000000", "makespan_ps: 0", "best.makespan_ps: 0 is not allowed; it must be above 0 ps"),
        ("makespan_ps: 8", "makespan_ps: -8", "best.makespan_ps: -8000000000 is not allowed; it must be above 0 ps"),
        ("bound_ps: 6000000000", "bound_ps: 0", "best.proof.bound_ps: 0 is not allowed; it must be above 0 ps"),
        ("bound_ps: 6", "bound_ps: -6", "best.proof.bound_ps: -6000000000 is not allowed; it must be above 0 ps"),
        ("critical-path", "nonsense", "best.proof.kind: 'nonsense' is not allowed; one of: fluid, critical-path,"),
        ("critical-path", "''", "best.proof.kind: '' is not allowed; one of: fluid, critical-path,"),
        ("seed: 0", "seed: -1", "best.found.seed: -1 is not allowed; 0 to 2147483647 is expected here"),
        ("workers: 2", "workers: 0", "best.found.workers: 0 is not allowed; 1 to 2147483647 is expected here"),
        ("best:\n", "max_chunks: 65537\nbest:\n", "max_chunks: 65537 is not allowed; 1 to 65536 is expected here"),
        ("best:\n", "max_chunks: 0\nbest:\n", "max_chunks: 0 is not allowed; 1 to 65536 is expected here"),
    ],
)
def test_a_wrong_record_is_told_with_file_and_key(
    modules: SimpleNamespace, tiny: Path, old: str, new: str, message: str
) -> None:
    path = tiny / "records" / "tiny.yaml"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(InputError) as error:
        modules.records.load_corpus(tiny)
    assert str(error.value).startswith(f"{path}: {message}")


# One chunk or two, of equal size. One chunk of 256 MB takes twice as long as one of 128 MB, both phases 12 ms (there is
# nothing to overlap it with), two take FLUID_PS at least. The least of both is the bound for all numbers.
ANY_PS = FLUID_PS
GOOD_ANY = (
    GOOD.replace("best:\n", "max_chunks: 2\nbest:\n")
    + f"""  proof_any:
    bound_ps: {ANY_PS}
    kind: fluid
    proved: {{solver: auto, version: 0.1.0, seed: 0, workers: 2, time: 6.0 s, date: '2026-01-31'}}
"""
)
# The certificate that is worth as much: weights 2/3 and 1/3 (above).
CERTIFIED_ANY = GOOD_ANY.replace(
    "    kind: fluid\n", f"    kind: fluid\n    certificate: [2/3, 1/3]\n    certified_ps: {ANY_PS}\n"
)


@pytest.mark.parametrize(
    "text",
    [
        GOOD_ANY,
        CERTIFIED_ANY,
        GOOD_ANY.replace(str(ANY_PS), str(ANY_PS - 10**6)),  # less than can be proven is true as well
        GOOD_ANY.replace(str(ANY_PS), "7999999999").replace("kind: fluid", "kind: assignment"),  # its solver's word
    ],
    ids=["bare", "certified", "lower", "searched"],
)
def test_a_bound_for_all_numbers_is_read(modules: SimpleNamespace, tiny: Path, text: str) -> None:
    (tiny / "records" / "tiny.yaml").write_text(text)
    (entry,) = modules.records.load_corpus(tiny)
    modules.records.save_record(entry, entry.record)
    assert entry.record_path.read_text() == text


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (GOOD_ANY, f"bound_ps: {ANY_PS}", "bound_ps: 0", "bound_ps: 0 is not allowed; it must be above 0 ps"),
        (GOOD_ANY, f"bound_ps: {ANY_PS}", "bound_ps: -7", "bound_ps: -7 is not allowed; it must be above 0 ps"),
        (GOOD_ANY, "kind: fluid", "kind: nonsense", "kind: 'nonsense' is not allowed; one of: fluid"),
        (GOOD_ANY, "kind: fluid", "kind: flud", "kind: 'flud' is not allowed; one of: fluid"),
        (GOOD_ANY, f"bound_ps: {ANY_PS}", "bound_ps: 7000000000", "bound_ps: 7000000000 is more than what is proven"),
        (GOOD_ANY, "kind: fluid", "kind: fluid\n    certified_ps: 7", "certified_ps: 7 is not what the certificate"),
        (CERTIFIED_ANY, "[2/3, 1/3]", "[banana]", "certificate: holds what is no fraction"),
        (CERTIFIED_ANY, "[2/3, 1/3]", "[2/3]", "certificate has 1 weights; the network has 2"),
        (CERTIFIED_ANY, "[2/3, 1/3]", "[1/2, 1/2]", f"certified_ps: {ANY_PS} is not what the certificate proves"),
        (CERTIFIED_ANY, f"certified_ps: {ANY_PS}", "certified_ps: -3", "certified_ps: -3 is not what the certificate"),
        (CERTIFIED_ANY, f" bound_ps: {ANY_PS}", " bound_ps: 6000000000", "bound_ps: 6000000000 is less than what is"),
    ],
)
def test_a_false_bound_for_all_numbers_is_told(
    modules: SimpleNamespace, tiny: Path, text: str, old: str, new: str, message: str
) -> None:
    path = tiny / "records" / "tiny.yaml"
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as error:
        modules.records.load_corpus(tiny)
    assert str(error.value).startswith(f"{path}: best.proof_any")
    assert message in str(error.value)
    assert modules.corpus.main(["--folder", str(tiny), "--list"]) == 2


def test_a_bound_that_only_search_has_overtaken_is_kept(modules: SimpleNamespace, tiny: Path) -> None:
    """Without search the least may be another number's: what it proves of the rest is the bound once that is raised."""
    scope = BoundScope(Sizing.EQUAL, 1, 2)
    bounds = [Bound(5000, BoundKind.CRITICAL_PATH, scope), Bound(6000, BoundKind.FLUID, scope)]
    origin = modules.records.Origin(solver="auto", version="", seed=0, workers=1, time="", date="")

    def check(bound_ps: int, kind: str) -> None:
        proof = modules.records.Proof(bound_ps=bound_ps, kind=kind, proved=origin)
        modules.proofs._check_least("best.proof_any", proof, bounds)

    check(5000, "fluid")
    check(6000, "fluid")
    for bound_ps, kind in ((5999, "fluid"), (6001, "fluid"), (6000, "critical-path")):
        with pytest.raises(InputError, match=f"bound_ps: {bound_ps} is more than what is proven here, 5000"):
            check(bound_ps, kind)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "none of these 1 instances has a record; --add makes them"),
        (["--only", "hgx"], "--only hgx: no instance in"),
        (["--add", "--schedules", "nowhere"], "--schedules nowhere: there is no such folder"),
    ],
)
def test_slips_of_the_command_line_end_with_one_line(
    modules: SimpleNamespace, tiny: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert modules.corpus.main(["--folder", str(tiny), *arguments]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_a_record_of_no_instance_is_told(modules: SimpleNamespace, tiny: Path) -> None:
    (tiny / "records" / "other.yaml").write_text("format: themis-opt/record/1\n")
    with pytest.raises(InputError, match=r"other.yaml: is the record of no instance"):
        modules.records.load_corpus(tiny)


def test_the_record_in_the_readme_is_the_one_it_names(entries: list[Any]) -> None:
    text = (ROOT / "instances" / "README.md").read_text(encoding="utf-8")
    before, example = text.split("```yaml\nformat: themis-opt/record/1\n", 1)
    name = before.rstrip().rsplit("`", 2)[1]
    (entry,) = [entry for entry in entries if entry.name == name]
    shown = yaml.safe_load("format: themis-opt/record/1\n" + example.split("```", 1)[0])
    assert shown == yaml.safe_load(entry.record_path.read_text(encoding="utf-8"))


# ---- what is printed, and how it ends


def test_the_list_fits_a_terminal_and_names_its_columns(
    modules: SimpleNamespace, entries: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert modules.corpus.main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "instance"
    assert lines[1].split("  ")[-1] == "proof"
    assert lines[2::2] == [entry.name for entry in entries]
    assert len(lines) == 2 + 2 * len(entries)


def test_the_table_names_its_columns(
    modules: SimpleNamespace, tiny: Path, stand_in: Callable[..., OneSchedule], capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in()
    assert modules.corpus.main(["--folder", str(tiny), "--add"]) == 0
    _, _, head, row, *_ = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "instance"
    assert row.split()[0] == "tiny"
    assert row.endswith("  new")


@pytest.mark.parametrize(("signal_type", "code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_an_interrupted_run_sums_up_what_it_did(
    modules: SimpleNamespace,
    tiny: Path,
    stand_in: Callable[..., OneSchedule],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    signal_type: type[BaseException],
    code: int,
) -> None:
    stand_in()
    (tiny / "two.yaml").write_text(TINY)
    solve = OneSchedule.solve

    def interrupted(solver: OneSchedule, *given: Any, **choice: Any) -> Any:
        if solver.asked:
            raise signal_type
        return solve(solver, *given, **choice)

    monkeypatch.setattr(OneSchedule, "solve", interrupted)
    assert modules.corpus.main(["--folder", str(tiny), "--add"]) == code
    assert "1 of 2 run: 1 new; 1 records written" in capsys.readouterr().out
    assert (tiny / "records" / "tiny.yaml").exists()


SCRIPT = [sys.executable, str(ROOT / "benchmarks" / "corpus.py")]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_sigterm_ends_a_run_with_its_sum(tiny: Path) -> None:
    # Sixteen chunks of free size: not proven before the signal comes.
    (tiny / "tiny.yaml").write_text(TINY.replace("2d-figure-5", "4d-ring-sw-sw-sw").replace("chunks: 2", "chunks: 16"))
    command = [*SCRIPT, "--folder", str(tiny), "--add", "--time-limit", "60", "--workers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        while not process.stdout.readline().startswith("instance"):
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert "0 of 1 run: none; 0 records written" in process.stdout.read()
        assert process.stderr.read() == ""
    assert process.returncode == 143
    assert list((tiny / "records").iterdir()) == []


def list_into(stdout: Any, *only: str) -> tuple[int, str]:
    """Return exit code and stderr of --list, which Python buffers, so that some is printed as late as at the end."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [*SCRIPT, "--list", *only]
    done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, env=env)
    return done.returncode, done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("only", [[], ["--only", "hgx"]], ids=["while printing", "at the end"])
def test_a_full_disk_is_told_without_a_traceback(only: list[str]) -> None:
    with open("/dev/full", "w") as full:
        assert list_into(full, *only) == (2, "error: standard output: No space left on device\n")


def test_a_reader_that_leaves_early_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    assert list_into(writing) == (141, "")
    os.close(writing)


def test_a_corpus_that_cannot_be_written_is_told_before_anything_runs(
    modules: SimpleNamespace,
    tiny: Path,
    stand_in: Callable[..., OneSchedule],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    solver = stand_in()
    (tiny / "records").rmdir()
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # whoever runs the tests may be allowed everything
    assert modules.corpus.main(["--folder", str(tiny), "--add"]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tiny}: is not writable, so no record can be saved")
    (tiny / "records").write_text("")
    assert modules.corpus.main(["--folder", str(tiny), "--add"]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tiny / 'records'}: is no folder")
    assert solver.asked == []


def test_a_folder_of_records_that_cannot_be_made_is_told(modules: SimpleNamespace, tiny: Path) -> None:
    path = tiny / "records" / "tiny.yaml"
    path.write_text(GOOD)
    (entry,) = modules.records.load_corpus(tiny)
    path.unlink()
    (tiny / "records").rmdir()
    (tiny / "records").write_text("")  # in the way
    with pytest.raises(InputError, match=r"records: cannot be created: File exists"):
        modules.records.save_record(entry, entry.record)
