"""``themis-opt import``, and ASTRA-sim files where every other verb expects a network."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from astra_texts import TABLE_2, astra1_system_text, astra1_text, astra2_text, figures, per_hop
from nccl_logs import Group, log

from themis_opt.cli.main import run
from themis_opt.files.instance_file import load_instance
from themis_opt.files.network_file import load_network
from themis_opt.files.remarks import Imported

ROW = TABLE_2["2d-sw-sw"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with one file of each kind; what they are called says nothing."""
    monkeypatch.chdir(tmp_path)
    Path("v1").write_text(astra1_text(ROW))
    Path("v2").write_text(astra2_text(ROW, 2**30, (1, 1)))
    Path("system").write_text(astra1_system_text(ROW))
    Path("log").write_text(log(Group(), 0.01, named=True))
    Path("instance.yaml").write_text("format: themis-opt/instance/1\nnetwork: v2\nchunks: 4\n")
    return tmp_path


def sentences_of(text: str) -> list[str]:
    """Return the lines as they were before they were wrapped."""
    return re.sub(r"\n  (?=\S)", " ", text).splitlines()


def test_a_network_is_written_and_every_conversion_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "astra-network", "v1", "--system", "system", "-o", "net.yaml"]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    lines = sentences_of(told.out)
    assert lines[0] == 'v1: read as an ASTRA-sim 1 network: 2 dimensions, 1024 NPUs; "GB/s" taken as 10^9 bytes/s'
    assert "converted: link-bandwidth[0]: 25 GB/s per link x 6 links = 150 GB/s per NPU" in lines
    assert "converted: preferred-dataset-splits: 64 splits = 64 chunks, an instance's: --chunks 64" in lines
    assert all(len(line) <= 80 for line in told.out.splitlines())
    network = load_network("net.yaml")
    assert figures(network) == figures(load_network("2d-sw-sw"))
    assert (network.name, network.source) == ("v1", "ASTRA-sim 1 network file, v1")


def test_a_network_on_stdout_leaves_the_remarks_to_stderr(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "astra-network", "v1", "--gigabyte", "binary", "--name", "mine", "-o", "-"]) == 0
    told = capsys.readouterr()
    Path("net.yaml").write_text(told.out)
    assert load_network("net.yaml").name == "mine"
    assert [d.bandwidth_Bps for d in load_network("net.yaml").dimensions] == [150 * 2**30, 100 * 2**30]
    assert "\nconverted: link-bandwidth[0]: 25 GiB/s per link x 6 links = 150 GiB/s per NPU = 161.06 GB/s\n" in told.err


def test_logs_become_a_network_and_a_table_of_residuals(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("log2").write_text(log(Group(), 0.01, 1))
    assert run(["import", "nccl-tests", "log", "log2", "--topology", "ring", "-o", "net.yaml"]) == 0
    told = capsys.readouterr()
    assert (told.err, told.out.splitlines()[0]) == ("", "all-reduce among 8: 62 measurements")
    assert len(re.findall(r"^ *[\d.]+ \w+ +[\d.]+ \w+ +[\d.]+ \w+ +[-+][\d.]+%$", told.out, re.MULTILINE)) == 31
    assert re.search(r"^worst: [-+]\d\.\d% at ", told.out, re.MULTILINE)
    assert " for the whole all-reduce = 14 steps of ring x " in " ".join(sentences_of(told.out))
    (dimension,) = load_network("net.yaml").dimensions
    assert dimension.bandwidth_Bps == pytest.approx(240e9, rel=0.02)
    assert load_network("net.yaml").source == "nccl-tests, fitted to log, log2"
    assert run(["simulate", "net.yaml", "--chunks", "1"]) == 0
    capsys.readouterr()
    assert run(["import", "nccl-tests", "log", "-o", "-"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("format: themis-opt/network/1\n")
    assert "worst: " in told.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["describe", "v2"],
        ["simulate", "v2"],
        ["bound", "v2", "--chunks", "2"],
        ["explain", "v2", "--chunks", "2"],
        ["compare", "v2", "--solver", "none"],
        ["solve", "v2", "--chunks", "1"],
        ["describe", "instance.yaml"],
        ["compare", "instance.yaml", "--solver", "none"],
    ],
    ids=" ".join,
)
def test_every_verb_takes_an_astra_sim_network(
    arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, "--json", "-"]) == 0
    told = capsys.readouterr()
    json.loads(told.out)
    assert told.err.splitlines()[0] == (
        'v2: read as an ASTRA-sim 2 network: 2 dimensions, 1024 NPUs; "GB/s" taken as GiB/s (2^30 bytes/s), as '
        "ASTRA-sim does"
    )


def test_what_is_ignored_or_assumed_is_told_on_stderr(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "v1"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[2].split()[0] for line in lines] == ["read", "assumed:", *["ignored:"] * 3]
    assert "v1: ignored: topology-name: 'Hierarchical' is a name; nothing depends on it" in lines


def test_describe_tells_every_remark_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["describe", "v2"]) == 0
    told = capsys.readouterr()
    assert len(told.err.splitlines()) == 1
    assert "converted: bandwidth[0]: 150 GiB/s per NPU = 161.06 GB/s" in sentences_of(told.out)
    assert run(["describe", "v2", "--json", "-"]) == 0
    remarks = json.loads(capsys.readouterr().out)["remarks"]
    assert remarks[0] == {
        "kind": "converted",
        "key": "bandwidth[0]",
        "text": "150 GiB/s per NPU = 161.06 GB/s",
    }
    assert len(remarks) == 4
    assert run(["describe", "2d-sw-sw", "--json", "-"]) == 0
    assert "remarks" not in json.loads(capsys.readouterr().out)


def test_a_foreign_network_alone_is_the_default_instance(folder: Path) -> None:
    seen: list[Imported] = []
    instance = load_instance("v2", seen.append)
    assert (instance.network.name, instance.num_chunks, instance.size_bytes) == ("v2", 64, 10**8)
    assert load_instance("instance.yaml", seen.append).num_chunks == 4
    assert [(imported.path, imported.network) for imported in seen] == [("v2", instance.network)] * 2


def test_table_2s_latencies_survive_the_way_through_a_file(folder: Path) -> None:
    Path("v2").write_text(astra2_text(ROW, 10**9, per_hop(ROW)))
    assert run(["import", "astra-network", "v2", "-o", "net.yaml"]) == 0
    assert figures(load_network("net.yaml")) == figures(load_network("2d-sw-sw"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["describe", "log"], "log: is an nccl-tests log, no instance or network; 'themis-opt import nccl-tests log "),
        (["solve", "system"], "system: is an ASTRA-sim 1 system file, no instance or network; 'themis-opt import "),
        (["import", "nccl-tests", "v1", "-o", "x"], "v1: is an ASTRA-sim 1 network, and an nccl-tests log is expected"),
        (["import", "astra-network", "log", "-o", "x"], "log: is an nccl-tests log, no network; 'themis-opt import "),
        (["import", "astra-network", "v1", "--system", "v2", "-o", "x"], "v2: is an ASTRA-sim 2 network; expected an "),
        (["import", "astra-network", "v1", "-o", "v1"], "v1: is already read from or written to by this command"),
        (["import", "astra-network", "v1", "--system", "system", "-o", "system"], "system: is already read from "),
        (["import", "nccl-tests", "log", "-o", "no/where"], "no/where: there is no folder "),
        (["import", "astra-network", "v1", "--name", "", "-o", "x"], "--name: '' is not allowed; a network needs a "),
        (
            ["import", "astra-network", "v2", "--gigabyte", "decimal", "-o", "x"],
            "--gigabyte: v2 is an ASTRA-sim 2 network, and a GB of version 2 always is 2^30 bytes",
        ),
        (["import", "nccl-tests", "log", "--size", "4", "-o", "x"], "log: --size: is 4, but the log's number of "),
        (["import", "astra-network", "missing", "-o", "x"], "missing: no such file"),
        (["import", "astra-network", "v1"], "Missing option '-o'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)  # fmt: skip
def test_errors_are_one_line_and_leave_no_file(
    arguments: list[str], expected: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path.name for path in folder.iterdir())
    assert run(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"error: {expected}")
    assert len(told.err.splitlines()) <= 2
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_wrong_network_inside_an_instance_is_said_with_both_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("v2").write_text(astra2_text(ROW, 2**30, (1, 1)).replace("Switch, S", "Switch, s"))
    assert run(["describe", "instance.yaml"]) == 2
    assert capsys.readouterr().err.startswith(
        "error: instance.yaml: network: v2: topology[1]: 'switch' is not allowed;"
    )


def test_names_of_files_cannot_command_the_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("red\x1b[31m.yml").write_text(Path("v2").read_text())
    assert run(["describe", "red\x1b[31m.yml"]) == 0
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err
    assert told.out.startswith("red_[31m: all-reduce")


@pytest.mark.parametrize("verb", ["validate", "certify"])
def test_verbs_for_schedules_know_a_network(verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pod.yml").write_text("topology: [Ring]\nnpus_count: [4]\nbandwidth: [50]\nlatency: [500]\n")
    assert run([verb, str(tmp_path / "pod.yml")]) == 2
    assert "pod.yml: is an ASTRA-sim 2 network, no schedule; 'themis-opt solve' makes one" in capsys.readouterr().err
