"""Whatever stands in somebody else's file, reading it ends soon, in a result or in one `InputError`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from astra_texts import TABLE_2, astra1_system_text, astra1_text, astra2_text
from hypothesis import given, settings
from hypothesis import strategies as st
from nccl_logs import Group, log
from work_limit import limited_work

from themis_opt.files.importing import import_network
from themis_opt.files.instance_file import load_instance
from themis_opt.files.nccl_fit import FitOptions, fit_network
from themis_opt.files.nccl_tests import read_nccl_log
from themis_opt.files.plain import read_text
from themis_opt.problem.errors import InputError

ROW = TABLE_2["3d-fc-ring-sw"]
SYSTEM_2 = json.dumps(
    {
        "preferred-dataset-splits": 4,
        "all-reduce-implementation": ["direct", "ring", "halvingDoubling"],
        "endpoint-delay": 10,
        "local-mem-bw": 1600.5,
        "boost-mode": 1,
    },
    indent=1,
)


def read_system(path: Path) -> None:
    network = path.with_name("network.json")
    network.write_text(astra1_text(ROW))
    import_network(network, system=path)


def fit(path: Path) -> None:
    fit_network([read_nccl_log(read_text(path, small=True))], FitOptions(), "x")


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "version 2 network": (astra2_text(ROW, 2**30, (700, 700.5, 1)), import_network),
    "version 2 network as JSON": (
        '{"topology": ["Ring", "Switch"], "npus_count": [4, 8], "bandwidth": [1.5, 2e1], "latency": [1, 0]}',
        import_network,
    ),
    "version 1 network": (astra1_text(ROW), import_network),
    "version 1 network as an instance": (astra1_text(ROW), load_instance),
    "version 1 system": (astra1_system_text(ROW), read_system),
    "version 2 system": (SYSTEM_2, read_system),
    "nccl-tests": (log(Group(), 0.01, sizes=(8, 1024, 2**20, 2**30), named=True), fit),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def outcome(folder: Path, name: str, text: str) -> str:
    """Read a text and return the error's message, or nothing; fail when it does not end or another error escapes."""
    path = folder / "file"
    path.write_text(text, encoding="utf-8", errors="replace", newline="")
    try:
        with limited_work():
            READERS[name][1](path)
        message = ""
    except InputError as error:
        message = str(error)
    assert len(message.splitlines()) <= 6
    return message


@pytest.mark.parametrize("name", READERS)
def test_the_unchanged_files_are_good(name: str, folder: Path) -> None:
    assert outcome(folder, name, READERS[name][0]) == ""


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=200)
@given(data=st.data())
def test_a_file_cut_off_anywhere(name: str, data: st.DataObject, folder: Path) -> None:
    text = READERS[name][0]
    outcome(folder, name, text[: data.draw(st.integers(0, len(text)))])


ODD = [
    "null", "true", "-1", "0", "1.5", "1e400", "-1e-400", "1e99999999999", "NaN", "Infinity", ".inf", "010", "0x10",
    "12:30:00", "9" * 300, "9" * 5000, "1" * 199, "0." + "3" * 300, "1/0", '"x"', "''", "[]", "{}", "[[1]]", '{"a": 1}',
    "\u0661", "\ud7ff", "[" * 300, "[" * 20_000 + "]" * 20_000, "{a: " * 200, "&a", "*a", "&a [*a]", "!!x y",
    "\x00", "\x1b[31m", "%YAML 9.9", "---", "\t", "\r", "#", ": ", "- ", "? ", "|", ">", "\ufeff", " ", "\n", ",", "-",
]  # fmt: skip


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=200)
@given(data=st.data())
def test_a_value_of_another_kind(name: str, data: st.DataObject, folder: Path) -> None:
    """Any word of the file becomes a number, a list, a bomb, a control character or a piece of syntax."""
    text = READERS[name][0]
    words = [word for word in text.replace(",", " ").replace("[", " ").replace("]", " ").split() if len(word) < 30]
    word = data.draw(st.sampled_from(sorted(set(words))))
    count = data.draw(st.sampled_from([1, -1]))
    outcome(folder, name, text.replace(word, data.draw(st.sampled_from(ODD)), count))


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=200)
@given(data=st.data())
def test_anything_inserted_anywhere(name: str, data: st.DataObject, folder: Path) -> None:
    text = READERS[name][0]
    place = data.draw(st.integers(0, len(text)))
    inserted = data.draw(st.sampled_from(ODD) | st.text(max_size=20))
    outcome(folder, name, text[:place] + inserted + text[place:])


LAUGHS = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))

BOMBS = {
    "a billion laughs": "npus_count: [2]\na0: &a0 [lol]\n" + LAUGHS,
    "deep YAML": "topology: " + "[" * 100_000,
    "deep YAML block": "topology:\n" + "".join(" " * n + "- \n" for n in range(1, 1500)),
    "deep JSON": '{"units-count": ' + "[" * 100_000,
    "digits": "npus_count: [" + "9" * 1_000_000 + "]",
    "exponent": "topology: [Ring]\nnpus_count: [2]\nbandwidth: [1e999999999]\nlatency: [1]",
    "small exponent": "topology: [Ring]\nnpus_count: [2]\nbandwidth: [1]\nlatency: [1e-999999999]",
    "many dimensions": "topology: [" + "Ring, " * 100_000 + "]\nnpus_count: [2]\nbandwidth: [1]\nlatency: [1]",
    "many keys": "npus_count: [2]\n" + "".join(f"k{n}: 1\n" for n in range(100_000)),
    "a long key": "npus_count: [2]\n" + "k" * 1_000_000 + ": 1\n",
    "a long name": "preferred-dataset-splits: 1\nall-reduce-implementation: " + "ring_" * 200_000,
    "many lines": "x\n" * 500_000,
    "many rows": "# size count type\n" + "8 2 float sum -1 1 1 1 0 1 1 1 0\n" * 50_000,
    "empty lines": "\n" * 1_000_000,
    "a long word": "k" * 1_000_000,
    "too large": "npus_count: [" + "2, " * 2_000_000,
}


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("name", READERS)
def test_bombs_end_in_a_short_message(name: str, bomb: str, folder: Path) -> None:
    message = outcome(folder, name, BOMBS[bomb])
    assert message
    assert len(message) < 1000
