"""Files written by themis-opt 0.1.0, one of every kind that anything reads: each is read, and says what it said then.

They lie in `tests/stored` as that release wrote them (the YAML files of networks, instances and the study, and those of
other programs, are by hand) and are never written anew: users have such files.
"""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import CommandLine

import themis_opt
from themis_opt import Algorithm, Collective, Occupancy, Topology
from themis_opt.questions.comparison_file import load_comparison
from themis_opt.studies.reading_table import read_table

STORED = Path(__file__).parents[1] / "stored"
GB = 10**9


@dataclass(frozen=True)
class Stored:
    """What a schedule file has to say [ps]; the bound and what its certificate proves where it has one."""

    scheduler: str
    status: str
    makespan_ps: int
    bound: tuple[str, int, int] | None = None


SCHEDULES = {
    "schedule_heuristic.json": Stored("themis-scf", "heuristic", 134_000_004),
    "schedule_baseline.json": Stored("baseline", "heuristic", 159_000_002),
    "schedule_random_seed.json": Stored("random", "heuristic", 3_221_860_128),
    "schedule_flex.json": Stored("themis-flex-scf", "heuristic", 159_150_000),
    "schedule_pipelined.json": Stored("round-robin", "heuristic", 434_776_690),
    "schedule_all_to_all.json": Stored("themis-scf", "heuristic", 197_238_933),
    "schedule_reduce_scatter.json": Stored("themis-scf", "heuristic", 69_100_000),
    "schedule_all_gather.json": Stored("themis-scf", "heuristic", 71_950_000),
    "schedule_single.json": Stored("themis-scf", "heuristic", 132_000_000),
    "schedule_single_all_gather.json": Stored("themis-scf", "heuristic", 66_000_000),
    "tuning_schedules/64000.json": Stored("themis-astra-fifo", "heuristic", 7_600_000),
    "tuning_schedules/1000000.json": Stored("themis-fifo", "heuristic", 20_150_000),
    "schedule_proven.json": Stored("auto", "optimal", 133_875_000, ("assignment", 133_875_000, 129_200_000)),
    "schedule_proven_fluid.json": Stored("auto", "optimal", 2_006_800_000, ("fluid", 2_006_800_000, 2_006_800_000)),
    "schedule_free.json": Stored("auto", "feasible", 123_942_960, ("sequences-float", 123_942_852, 122_933_332)),
    "schedule_pipelined_solved.json": Stored(
        "auto", "feasible", 337_525_305, ("assignment-float", 337_524_934, 319_707_495)
    ),
    "schedule_cp_sat.json": Stored("cp-sat", "optimal", 143_900_000, ("cp-sat", 143_900_000, 122_933_334)),
    "schedule_milp.json": Stored("milp", "feasible", 143_900_000, ("milp", 143_899_995, 122_933_334)),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name: str) -> None:
    stored = SCHEDULES[name]
    schedule = themis_opt.load_schedule(STORED / name)
    assert (schedule.scheduler, str(schedule.status), schedule.makespan_ps) == (
        stored.scheduler,
        stored.status,
        stored.makespan_ps,
    )
    assert themis_opt.validate(schedule.instance, schedule) == ()
    assert themis_opt.simulate(schedule.instance, schedule).makespan_ps == stored.makespan_ps
    if stored.bound is not None:
        assert schedule.bound is not None
        assert (str(schedule.bound.kind), schedule.bound.value_ps, schedule.bound.certified_ps) == stored.bound
        # 10 MB in 3 chunks: since 0.2.0 the proof counts the byte that is left (docs/formulation.md, section 7).
        proven_ps = 319_707_522 if name == "schedule_pipelined_solved.json" else stored.bound[2]
        assert themis_opt.certify(schedule).certified_ps == proven_ps


def test_what_else_schedules_say() -> None:
    random = themis_opt.load_schedule(STORED / "schedule_random_seed.json")
    assert random.seed == 7
    free = themis_opt.load_schedule(STORED / "schedule_free.json")
    assert [chunk.size_bytes for chunk in free.chunks] == [5_725_728, 4_274_272]
    assert free.bound is not None
    assert free.bound.certificate == (Fraction(2, 3), Fraction(1, 3))
    pipelined = themis_opt.load_schedule(STORED / "schedule_pipelined.json").instance
    assert (pipelined.occupancy, pipelined.dimensions) == (Occupancy.PIPELINED, (0, 2))


# Sizes of the dimensions, and bandwidth [B/s] and latency [ps] of one of them.
NETWORKS = {
    "tiny.yaml": ((4, 2), 0, 100 * GB, 500_000),
    "single.yaml": ((4,), 0, None, None),
    "pair.json": (None, 1, Fraction(4 * 10**6, 3), None),
    "tri.yaml": (None, 2, 26_843_545_600, None),
    "provision_network.yaml": ((4, 2), 0, Fraction(90_179 * 10**6), 500_000),
    "network_from_astra2.yaml": (24, 0, 150 * GB, None),
    "network_from_astra1.yaml": (32, 0, None, None),
    "network_from_nccl.yaml": (8, 0, Fraction(239_242 * 10**6), 3_327_868),
    "astra2.yml": (24, 0, 150 * GB, None),
    "astra1.json": (32, 0, None, None),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks(name: str) -> None:
    sizes, k, bandwidth_Bps, latency_ps = NETWORKS[name]
    dimensions = themis_opt.load_network(STORED / name).dimensions
    if isinstance(sizes, tuple):
        assert tuple(dimension.size for dimension in dimensions) == sizes
    elif sizes is not None:
        assert themis_opt.Instance(themis_opt.load_network(STORED / name)).num_npus == sizes
    assert bandwidth_Bps in (None, dimensions[k].bandwidth_Bps)
    assert latency_ps in (None, dimensions[k].latency_ps)


def test_every_key_of_a_network() -> None:
    last = themis_opt.load_network(STORED / "tri.yaml").dimensions[2]
    assert (last.topology, last.size, last.algorithm) == (Topology.SWITCH, 6, Algorithm.BRUCK)
    assert last.reduction_bandwidth_Bps == 10**12
    assert themis_opt.load_network(STORED / "single.yaml").dimensions[0].algorithm is Algorithm.RING


def test_instances() -> None:
    one = themis_opt.load_instance(STORED / "inst.yaml")
    assert (one.collective, one.size_bytes, one.num_chunks) == (Collective.REDUCE_SCATTER, 8 * 10**6, 4)
    assert one.chunk_overhead_ps == 5 * 10**6
    assert one.known is not None
    assert one.known.makespan_ps == 1_500_000_000
    part = themis_opt.load_instance(STORED / "inst_pipelined.yaml")
    assert (part.occupancy, part.involved, part.num_npus) == (Occupancy.PIPELINED, (0, 2), 12)
    inline = themis_opt.load_instance(STORED / "inst_inline.json")
    assert (inline.collective, inline.size_bytes, inline.num_npus) == (Collective.ALL_TO_ALL, 2**20, 12)


@pytest.mark.parametrize("path", sorted((STORED / "solved").glob("*.yaml")), ids=lambda path: str(path.stem))
def test_instances_named_after_what_they_are(path: Path) -> None:
    network, collective, _, num_chunks, *_ = path.stem.split("_")
    instance = themis_opt.load_instance(path)
    assert (instance.network.name, instance.collective, instance.num_chunks) == (network, collective, int(num_chunks))


COMPARISONS = {
    "comparison_heuristics.json": [
        [("baseline", 156_000_000), ("themis-fifo", 143_900_000), ("themis-scf", 143_900_000),
         ("themis-best", 138_600_000)],
        [("baseline", 162_000_000), ("themis-fifo", 138_600_000), ("themis-scf", 151_200_000),
         ("themis-best", 138_600_000)],
    ],
    "comparison_solver.json": [
        [("baseline", 159_000_002), ("themis-fifo", 142_533_336), ("themis-scf", 134_000_004),
         ("themis-best", 138_600_000), ("auto-equal", 134_000_004), ("auto", 123_942_960)],
    ],
    "comparison_of_solve.json": [[("auto", 123_942_960)]],
    "comparison_own_schedule.json": [
        [("baseline", 159_000_002), ("themis-fifo", 142_533_336), ("themis-scf", 134_000_004),
         ("themis-best", 138_600_000), ("schedule_heuristic.json", 134_000_004)],
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name: str) -> None:
    runs = load_comparison(STORED / name)
    assert [[(row.name, row.makespan_ps) for row in run.rows] for run in runs] == COMPARISONS[name]


def test_a_studys_database_is_the_table_it_was(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    for name in ("study.db", "study.yaml"):
        shutil.copy(STORED / name, tmp_path)
    table = read_table(tmp_path / "study.db")
    assert len(table.rows) == 12
    assert themis_opt_command("rows", "study.db", "-o", "now.csv").returncode == 0
    assert (tmp_path / "now.csv").read_text() == (STORED / "study.csv").read_text()
    (row,) = (
        row
        for row in csv.DictReader((tmp_path / "now.csv").read_text().splitlines())
        if (row["size_bytes"], row["chunks"], row["scheduler"]) == ("10000000", "4", "themis-scf")
    )
    assert (row["makespan_ps"], row["bound_ps"], row["status"]) == ("151200000", "129200000", "heuristic")


def test_a_study_goes_on_from_a_stored_database(
    tmp_path: Path, themis_opt_command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results of another release count as missing, as its schedulers may differ; those of the same one are found."""
    for name in ("study.db", "study.yaml", "tiny.yaml"):
        shutil.copy(STORED / name, tmp_path)
    done = themis_opt_command("sweep", "study.yaml", "-o", "study.db", "--dry-run")
    assert (done.returncode, done.stdout) == (0, "small study: 12 points, 0 done before, 12 to do\n")
    monkeypatch.setattr("themis_opt.studies.tasks.VERSION", "0.1.0")
    done = themis_opt_command("sweep", "study.yaml", "-o", "study.db", "--dry-run")
    assert (done.returncode, done.stdout) == (0, "small study: 12 points, 12 done before, 0 to do\n")


# What a verb says of the files that only verbs read; its folder is empty, so the paths are whole.
JUDGED = {
    "astra_folder": "8 ranks",
    "msccl.xml": "valid: MSCCL allreduce",
    "msccl_out_of_place.xml": "valid: MSCCL allgather",
    "msccl_ring.xml": "valid: MSCCL allgather",
}


@pytest.mark.parametrize("name", JUDGED)
def test_exports_are_still_right(name: str, themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("validate", STORED / name)
    assert done.returncode == 0, done.stderr
    assert JUDGED[name] in done.stdout


def test_the_schedule_in_an_exported_folder() -> None:
    assert themis_opt.load_schedule(STORED / "astra_folder" / "schedule.json").makespan_ps == 134_000_004


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (["astra-network", "astra2.yml"], "network_from_astra2.yaml"),
        (["astra-network", "astra1.json", "--system", "astra1_sys.txt", "--gigabyte", "binary"],
         "network_from_astra1.yaml"),
        (["nccl-tests", "nccl_ar.log"], "network_from_nccl.yaml"),
    ],
)  # fmt: skip
def test_imports_give_the_network_they_gave(
    arguments: list[str], file: str, tmp_path: Path, themis_opt_command: CommandLine
) -> None:
    for name in ("astra2.yml", "astra1.json", "astra1_sys.txt", "nccl_ar.log"):
        shutil.copy(STORED / name, tmp_path)
    done = themis_opt_command("import", *arguments, "-o", "now.yaml")
    assert done.returncode == 0, done.stderr
    assert themis_opt.load_network(tmp_path / "now.yaml") == themis_opt.load_network(STORED / file)


def test_nothing_is_stored_that_is_not_read() -> None:
    tested = Path(__file__).read_text(encoding="utf-8")
    for path in STORED.iterdir():
        assert path.name in tested, path.name
        if path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"))
