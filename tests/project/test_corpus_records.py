"""Record files of the corpus: right ones are read, wrong ones told with the file and the key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from corpus_kit import BASELINE_PS, GOOD, ROOT, disagreements, quick_ps
from msgspec.structs import replace as restruct

from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.errors import InputError

pytest_plugins = ["corpus_fixtures"]


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
