"""Algorithms that are a formula: worked out by hand, held against an account of every step, marked as what they are."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from random_instances import dimension, network, random_instance

import themis_opt
from themis_opt.cli.main import run
from themis_opt.problem.collective import Collective, Phase
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Algorithm
from themis_opt.questions.comparison import compare
from themis_opt.questions.comparison_file import comparison_text, read_comparison
from themis_opt.studies.reading_table import read_table

PAIR_AND_FOUR = network(dimension(2, 4, 10), dimension(4, 1, 3, reduction_bandwidth_Bps=Fraction(2 * 10**12)))


@pytest.mark.parametrize(
    ("collective", "expected_ps"),
    # 8 NPUs pass on 800 / 8 = 100 bytes in each of 7 steps. On dim1 that takes 10 + 100/4 = 35 ps; on dim2 it takes
    # 3 + 100 = 103 ps, and 50 ps more where they are reduced.
    [("all-gather", 7 * 103), ("reduce-scatter", 7 * 153), ("all-reduce", 7 * 103 + 7 * 153)],
)
def test_flat_ring_by_hand(collective: str, expected_ps: int) -> None:
    instance = Instance(PAIR_AND_FOUR, Collective(collective), 800, 64)
    assert themis_opt.predict(instance, "flat-ring") == expected_ps
    assert themis_opt.predict(replace(instance, chunk_overhead_ps=5), "flat-ring") == expected_ps + 5
    assert themis_opt.predict(replace(instance, num_chunks=1), "flat-ring") == expected_ps


def test_latency_may_make_another_dimension_the_slowest() -> None:
    # 8 bytes: 1 byte a step, 10 + 1/4 ps on dim1 and 3 + 1 ps on dim2; 7 * 10.25 = 71.75 ps are rounded once.
    assert themis_opt.predict(Instance(PAIR_AND_FOUR, Collective.ALL_GATHER, 8, 1), "flat-ring") == 72


def test_only_what_takes_part_is_crossed() -> None:
    instance = Instance(PAIR_AND_FOUR, Collective.ALL_GATHER, 800, 1, dimensions=(0,))
    assert themis_opt.predict(instance, "flat-ring") == 10 + 400 // 4


@pytest.mark.parametrize("seed", range(30))
def test_flat_ring_is_the_end_of_an_account_of_every_message(seed: int) -> None:
    """Each NPU sends on what it has received, as soon as its own link is free; nobody waits for a common clock."""
    random = Random(seed)
    instance = random_instance(random, max_dims=3, max_size=4, collective=random.choice(list(Collective)[:3]))
    part = Fraction(instance.size_bytes, instance.num_npus)
    dimensions = [instance.network.dimensions[k] for k in instance.involved]
    # Which link crosses which dimension does not matter, as long as each is crossed somewhere.
    crossed = dimensions + [random.choice(dimensions) for _ in range(instance.num_npus - len(dimensions))]
    random.shuffle(crossed)
    arrived = [Fraction(0)] * instance.num_npus
    for phase in instance.phases:
        for _ in range(instance.num_npus - 1):
            sent = []
            for npu, link in enumerate(crossed):
                seconds = part / link.bandwidth_Bps
                if phase is Phase.REDUCE_SCATTER and link.reduction_bandwidth_Bps is not None:
                    seconds += part / link.reduction_bandwidth_Bps
                # What it sends came over the link before its own, in the step before.
                sent.append(max(arrived[npu], arrived[npu - 1]) + link.latency_ps + seconds * 10**12)
            arrived = sent
    account_ps = max(arrived) + instance.chunk_overhead_ps
    predicted_ps = themis_opt.predict(instance, "flat-ring")
    # The slowest link may differ from phase to phase: then the phases overlap a little.
    is_one = len(instance.phases) == 1 or all(link.reduction_bandwidth_Bps is None for link in dimensions)
    assert predicted_ps == round(account_ps) if is_one else predicted_ps >= round(account_ps)


@pytest.mark.parametrize("collective", list(Collective)[:3])
def test_on_one_ring_it_is_what_one_chunk_takes(collective: Collective) -> None:
    ring = network(dimension(8, 3, 11, algorithm=Algorithm.RING))
    instance = Instance(ring, collective, 8 * 300, 1)
    assert themis_opt.predict(instance, "flat-ring") == themis_opt.schedule(instance, "baseline").makespan_ps


def test_double_binary_tree_by_hand() -> None:
    # A chain of 2 on dim1, a tree of 4 groups on dim2: 10 + 2 * 3 ps up, and the same down. 800 bytes twice and reduced
    # once: at most 800 * 2/4 ps on dim1, 800 * (2 + 1/2) on dim2.
    instance = Instance(PAIR_AND_FOUR, Collective.ALL_REDUCE, 800, 64)
    assert themis_opt.predict(instance, "double-binary-tree") == 2 * (10 + 2 * 3) + 2000
    assert themis_opt.predict(replace(instance, chunk_overhead_ps=7), "double-binary-tree") == 32 + 2000 + 7
    # Each dimension alone: the tree joins its NPUs.
    assert themis_opt.predict(replace(instance, dimensions=(0,)), "double-binary-tree") == 2 * 10 + 400
    assert themis_opt.predict(replace(instance, dimensions=(1,)), "double-binary-tree") == 2 * 2 * 3 + 2000
    # Of several dimensions beyond the node the slowest step counts, and the groups of all of them: 12 make 4 levels.
    three = network(dimension(3, 2, 10), dimension(3, 2, 5), dimension(4, 2, 7))
    assert (
        themis_opt.predict(Instance(three, size_bytes=50, num_chunks=1), "double-binary-tree")
        == 2 * (2 * 10 + 4 * 7) + 50
    )


@pytest.mark.parametrize(("size", "hops"), [(2, 1), (4, 2), (5, 3), (8, 4), (16, 8), (17, 8), (64, 32)])
def test_a_tree_around_a_ring_reaches_half_of_it(size: int, hops: int) -> None:
    # 5 NPUs: two levels of a tree reach no more than 3 or 4 of them, so there are three.
    ring = network(dimension(size, 1, 100, topology="ring"))
    assert (
        themis_opt.predict(Instance(ring, size_bytes=1000, num_chunks=1), "double-binary-tree") == 2 * hops * 100 + 2000
    )
    # Not beyond the node, where there is a chain: 2 * (size - 1) hops, and one level for the pair.
    chained = network(dimension(size, 1, 100, topology="ring"), dimension(2, 1, 10))
    expected_ps = 2 * ((size - 1) * 100 + 10) + 2000
    assert themis_opt.predict(Instance(chained, size_bytes=1000, num_chunks=1), "double-binary-tree") == expected_ps


@pytest.mark.parametrize("collective", [Collective.REDUCE_SCATTER, Collective.ALL_GATHER])
def test_a_tree_reduces_everything_or_nothing(collective: Collective) -> None:
    with pytest.raises(InputError, match=f"double-binary-tree has no {collective}; leave it out"):
        themis_opt.predict(Instance(PAIR_AND_FOUR, collective, 800, 1), "double-binary-tree")


def parents(size: int) -> list[int]:
    """Return the parent of every NPU in a binary tree whose leaves are the odd ones (the root's is itself)."""
    found = []
    for npu in range(size):
        bit = npu & -npu if npu else 0
        above = (npu ^ bit) | (bit << 1)  # as in a binary heap over the trailing zeros
        found.append(0 if not npu else above if above < size else npu ^ bit)
    return found


@pytest.mark.parametrize("size", [2, 4, 6, 8, 10, 16, 30, 64, 100])
def test_two_trees_have_the_depth_and_the_bytes_that_the_formula_counts(size: int) -> None:
    parent = parents(size)

    def depth(npu: int) -> int:
        return 0 if parent[npu] == npu else 1 + depth(parent[npu])

    deepest = max(map(depth, range(size)))
    # Half of the message goes up each tree and down it; the second tree is the first one mirrored.
    halves = [0] * size
    for npu in range(size):
        if parent[npu] != npu:
            for child, above in ((npu, parent[npu]), (size - 1 - npu, size - 1 - parent[npu])):
                halves[child] += 1
                halves[above] += 1
    instance = Instance(network(dimension(size, 1, 1000)), size_bytes=10**6)
    assert max(halves) <= 4
    assert themis_opt.predict(instance, "double-binary-tree") == 2 * deepest * 1000 + 2 * 10**6
    assert size <= 4 or max(halves) == 4


@pytest.mark.parametrize("name", themis_opt.predictor_names())
def test_all_to_all_is_left_out(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    instance = Instance(PAIR_AND_FOUR, Collective.ALL_TO_ALL, 800, 1)
    with pytest.raises(InputError, match=f"{name} has no all-to-all; leave it out"):
        themis_opt.predict(instance, name)
    (found,) = compare([instance], schedulers=["baseline", name])
    assert (found.predictions, found.left_out) == ((), (name,))
    words = [
        "compare",
        "2d-sw-sw",
        "--collective",
        "all-to-all",
        "--solver",
        "none",
        "--schedulers",
        f"baseline,{name}",
    ]
    assert run(words) == 0
    assert f"{name}: left out, it has no all-to-all" in capsys.readouterr().out


def test_a_prediction_is_a_row_without_bound_and_never_optimal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", "2d-sw-sw", "--solver", "none", "--schedulers", "flat-ring,baseline"]
    words += ["--reference", "baseline", "--json"]
    assert run([*words, str(tmp_path / "c.json")]) == 0
    shown = capsys.readouterr().out
    (line,) = [line.split() for line in shown.splitlines() if line.startswith("flat-ring ")]
    assert (line[1], line[-3:]) == ("-", ["-", "predicted", "-"])
    assert "flat-ring: predicted by a formula; no schedule, and no bound of its own" in shown

    instance = Instance(themis_opt.load_network("2d-sw-sw"))
    predicted_ps = themis_opt.predict(instance, "flat-ring")
    (told,) = json.loads((tmp_path / "c.json").read_text())["runs"]
    assert [row["scheduler"] for row in told["results"]] == ["baseline"]
    (row,) = told["predictions"]
    assert (row["scheduler"], row["makespan_ps"]) == ("flat-ring", predicted_ps)
    assert row["speedup"] == pytest.approx(told["results"][0]["makespan_ps"] / predicted_ps)
    assert "bound_ps" not in row


def test_a_file_s_predictions_are_worked_out_again(tmp_path: Path) -> None:
    runs = tuple(compare([Instance(PAIR_AND_FOUR, size_bytes=800, num_chunks=2)], schedulers=("baseline", "flat-ring")))
    data = json.loads(comparison_text(runs, {}, 0))
    data["runs"][0]["predictions"][0]["makespan_ps"] = 1
    (tmp_path / "c.json").write_text(json.dumps(data))
    assert read_comparison(tmp_path / "c.json").runs[0].predictions == runs[0].predictions
    data["runs"][0]["predictions"][0]["scheduler"] = "flat-rng"
    (tmp_path / "c.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"runs\[0\]\.predictions\[0\]\.scheduler: unknown prediction 'flat-rng'"):
        read_comparison(tmp_path / "c.json")


@pytest.mark.parametrize(
    "words",
    [
        ["simulate", "2d-sw-sw", "--scheduler"],
        ["plot", "timeline", "2d-sw-sw", "-o", "x.png", "--schedulers"],
    ],
)
def test_what_needs_a_schedule_says_that_there_is_none(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*words, "flat-ring"]) == 2
    said = capsys.readouterr().err
    assert "'flat-ring' is predicted by a formula" in said
    assert "'themis-opt compare ... --schedulers flat-ring'" in said
    with pytest.raises(InputError, match="predicted by a formula"):
        themis_opt.get_scheduler("flat-ring")


def test_a_study_has_predicted_points(tmp_path: Path) -> None:
    text = (
        "format: themis-opt/study/1\nbase: {network: 2d-sw-sw, chunks: 4}\n"
        "axes: {collective: [all-gather, all-to-all], scheduler: [baseline, flat-ring]}\n"
        "metrics: [makespan_ps, gap, speedup]\n"
    )
    (tmp_path / "s.yaml").write_text(text)
    assert run(["sweep", str(tmp_path / "s.yaml"), "-o", str(tmp_path / "s.db")]) == 3  # a point failed
    rows = {(row.values["collective"], row.values["scheduler"]): row for row in read_table(str(tmp_path / "s.db")).rows}
    gathered = rows["all-gather", "flat-ring"]
    instance = Instance(themis_opt.load_network("2d-sw-sw"), Collective.ALL_GATHER, num_chunks=4)
    assert gathered.status == "predicted"
    assert gathered.values["makespan_ps"] == themis_opt.predict(instance, "flat-ring")
    assert gathered.values["gap"] is None
    failed = rows["all-to-all", "flat-ring"]
    assert (failed.status, failed.reason[:29]) == ("failed", "flat-ring has no all-to-all; ")
