"""No text from a file, and no file's name, turns into a command to the terminal or turns its lines around."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chakra_folders import right_folder
from command_line import run_verb

import themis_opt
from themis_opt.files.atomic import write_text
from themis_opt.files.results import json_safe
from themis_opt.files.schedule_file import save_schedule
from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.instance import Instance

HOSTILE = "a\x07\x1b[31mb\x9b2J\u202ec\u2066d\x7f\x00"
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
STORED = Path(__file__).parents[1] / "stored"

INSTANCE_VERBS = [
    ("describe", "{}"),
    ("describe", "{}", "--json", "-"),
    ("bound", "{}"),
    ("bound", "{}", "--json", "-"),
    ("explain", "{}", "--chunks", "2"),
    ("compare", "{}", "--chunks", "2", "--solver", "none"),
    ("compare", "{}", "--chunks", "2", "--solver", "none", "--json", "-"),
    ("simulate", "{}", "--chunks", "2", "--scheduler", "baseline", "-o", "-"),
    ("plot", "timeline", "{}", "--chunks", "2", "--schedulers", "baseline", "--text"),
    ("export", "{}", "--to", "graphml", "-o", "-"),
    ("report", "{}", "-o", "r.html"),
]
SCHEDULE_VERBS = [
    ("validate", "{}"),
    ("validate", "{}", "--json", "-"),
    ("certify", "{}"),
    ("certify", "{}", "--json", "-"),
    ("simulate", "{}", "--stages"),
    ("simulate", "{}", "-o", "-"),
    ("explain", "{}"),
    ("compare", "2d-sw-sw", "{}", "--chunks", "2", "--solver", "none"),
    ("plot", "loads", "{}", "--text"),
    ("report", "{}", "-o", "r.html"),
    *((("export", "{}", "--to", target, "-o", "-")) for target in ("perfetto", "graphml", "msccl-xml")),
]
COMPARISON_VERBS = [("report", "{}", "-o", "r.html"), ("plot", "timeline", "{}", "--text"), ("validate", "{}")]
STUDY_VERBS = [
    ("sweep", "{}", "-o", "s.db", "--processes", "1"),
    ("rows", "s.db"),
    ("report", "s.db", "-o", "r.html"),
    ("plot", "sweep", "s.db", "-o", "p.svg"),
    ("describe", "{}"),
]


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all texts in plain data."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, (*path, key))
    elif isinstance(data, list):
        for place, value in enumerate(data):
            yield from leaves(value, (*path, place))
    elif isinstance(data, str):
        yield path


def spoilt(data: Any, path: tuple[Any, ...], *, key: bool = False) -> Any:
    """Return a copy in which one text is hostile, or has a hostile key beside it."""
    copy = json.loads(json.dumps(data))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    if key and isinstance(inner, dict):
        inner[f"{path[-1]}{HOSTILE}"] = "x"
    else:
        inner[path[-1]] += HOSTILE
    return copy


def check_clean(folder: Path, verbs: list[tuple[str, ...]], name: str) -> None:
    for verb in verbs:
        done = run_verb(folder, *(word.replace("{}", name) for word in verb))
        assert done.returncode in (0, 1, 2, 3), (verb, done.stderr)
        assert "Traceback" not in done.stderr
        for stream in (done.stdout, done.stderr):
            # A row of CSV ends in both; alone a carriage return would write over the line.
            assert FORBIDDEN.search(stream.replace("\r\n", "\n")) is None, (verb, stream[:2000])


def network_data() -> Any:
    dimension = {"topology": "switch", "size": 4, "bandwidth": "100 GB/s", "latency": "1 us", "note": "n"}
    return {
        "format": "themis-opt/network/1",
        "name": "mine",
        "source": "s",
        "note": "n",
        "dimensions": [dimension, {**dimension, "size": 2, "algorithm": "halving-doubling"}],
    }


def instance_data() -> Any:
    return {
        "format": "themis-opt/instance/1",
        "network": network_data(),
        "collective": "all-reduce",
        "size": "1 MB",
        "chunks": 2,
        "occupancy": "exclusive",
    }


def schedule_data(folder: Path) -> Any:
    instance = Instance(themis_opt.load_network("2d-sw-sw"), size_bytes=1_000_000, num_chunks=2)
    save_schedule(themis_opt.schedule(instance, "themis-scf"), folder / "made.json")
    return json.loads((folder / "made.json").read_text())


def comparison_data(folder: Path) -> Any:
    done = run_verb(folder, "compare", "2d-sw-sw", "--chunks", "2", "--solver", "none", "--json", "made.json")
    assert done.returncode == 0
    return json.loads((folder / "made.json").read_text())


def study_data() -> Any:
    return {
        "format": "themis-opt/study/1",
        "name": "mine",
        "base": {"network": "2d-sw-sw", "collective": "all-reduce", "size": "1 MB"},
        "axes": {"chunks": [2, 4], "scheduler": ["baseline", {"name": "t", "scheduler": "themis-scf"}]},
        "constraints": ["chunks <= 4"],
        "metrics": ["makespan"],
    }


KINDS: dict[str, tuple[Callable[[Path], Any], list[tuple[str, ...]]]] = {
    "network": (lambda folder: network_data(), INSTANCE_VERBS),
    "instance": (lambda folder: instance_data(), INSTANCE_VERBS),
    "schedule": (schedule_data, SCHEDULE_VERBS),
    "comparison": (comparison_data, COMPARISON_VERBS),
    "study": (lambda folder: study_data(), STUDY_VERBS),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_text_of_our_own_files(kind: str, tmp_path: Path) -> None:
    make, verbs = KINDS[kind]
    data = make(tmp_path)
    paths = list(leaves(data))
    for number, path in enumerate(paths):
        for key in (False, True):
            (tmp_path / "x.json").write_text(json.dumps(spoilt(data, path, key=key)))
            # Each text with a few of the verbs, and each verb with many of the texts.
            few = [verb for place, verb in enumerate(verbs) if kind == "study" or (place + number) % 3 == 0]
            check_clean(tmp_path, few, "x.json")
            (tmp_path / "s.db").unlink(missing_ok=True)


@pytest.mark.parametrize("kind", KINDS)
def test_the_texts_of_our_own_files_that_are_free(kind: str, tmp_path: Path) -> None:
    """Names, sources, notes: what is only told, and nowhere refused."""
    make, verbs = KINDS[kind]
    data = make(tmp_path)
    for path in leaves(data):
        if path[-1] in ("name", "source", "note", "scheduler", "version"):
            data = spoilt(data, path)
    (tmp_path / "x.json").write_text(json.dumps(data))
    check_clean(tmp_path, verbs, "x.json")


@pytest.mark.parametrize("kind", ["network", "schedule", "comparison", "study"])
def test_names_of_files(kind: str, tmp_path: Path) -> None:
    make, verbs = KINDS[kind]
    name = HOSTILE.replace("\x00", "") + ".json"
    (tmp_path / name).write_text(json.dumps(make(tmp_path)))
    check_clean(tmp_path, verbs, name)
    (tmp_path / name).write_text("{")  # and the message that it is none
    check_clean(tmp_path, verbs, name)


FOREIGN = {
    "astra1.json": [("import", "astra-network", "{}"), ("describe", "{}")],
    "astra2.yml": [("import", "astra-network", "{}"), ("describe", "{}")],
    "nccl_ar.log": [("import", "nccl-tests", "{}")],
    "msccl.xml": [("validate", "{}"), ("describe", "{}")],
    "msccl_ring.xml": [("validate", "{}")],
}


@pytest.mark.parametrize("name", FOREIGN)
def test_every_word_of_foreign_files(name: str, tmp_path: Path) -> None:
    text = (STORED / name).read_text()
    words = list(re.finditer(r"[A-Za-z0-9_.]+", text))
    for match in words[:: max(1, len(words) // 60)]:
        (tmp_path / name).write_text(text[: match.end()] + HOSTILE + text[match.end() :])
        check_clean(tmp_path, FOREIGN[name], name)


def test_a_folder_of_traces(tmp_path: Path) -> None:
    for file in ("network.yml", "system.json", "memory.json", "schedule.json", "README.md"):
        folder = right_folder(tmp_path / "x")
        text = (folder / file).read_text()
        words = list(re.finditer(r"[A-Za-z][A-Za-z0-9_-]+", text))
        for match in words[:: max(1, len(words) // 12)]:
            (folder / file).write_text(text[: match.end()] + HOSTILE.replace("\x00", "") + text[match.end() :])
            check_clean(tmp_path, [("validate", "x")], "")
        shutil.rmtree(folder)


@pytest.mark.parametrize("is_terminal", [False, True])
def test_tables_for_programs_are_as_they_are_but_on_a_terminal(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
    monkeypatch.setattr(sys, "stdout", stream)
    write_text("-", f"name\r\n{HOSTILE}\r\n")
    assert (FORBIDDEN.search(stream.getvalue().replace("\r\n", "\n")) is None) == is_terminal
    assert stream.getvalue().startswith("name\n" if is_terminal else f"name\r\n{HOSTILE}")


@pytest.mark.parametrize("text", [HOSTILE, "\ud800", "ring"])
def test_what_json_escapes_reads_the_same(text: str) -> None:
    safe = json_safe(json.dumps({"name": text}, ensure_ascii=False))
    assert json.loads(safe) == {"name": text}
    assert FORBIDDEN.search(safe) is None


def test_a_long_word_is_compared_with_nothing() -> None:
    """The search takes 40 bytes of memory for each character of the word."""
    assert did_you_mean("rings", ["ring"]) == " (did you mean 'ring'?)"
    assert did_you_mean("ring" * 26, ["ring" * 25]) == ""
    assert did_you_mean("ring", ["ring" * 26]) == ""
