"""Study files: what they may say, and one clear line for everything else, before anything runs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from study_runs import study_of

from themis_opt.problem.errors import InputError
from themis_opt.studies.planning import plan
from themis_opt.studies.study_file import load_study

BASE = "base: {network: 3d-sw-sw-sw-hetero, collective: all-reduce, size: 100 MB}\n"


def axis_of(tmp_path: Path, axis: str) -> list[object]:
    study = study_of(tmp_path, f"{BASE}axes: {{{axis}}}\n")
    return list(study.axes[0].values)


def test_a_product_of_lists_with_the_last_axis_fastest(tmp_path: Path) -> None:
    study = study_of(
        tmp_path,
        BASE
        + "axes: {size: [10 MB, 100 MB], chunks: [4, 16, 64], scheduler: [baseline, themis-scf]}\n"
        + "metrics: [makespan_ps, bw_utilization, gap]\n",
    )
    points = plan(study)
    assert [point.values for point in points[:4]] == [
        (10_000_000, 4, "baseline"),
        (10_000_000, 4, "themis-scf"),
        (10_000_000, 16, "baseline"),
        (10_000_000, 16, "themis-scf"),
    ]
    assert len(points) == 12
    assert [metric.name for metric in study.metrics] == ["makespan_ps", "bw_utilization", "gap"]
    task = points[-1].task
    assert task is not None
    assert (task.instance.size_bytes, task.instance.num_chunks, task.runs) == (100_000_000, 64, "themis-scf")


@pytest.mark.parametrize(
    ("axis", "values"),
    [
        ("size: {from: 1 MB, to: 4 MB, points: 4}", [1_000_000, 2_000_000, 3_000_000, 4_000_000]),
        # 1000^(1/3) = 10, so the steps are 1, 10, 100 and 1000 MB
        ("size: {from: 1 MB, to: 1 GB, points: 4, scale: log}", [10**6, 10**7, 10**8, 10**9]),
        # the square root of 10 to four digits, in whole bytes
        ("size: {from: 1 MB, to: 10 MB, points: 3, scale: log}", [10**6, 3_162_000, 10**7]),
        ("chunks: {from: 1, to: 512, factor: 2}", [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]),
        # 1, 1.5, 2.25, 3.375, 5.06: to the nearest whole number, half to even, each once
        ("chunks: {from: 1, to: 6, factor: 1.5}", [1, 2, 3, 5]),
        ("chunks: {from: 3, to: 10, step: 3}", [3, 6, 9]),
        ("'dimensions[1].latency': {from: 100 ns, to: 300 ns, step: 100 ns}", [100_000, 200_000, 300_000]),
        ("bandwidth_taper: [1, 2.5, 1/3]", [1, Fraction(5, 2), Fraction(1, 3)]),
        ("total_bandwidth: [600 GB/s, 1/3 B/s]", [600 * 10**9, Fraction(1, 3)]),
        ("seed: {from: 0, to: 3, step: 1}", [0, 1, 2, 3]),
        ("size: {from: 5 MB, to: 5 MB, points: 1}", [5_000_000]),
    ],
)
def test_ranges(tmp_path: Path, axis: str, values: list[object]) -> None:
    assert axis_of(tmp_path, axis) == values


def test_axes_of_a_zip_move_together_at_the_place_of_the_first(tmp_path: Path) -> None:
    study = study_of(
        tmp_path,
        BASE + "axes: {size: [1 MB, 2 MB], occupancy: [exclusive, pipelined], chunks: [3, 5]}\nzip: [[chunks, size]]\n",
    )
    assert [axis.field.name for axis in study.axes] == ["size", "chunks", "occupancy"]
    assert [point.values for point in plan(study)] == [
        (1_000_000, 3, "exclusive"),
        (1_000_000, 3, "pipelined"),
        (2_000_000, 5, "exclusive"),
        (2_000_000, 5, "pipelined"),
    ]


def test_the_base_may_be_an_instance_or_an_inline_network(tmp_path: Path) -> None:
    (point,) = plan(study_of(tmp_path, "base: {instance: figure-5}\naxes: {chunks: [4]}\n"))
    assert point.task is not None
    assert point.task.instance.network.name == "2d-figure-5"
    inline = (
        "base:\n  network:\n    name: mine\n    dimensions:\n"
        "    - {topology: ring, size: 4, bandwidth: 10 GB/s, latency: 1 us}\naxes: {chunks: [4]}\n"
    )
    (point,) = plan(study_of(tmp_path, inline))
    assert point.task is not None
    assert point.task.instance.network.name == "mine"


def test_a_solver_has_its_limits_from_the_base_the_axes_or_its_own_entry(tmp_path: Path) -> None:
    study = study_of(
        tmp_path,
        "base: {network: 2d-sw-sw, solver: {time_limit: 2 s, max_chunks: 8}}\n"
        "axes:\n  solver.sizes: [equal, free]\n"
        "  scheduler: [themis-scf, auto, {name: best, solver: auto, time_limit: 500 ms, max_chunks: null, gap: 1%}]\n",
    )
    tasks = [point.task for point in plan(study)]
    limits = [None if task is None else task.limits for task in tasks]
    assert limits[0] is None
    assert limits[1] is not None
    assert (limits[1].sizing, limits[1].time_limit_s, limits[1].max_chunks) == ("equal", 2.0, 8)
    assert limits[5] is not None
    assert (limits[5].sizing, limits[5].time_limit_s, limits[5].max_chunks, limits[5].gap) == ("free", 0.5, None, 0.01)
    assert [axis.values[2].name for axis in study.axes if axis.field.name == "scheduler"] == ["best"]
    # A heuristic's result depends on no solver's option: both rows share one task.
    assert tasks[0] is not None
    assert tasks[3] is not None
    assert tasks[0].key == tasks[3].key


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("base: {network: 2d-sw-sw, siez: 10 MB}\naxes: {chunks: [4]}\n", "base: unknown field 'siez'"),
        (BASE + "axes: {}\n", "axes: is empty"),
        (BASE + "axes: {chunks: []}\n", "axes.chunks: is empty"),
        (BASE + "axes: {chunks: 4}\n", "axes.chunks: 4 is not allowed; expected a list"),
        (BASE + "axes: {chunk: [4]}\n", "(did you mean 'chunks'?)"),
        (BASE + "axes: {chunks: [4, 4]}\n", "axes.chunks: 4 stands there twice"),
        (BASE + "axes: {chunks: [0]}\n", "axes.chunks[0]: 0 is not allowed"),
        (BASE + "axes: {size: [10]}\n", "axes.size[0]: 10 is not allowed; a quantity needs its unit"),
        (BASE + "axes: {size: [10 MB, 10 parsec]}\n", "axes.size[1]: '10 parsec': unknown unit"),
        (BASE + "axes: {size: {from: 2 MB, to: 1 MB, points: 3}}\n", "axes.size: from '2 MB' is above to '1 MB'"),
        (BASE + "axes: {size: {from: 1 MB, to: 2 MB}}\n", "axes.size: has no step"),
        (BASE + "axes: {size: {from: 1 MB, points: 2}}\n", "axes.size.to: is missing"),
        (BASE + "axes: {size: {from: 1 MB, to: 2 MB, points: 2, scale: cubic}}\n", "axes.size.scale: 'cubic'"),
        (BASE + "axes: {size: {from: 1 B, to: 1 GB, step: 1 B}}\n", "axes.size.step: makes more than"),
        (BASE + "axes: {size: {start: 1 MB, to: 2 MB, points: 2}}\n", "axes.size.'start': unknown key"),
        (BASE + "axes: {occupancy: {from: 1, to: 2, points: 2}}\n", "a range is of numbers"),
        (BASE + "axes: {occupancy: [eager]}\n", "axes.occupancy[0]: occupancy is 'eager'; allowed are"),
        (BASE + "axes: {scheduler: [themis]}\n", "no scheduler or solver 'themis'"),
        (BASE + "axes: {scheduler: [bound, {name: bound, scheduler: random}]}\n", "two are called 'bound'"),
        (BASE + "axes: {scheduler: [{solver: auto, speed: 9}]}\n", "'speed': unknown key"),
        (BASE + "axes: {scheduler: [{scheduler: random, gap: 1%}]}\n", "gap: is for solvers, and 'random' is none"),
        (BASE + "axes: {'dimensions[7].size': [4]}\n", "dimensions[7].size: network '3d-sw-sw-sw-hetero' ends at"),
        (BASE + "axes: {'dimensions[0].speed': [4]}\n", "unknown field 'dimensions[0].speed'"),
        (BASE + "axes: {bandwidth_split: ['1:2']}\n", "bandwidth_split: has 2 parts, and 3 dimensions"),
        (
            BASE + "axes: {bandwidth_split: ['1:2:2'], 'dimensions[0].bandwidth': [9 GB/s]}\n",
            "axes: bandwidth_split and dimensions[0].bandwidth both say how bandwidth is split",
        ),
        (BASE + "axes: {bandwidth_split: ['1:2:2'], bandwidth_taper: [2]}\n", "keep one of them"),
        (BASE + "axes: {bandwidth_split: ['1:x:2']}\n", "'1:x:2' is not a split such as 2:1:1"),
        (BASE + "axes: {chunks: [4]}\nzip: [[chunks, size]]\n", "zip[0]: 'size' is no axis"),
        (BASE + "axes: {chunks: [4], size: [1 MB, 2 MB]}\nzip: [[chunks, size]]\n", "as many values as each other"),
        (BASE + "axes: {chunks: [4]}\nmetrics: [speed]\n", "metrics[0]: unknown metric 'speed'"),
        (BASE + "axes: {chunks: [4]}\nmetrics: [gap, gap]\n", "metrics[1]: gap stands there twice"),
        (BASE + "axes: {chunks: [4]}\nmetrics: []\n", "metrics: is empty; leave it out for makespan_ps"),
        (
            BASE + "axes: {total_bandwidth: [9 GB/s]}\nmetrics: [total_bandwidth_Bps]\n",
            "metrics[0]: total_bandwidth_Bps is the column of the axis total_bandwidth already".removesuffix(
                " already"
            ),
        ),
        (
            BASE + "axes: {latency: [1 ns], 'dimensions[0].latency': [2 ns]}\n",
            "axes: latency and dimensions[0].latency both",
        ),
        (
            "base: {network: 2d-sw-sw}\naxes: {'dimensions[0].bandwidth': [1 GB/s], "
            "'dimensions[1].bandwidth': [1 GB/s], total_bandwidth: [5 GB/s]}\n",
            "total_bandwidth: all bandwidths vary one by one, so nothing is left to make this sum",
        ),
        (
            BASE + "axes: {size: {from: 1 B, to: 1000 TB, factor: 1.0001}}\n",
            "axes.size.factor: '1.0001' is not allowed",
        ),
        (
            BASE + "axes: {total_bandwidth: {from: 1/1000000000000000 B/s, to: 1000000000000000000000000000000 TB/s, "
            "factor: 1.001}}\n",
            "axes.total_bandwidth.factor: makes more than 100000 values",
        ),
        ('name: "evil\\e[31m"\n' + BASE + "axes: {chunks: [4]}\n", "name: 'evil\\x1b[31m' is not allowed"),
        (
            BASE + f"axes: {{chunks: [4]}}\nconstraints: [{', '.join(['chunks > 1'] * 101)}]\n",
            "constraints: has 101; at most 100",
        ),
        (BASE + "axes: {chunks: [4]}\nconstraints: [cheap]\n", "constraints[0]: 'cheap' is not a comparison"),
        (BASE + "axes: {chunks: [4]}\nconstraints: [price < 4]\n", "constraints[0]: 'price' is no quantity"),
        (BASE + "axes: {chunks: [4]}\nconstraints: [size < 4]\n", "constraints[0]: '4' has no unit"),
        (BASE + "axes: {chunks: [4]}\nconstraints: [size < chunks]\n", "which are of different kinds"),
        (BASE + "axes: {chunks: [4, 8]}\nconstraints: [chunks > 8]\n", "'chunks > 8' is met by none of 2 points"),
        (BASE + "axes: {chunks: [4, 8]}\nconstraints: [chunks > 4, chunks < 8]\n", "but none meets them all"),
        (BASE + "axes: {chunks: [4]}\nconstraints: [num_npus = 1, num_npus = 2]\n", "is met by none of 1 points"),
        ("base: {size: 1 MB}\naxes: {chunks: [4]}\n", "base.network: is missing"),
        (
            "base: {instance: figure-5, network: 2d-sw-sw}\naxes: {chunks: [4]}\n",
            "base.instance: stands beside network",
        ),
        ("base: {network: 2d-sw-sv}\naxes: {chunks: [4]}\n", "base.network: 2d-sw-sv: no shipped network"),
        ("base: {network: 2d-sw-sw, solver: auto}\naxes: {chunks: [4]}\n", "base.solver: 'auto' is not allowed"),
        ("base: []\naxes: {chunks: [4]}\n", "base: [] is not allowed; expected a mapping"),
        (BASE + "axis: {chunks: [4]}\n", "axis: unknown key"),
        (
            BASE + "axes: {chunks: {from: 1, to: 1000, step: 1}, seed: {from: 0, to: 999, step: 1}}\n",
            "axes: make 1000000 points",
        ),
    ],
)
def test_what_is_wrong_is_named_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        plan(study_of(tmp_path, text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_files_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text("format: themis-opt/study/0\nbase: {}\naxes: {}\n")
    with pytest.raises(InputError, match=r"study.yaml: format: 'themis-opt/study/0' is not allowed"):
        load_study(path)
    path.write_text("format: themis-opt/network/1\nname: n\ndimensions: []\n")
    with pytest.raises(InputError, match=r"this is a network file; expected here is 'themis-opt/study/1'"):
        load_study(path)
