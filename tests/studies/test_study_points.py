"""From a study's values to instances: networks changed as told, sums that hold, and work that is shared."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from study_runs import study_of

import themis_opt
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Algorithm
from themis_opt.studies import tasks
from themis_opt.studies.planning import batches_of, make_instance, plan
from themis_opt.studies.tasks import make_task, read_choice
from themis_opt.timing import metrics

GB = 10**9
NETWORK = themis_opt.load_network("3d-fc-ring-sw")  # 175, 100 and 50 GB/s


def bandwidths(instance: Instance) -> list[Fraction]:
    return [dimension.bandwidth_Bps / GB for dimension in instance.network.dimensions]


def instances(tmp_path: Path, text: str) -> list[Instance]:
    tasks = [point.task for point in plan(study_of(tmp_path, "base: {network: 3d-fc-ring-sw}\n" + text))]
    return [task.instance for task in tasks if task is not None]


def test_a_dimension_is_changed_as_a_whole(tmp_path: Path) -> None:
    # Size 12 is no power of two: halving-doubling would refuse it, were the algorithm not changed along with it.
    (instance,) = instances(
        tmp_path,
        "axes: {'dimensions[2].size': [12], 'dimensions[2].algorithm': [bruck], 'dimensions[0].topology': [ring]}\n",
    )
    dimensions = instance.network.dimensions
    assert (dimensions[2].size, dimensions[2].algorithm, dimensions[2].num_steps()) == (12, Algorithm.BRUCK, 4)
    assert dimensions[0].algorithm is Algorithm.RING  # another topology runs its own


def test_a_latency_is_every_dimensions_unless_one_has_its_own(tmp_path: Path) -> None:
    base = "base: {network: 3d-fc-ring-sw, 'dimensions[1].latency': 7 ns}\n"
    tasks = [point.task for point in plan(study_of(tmp_path, base + "axes: {latency: [0 ns, 5 us]}\n"))]
    found = [task.instance for task in tasks if task is not None]
    latencies = [[int(dimension.latency_ps) for dimension in instance.network.dimensions] for instance in found]
    assert latencies == [[0, 7000, 0], [5_000_000, 7000, 5_000_000]]


def test_a_constraint_on_the_sum_scales_what_does_not_vary(tmp_path: Path) -> None:
    found = instances(
        tmp_path,
        "axes: {'dimensions[0].bandwidth': [300 GB/s, 450 GB/s, 600 GB/s]}\n"
        "constraints: [total bandwidth = 600 GB/s]\n",
    )
    # The others share what is left in their proportion of 2 to 1; with 600 GB/s on dim1 nothing is left.
    assert [bandwidths(instance) for instance in found] == [[300, 200, 100], [450, 100, 50]]


def test_a_constraint_on_the_sum_chooses_where_everything_varies(tmp_path: Path) -> None:
    axes = ", ".join(f"'dimensions[{k}].bandwidth': [100 GB/s, 200 GB/s]" for k in range(3))
    found = instances(tmp_path, f"axes: {{{axes}}}\nconstraints: [total_bandwidth = 500 GB/s]\n")
    assert [bandwidths(instance) for instance in found] == [[100, 200, 200], [200, 100, 200], [200, 200, 100]]


def test_split_taper_and_total(tmp_path: Path) -> None:
    found = instances(tmp_path, "axes: {bandwidth_split: ['1:1:1', '6:3:1'], total_bandwidth: [300 GB/s, 650 GB/s]}\n")
    assert [bandwidths(instance) for instance in found] == [
        [100, 100, 100],
        [Fraction(650, 3)] * 3,
        [180, 90, 30],
        [390, 195, 65],
    ]
    found = instances(tmp_path, "axes: {bandwidth_taper: [1, 2], total_bandwidth: [700 GB/s]}\n")
    assert [bandwidths(instance) for instance in found] == [[Fraction(700, 3)] * 3, [400, 200, 100]]


def test_other_constraints_leave_points_out(tmp_path: Path) -> None:
    text = (
        "axes: {chunks: [1, 10, 100], size: [1 MB, 10 MB]}\n"
        "constraints: [chunk_size >= 100 KB, 'dimensions[0].bandwidth > dimensions[1].bandwidth']\n"
    )
    found = instances(tmp_path, text)
    assert [(i.num_chunks, i.size_bytes) for i in found] == [
        (1, 10**6),
        (1, 10**7),
        (10, 10**6),
        (10, 10**7),
        (100, 10**7),
    ]
    study = study_of(
        tmp_path, "base: {network: 2d-sw-sw}\naxes: {'dimensions[1].size': [2, 64]}\nconstraints: [num_npus <= 64]\n"
    )
    assert [point.values for point in plan(study)] == [(2,)]


def test_a_point_that_makes_no_instance_keeps_its_reason(tmp_path: Path) -> None:
    points = plan(study_of(tmp_path, "base: {network: 2d-sw-sw, size: 10 B}\naxes: {chunks: [4, 64]}\n"))
    assert points[0].task is not None
    assert points[1].task is None
    assert "every chunk needs at least one byte" in points[1].reason


@given(
    total=st.integers(1, 10**4),
    fixed=st.integers(1, 10**4),
    parts=st.tuples(st.integers(1, 99), st.integers(1, 99), st.integers(1, 99)),
)
def test_the_sum_is_exact_whatever_is_set(total: int, fixed: int, parts: tuple[int, int, int]) -> None:
    values = {"network": NETWORK, "bandwidth_split": tuple(map(Fraction, parts))}
    instance = make_instance(values, Fraction(total * GB))
    assert metrics.total_bandwidth_Bps(instance) == total * GB
    shares = [value / sum(bandwidths(instance)) for value in bandwidths(instance)]
    assert shares == [Fraction(part, sum(parts)) for part in parts]
    if fixed < total:
        varied = {"network": NETWORK, "dimensions[1].bandwidth": Fraction(fixed * GB)}
        instance = make_instance(varied, Fraction(total * GB), {"dimensions[1].bandwidth"})
        assert bandwidths(instance)[1] == fixed
        assert sum(bandwidths(instance)) == total


def test_the_key_is_the_content_and_nothing_else() -> None:
    def key(instance: Instance, choice: str = "themis-scf", **values: object) -> str:
        return make_task(instance, read_choice(choice), values).key

    from dataclasses import replace

    instance = Instance(NETWORK)
    renamed = replace(instance, network=replace(NETWORK, name="other", note="seen before", source=""))
    assert key(instance) == key(renamed) == key(instance, **{"solver.gap": 0.5})
    others = [
        key(replace(instance, num_chunks=63)),
        key(replace(instance, size_bytes=100_000_001)),
        key(replace(instance, occupancy="pipelined")),
        key(replace(instance, chunk_overhead_ps=1)),
        key(instance, "themis-fifo"),
        key(instance, seed=1),
        key(instance, "auto"),
        key(instance, "auto", **{"solver.gap": 0.5}),
        key(make_instance({"network": NETWORK, "dimensions[0].latency": Fraction(1)})),
    ]
    assert len({key(instance), *others}) == 1 + len(others)
    # Where the number of chunks is chosen, the instance's own does not matter.
    for choice, values in (("themis-best", {}), ("auto", {"solver.max_chunks": 4})):
        assert key(instance, choice, **values) == key(replace(instance, num_chunks=2), choice, **values)


def test_another_version_computes_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    old = make_task(Instance(NETWORK), read_choice("baseline"), {}).key
    monkeypatch.setattr(tasks, "VERSION", "0.0.0")
    assert make_task(Instance(NETWORK), read_choice("baseline"), {}).key != old


def test_batches_hold_each_task_once_by_problem(tmp_path: Path) -> None:
    text = "base: {network: 2d-sw-sw}\naxes: {scheduler: [baseline, themis-scf, themis-best], chunks: [2, 4]}\n"
    points = plan(study_of(tmp_path, text))
    wanted = {point.task.key for point in points if point.task is not None}
    assert len(wanted) == 5  # themis-best has no number of chunks of its own
    batches = list(batches_of(points, wanted, 16))
    assert [[(task.runs, task.instance.num_chunks) for task in batch] for batch in batches] == [
        [("baseline", 2), ("themis-scf", 2)],
        [("baseline", 4), ("themis-scf", 4)],
        [("themis-best", 1)],
    ]
    assert [len(batch) for batch in batches_of(points, wanted, 1)] == [1] * 5


def test_what_points_share_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two bandwidths make two networks, each with three sizes six instances, and each with two seeds 24 points."""
    axes = '{"dimensions[0].bandwidth": [100 GB/s, 200 GB/s], size: [1 MB, 2 MB, 3 MB], seed: [0, 1], chunks: [2, 4]}'
    study = study_of(tmp_path, f"base: {{network: 2d-sw-sw}}\naxes: {axes}\n")
    made = []

    def counted(*arguments: Any) -> Instance:
        made.append(arguments)
        return make_instance(*arguments)

    monkeypatch.setattr("themis_opt.studies.planning.make_instance", counted)
    points = plan(study)
    assert len(points) == 24
    assert len(made) == 2
    tasks = [point.task for point in points if point.task is not None]
    assert len({id(task.instance.network) for task in tasks}) == 2
    assert len({id(task.instance) for task in tasks}) == 12
    for point, task in zip(points, tasks, strict=True):
        bandwidth, size, seed, chunks = point.values
        values = {"network": study.base["network"], "dimensions[0].bandwidth": Fraction(bandwidth)}
        assert task.instance == make_instance({**values, "size": size, "chunks": chunks})
        assert task.seed == seed
