"""Latency and bandwidth are recovered from nccl-tests logs, and what cannot be fitted gives one clear message."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from nccl_logs import HEADER, SIZES, Group, log

from themis_opt.files.nccl_fit import Fit, FitOptions, fit_line, fit_network
from themis_opt.files.nccl_tests import read_nccl_log
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Algorithm, Dimension, Topology
from themis_opt.timing.cost import CostModel

GROUP = Group()


def fitted(*texts: str, **options: object) -> Fit:
    return fit_network([read_nccl_log(text) for text in texts], FitOptions(**options), "group")  # type: ignore[arg-type]


def dimension(fit: Fit) -> Dimension:
    return fit.imported.network.dimensions[0]


def said(fit: Fit) -> list[str]:
    return [str(remark) for remark in fit.imported.remarks]


def test_a_log_without_noise_gives_the_group_itself() -> None:
    """Up to the two decimals of its times: 20 us are spread over 6 steps of halving-doubling (3 RS, 3 AG)."""
    fit = fitted(log(GROUP))
    assert (fit.collective, fit.num_steps, fit.num_rows) == (Collective.ALL_REDUCE, 6, len(SIZES))
    assert dimension(fit).size == 8
    assert dimension(fit).latency_ps == pytest.approx(20e6 / 6, rel=1e-3)
    assert dimension(fit).bandwidth_Bps == pytest.approx(240e9, rel=1e-3)
    assert (
        said(fit)[0]
        == "converted: latency: 20.000 us for the whole all-reduce = 6 steps of halving-doubling x 3.3333 us"
    )
    assert said(fit)[1] == ("converted: bandwidth: algbw 137.14 GB/s x 7/4 sent per byte = 240 GB/s per NPU, one way")


@pytest.mark.parametrize("seed", range(12))
def test_parameters_are_recovered_from_noisy_logs(seed: int) -> None:
    """Three logs, each time off by 3 %: both parameters come out within 2 %."""
    texts = [log(GROUP, 0.03, 100 * seed + run) for run in range(3)]
    fit = fitted(*texts)
    assert fit.num_rows == 3 * len(SIZES)
    assert fit.latency_us == pytest.approx(20, rel=0.02)
    assert dimension(fit).bandwidth_Bps == pytest.approx(240e9, rel=0.02)
    assert abs(fit.worst.relative) == max(abs(residual.relative) for residual in fit.residuals)
    assert 0.03 < abs(fit.worst.relative) < 0.15
    assert [residual.size_bytes for residual in fit.residuals] == list(SIZES)


@pytest.mark.parametrize("program", ["all_reduce", "reduce_scatter", "all_gather"])
@pytest.mark.parametrize("algorithm", Algorithm)
def test_the_cost_model_takes_as_long_as_was_measured(program: str, algorithm: Algorithm) -> None:
    """A schedule of one chunk on the fitted network takes the measured time, whatever the algorithm."""
    group = replace(GROUP, program=program)
    fit = fitted(log(group, named=True), algorithm=algorithm)
    size_bytes = 2**20
    instance = Instance(fit.imported.network, fit.collective, size_bytes, 1)
    model = CostModel(instance)
    times, done = [], ()
    for phase in instance.phases:
        times.append(model.stage(size_bytes, phase, done, 0).duration_ps)
    assert sum(times) == pytest.approx(group.time_us(size_bytes) * 10**6, rel=1e-3)


def test_small_sizes_count_as_much_as_large_ones() -> None:
    """Unweighted, a 1 % slip of the largest time (630 us) would drown the latency of 20 us."""
    points = [(size, GROUP.time_us(size)) for size in SIZES]
    points[-1] = (points[-1][0], points[-1][1] * 1.01)
    intercept, slope = fit_line(points)
    assert intercept == pytest.approx(20, rel=0.002)
    assert slope == pytest.approx(1.75 / 240_000, rel=0.002)


def test_no_parameter_is_negative() -> None:
    assert fit_line([(1000, 1.0), (2000, 2.1), (4000, 4.4)])[0] == 0
    assert fit_line([(1000, 5.0), (2000, 4.0), (4000, 3.0)]) == (pytest.approx(4, rel=0.1), 0)


def test_in_place_columns_are_others() -> None:
    text = log(GROUP, in_place_factor=2)
    assert fitted(text, in_place=True).latency_us == pytest.approx(2 * fitted(text).latency_us, rel=1e-3)


def test_the_collective_is_in_the_header_or_in_the_bandwidths() -> None:
    """busbw/algbw is 7/4 for all-reduce and 7/8 for reduce-scatter; those without operator look alike."""
    for program in ("all_reduce", "reduce_scatter", "all_gather", "alltoall"):
        group = replace(GROUP, program=program)
        expected = program.replace("_", "-").replace("alltoall", "all-to-all")
        assert read_nccl_log(log(group, named=True)).collective == expected
        guess = read_nccl_log(log(group)).collective
        assert guess == (expected if program in ("all_reduce", "reduce_scatter") else None)
    command = "$ mpirun -np 8 ./build/all_gather_perf -b 8 -e 8G -f 2 -g 1\n"
    assert read_nccl_log(command + log(replace(GROUP, program="all_gather"))).collective == "all-gather"


def test_options_stand_in_for_what_the_log_does_not_say() -> None:
    group = replace(GROUP, num_ranks=6)
    fit = fitted(log(group, ranks=False), num_npus=6, collective=Collective.ALL_REDUCE, topology=Topology.RING)
    assert (dimension(fit).size, dimension(fit).topology, fit.num_steps) == (6, "ring", 10)
    assumed = fitted(log(group))
    assert dimension(assumed).algorithm is Algorithm.DIRECT
    assert "assumed: size: 6 NPUs are no power of two: algorithm direct, not halving-doubling" in said(assumed)


def test_sizes_that_show_only_one_of_both_are_doubted() -> None:
    small, large = SIZES[:10], SIZES[-5:]
    assert any(
        "measure larger sizes to trust the bandwidth" in line
        for line in said(fitted(log(GROUP, sizes=small, named=True)))
    )
    assert any("measure smaller sizes to trust the latency" in line for line in said(fitted(log(GROUP, sizes=large))))


def test_rows_that_are_left_out_or_wrong_are_said() -> None:
    lines = log(GROUP).splitlines()
    first = lines.index(HEADER) + 1
    lines.insert(
        first,
        "           0             0     float     sum      -1" + "     0.15    0.00    0.00    N/A" * 2,
    )
    lines[first + 1] = lines[first + 1][: -len("0")] + "3"
    assert said(fitted("\n".join(lines)))[:2] == [
        f"ignored: line {first + 1}: a row of 0 bytes",
        f"assumed: line {first + 2}: #wrong is '3': its time is used all the same",
    ]


@pytest.mark.parametrize("tag", ["[1,0]<stdout>:", "[1,13]<stderr>: ", "0: ", " 12: "])
def test_the_tags_of_launchers_are_no_part_of_a_log(tag: str) -> None:
    """What mpirun --tag-output and srun --label put in front of every line."""
    tagged = "\n".join(f"{tag}{line}" for line in log(GROUP).splitlines())
    assert read_nccl_log(tagged) == read_nccl_log(log(GROUP))


def test_a_row_whose_size_is_damaged_is_told_not_dropped() -> None:
    lines = log(GROUP).splitlines()
    row = next(place for place, line in enumerate(lines) if line.split()[0].isdigit())
    size = lines[row].split()[0]
    lines[row] = lines[row].replace(size, f"{size[:-1]}O", 1)
    damaged = "\n".join(lines)
    with pytest.raises(InputError, match=r"line \d+: '\d*O' and '\d+' are no size and count"):
        read_nccl_log(damaged)


def test_a_size_helps_to_tell_the_collective_of_a_log_without_ranks() -> None:
    text = log(GROUP, ranks=False)
    assert read_nccl_log(text).collective is None
    assert read_nccl_log(text, GROUP.num_ranks).collective is read_nccl_log(log(GROUP)).collective is not None


def without(text: str, word: str) -> str:
    return "\n".join(line for line in text.splitlines() if word not in line)


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("", {}, "has no table; an nccl-tests log has rows of size, count, type, redop, root, time (us), "),
        ("# OSU MPI Allreduce Latency Test v7.3\n# Size  Avg Latency(us)\n4  1.26\n8  1.25\n", {}, "has no table; "),
        (log(GROUP, sizes=(8, 1024), named=True), {}, "has 2 sizes; at least 3 are needed to tell "),
        (log(GROUP, ranks=False), {"collective": "all-reduce"}, "the log does not say its number of ranks; give "),
        (log(replace(GROUP, program="all_gather")), {}, "the log does not say its collective; give it "),
        (
            log(GROUP, named=True),
            {"collective": "all-gather"},
            "--collective: is all-gather, but the log's collective is all-reduce",
        ),
        (log(GROUP), {"num_npus": 4}, "--size: is 4, but the log's number of ranks is 8"),
        (
            log(GROUP, ranks=False),
            {"num_npus": 2, "collective": "all-reduce"},
            "busbw/algbw is 1.75, but all-reduce among 2 has 1; give the right --collective and --size",
        ),
        (log(replace(GROUP, program="broadcast"), named=True), {}, "broadcast_perf: is not scheduled here; logs "),
        (
            log(GROUP, named=True) + log(replace(GROUP, program="all_gather"), named=True),
            {},
            "holds logs of several collectives (all-gather, all-reduce); give each a file of its own",
        ),
        (log(GROUP)[:2000], {}, "line 23: has 4 columns; a row has a size, a count, a type and twice a time, "),
        (log(GROUP).replace(" 20.00 ", " -20.0 ", 1), {}, "line 14: '-20.0' is not allowed; expected a time in "),
        (
            log(replace(GROUP, bandwidth_GBps=1e9), sizes=SIZES[:4]),
            {"collective": "all-reduce"},
            "the times do not grow with the size, so there is no bandwidth in them; measure larger sizes",
        ),
        (log(GROUP, sizes=(8,) * 10_001), {}, "line 10014: is beyond 20000 times, more than any test prints; "),
        (log(GROUP), {"algorithm": "bruck", "topology": "star"}, "topology is 'star'; allowed are: "),
    ],
)  # fmt: skip
def test_what_cannot_be_fitted(text: str, options: dict[str, object], expected: str) -> None:
    with pytest.raises(InputError) as caught:
        fitted(text, **options)
    assert str(caught.value).startswith(expected)


def test_logs_of_different_groups_are_not_mixed() -> None:
    with pytest.raises(
        InputError, match=r"^the logs differ in their number of ranks \(8, 4\); fit each group by itself$"
    ):
        fitted(log(GROUP), log(replace(GROUP, num_ranks=4)))


def test_measured_figures_are_rounded_to_what_they_deserve() -> None:
    fit = fitted(log(GROUP, 0.02, 7))
    assert dimension(fit).latency_ps.denominator == 1
    assert dimension(fit).bandwidth_Bps % 10**6 == Fraction(0)
