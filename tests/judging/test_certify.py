"""`certify`: what is proven from the file alone, what rests on somebody's word, and why nothing can be faster."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from random import Random

import pytest
from command_line import CommandLine
from hypothesis import given, settings
from random_instances import dimension, network, random_instance, randoms

import themis_opt
from themis_opt.files.instance_file import load_instance
from themis_opt.files.schedule_file import save_schedule
from themis_opt.judging.certify import certify, summary_lines, why_lines
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.schedule import Schedule, Status
from themis_opt.proof.certificate import weakest_argument
from themis_opt.proof.order_lattice import Arc, OrderLattice
from themis_opt.timing.cost import CostModel

EQUAL, FREE = Sizing.EQUAL, Sizing.FREE
MS = 10**9
THIRDS = (Fraction(2, 3), Fraction(1, 3))


def exactly(num_chunks: int, sizes: Sizing = EQUAL) -> BoundScope:
    return BoundScope(sizes, num_chunks, num_chunks)


def figure_5() -> Schedule:
    """Return the baseline's schedule of the paper's Figure 5 with the bound of 7 ms that CP-SAT proves.

    With weights 2/3 and 1/3 both orders cost the same in either phase, (2 · 1 + 1/2)/3 = (2 · 1/4 + 2)/3 = 5/6 ms, so
    4 chunks carry 4 · 2 · 5/6 = 6 2/3 ms: what the certificate proves. The other 1/3 ms is CP-SAT's word.
    """
    schedule = themis_opt.schedule(load_instance("figure-5"), "baseline")
    bound = Bound(7 * MS, BoundKind.JOINT_CP_SAT, exactly(4), THIRDS, 6_666_666_667)
    return replace(schedule, bound=bound)


def four_by_four(occupancy: Occupancy = Occupancy.EXCLUSIVE, latencies_ps: tuple[int, int] = (1, 2)) -> Instance:
    """Return 4 x 4 NPUs with bandwidths 2 and 1 byte/ps and latencies; All-Reduce of 256 bytes in 4 chunks."""
    dims = [dimension(4, bandwidth, latency) for bandwidth, latency in zip((2, 1), latencies_ps, strict=True)]
    return Instance(network(*dims), Collective.ALL_REDUCE, 256, 4, occupancy)


def with_bound(instance: Instance, scope: BoundScope, certified_ps: int) -> Schedule:
    bound = Bound(certified_ps, BoundKind.FLUID, scope, THIRDS, certified_ps)
    return replace(themis_opt.schedule(instance, "baseline"), bound=bound)


def test_what_is_proven_and_what_is_believed() -> None:
    result = certify(figure_5())
    assert result.violations == ()
    assert (result.certified_ps, result.proven_ps, result.trusted_ps) == (6_666_666_667, 6_666_666_667, 333_333_333)
    assert summary_lines(result) == [
        "makespan 8.0000 ms (8000000000 ps): re-proved",
        "bound 7.0000 ms (7000000000 ps): certified 6.6667 ms (6666666667 ps); "
        "the 333.33 us above rest on the word of cp-sat",
        "makespan 14.2857% above the bound, 20.0000% above what is proven",
    ]


def test_why_no_schedule_of_figure_5_is_faster() -> None:
    # Of the two equally good orders the first counts: 2/3 · 1 ms on dim1, then 1/3 · 1/2 ms on dim2.
    # All-Gather starts with a sixteenth: dim1 first, 2/3 · 1/4 ms, then 1/3 · 2 ms.
    assert why_lines(certify(figure_5())) == [
        "Why no schedule with exactly 4 chunks of equal size can end before 6.6667 ms:",
        "Weights dim1 0.6667, dim2 0.3333.",
        "Whatever order a chunk (64 MB) takes, it costs at least 1.6667 ms of weighted dimension time:",
        "  the cheapest Reduce-Scatter order is dim1-dim2 (666.67 us + 166.67 us = 833.33 us)",
        "  the cheapest All-Gather order is dim1-dim2 (166.67 us + 666.67 us = 833.33 us)",
        "4 chunks carry 6.6667 ms.",
        "A dimension serves one stage at a time, so the makespan is at least each dimension's load, and at least the "
        "weighted mean of the loads: 6.6667 ms.",
    ]


def test_chunks_of_any_size_are_counted_by_the_byte() -> None:
    # Per byte and phase (2/3 · 24 + 1/3 · 12)/64 = 5/16 ps: 256 bytes carry 160 ps. Every chunk adds, in two phases,
    # 2 · (2 · 1 + 2)/3 = 8/3 ps of latency and loses at most half a picosecond to rounding: 160 + 32/3 - 4 = 166 2/3.
    result = certify(with_bound(four_by_four(), exactly(4, FREE), 167))
    assert result.violations == ()
    argument = result.argument
    assert argument is not None
    assert (argument.unit_cost, argument.carried_ps) == (Fraction(5, 8), 160)
    assert (argument.latency_ps, argument.rounding_ps, argument.paid_once_ps) == (Fraction(8, 3), 1, 0)
    assert argument.load_ps == Fraction(500, 3)
    assert why_lines(result)[2:-1] == [
        "Whatever order a chunk takes, every byte of it costs at least 0.625 ps of weighted dimension time:",
        "  the cheapest Reduce-Scatter order is dim1-dim2 (0.25 ps + 0.0625 ps = 0.3125 ps)",
        "  the cheapest All-Gather order is dim1-dim2 (0.0625 ps + 0.25 ps = 0.3125 ps)",
        "256 B carry 160 ps.",
        "Each of 4 chunks adds 2.66667 ps of latency, weighted: 10.6667 ps.",
        "Rounding to whole picoseconds takes away at most 4 ps.",
    ]


def test_pipelined_latency_is_paid_once() -> None:
    # 160 + (2 · 1 + 2)/3 = 161 1/3
    result = certify(with_bound(four_by_four(Occupancy.PIPELINED), exactly(4), 162))
    assert result.violations == ()
    assert "After its last transfer each dimension has one latency to go, weighted: 1.33333 ps." in why_lines(result)


def test_launching_chunks_counts() -> None:
    # Each of 4 chunks is launched for 6 ps, on dim2 (weight 1/3) at the least: 160 + 4 · 2 - 4 = 164.
    instance = replace(four_by_four(latencies_ps=(0, 0)), chunk_overhead_ps=6)
    result = certify(with_bound(instance, exactly(4, FREE), 164))
    assert result.violations == ()
    assert "Each of 4 chunks adds 2 ps of launch overhead, weighted: 8 ps." in why_lines(result)


def test_a_range_of_counts_rests_on_its_weakest_number() -> None:
    # Latency is paid least often with one chunk: 160 + 8/3 = 162 2/3.
    result = certify(with_bound(four_by_four(), BoundScope(EQUAL, 1, 4), 163))
    assert result.violations == ()
    assert result.argument is not None
    assert result.argument.num_chunks == 1
    assert "Of these numbers of chunks 1 allows the earliest end." in why_lines(result)


def test_the_critical_path_needs_nobody_s_word() -> None:
    # One chunk of 256 MB: 4 + 2 ms in each phase, 12 ms, which is also the baseline's makespan. The weights prove
    # 6 2/3.
    schedule = themis_opt.schedule(replace(load_instance("figure-5"), num_chunks=1, known=None), "baseline")
    bound = Bound(12 * MS, BoundKind.JOINT_CP_SAT, exactly(1), THIRDS, 6_666_666_667)
    result = certify(replace(schedule, bound=bound, status=Status.OPTIMAL))
    assert (result.certified_ps, result.proven_ps, result.trusted_ps) == (6_666_666_667, 12 * MS, 0)
    assert summary_lines(result)[1:] == [
        "bound 12.000 ms (12000000000 ps): proven by the critical path of one chunk",
        "optimal for exactly 1 chunk of equal size: that is proven here",
    ]


def test_optimality_may_rest_on_a_solver() -> None:
    schedule = figure_5()
    assert schedule.bound is not None
    claimed = replace(schedule, status=Status.OPTIMAL, bound=replace(schedule.bound, value_ps=8 * MS))
    assert summary_lines(certify(claimed))[-1].endswith("that rests on the word of cp-sat")


@settings(max_examples=60, deadline=None)
@given(randoms())
def test_the_orders_named_are_the_cheapest(random: Random) -> None:
    instance = random_instance(random)
    parts = [random.randint(1, 9) if k in instance.involved else 0 for k in range(instance.network.num_dimensions)]
    weights = tuple(Fraction(part, sum(parts)) for part in parts)
    argument = weakest_argument(instance, weights, exactly(instance.num_chunks))
    model, lattice = CostModel(instance), OrderLattice(instance)

    def hold_ps(arc: Arc) -> Fraction:
        if argument.sizing is Sizing.EQUAL:
            return Fraction(model.hold_ps(model.stage(argument.unit_bytes, *arc)))
        # Where the number of chunks does not divide the size, a byte's share may be the stronger argument.
        return model.sent_fraction(*arc) * model.transfer_rate(arc.phase, arc.dimension)

    def cost(phase: Phase, order: tuple[int, ...]) -> Fraction:
        return sum((weights[arc.dimension] * hold_ps(arc) for arc in lattice.path(phase, order)), Fraction(0))

    orders = list(permutations(instance.involved)) if instance.collective.has_free_orders else [instance.involved]
    for cheapest in argument.cheapest:
        assert cheapest.cost == cost(cheapest.phase, cheapest.order)
        assert cheapest.cost == min(cost(cheapest.phase, order) for order in orders)


@pytest.fixture
def schedule_file(tmp_path: Path) -> Path:
    save_schedule(figure_5(), tmp_path / "figure-5.json")
    return tmp_path / "figure-5.json"


def test_the_verb_prints_the_proof(schedule_file: Path, themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("certify", schedule_file.name)
    assert (done.returncode, done.stderr) == (0, "")
    assert "figure-5.json: makespan 8.0000 ms (8000000000 ps): re-proved" in done.stdout
    assert "the cheapest Reduce-Scatter order is dim1-dim2" in done.stdout
    document = json.loads(themis_opt_command("certify", schedule_file.name, "--json", "-").stdout)
    (only,) = document["schedules"]
    assert (only["true"], only["certified_ps"], only["trusted_ps"]) == (True, 6_666_666_667, 333_333_333)
    assert only["argument"]["load_ps"] == "20000000000/3"


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"makespan_ps": 8 * MS - 1}, "makespan"),
        ({"certified_bound_ps": 6_666_666_668}, "certified-bound"),
        ({"bound_ps": 8 * MS + 1}, "bound"),
        ({"certificate": ["2/3", "2/3"]}, "certificate"),
        ({"certificate": ["1/2", "1/2"]}, "certified-bound"),  # 4 · 2 · (1 + 1/2)/2 = 6 ms
        ({"status": "optimal"}, "status"),
        ({"bound_kind": "critical-path"}, "bound"),  # one chunk alone takes 2 · (1 + 1/2) = 3 ms
        ({"bound_scope": {"sizes": "equal", "num_chunks": [5, 5]}}, "scope"),
    ],
)
def test_a_false_number_gives_exit_code_1(
    changes: dict[str, object], rule: str, schedule_file: Path, themis_opt_command: CommandLine
) -> None:
    document = json.loads(schedule_file.read_text())
    schedule_file.write_text(json.dumps({**document, **changes}))
    done = themis_opt_command("certify", schedule_file.name)
    assert done.returncode == 1
    assert any(line.startswith(f"figure-5.json: {rule}: ") for line in done.stdout.splitlines())
    assert "Why no schedule" not in done.stdout


def test_without_certificate_the_rest_is_still_proven(schedule_file: Path, themis_opt_command: CommandLine) -> None:
    document = json.loads(schedule_file.read_text())
    document.update(certificate=None, certified_bound_ps=None)
    schedule_file.write_text(json.dumps(document))
    done = themis_opt_command("certify", schedule_file.name)
    assert done.returncode == 0
    # The critical path of one chunk, 3 ms, needs no certificate.
    assert "the critical path of one chunk proves 3.0000 ms (3000000000 ps); the 4.0000 ms above rest" in done.stdout
    assert "no certificate" in done.stdout
    assert "Why no schedule" not in done.stdout


def test_without_bound(schedule_file: Path, themis_opt_command: CommandLine) -> None:
    save_schedule(replace(figure_5(), bound=None), schedule_file)
    done = themis_opt_command("certify", schedule_file.name)
    assert done.returncode == 0
    assert "no bound is stated" in done.stdout


def test_no_solver_is_loaded(schedule_file: Path) -> None:
    probe = (
        "import sys\n"
        "from themis_opt.cli.main import run\n"
        f"assert run(['certify', {str(schedule_file)!r}]) == 0\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "themis_opt" in loaded
    assert loaded & {"ortools", "pulp", "highspy", "numba", "themis_models"} == set()


def claim(instance: Instance, value_ps: int) -> Schedule:
    """Return the baseline's schedule with a bound on CP-SAT's word, for exactly its number of equal chunks."""
    bound = Bound(value_ps, BoundKind.JOINT_CP_SAT, exactly(instance.num_chunks))
    return replace(themis_opt.schedule(instance, "baseline"), bound=bound)


def test_a_heuristic_refutes_what_rests_on_a_solver(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    # Two chunks of 8 bytes at 1 byte/ps: dim1 holds each for 4 ps in either phase, 16 ps. Themis sends the second one
    # the other way round: each dimension then is busy for 4 + 2 + 2 + 4 ps.
    instance = Instance(network(dimension(2), dimension(2)), size_bytes=16, num_chunks=2)
    save_schedule(claim(instance, 16), tmp_path / "claim.json")
    done = themis_opt_command("certify", "claim.json")
    assert done.returncode == 1
    assert done.stdout == (
        "claim.json: bound: the bound is 16 ps on the word of cp-sat, but themis-fifo with 2 chunks ends at 12 ps\n"
    )
    assert done.stdout == themis_opt_command("validate", "claim.json").stdout
    (judged,) = json.loads(themis_opt_command("certify", "claim.json", "--json", "-").stdout)["schedules"]
    assert (judged["true"], len(judged["violations"])) == (False, 1)


@pytest.mark.parametrize(
    ("num_chunks", "value_ps", "is_left"), [(256, 4 * MS, False), (257, 4 * MS, True), (257, 1, False)]
)
def test_many_chunks_are_left_to_validate(
    num_chunks: int, value_ps: int, is_left: bool, tmp_path: Path, themis_opt_command: CommandLine
) -> None:
    # 4 ms are true, but beyond the critical path of one chunk; 1 ps is not, and so nothing is to be refuted.
    instance = replace(load_instance("figure-5"), num_chunks=num_chunks, known=None)
    save_schedule(claim(instance, value_ps), tmp_path / "claim.json")
    done = themis_opt_command("certify", "claim.json")
    assert done.returncode == 0
    assert ("not tried against heuristics, with more than 256 chunks" in done.stdout) is is_left


def test_a_deadlock_is_called_so_once(schedule_file: Path, themis_opt_command: CommandLine) -> None:
    document = json.loads(schedule_file.read_text())
    document["sequences"][0].reverse()  # All-Gather before Reduce-Scatter: it never ends
    schedule_file.write_text(json.dumps(document))
    lines = themis_opt_command("certify", schedule_file.name).stdout.splitlines()
    assert [line for line in lines if "deadlock" in line and line.startswith("figure-5.json: deadlock: each of")]
