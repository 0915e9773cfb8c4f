"""``export --to msccl-xml`` and ``validate`` of what it writes, as a user runs them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import CommandLine
from msccl_examples import RING_ALL_GATHER, grid_schedule, with_sizes

from themis_opt.files.schedule_file import save_schedule


@pytest.fixture
def schedule_file(tmp_path: Path) -> Path:
    save_schedule(grid_schedule([(4, "direct"), (2, "ring")], num_chunks=2), tmp_path / "s.json")
    return tmp_path / "s.json"


def test_export_prints_the_rule_and_validate_runs_it(schedule_file: Path, themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("export", "--to", "msccl-xml", schedule_file.name, "-o", "a.xml")
    assert (done.returncode, done.stderr) == (0, "")
    assert "falls back silently otherwise" in done.stdout
    assert "a multiple of 16 (nchunksperloop)" in done.stdout
    assert "exactly 8 ranks" in done.stdout
    judged = themis_opt_command("validate", "a.xml")
    assert judged.returncode == 0
    assert judged.stdout.startswith("a.xml: valid: MSCCL allreduce themis-opt_themis-scf_grid, in place: 8 ranks")


def test_the_command_line_fits_the_rule(schedule_file: Path, tmp_path: Path, themis_opt_command: CommandLine) -> None:
    """Its size is a multiple of what nccl-tests and the library want, and inside the range of the file."""
    done = themis_opt_command("export", "--to", "msccl-xml", schedule_file.name, "-o", "a b.xml")
    line = next(line for line in done.stdout.splitlines() if line.startswith("microsoft/msccl: mpirun"))
    assert "-np 8 -x MSCCL_XML_FILES='a b.xml'" in line
    size = int(re.search(r"all_reduce_perf -b (\d+) -e \1 -f 2 -g 1", line)[1])  # type: ignore[index]
    text = (tmp_path / "a b.xml").read_text()
    low, high = (int(re.search(f'{name}="([0-9]+)"', text)[1]) for name in ("minBytes", "maxBytes"))  # type: ignore[index]
    assert size // 4 % 16 == 0
    assert low <= 10**6 <= high
    assert low <= size <= high
    assert "MSCCL_ALGO_DIR=. " in done.stdout


@pytest.mark.parametrize(("collective", "word"), [("all-gather", "allgather"), ("reduce-scatter", "reducescatter")])
def test_what_counts_is_the_shard_of_a_rank(
    collective: str, word: str, tmp_path: Path, themis_opt_command: CommandLine
) -> None:
    save_schedule(grid_schedule([(4, "direct"), (2, "ring")], collective, num_chunks=3), tmp_path / "s.json")
    done = themis_opt_command("export", "--to", "msccl-xml", "s.json", "-o", "a.xml", "--out-of-place")
    assert done.returncode == 0, done.stderr
    assert f"- {word} out of place (the figures of nccl-tests in place are the library's own)" in done.stdout
    size = int(re.search(r"_perf -b (\d+) ", done.stdout)[1])  # type: ignore[index]
    assert size // 8 // 4 % 24 == 0  # elements of one of 8 ranks, 8 · 3 pieces
    # The older executor has another word for it.
    assert ("microsoft/msccl:" in done.stdout) == (word != "reducescatter")
    assert 'inplace="0" outofplace="1"' in (tmp_path / "a.xml").read_text()


def test_standard_output_holds_the_file_alone(schedule_file: Path, themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("export", "--to", "msccl-xml", schedule_file.name, "-o", "-")
    lines = done.stdout.splitlines()
    assert all(line.startswith("<!-- ") and line.endswith(" -->") for line in lines[:6])
    assert lines[-1] == "</algo>"
    assert "Try it with nccl-tests:" in done.stderr


def test_the_text_is_what_executors_parsers_read(
    schedule_file: Path, tmp_path: Path, themis_opt_command: CommandLine
) -> None:
    """No declaration, no tab, one space between attributes, double quotes, nothing before ``/>``, short values."""
    themis_opt_command("export", "--to", "msccl-xml", schedule_file.name, "-o", "a.xml")
    for line in (tmp_path / "a.xml").read_text().splitlines():
        if not line.startswith("<!--"):
            assert re.fullmatch(r' *(<\w+( \w+="[^"\t&<]{1,63}")+/?>|</\w+>)', line), line


@pytest.mark.parametrize(
    ("collective", "sizes", "message"),
    [
        ("all-to-all", None, "s.json: all-to-all cannot be exported to MSCCL XML"),
        ("all-reduce", [31_415_926_535, 27_182_818_284], "s.json: the 2 chunks have sizes that no 32768 pieces"),
    ],
)
def test_what_cannot_be_written_is_bad_input(
    collective: str, sizes: list[int] | None, message: str, tmp_path: Path, themis_opt_command: CommandLine
) -> None:
    schedule = grid_schedule([(8, "direct")], collective, 2, "baseline")
    save_schedule(schedule if sizes is None else with_sizes(schedule, sizes), tmp_path / "s.json")
    done = themis_opt_command("export", "--to", "msccl-xml", "s.json", "-o", "a.xml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {message}")
    assert not (tmp_path / "a.xml").exists()


def test_validate_rejects_a_wrong_file(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    (tmp_path / "wrong.xml").write_text(
        RING_ALL_GATHER.replace('type="s" srcbuf="o" srcoff="1"', 'type="s" srcbuf="o" srcoff="2"')
    )
    (tmp_path / "broken.xml").write_text(RING_ALL_GATHER[:500])
    wrong = themis_opt_command("validate", "wrong.xml")
    assert wrong.returncode == 1
    assert re.match(r"wrong.xml: rank 1, tb 1, step 1: writes o\[2\], which tb 0, step 0, touches too", wrong.stdout)
    broken = themis_opt_command("validate", "broken.xml")
    assert broken.returncode == 2
    assert re.match("error: broken.xml: line [0-9]+, column [0-9]+: not well-formed XML", broken.stderr)
