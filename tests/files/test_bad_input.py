"""Every kind of bad input gives one clear message, exit code 2, no traceback, and leaves no file behind."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from themis_opt.cli.main import run as run_command_line
from themis_opt.files.schedule_file import save_schedule, schedule_document
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Dimension, Network, Topology
from themis_opt.schedulers.registry import get_scheduler


def network_text(dimension: str) -> str:
    return f"format: themis-opt/network/1\nname: bad\ndimensions:\n  - {dimension}\n"


def instance_text(rest: str) -> str:
    return f"format: themis-opt/instance/1\nnetwork: 3d-fc-ring-sw\n{rest}\n"


GOOD_DIMENSION = "{topology: switch, size: 4, bandwidth: 100 GB/s, latency: 1 us}"

# name of the file -> (its text, words the message must contain besides the file's name)
BAD_FILES: dict[str, tuple[str, list[str]]] = {
    "empty.yaml": ("", ["holds nothing"]),
    "a_list.yaml": ("- 1\n- 2\n", ["holds a list"]),
    "not_yaml.yaml": ("format: [themis", ["line", "not valid YAML"]),
    "no_format.yaml": ("name: x\n", ["format: is missing", "themis-opt/network/1"]),
    "format_is_a_list.json": (
        '{"format": ["themis-opt/schedule/1"]}',
        ["format: ['themis-opt/schedule/1'] is not allowed"],
    ),
    "network_with_escape.json": (
        '{"format": "themis-opt/instance/1", "network": "\\u001b[31mred"}',
        ["network: \\x1b[31mred: no shipped network"],
    ),
    "future_format.yaml": ("format: themis-opt/network/2\n", ["themis-opt/network/2", "themis-opt/network/1"]),
    "unknown_key.yaml": (
        network_text("{topolgy: switch, size: 4, bandwidth: 1 GB/s, latency: 1 us}"),
        ["dimensions[0].topolgy", "unknown key", "did you mean 'topology'?"],
    ),
    "misspelt_topology.yaml": (
        network_text("{topology: swich, size: 4, bandwidth: 1 GB/s, latency: 1 us}"),
        ["dimensions[0].topology", "'swich'", "did you mean 'switch'?"],
    ),
    "bare_bandwidth.yaml": (
        network_text("{topology: switch, size: 4, bandwidth: 1600, latency: 1 us}"),
        ["dimensions[0].bandwidth", "1600", "Gb/s"],
    ),
    "quoted_bare_bandwidth.yaml": (
        network_text("{topology: switch, size: 4, bandwidth: '1600', latency: 1 us}"),
        ["dimensions[0].bandwidth", "'1600' has no unit", "GiB/s"],
    ),
    "unknown_unit.yaml": (
        network_text("{topology: switch, size: 4, bandwidth: 16 furlongs, latency: 1 us}"),
        ["dimensions[0].bandwidth", "unknown unit 'furlongs'"],
    ),
    "zero_bandwidth.yaml": (
        network_text("{topology: switch, size: 4, bandwidth: 0 GB/s, latency: 1 us}"),
        ["dimensions[0].bandwidth", "above zero"],
    ),
    "division_by_zero.yaml": (
        network_text("{topology: switch, size: 4, bandwidth: 1/0 GB/s, latency: 1 us}"),
        ["dimensions[0].bandwidth", "divides by zero"],
    ),
    "missing_latency.yaml": (
        network_text("{topology: switch, size: 4, bandwidth: 1 GB/s}"),
        ["dimensions[0].latency", "is missing"],
    ),
    "zero_size.yaml": (
        network_text("{topology: ring, size: 0, bandwidth: 1 GB/s, latency: 1 us}"),
        ["dimensions[0].size", "0", "at least 1"],
    ),
    "negative_size.yaml": (
        network_text("{topology: ring, size: -4, bandwidth: 1 GB/s, latency: 1 us}"),
        ["dimensions[0].size", "-4"],
    ),
    "size_is_true.yaml": (
        network_text("{topology: ring, size: true, bandwidth: 1 GB/s, latency: 1 us}"),
        ["dimensions[0].size", "true", "whole number"],
    ),
    "size_of_401_digits.yaml": (
        network_text("{topology: ring, size: " + "9" * 401 + ", bandwidth: 1 GB/s, latency: 1 us}"),
        ["401 digits"],
    ),
    "six_halving_doubling.yaml": (
        network_text("{topology: switch, size: 6, bandwidth: 1 GB/s, latency: 1 us}"),
        ["dimensions[0].algorithm halving-doubling", "size 6", "bruck, direct or ring"],
    ),
    "no_links.yaml": (
        network_text("{topology: ring, size: 4, links: 0, bandwidth_per_link: 1 GB/s, latency: 1 us}"),
        ["dimensions[0].links is 0", "at least 1 link"],
    ),
    "more_npus_than_exist.yaml": (
        network_text("{topology: ring, size: " + "9" * 30 + ", bandwidth: 1 GB/s, latency: 1 us}"),
        ["dimensions[0].size is 999", "at most 1000000000"],
    ),
    "beyond_all_measure.yaml": (
        network_text("{topology: ring, size: 4, bandwidth: " + "9" * 400 + " GB/s, latency: 1 us}"),
        ["dimensions[0].bandwidth: '999", "beyond every quantity"],
    ),
    "name_of_a_kilometre.yaml": (
        "format: themis-opt/instance/1\nnetwork: " + "x" * 5000 + ".yaml\n",
        ["network: xxx", "...: no such file"],
    ),
    "links_and_bandwidth.yaml": (
        network_text("{topology: ring, size: 4, links: 2, bandwidth: 1 GB/s, latency: 1 us}"),
        ["dimensions[0].bandwidth", "bandwidth_per_link"],
    ),
    "nothing_to_do.yaml": (
        network_text("{topology: ring, size: 1, bandwidth: 1 GB/s, latency: 1 us}"),
        ["nothing to communicate"],
    ),
    "no_name.yaml": (f"format: themis-opt/network/1\nname: ''\ndimensions: [{GOOD_DIMENSION}]\n", ["name is ''"]),
    "name_with_escape.yaml": (
        f'format: themis-opt/network/1\nname: "a\\e[31m"\ndimensions: [{GOOD_DIMENSION}]\n',
        ["name is 'a\\x1b[31m'", "printable"],
    ),
    "beyond_unicode.yaml": ('format: themis-opt/network/1\nname: "\\U00110000"\n', ["not valid YAML"]),
    "beyond_all_codes.yaml": ('format: themis-opt/network/1\nname: "\\UFFFFFFFF"\n', ["not valid YAML"]),
    "half_a_character.json": (
        '{"format": "themis-opt/network/1", "name": "n", "dimensions": [], "note": "\\ud800"}',
        ["note: '\\ud800' holds half a character"],
    ),
    "utf16.yaml": ("", ["UTF-8"]),
    "deep.yaml": ("format: " + "[" * 100_000, ["nest"]),
    "deep_mappings.yaml": ("x: " + "{a: " * 1000, ["nested too deeply"]),
    "two_documents.yaml": ("format: themis-opt/network/1\n---\nname: x\n", ["line 2", "second document"]),
    "a_list_for_a_key.yaml": ("? [a, b]\n: c\n", ["line 1", "a key must be a plain word"]),
    "too_large.yaml": ("note: " + "x" * (2 * 2**20), ["more than 2097152 bytes", "large schedule must be JSON"]),
    "size_of_5000_digits.json": (
        '{"format": "themis-opt/schedule/1", "makespan_ps": ' + "1" * 5000 + "}",
        ["makespan_ps: 111111111111... (5000 digits, at most 200)", "whole number"],
    ),
    "no_such_yaml.yaml": (f"%YAML {'9' * 5000}.1\n---\nformat: x\n", ["not valid YAML"]),
    "no_dimensions.yaml": ("format: themis-opt/network/1\nname: bad\ndimensions: []\n", ["0 dimensions"]),
    "unequal_group_sizes.yaml": (
        network_text("{topology: ring, size: [4, 8], bandwidth: 1 GB/s, latency: 1 us}"),
        ["dimensions[0].size", "[4, 8]", "whole number"],
    ),
    "duplicate_key.yaml": ("format: themis-opt/network/1\nname: a\nname: b\n", ["name", "stands twice"]),
    "an_alias.yaml": ("format: themis-opt/network/1\nname: &a x\nsource: *a\n", ["anchor"]),
    "a_tag.yaml": ("format: themis-opt/network/1\nname: !!python/name:os.system x\n", ["tag"]),
    "latin1.yaml": ("", ["UTF-8"]),
    "unknown_network.yaml": (
        "format: themis-opt/instance/1\nnetwork: 3d-fc-ring-s\n",
        ["network: 3d-fc-ring-s", "did you mean '3d-fc-ring-sw'?"],
    ),
    "missing_network_file.yaml": (
        "format: themis-opt/instance/1\nnetwork: nowhere/net.yaml\n",
        ["network: nowhere/net.yaml", "no such file"],
    ),
    "unknown_collective.yaml": (instance_text("collective: all-reduc"), ["collective", "did you mean 'all-reduce'?"]),
    "chunks_above_bytes.yaml": (instance_text("size: 10 B\nchunks: 11"), ["chunks is 11", "10 bytes"]),
    "zero_chunks.yaml": (instance_text("chunks: 0"), ["chunks is 0"]),
    "half_a_byte.yaml": (instance_text("size: 1.5 B"), ["size", "whole number of bytes"]),
    "no_such_dimension.yaml": (instance_text("dimensions: [0, 3]"), ["dimensions", "index 3", "0 to 2"]),
    "dimension_twice.yaml": (instance_text("dimensions: [1, 1]"), ["dimensions", "once"]),
    "truncated.json": ('{"format": "themis-opt/schedule/1", "instance": {"netw', ["not valid JSON", "complete"]),
    "duplicate_key.json": ('{"format": "themis-opt/schedule/1", "format": "x"}', ["format", "stands twice"]),
    "a_float.json": ('{"format": "themis-opt/schedule/1", "makespan_ps": 1.5}', ["1.5", "whole number"]),
    "nan.json": ('{"format": "themis-opt/schedule/1", "makespan_ps": NaN}', ["NaN"]),
    "deep.json": ('{"format": ' + "[" * 100_000, ["nested too deeply"]),
}


# What no text becomes: the files whose bytes are not UTF-8.
BYTES = {"latin1.yaml": b"name: \xff\xfe", "utf16.yaml": "format: x".encode("utf-16")}


def message_of(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """Run the command line, which must fail with exit code 2 and at most six lines; return the message."""
    code = run_command_line([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    assert code == 2, captured
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert 1 <= len(lines) <= 6
    assert lines[0].startswith("error: ")
    assert "Traceback" not in captured.err
    return captured.err


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, words = BAD_FILES[name]
    path = tmp_path / name
    path.write_bytes(BYTES.get(name, text.encode()))
    output = tmp_path / "out.json"

    message = message_of(capsys, "simulate", path, "-o", output)

    first_line = message.splitlines()[0]
    for word in [name, *words]:
        assert word in first_line
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [name]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["solve", "3d-fc-ring-s"], ["3d-fc-ring-s", "did you mean '3d-fc-ring-sw'?"]),
        (["solve", "missing/file.yaml"], ["missing/file.yaml", "no such file"]),
        (["solve", "x" * 300], ["xxx", "no shipped instance or network and no file of this name"]),
        (["solve", "3d-fc-ring-sw", "--size", "100"], ["--size", "'100' has no unit"]),
        (["solve", "3d-fc-ring-sw", "--size", "0MB"], ["--size: '0MB'", "at least one byte"]),
        (["solve", "3d-fc-ring-sw", "--size", "9" * 400 + "GB"], ["--size", "beyond every quantity"]),
        (["solve", "3d-fc-ring-sw", "--size", "10B"], ["--size: chunks is 64", "only 10 bytes"]),
        (["solve", "3d-fc-ring-sw", "--chunks", "0"], ["--chunks: 0", "1 to 65536"]),
        (["solve", "3d-fc-ring-sw", "--chunks", "auto:0"], ["--chunks: 0", "1 to 65536"]),
        (["compare", "3d-fc-ring-sw", "--chunks", "70000"], ["--chunks: 70000", "1 to 65536"]),
        (["solve", "3d-fc-ring-sw", "--granularity", "0B", "--sizes", "free"], ["--granularity: '0B'", "one byte"]),
        (["solve", "3d-fc-ring-sw", "--dimensions", "0,0"], ["--dimensions: '0,0'", "twice"]),
        (["solve", "3d-fc-ring-sw", "--dimensions", "0,3"], ["--dimensions: dimensions names index 3", "0 to 2"]),
        (["solve", "3d-fc-ring-sw", "--time-limit", "9" * 400 + "s"], ["--time-limit", "beyond every quantity"]),
        (["solve", "3d-fc-ring-sw", "--json", ""], ["--json", "empty"]),
        (["schema", "network", "-o", ""], ["-o", "empty"]),
        (["list", "networks", "--json", "missing/x.json"], ["missing/x.json", "no folder"]),
        (["validate", "x.json", "--instance", "3d-fc-ring-s"], ["--instance: 3d-fc-ring-s", "did you mean"]),
        (["solve", "3d-fc-ring-sw", "--chunks", "-3"], ["--chunks", "-3"]),
        (["solve", "3d-fc-ring-sw", "--chunks", "2,4"], ["--chunks: make 2 instances", "one value of each"]),
        *(
            ([verb, "3d-fc-ring-sw", "--dimensions", "0,1", "--dimensions", "0,2"], ["2 instances of 3d-fc-ring-sw"])
            for verb in ("solve", "simulate", "bound", "describe", "explain")
        ),
        (
            ["describe", "3d-fc-ring-sw", "--size", "1MB,2MB", "--dimensions", "0", "--dimensions", "1"],
            ["--size and --dimensions: make 4 instances", "'compare' takes several"],
        ),
        (["solve", "3d-fc-ring-sw", "--occupancy", "shared"], ["occupancy", "exclusive, pipelined"]),
        (["solve", "3d-fc-ring-sw", "--dimensions", "a"], ["--dimensions", "'a'"]),
        (["solve", "3d-fc-ring-sw", "--time-limit", "5"], ["--time-limit", "no unit"]),
        (["solve", "3d-fc-ring-sw", "--time-limit", "0s"], ["--time-limit", "above zero"]),
        (
            ["solve", "3d-fc-ring-sw", "--solver", "cpsat"],
            ["--solver: unknown solver 'cpsat'", "did you mean 'cp-sat'?"],
        ),
        (["solve", "3d-fc-ring-sw", "-o", "missing/folder/x.json"], ["missing/folder/x.json", "no folder"]),
        (["solve", "3d-fc-ring-sw", "-o", "-", "--json", "-"], ["standard output"]),
        (["solve", "3d-fc-ring-sw", "--bogus"], ["--bogus"]),
        (["solve"], ["INSTANCE"]),
        (
            ["compare", "3d-fc-ring-sw", "--schedulers", "themis"],
            ["--schedulers: unknown scheduler 'themis'", "baseline"],
        ),
        (["simulate", "3d-fc-ring-sw", "--scheduler", "bogus"], ["--scheduler: unknown scheduler 'bogus'"]),
        (["simulate", "3d-fc-ring-sw", "--scheduler", ""], ["--scheduler: unknown scheduler ''"]),
        (["schema", "everything"], ["everything"]),
        (["frobnicate"], ["frobnicate"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) and len(value) > 1 else None,
)
def test_bad_arguments(arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    message = message_of(capsys, *arguments)
    for word in words:
        assert word in message


@pytest.fixture
def good_schedule() -> dict[str, Any]:
    """A valid schedule of two chunks on two switches, as plain data."""
    network = Network("two", (Dimension(Topology.SWITCH, 4, 10**11), Dimension(Topology.SWITCH, 2, 10**11)))
    return schedule_document(get_scheduler("baseline")(Instance(network, size_bytes=800, num_chunks=2)))


def drop(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda data: data.pop(key)


def put(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda data: data.update({key: value})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (drop("chunks"), ["chunks", "is missing"]),
        (put("chunk", []), ["chunk: unknown key", "did you mean 'chunks'?"]),
        (put("sequences", [[[0]]]), ["sequences[0][0]", "2 values"]),
        (put("sequences", [[[0, "as"]]]), ["sequences[0][0][1]", "'as'", "rs, ag, a2a"]),
        (put("makespan_ps", "12"), ["makespan_ps", "'12'", "whole number"]),
        (put("bound_ps", 5), ["bound_scope", "missing beside bound_ps"]),
        (put("certificate", ["1/2"]), ["bound_ps", "missing beside certificate"]),
        (put("status", "perfect"), ["status", "heuristic, feasible, optimal"]),
    ],
    ids=["no chunks", "misspelt key", "short slot", "bad phase", "quoted number", "no scope", "no bound", "status"],
)
def test_bad_schedule_file(
    change: Callable[[dict[str, Any]], None],
    words: list[str],
    good_schedule: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    change(good_schedule)
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(good_schedule))
    message = message_of(capsys, "validate", path)
    for word in ["schedule.json", *words]:
        assert word in message


@pytest.mark.parametrize("weight", ["1/0", "1e999999999", " 1/2 ", "1_0/3", "0.5", ""])
def test_bad_weight_of_a_certificate(
    weight: str, good_schedule: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good_schedule |= {
        "bound_ps": 1,
        "bound_scope": {"sizes": "equal", "num_chunks": [2, 2]},
        "certificate": ["1/2", weight],
    }
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(good_schedule))
    assert f"certificate[1]: {weight!r} is not a fraction" in message_of(capsys, "validate", path)


def test_order_that_is_no_permutation(
    good_schedule: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Well-formed, so `validate` reports it as a broken rule (exit code 1); to `simulate` it is bad input.
    good_schedule["chunks"][1]["rs_order"] = [0, 0]
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(good_schedule))
    message = message_of(capsys, "simulate", path)
    assert (
        "schedule.json: chunk 1: rs_order is [0, 0]; it must be a permutation of the involved dimensions [0, 1]"
        in message
    )
    assert run_command_line(["validate", str(path)]) == 1


def test_schedule_for_another_instance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = Network("mine", (Dimension(Topology.RING, 4, 10**11),))
    path = tmp_path / "mine.json"
    save_schedule(get_scheduler("baseline")(Instance(network, num_chunks=1)), path)
    message = message_of(capsys, "compare", "2d-sw-sw", path, "--solver", "none")
    assert "mine.json: is a schedule for another instance" in message
    message = message_of(capsys, "validate", path, "--instance", "2d-sw-sw")
    assert "mine.json: is a schedule for another instance than 2d-sw-sw" in message


def test_a_folder_is_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is a folder" in message_of(capsys, "simulate", tmp_path)
    assert "is a folder" in message_of(capsys, "simulate", "2d-sw-sw", "-o", tmp_path)


@pytest.mark.parametrize("verb", ["validate", "certify", "simulate", "describe", "compare", "solve"])
def test_what_never_ends_is_no_file(verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "/dev/zero: is a device" in message_of(capsys, verb, "/dev/zero")
    os.mkfifo(tmp_path / "pipe")  # which nobody writes to: opening it would wait for ever
    assert "pipe: is a named pipe; name a file" in message_of(capsys, verb, tmp_path / "pipe")
    assert "is a folder" in message_of(capsys, verb, tmp_path)


def test_a_network_that_never_ends_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "it.yaml").write_text("format: themis-opt/instance/1\nnetwork: /dev/zero\n")
    assert "it.yaml: network: /dev/zero: is a device" in message_of(capsys, "describe", tmp_path / "it.yaml")


@pytest.mark.parametrize("sequences", ["deadlock", "makespan"])
def test_what_a_schedule_file_breaks_is_said_with_its_name(
    sequences: str, good_schedule: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if sequences == "deadlock":
        good_schedule["sequences"][0].reverse()  # All-Gather before Reduce-Scatter
    else:
        good_schedule["makespan_ps"] += 1
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(good_schedule))
    verbs = ["compare", "simulate", "explain"] if sequences == "deadlock" else ["compare"]
    for verb in verbs:
        assert run_command_line([verb, str(path)]) == 1
        assert capsys.readouterr().err.startswith(f"error: {path}: ")


def test_nothing_is_overwritten_that_is_still_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.yaml"
    path.write_text(network_text(GOOD_DIMENSION))
    assert "already read from" in message_of(capsys, "solve", path, "-o", path)
    for verb in ("bound", "explain"):
        assert f"{path}: is already read from" in message_of(capsys, verb, path, "--json", path)
    both = tmp_path / "both.json"
    assert "already read from" in message_of(capsys, "simulate", path, "-o", both, "--json", both)
    assert "is empty" in message_of(capsys, "simulate", path, "-o", "")
    assert path.read_text() == network_text(GOOD_DIMENSION)


@pytest.mark.parametrize("how", ["a symbolic link", "a relative path", "through another folder"])
@pytest.mark.parametrize("option", ["-o", "--json"])
def test_an_input_by_another_name_is_not_overwritten_either(
    how: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "net.yaml"
    path.write_text(network_text(GOOD_DIMENSION))
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.yaml").symlink_to(path)
    monkeypatch.chdir(tmp_path)
    name = {
        "a symbolic link": "link.yaml",
        "a relative path": "net.yaml",
        "through another folder": "folder/../net.yaml",
    }
    assert f"{name[how]}: is already read from" in message_of(capsys, "simulate", path, option, name[how])
    assert f"{path}: is already read from" in message_of(capsys, "simulate", name[how], option, path)
    assert path.read_text() == network_text(GOOD_DIMENSION)


@pytest.mark.parametrize("verb", ["compare", "validate", "simulate", "certify", "explain"])
def test_a_schedule_is_not_overwritten_by_its_figures(
    verb: str, good_schedule: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(good_schedule))
    assert "already read from" in message_of(capsys, verb, path, "--json", path)
    if verb in ("compare", "validate", "certify"):  # these take several files
        other = tmp_path / "other.json"
        other.write_text(json.dumps(good_schedule))
        assert "already read from" in message_of(capsys, verb, other, path, "--json", path)
    assert json.loads(path.read_text()) == good_schedule
