"""What speedups are over: the best of what is not ours unless another name is given, and a file says which it was."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from random_instances import dimension, network

import themis_opt
from themis_opt.cli.main import run
from themis_opt.problem.collective import Collective
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.questions.comparison import compare
from themis_opt.questions.comparison_file import comparison_text, read_comparison
from themis_opt.questions.speedup_reference import Reference, reference_of

STORED = Path(__file__).parent / "stored" / "comparison-2.json"
TORUS = network(*[dimension(8, 1, 1000, topology="ring", algorithm="ring") for _ in range(2)])


def test_the_shortest_of_three_is_the_reference() -> None:
    # A byte for each of 64 NPUs: rings on two dimensions take 28 steps of 1000 ps; a tree of 8 chains 2 * (7 + 3), and
    # two hops more, as its root is 4 hops from the farthest NPU around the ring.
    small = Instance(TORUS, size_bytes=64, num_chunks=4)
    assert themis_opt.predict(small, "double-binary-tree") == 22 * 1000 + 2 * 64
    assert reference_of(small) == Reference("best-of-others", "double-binary-tree", 22_128)
    # 64 MB: the tree sends 128 MB through one dimension, the baseline 2 * 7/8 of 64 MB.
    large = replace(small, size_bytes=64_000_000)
    best = themis_opt.schedule(large, "baseline-best")
    assert reference_of(large) == Reference("best-of-others", "baseline-best", best.makespan_ps or 0, best.num_chunks)
    assert reference_of(replace(large, num_chunks=5)) == reference_of(large)


@pytest.mark.parametrize("collective", [Collective.ALL_GATHER, Collective.ALL_TO_ALL])
def test_who_lacks_the_collective_is_left_out(collective: Collective) -> None:
    assert reference_of(Instance(TORUS, collective, 64, 1)).name == "baseline-best"
    with pytest.raises(InputError, match=f"double-binary-tree has no {collective}"):
        reference_of(Instance(TORUS, collective, 64, 1), "double-binary-tree")


@pytest.mark.parametrize("name", ["baseline", "themis-scf", "flat-ring"])
def test_any_name_may_be_the_reference_and_the_file_keeps_it(name: str, tmp_path: Path) -> None:
    instance = Instance(TORUS, size_bytes=64_000, num_chunks=4)
    (made,) = compare([instance], schedulers=("baseline", "themis-fifo", "flat-ring"), reference=name)
    is_predicted = name == "flat-ring"
    expected_ps = (
        themis_opt.predict(instance, name) if is_predicted else themis_opt.schedule(instance, name).makespan_ps
    )
    assert made.reference == Reference(name, name, expected_ps or 0, None if is_predicted else 4)
    assert [row.speedup * row.makespan_ps for row in (*made.rows, *made.predictions)] == pytest.approx(
        [expected_ps] * 3
    )
    text = comparison_text([made], {}, 0)
    (told,) = json.loads(text)["runs"]
    assert (told["reference"], told["reference_name"], told["reference_ps"]) == (name, name, expected_ps)
    (tmp_path / "c.json").write_text(text)
    (again,) = read_comparison(tmp_path / "c.json").runs
    assert again.reference == made.reference
    assert [row.speedup for row in again.rows] == [row.speedup for row in made.rows]


def test_a_file_from_before_has_speedups_over_the_baseline(tmp_path: Path) -> None:
    data = json.loads(STORED.read_text())
    assert "reference" not in data["runs"][0]
    for told, read in zip(data["runs"], read_comparison(STORED).runs, strict=True):
        baseline_ps = themis_opt.schedule(read.instance, "baseline").makespan_ps
        assert read.reference == Reference("baseline", "baseline", baseline_ps or 0, read.instance.num_chunks)
        for row, result in zip(read.rows, told["results"], strict=True):
            assert row.speedup == pytest.approx(result["speedup"])
    data["runs"][0]["reference"] = "basline"
    (tmp_path / "c.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"runs\[0\]\.reference: unknown scheduler 'basline'.*did you mean 'baseline'"):
        read_comparison(tmp_path / "c.json")


def test_the_command_line_takes_and_tells_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "2d-sw-sw", "--solver", "none", "--schedulers", "baseline", "--reference"]
    assert run([*words, "themis-fifo"]) == 0
    assert "speedup: over themis-fifo with 64 chunks (" in capsys.readouterr().out
    assert run([*words, "best"]) == 2
    assert capsys.readouterr().err.startswith("error: --reference: unknown scheduler 'best'; there are: baseline, ")
    assert run([*words, "best-of-others", "--size", "1MB,100MB"]) == 0
    means = capsys.readouterr().out.partition("over 2 instances")[2]
    assert "speedup: over the best of baseline-best, flat-ring and" in means
