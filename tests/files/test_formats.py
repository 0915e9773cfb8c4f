"""Files read back as what was written, follow their JSON Schemas, and are written whole or not at all."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec import convert

import themis_opt
from themis_opt.files import strict_yaml
from themis_opt.files.atomic import check_writable, write_text
from themis_opt.files.documents import FORMATS, InstanceDocument, NetworkDocument, json_schema
from themis_opt.files.instance_file import instance_from_document, load_instance, save_instance
from themis_opt.files.network_file import load_network, network_document, save_network
from themis_opt.files.plain import parse_yaml
from themis_opt.files.schedule_file import load_schedule, save_schedule, schedule_document
from themis_opt.files.shipped import shipped_instances, shipped_networks
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance, Known, Occupancy
from themis_opt.problem.network import Algorithm, Dimension, Network, Topology
from themis_opt.problem.schedule import Schedule
from themis_opt.schedulers.registry import get_scheduler
from themis_opt.timing.sequencing import simulate

ODD_NETWORK = Network(
    "odd",
    (
        Dimension(Topology.SWITCH, 6, Fraction(10**9, 3), Fraction(1, 7), Algorithm.BRUCK, links=7, note="a: b, {c}"),
        Dimension(Topology.RING, 1, Fraction(1)),
        Dimension(Topology.FULLY_CONNECTED, 2, 3 * Fraction(2**30), reduction_bandwidth_Bps=Fraction(5)),
    ),
    source="nowhere: 'quoted'",
    note="µ",
)


def full_schedule() -> Schedule:
    """A schedule with every optional field filled."""
    instance = Instance(ODD_NETWORK, "all-reduce", 1001, 2, Occupancy.PIPELINED, (0, 2), Known(5, 4, "somebody"))
    schedule = get_scheduler("themis-scf")(instance)
    return replace(
        schedule,
        bound=Bound(
            7,
            BoundKind.FLUID,
            BoundScope(Sizing.EQUAL, 2, 2),
            (Fraction(1, 3), Fraction(0), Fraction(2, 3)),
            7,
        ),
        stages=simulate(instance, schedule).stages,
        seed=3,
        version="0.1.0",
    )


def test_network_round_trip(tmp_path: Path) -> None:
    save_network(ODD_NETWORK, tmp_path / "odd.yaml")
    assert load_network(tmp_path / "odd.yaml") == ODD_NETWORK


def test_instance_round_trip(tmp_path: Path) -> None:
    instance = full_schedule().instance
    save_instance(instance, tmp_path / "odd.yaml")
    assert load_instance(tmp_path / "odd.yaml") == instance


def test_schedule_round_trip(tmp_path: Path) -> None:
    schedule = full_schedule()
    save_schedule(schedule, tmp_path / "odd.json")
    assert load_schedule(tmp_path / "odd.json") == schedule


@pytest.mark.parametrize("name", [*shipped_networks(), *shipped_instances()])
def test_shipped_files_follow_their_schema(name: str) -> None:
    path = {**shipped_networks(), **shipped_instances()}[name]
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    kind = "network" if name in shipped_networks() else "instance"
    jsonschema.validate(data, json_schema(kind))


def test_written_files_follow_their_schema(tmp_path: Path) -> None:
    save_schedule(full_schedule(), tmp_path / "schedule.json")
    jsonschema.validate(json.loads((tmp_path / "schedule.json").read_text()), json_schema("schedule"))
    save_network(ODD_NETWORK, tmp_path / "network.yaml")
    jsonschema.validate(yaml.safe_load((tmp_path / "network.yaml").read_text()), json_schema("network"))


def test_schemas_refuse_unknown_keys() -> None:
    for kind in FORMATS:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"format": f"themis-opt/{kind}/1", "bogus": 1}, json_schema(kind))


def test_network_of_an_instance_is_relative_to_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    save_network(ODD_NETWORK, tmp_path / "sub" / "net.yaml")
    text = "format: themis-opt/instance/1\nnetwork: net.yaml\n"
    (tmp_path / "sub" / "instance.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert load_instance("sub/instance.yaml").network == ODD_NETWORK


def test_a_network_alone_is_the_default_instance() -> None:
    instance = load_instance("2d-sw-sw")
    assert (instance.collective, instance.size_bytes, instance.num_chunks, instance.occupancy) == (
        "all-reduce",
        100_000_000,
        64,
        "exclusive",
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 12:30:00", "12:30:00"),
        ("a: 010", "010"),
        ("a: on", "on"),
        ("a: 1e9", "1e9"),
        ("a: 0x10", "0x10"),
        ("a: 2026-01-01", "2026-01-01"),
        ("a: 10", 10),
        ("a: true", True),
        ("a: null", None),
        ("a:", None),
    ],
)
def test_yaml_without_surprises(text: str, value: Any) -> None:
    assert parse_yaml(text) == {"a": value}


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
def test_a_byte_order_mark_is_no_text(mark: bytes, tmp_path: Path) -> None:
    save_network(ODD_NETWORK, tmp_path / "plain.yaml")
    save_schedule(full_schedule(), tmp_path / "plain.json")
    (tmp_path / "odd.yaml").write_bytes(mark + (tmp_path / "plain.yaml").read_bytes())
    (tmp_path / "odd.json").write_bytes(mark + (tmp_path / "plain.json").read_bytes())
    assert load_network(tmp_path / "odd.yaml") == ODD_NETWORK
    assert load_schedule(tmp_path / "odd.json") == full_schedule()


def test_a_schedule_may_be_yaml_and_a_network_json(tmp_path: Path) -> None:
    schedule = full_schedule()
    (tmp_path / "odd.yaml").write_text(yaml.safe_dump(schedule_document(schedule), allow_unicode=True))
    assert load_schedule(tmp_path / "odd.yaml") == schedule
    network = {"format": "themis-opt/network/1", **network_document(ODD_NETWORK)}
    (tmp_path / "odd.txt").write_text(json.dumps(network))
    assert load_network(tmp_path / "odd.txt") == ODD_NETWORK


def test_yaml_reads_the_same_without_the_compiled_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [path.read_text(encoding="utf-8") for path in [*shipped_networks().values(), *shipped_instances().values()]]
    compiled = [parse_yaml(text) for text in texts]
    monkeypatch.setattr(strict_yaml, "_PARSER", yaml.SafeLoader)
    assert [parse_yaml(text) for text in texts] == compiled
    with pytest.raises(InputError, match="nested too deeply"):
        parse_yaml("x: " + "[" * 200 + "]" * 200)


@pytest.mark.parametrize("place", ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
def test_what_the_shell_has_opened_is_read(place: str, tmp_path: Path) -> None:
    save_network(ODD_NETWORK, tmp_path / "net.yaml")
    text = "format: themis-opt/instance/1\nnetwork: net.yaml\n"  # beside the current folder's other files
    program = f"import themis_opt; print(themis_opt.load_instance({place!r}).network.name)"
    done = subprocess.run(
        [sys.executable, "-c", program], input=text, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("odd\n", "")


def test_a_pipe_without_end_is_read_to_the_limit() -> None:
    program = (
        "import themis_opt\ntry: themis_opt.load_instance('/dev/stdin')\n"
        "except themis_opt.InputError as error: print(error)"
    )
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        done = subprocess.run([sys.executable, "-c", program], stdin=endless.stdout, capture_output=True, text=True)
        endless.kill()
    assert done.stdout.startswith("/dev/stdin: has more than 2097152 bytes")


def test_sizes_are_limited_by_kind(tmp_path: Path) -> None:
    """A network is small in JSON too; a schedule in JSON may be large."""
    network = {"format": "themis-opt/network/1", **network_document(ODD_NETWORK), "note": "x" * (2 * 2**20)}
    (tmp_path / "odd.json").write_text(json.dumps(network))
    with pytest.raises(InputError, match=r"odd\.json: has more than 2097152 bytes, the limit for networks"):
        load_network(tmp_path / "odd.json")
    schedule = {**schedule_document(full_schedule()), "scheduler": "x" * (2 * 2**20)}
    (tmp_path / "odd.json").write_text(json.dumps(schedule))
    assert load_schedule(tmp_path / "odd.json").scheduler == "x" * (2 * 2**20)


def measurable() -> st.SearchStrategy[Fraction]:
    """Draw quantities from 1 to 10^50 with up to 950 digits above and below the line."""
    denominators = (
        st.integers(1, 10**900)
        | st.integers(0, 900).map(lambda places: 10**places)
        | st.integers(0, 3000).map(lambda twos: 2**twos)
    )
    return st.builds(
        lambda whole, numerator, denominator: whole + Fraction(numerator % denominator, denominator),
        st.integers(1, 10**50),
        st.integers(1, 10**900),
        denominators,
    )


@given(
    bandwidth=measurable(),
    latency=measurable() | st.just(Fraction(0)),
    reduction=st.none() | measurable(),
    links=st.none() | st.integers(1, 10**9),
)
def test_whatever_is_written_can_be_read_again(
    bandwidth: Fraction, latency: Fraction, reduction: Fraction | None, links: int | None
) -> None:
    network = Network("long", (Dimension("ring", 2, bandwidth, latency, None, links, reduction),))
    document = InstanceDocument(network=convert(network_document(network), NetworkDocument))
    assert instance_from_document(document, Path()).network == network


def test_a_device_is_written_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder is closed to most users, and that does not matter."""
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != "/dev")
    check_writable("/dev/null")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InputError, match="/dev/null: is not writable"):
        check_writable("/dev/null")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "schedule.json"
    target.write_text("old")

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(InputError, match=r"schedule\.json: cannot be written: No space left on device"):
        write_text(target, "new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_writing_keeps_permissions_and_links(tmp_path: Path) -> None:
    real = tmp_path / "real.json"
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_writing_to_a_device(tmp_path: Path) -> None:
    write_text("/dev/null", "gone")
    assert not Path("/dev/null").is_file()


def test_the_public_names_exist() -> None:
    for name in themis_opt.__all__:
        value = getattr(themis_opt, name)
        assert value is themis_opt.__version__ or (value.__name__, value.__module__.split(".")[0]) == (
            name,
            "themis_opt",
        )


@pytest.mark.parametrize("key", ["sequences", "stages"])
def test_far_more_stages_than_chunks_can_have_are_refused_at_once(key: str, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    made = themis_opt.schedule(Instance(themis_opt.load_network("2d-sw-sw"), num_chunks=2), "baseline")
    save_schedule(made, path)
    data = json.loads(path.read_text())
    entry: list[Any] = [0, "rs"] if key == "sequences" else [0, "rs", 0, 1, 2]
    data[key] = [[entry] * 100_001] if key == "sequences" else [entry] * 100_001
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match=rf"s\.json: {key}: has 100001 entries for 2 chunks; at most 100000 are read"):
        load_schedule(path)
