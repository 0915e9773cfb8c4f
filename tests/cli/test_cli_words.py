"""What the command line says of chunks, bounds, overheads and differences, word by word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import CommandLine

from themis_opt.cli.wrapping import wrapped


def sentences_of(text: str) -> list[str]:
    """Return the lines as they were before they were wrapped."""
    return re.sub(r"\n  (?=\S)", " ", text).splitlines()


def test_a_free_number_of_chunks_is_told_as_what_it_was(themis_opt_command: CommandLine) -> None:
    """Of the instance's 64 chunks nothing is said: not even the reference of the speedup has them."""
    done = themis_opt_command(
        "solve", "2d-sw-sw", "--sizes", "free", "--chunks", "auto:3", "--time-limit", "2s", "--json", "figures.json",
        "-o", "best.json",
    )  # fmt: skip
    lines = sentences_of(done.stdout)
    assert lines[0] == "2d-sw-sw: all-reduce, 100 MB, 1 to 3 chunks of any size, exclusive, 1024 NPUs"
    (row,) = [line.split() for line in lines if line.startswith("auto ")]
    (bound,) = [line for line in lines if line.startswith("bound ")]
    assert f"for exactly {row[1]} chunks of any size)" in bound
    (over_all,) = [line for line in lines if line.startswith("auto: at most ")]
    assert "for exactly 1 to 3 chunks of any size)" in over_all
    assert not any("64 chunks" in line for line in lines)
    assert "gap of" not in done.stdout
    for verb in ("explain", "simulate"):  # and so are those of a schedule, once
        told = themis_opt_command(verb, "best.json").stdout
        first, second = told.splitlines()[:2]
        assert first == f"2d-sw-sw: all-reduce, 100 MB, {row[1]} chunks, exclusive, 1024 NPUs"
        assert second.startswith("auto: makespan ")

    equal = themis_opt_command("solve", "2d-sw-sw", "--chunks", "auto:2", "--time-limit", "2s").stdout
    assert "100 MB, 1 to 2 chunks of equal size, exclusive" in equal.splitlines()[0]


def test_compare_refers_every_row_to_its_own_bound_where_the_number_is_free(themis_opt_command: CommandLine) -> None:
    done = themis_opt_command(
        "compare", "2d-sw-sw", "--chunks", "auto:2", "--schedulers", "baseline", "--time-limit", "2s"
    )
    lines = sentences_of(done.stdout)
    assert "1 to 2 chunks of equal size" in lines[0]
    assert not any(line.startswith("bound ") and "64" in line for line in lines)
    assert "gap of baseline: to the bound for its own chunk sizes and count" in lines
    (over,) = [line for line in lines if line.startswith("speedup: over ")]
    assert over.startswith("speedup: over baseline-best with ")
    assert over.endswith(", the best of baseline-best, flat-ring and double-binary-tree")


def test_free_sizes_have_their_own_heading_and_bound(themis_opt_command: CommandLine) -> None:
    lines = sentences_of(
        themis_opt_command("solve", "2d-sw-sw", "--sizes", "free", "--chunks", "2", "--time-limit", "2s").stdout
    )
    assert "100 MB, 2 chunks of any size, exclusive" in lines[0]
    assert any(line.startswith("bound ") and "for exactly 2 chunks of any size)" in line for line in lines)
    assert not any(line.startswith("gap of ") for line in lines)


def test_headings_tell_overheads_apart(themis_opt_command: CommandLine) -> None:
    done = themis_opt_command(
        "compare",
        "2d-sw-sw",
        "--chunks",
        "2",
        "--chunk-overhead",
        "0s,5us,5.000001us",
        "--schedulers",
        "baseline",
        "--solver",
        "none",
    )
    heads = [line for line in sentences_of(done.stdout) if line.startswith("2d-sw-sw: ")]
    assert [head.split("MB, ")[1] for head in heads] == [
        "2 chunks, exclusive, 1024 NPUs",
        "2 chunks, 5 us overhead each, exclusive, 1024 NPUs",
        "2 chunks, 5.000001 us overhead each, exclusive, 1024 NPUs",
    ]
    assert (
        "5 us overhead each"
        in themis_opt_command("explain", "2d-sw-sw", "--chunks", "2", "--chunk-overhead", "5us").stdout
    )


@pytest.mark.parametrize("choice", [("--sizes", "free"), ("--chunks", "auto:4")])
def test_without_a_solver_there_is_nothing_to_choose(choice: tuple[str, str], themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("compare", "2d-sw-sw", "--solver", "none", *choice)
    assert done.returncode == 2
    assert done.stderr.startswith("error: --sizes free and --chunks auto are for a solver to choose, and --solver none")
    assert "Traceback" not in done.stderr


def test_a_missing_argument_lists_the_choices_on_its_line(themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("list")
    assert done.returncode == 2
    first = done.stderr.splitlines()[0]
    assert first.endswith("Choose from: networks, instances, schedulers, solvers")
    assert "\\t" not in done.stderr


@pytest.mark.parametrize(
    ("verb", "chooses"),
    [
        ("solve", True),
        ("compare", True),
        ("explain", False),
        ("bound", False),
        ("simulate", False),
        ("describe", False),
    ],
)
def test_only_verbs_with_a_solver_offer_to_choose(verb: str, chooses: bool, themis_opt_command: CommandLine) -> None:
    text = " ".join(themis_opt_command(verb, "--help").stdout.split())
    assert ("auto[:MAX] lets the solver choose" in text) is chooses
    assert ("Stop so near the bound; with --chunks auto, the one over all numbers." in text) is chooses


# The file's network has 4 + 2 NPUs; each change of the other one is the only difference, or the first.
@pytest.mark.parametrize(
    ("dimension", "fields", "difference"),
    [
        ("reduction_bandwidth: 1 TB/s", "", "network dim2 reduction bandwidth: the file has none, the instance 1 TB/s"),
        ("", "size: 1 MB", "size: the file has 100000000 bytes, the instance 1000000 bytes"),
        ("", "collective: all-gather", "collective: the file has all-reduce, the instance all-gather"),
        ("", "occupancy: pipelined", "occupancy: the file has exclusive, the instance pipelined"),
        ("", "dimensions: [1]", "dimensions that take part: the file has dim1+dim2, the instance dim2"),
        ("", "chunk_overhead: 5 us", "chunk overhead: the file has 0 ps, the instance 5.0000 us"),
        (
            "latency: 1.00000000001 s",
            "",
            "network dim2 latency: the file has 1000000000000, the instance 1000000000010",
        ),
    ],
)
def test_a_schedule_for_another_instance_names_the_difference(
    dimension: str, fields: str, difference: str, tmp_path: Path, themis_opt_command: CommandLine
) -> None:
    def write(name: str, second: str, fields: str) -> None:
        latency = "" if "latency" in second else ", latency: 1 s"
        (tmp_path / name).write_text(
            "format: themis-opt/instance/1\nnetwork:\n  name: pair\n  dimensions:\n"
            "    - {topology: ring, size: 4, bandwidth: 1 TB/s, latency: 0 s}\n"
            f"    - {{topology: ring, size: 2, bandwidth: 1 TB/s{latency}{', ' if second else ''}{second}}}\n{fields}\n"
        )

    write("mine.yaml", "", "")
    write("other.yaml", dimension, fields)
    assert themis_opt_command("simulate", "mine.yaml", "--chunks", "2", "-o", "mine.json").returncode == 0
    judged = themis_opt_command("validate", "mine.json", "--instance", "other.yaml")
    assert judged.returncode == 2
    assert judged.stderr.startswith(
        f"error: mine.json: is a schedule for another instance than other.yaml ({difference})"
    )
    compared = themis_opt_command("compare", "other.yaml", "mine.json", "--solver", "none")
    assert compared.returncode == 2
    assert compared.stderr.startswith(f"error: mine.json: is a schedule for another instance ({difference}); compare")


BOUND = "bound 707.53 us (assignment-float; for exactly 3 chunks of equal size); certified 641.14 us"


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        (BOUND, 91, [BOUND]),
        (BOUND, 80, [BOUND[:71], "  certified 641.14 us"]),
        ("at most 3 % above 9 us (fluid; for 7 chunks)", 30, ["at most 3 % above 9 us", "  (fluid; for 7 chunks)"]),
        ("takes 14.6 us and dim1 3/4 more", 17, ["takes 14.6 us and", "  dim1 3/4 more"]),
        ("takes 14.6 us more", 10, ["takes", "  14.6 us", "  more"]),
        ("x" * 20, 10, ["x" * 20]),
        ("one\ntwo", 10, ["one", "two"]),
    ],
)
def test_sentences_wrap(text: str, width: int, lines: list[str]) -> None:
    assert wrapped(text, width) == lines


@pytest.mark.parametrize("network", ["3d-fc-ring-sw", "hgx-h100-256"])
def test_sentences_fit_where_there_is_no_terminal(network: str, themis_opt_command: CommandLine) -> None:
    told = themis_opt_command("describe", network).stdout + themis_opt_command("bound", network).stdout
    assert [line for line in told.splitlines() if len(line) > 80 and "; holds dim" not in line] == []
