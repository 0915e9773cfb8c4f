"""What else can be wrong around the command line: sizes, closed streams, names that are commands to a terminal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from command_line import CommandLine
from msccl_examples import RING_ALL_GATHER
from nccl_logs import Group, log

from themis_opt.cli.main import run
from themis_opt.export.chakra.judge.setup import MAX_RANKS
from themis_opt.export.chakra.write.folder import MAX_INTERPRETED_RANKS
from themis_opt.export.msccl.judge.xml_judge import interpret_text
from themis_opt.files.plain import MAX_FILE_BYTES, MAX_LOG_BYTES, parse_json, read_log, read_text
from themis_opt.problem.errors import InputError

EXPORTS = ["csv", "perfetto", "graphml"]


def test_a_sparse_file_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "sparse.json"
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=f"sparse.json: has more than {MAX_FILE_BYTES} bytes, the limit for sched"):
            read_text(path)
        assert tracemalloc.get_traced_memory()[1] < 10**6  # it is not read
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("entry", "count"), [("{}", 300_000), ("[]", 5_000_000), ("1", 20_000_000)])
def test_more_than_any_schedule_has_is_refused_before_it_is_built(entry: str, count: int) -> None:
    with pytest.raises(InputError, match="more than any schedule"):
        parse_json('{"chunks":[' + ",".join([entry] * count) + "]}")


def test_a_log_may_be_long_but_not_endless(tmp_path: Path) -> None:
    path = tmp_path / "all_reduce.log"
    path.write_text("host: NCCL INFO something\n" * 100_000 + log(Group()))
    assert path.stat().st_size > 2 * 2**20
    assert read_log(path).endswith(log(Group()))
    with path.open("ab") as file:
        file.truncate(MAX_LOG_BYTES + 1)
    with pytest.raises(InputError, match="the limit for logs; cut it to its table"):
        read_log(path)


@pytest.mark.parametrize("target", EXPORTS)
def test_a_closed_standard_output_is_told(target: str, tmp_path: Path, themis_opt_command: CommandLine) -> None:
    themis_opt_command("simulate", "figure-5", "-o", "s.json")
    command = f"{sys.executable} -m themis_opt export --to {target} s.json -o - >&-"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: standard output is closed; name a file with -o or --json\n"


def test_names_are_no_commands_to_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = tmp_path / "\x1b[31mred\nline.json"
    assert run(["simulate", "figure-5", "-o", str(odd)]) == 0
    capsys.readouterr()
    for arguments in (["validate"], ["export", "--to", "astra2", "-o", str(tmp_path / "\x1b[31mout\nline")]):
        assert run([*arguments, str(odd)]) == 0
        told = capsys.readouterr()
        assert "\x1b" not in told.out + told.err
        for line in (told.out + told.err).splitlines():
            assert line.startswith(str(tmp_path))  # no line begins in the middle of a name


@pytest.mark.parametrize("option", ["--execute", "--instance=figure-5"])
def test_options_for_schedules_are_refused_beside_xml(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ring.xml").write_text(RING_ALL_GATHER)
    assert run(["validate", option, str(tmp_path / "ring.xml")]) == 2
    assert "is no schedule file; --instance and --execute are for schedules alone" in capsys.readouterr().err


def test_no_rank_is_no_collective() -> None:
    element = re.search(r"<algo [^>]*>", RING_ALL_GATHER)
    assert element is not None
    verdict = interpret_text(element[0].replace('ngpus="3"', 'ngpus="0"') + "</algo>", "none.xml")
    assert str(verdict.findings[0]) == "ngpus is 0; a collective has at least one rank"


@pytest.mark.parametrize("sizes", ["free", "equal"])
def test_few_bytes_may_be_cut_into_a_chosen_number_of_chunks(sizes: str, themis_opt_command: CommandLine) -> None:
    """The instance's own 64 chunks of 50 bytes, which nobody asked for, do not stand in the way."""
    granularity = ["--granularity", "1B"] if sizes == "free" else []
    done = themis_opt_command(
        "solve", "tpu-v4-64", "--sizes", sizes, "--chunks", "auto:3", "--size", "50B", *granularity,
        "--time-limit", "2s", "--json", "-",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    assert 1 <= result["num_chunks"] <= 3


def test_the_readme_knows_how_many_ranks_are_interpreted() -> None:
    assert MAX_INTERPRETED_RANKS == MAX_RANKS
