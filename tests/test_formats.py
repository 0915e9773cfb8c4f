"""Files read back as what was written, follow their JSON Schemas, and are written whole or not at all."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import themis_opt
from themis_opt.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.errors import InputError
from themis_opt.formats.atomic import write_text
from themis_opt.formats.documents import FORMATS
from themis_opt.formats.instance_file import load_instance, save_instance
from themis_opt.formats.network_file import load_network, save_network
from themis_opt.formats.plain import parse_yaml
from themis_opt.formats.schedule_file import load_schedule, save_schedule
from themis_opt.formats.schema import json_schema
from themis_opt.formats.shipped import shipped_instances, shipped_networks
from themis_opt.instance import Instance, Known, Occupancy
from themis_opt.network import Algorithm, Dimension, Network, Topology
from themis_opt.schedulers import get_scheduler
from themis_opt.schedules import Schedule
from themis_opt.simulator import simulate

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
        assert getattr(themis_opt, name) is not None
