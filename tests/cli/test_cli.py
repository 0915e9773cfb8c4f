"""The command line, verb by verb, as a user runs it."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine

from themis_opt.files.schedule_file import load_schedule

SMALL = ["2d-sw-sw", "--chunks", "2"]


@pytest.fixture
def schedule_file(tmp_path: Path, themis_opt_command: CommandLine) -> Path:
    """A schedule file with all stage times."""
    done = themis_opt_command("simulate", "2d-sw-sw", "--chunks", "4", "-o", "mine.json")
    assert done.returncode == 0, done.stderr
    return tmp_path / "mine.json"


def read_json(text: str) -> Any:
    return json.loads(text)


def sentences_of(text: str) -> list[str]:
    """Return the lines as they were before they were wrapped."""
    return re.sub(r"\n  (?=\S)", " ", text).splitlines()


def test_compare_prints_a_table_that_fits_80_columns(themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("compare", *SMALL, "--evaluations", "1000000", "--time-limit", "60s")
    assert done.returncode == 0
    assert done.stderr == ""  # no progress where nobody watches
    lines = done.stdout.splitlines()
    table = [
        line for line in lines if line.split() and line.split()[0] in ("baseline", "themis-best", "auto-equal", "auto")
    ]
    assert len(table) == 4
    assert all(len(line) <= 80 for line in table)
    assert "optimal" in table[-2]
    assert all(len(line) <= 80 for line in lines)
    sentences = sentences_of(done.stdout)
    assert any(line.startswith("auto: at most ") and "1 to 16 chunks of any size" in line for line in sentences)
    assert any(line.startswith("bound ") and "exactly 2 chunks of equal size" in line for line in sentences)
    assert any(line.startswith("ideal ") for line in lines)
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("verb", [(), ("import",)])
def test_without_arguments_the_whole_help_is_shown(verb: tuple[str, ...], themis_opt_command: CommandLine) -> None:
    done = themis_opt_command(*verb)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == themis_opt_command(*verb, "--help").stdout.strip()


def test_compare_json_has_what_the_format_promises(themis_opt_command: CommandLine) -> None:
    done = themis_opt_command(
        "compare", "2d-sw-sw", "3d-fc-ring-sw", "--chunks", "2,8", "--schedulers", "themis-flex-scf,baseline",
        "--solver", "none", "--json", "-",
    )  # fmt: skip
    document = read_json(done.stdout)
    assert document["format"] == "themis-opt/comparison/2"
    assert {"options", "seed", "versions", "machine", "runs"} <= set(document)
    assert [(run["network"], run["num_chunks"]) for run in document["runs"]] == [
        ("2d-sw-sw", 2),
        ("2d-sw-sw", 8),
        ("3d-fc-ring-sw", 2),
        ("3d-fc-ring-sw", 8),
    ]
    for run in document["runs"]:
        assert [row["scheduler"] for row in run["results"]] == ["themis-flex-scf", "baseline"]
        for row in run["results"]:
            assert row["gap"] == pytest.approx(row["makespan_ps"] / row["bound_ps"] - 1)
            assert row["bound_ps"] <= row["makespan_ps"]
            assert len(row["per_dimension"]) == (2 if run["network"].startswith("2d") else 3)
        baseline = run["results"][1]
        assert (baseline["sizes"], baseline["num_chunks"]) == ("equal", run["num_chunks"])
        assert (run["reference"], run["reference_name"]) == ("best-of-others", "baseline-best")
        assert baseline["speedup"] == run["reference_ps"] / baseline["makespan_ps"] <= 1
        assert baseline["bound_ps"] == run["bound_ps"]
        assert run["chunk_overhead_ps"] == 0


def test_compare_several_instances_prints_means(themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("compare", "2d-sw-sw", "--size", "10MB,100MB", "--solver", "none")
    assert "over 2 instances" in done.stdout
    assert "geo-mean speedup" in done.stdout


def test_ones_own_schedule_is_a_row(themis_opt_command: CommandLine, schedule_file: Path) -> None:
    done = themis_opt_command(
        "compare", "2d-sw-sw", schedule_file.name, "--chunks", "8", "--solver", "none", "--json", "-"
    )
    (run,) = read_json(done.stdout)["runs"]
    mine = run["results"][-1]
    assert (mine["scheduler"], mine["num_chunks"], mine["status"]) == ("mine.json", 4, "heuristic")
    assert run["num_chunks"] == 8
    alone = themis_opt_command("compare", schedule_file.name, "--solver", "none", "--json", "-")
    assert read_json(alone.stdout)["runs"][0]["results"][-1]["scheduler"] == "mine.json"


def test_a_solvers_schedule_is_no_heuristics_row(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    """Beside the quick bounds its claim to be optimal is not proved again; a heuristic has not made it all the same."""
    themis_opt_command("solve", "2d-sw-sw", "--chunks", "2", "--time-limit", "20s", "-o", "best.json")
    assert json.loads((tmp_path / "best.json").read_text())["status"] == "optimal"
    done = themis_opt_command("compare", "2d-sw-sw", "best.json", "--chunks", "2", "--solver", "none", "--json", "-")
    assert read_json(done.stdout)["runs"][0]["results"][-1]["status"] == "feasible"


def test_solve_writes_a_schedule_that_validates(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("solve", *SMALL, "--time-limit", "20s", "-o", "best.json", "--json", "figures.json")
    assert done.returncode == 0
    schedule = load_schedule(tmp_path / "best.json")
    assert schedule.status == "optimal"
    assert schedule.bound is not None
    assert schedule.bound.certificate is not None
    figures = read_json((tmp_path / "figures.json").read_text())
    assert [row["scheduler"] for row in figures["runs"][0]["results"]] == ["auto"]
    judged = themis_opt_command("validate", "--execute", "best.json")
    assert judged.returncode == 0
    assert "best.json: valid: 2 chunks" in judged.stdout
    assert "on the word of cp-sat (re-proved: " in judged.stdout
    assert "1024 NPUs executed to the exact result" in judged.stdout


def test_output_to_stdout_is_only_the_schedule(themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("solve", *SMALL, "--time-limit", "20s", "-o", "-")
    assert read_json(done.stdout)["format"] == "themis-opt/schedule/1"


def test_simulate_tells_times(themis_opt_command: CommandLine, schedule_file: Path) -> None:
    done = themis_opt_command("simulate", schedule_file.name, "--stages", "--json", "times.json")
    assert done.returncode == 0
    assert "dim1 switch" in done.stdout
    times = read_json((schedule_file.parent / "times.json").read_text())
    assert len(times["stages"]) == 4 * 4
    assert max(end for *_, end in times["stages"]) == times["makespan_ps"]
    for figures in times["per_dimension"]:
        idle = sum(end - start for start, end in figures["idle_gaps_ps"])
        assert figures["busy_ps"] + idle == times["makespan_ps"]


def test_a_false_claim_gives_exit_code_1(themis_opt_command: CommandLine, schedule_file: Path) -> None:
    data = read_json(schedule_file.read_text())
    data["makespan_ps"] -= 1
    data["stages"] = None
    schedule_file.write_text(json.dumps(data))
    done = themis_opt_command("validate", schedule_file.name)
    assert done.returncode == 1
    assert "mine.json: makespan:" in done.stdout
    assert themis_opt_command("compare", schedule_file.name).returncode == 1


def test_bound_prints_the_certificate(themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("bound", "3d-fc-ring-sw", "--solver", "none")
    assert done.returncode == 0
    assert "certificate: dim1" in done.stdout
    as_json = read_json(themis_opt_command("bound", "3d-fc-ring-sw", "--json", "-").stdout)
    kinds = [bound["kind"] for bound in as_json["bounds"]]
    assert kinds == ["fluid", "critical-path", "assignment-float"]
    assert as_json["best"]["value_ps"] == max(bound["value_ps"] for bound in as_json["bounds"])


def test_describe_puts_numbers_into_the_formula(themis_opt_command: CommandLine) -> None:
    # 100 MB in 8 chunks of 12.5 MB. Reduce-Scatter on 8 fully connected NPUs sends 7/8 of it at 175 GB/s: 62.5 us, and
    # one step of 700 ns.
    done = themis_opt_command("describe", "3d-fc-ring-sw", "--chunks", "8")
    assert done.returncode == 0
    assert "1 step x 700.00 ns + 10937500 B / 175 GB/s = 700000 ps + 62500000 ps = 63200000 ps" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if line.startswith("dim") and "  " in line)


@pytest.mark.parametrize("what", ["networks", "instances", "schedulers", "solvers"])
def test_list(what: str, themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("list", what)
    assert done.returncode == 0
    name = {"networks": "2d-sw-sw", "instances": "figure-5", "schedulers": "themis-scf", "solvers": "cp-sat"}[what]
    assert any(line.split()[:1] == [name] for line in done.stdout.splitlines())


@pytest.mark.parametrize("what", ["networks", "instances", "schedulers", "solvers"])
def test_list_as_json(what: str, tmp_path: Path, themis_opt_command: CommandLine) -> None:
    done = themis_opt_command("list", what, "--json", "-")
    document = read_json(done.stdout)
    assert (done.returncode, document["format"], document["what"]) == (0, "themis-opt/list/1", what)
    entries = {entry["name"]: entry for entry in document["entries"]}
    if what == "networks":
        sizes = [(dimension["topology"], dimension["size"]) for dimension in entries["2d-sw-sw"]["dimensions"]]
        assert (entries["2d-sw-sw"]["num_npus"], sizes) == (1024, [("switch", 16), ("switch", 64)])
    elif what == "instances":
        figure_5 = entries["figure-5"]
        assert (figure_5["collective"], figure_5["size_bytes"], figure_5["num_chunks"]) == (
            "all-reduce",
            256 * 10**6,
            4,
        )
        assert (figure_5["dimensions"], figure_5["occupancy"]) == ([0, 1], "exclusive")
    else:
        assert all(entry["loads"] and entry["summary"] for entry in entries.values())
    beside = themis_opt_command("list", what, "--json", "list.json")
    assert read_json((tmp_path / "list.json").read_text()) == document
    assert beside.stdout == themis_opt_command("list", what).stdout


def test_describe_as_json(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    # The numbers of the test above; in base units, whole where they are whole.
    done = themis_opt_command("describe", "3d-fc-ring-sw", "--chunks", "8", "--dimensions", "0,2", "--json", "-")
    document = read_json(done.stdout)
    assert (document["format"], document["num_npus"]) == ("themis-opt/description/1", 64)
    first = document["dimensions"][0]
    assert (first["bandwidth_Bps"], first["latency_ps"], first["num_steps"]) == (175 * 10**9, 700_000, 1)
    assert [dimension["involved"] for dimension in document["dimensions"]] == [True, False, True]
    # 2 · S · (1 - 1/64) bytes over 175 + 50 GB/s.
    assert (document["sent_bytes"], document["bandwidth_Bps"]) == (196_875_000, 225 * 10**9)
    assert document["ideal_ps"] == pytest.approx(875_000_000)
    stage = document["first_stages"][0]
    assert (stage["phase"], stage["dimension"], stage["sent_bytes"]) == ("rs", 0, 10_937_500)
    assert (stage["latency_ps"], stage["transfer_ps"], stage["duration_ps"]) == (700_000, 62_500_000, 63_200_000)
    beside = themis_opt_command("describe", "3d-fc-ring-sw", "--json", "it.json")
    assert read_json((tmp_path / "it.json").read_text())["num_chunks"] == 64
    assert beside.stdout == themis_opt_command("describe", "3d-fc-ring-sw").stdout


def test_validate_as_json(tmp_path: Path, themis_opt_command: CommandLine, schedule_file: Path) -> None:
    """One true file, one false one and one that is none: all are in the document, and the exit code is as without."""
    good = read_json(schedule_file.read_text())
    (tmp_path / "false.json").write_text(json.dumps({**good, "makespan_ps": good["makespan_ps"] - 1}))
    (tmp_path / "none.json").write_text("{}")

    done = themis_opt_command("validate", "mine.json", "--execute", "--json", "-")
    document = read_json(done.stdout)
    assert (done.returncode, document["format"]) == (0, "themis-opt/validation/1")
    (only,) = document["schedules"]
    assert (only["valid"], only["violations"], only["error"]) == (True, [], None)
    assert (only["num_chunks"], only["makespan_ps"], only["num_executed_npus"]) == (4, good["makespan_ps"], 1024)

    done = themis_opt_command("validate", "mine.json", "false.json", "--json", "judged.json")
    assert done.returncode == 1
    assert done.stdout == themis_opt_command("validate", "mine.json", "false.json").stdout
    judged = read_json((tmp_path / "judged.json").read_text())["schedules"]
    assert [entry["valid"] for entry in judged] == [True, False]
    assert [violation["rule"] for violation in judged[1]["violations"]] == ["makespan"]

    done = themis_opt_command("validate", "none.json", "false.json", "--json", "-")
    assert done.returncode == 2
    first, second = read_json(done.stdout)["schedules"]
    assert first["error"].startswith("none.json: format: is missing")
    assert (first["valid"], first["makespan_ps"], second["valid"]) == (False, None, False)
    assert done.stderr.startswith("error: none.json: format: is missing")


def test_several_sets_of_dimensions_cross_with_the_other_options(themis_opt_command: CommandLine) -> None:
    done = themis_opt_command(
        "compare", "3d-fc-ring-sw", "--dimensions", "0,1", "--dimensions", "2", "--chunks", "1,2",
        "--schedulers", "baseline", "--solver", "none", "--json", "-",
    )  # fmt: skip
    runs = read_json(done.stdout)["runs"]
    assert {(tuple(run["dimensions"]), run["num_chunks"]) for run in runs} == {
        ((0, 1), 1),
        ((0, 1), 2),
        ((2,), 1),
        ((2,), 2),
    }
    assert "repeat it" in themis_opt_command("compare", "--help").stdout


def test_a_column_of_a_table_has_one_unit(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    # With 8 chunks 862.6 us and with 64 chunks 1.9 ms: side by side both are milliseconds.
    done = themis_opt_command("compare", "3d-fc-ring-sw", "--solver", "none")
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("baseline", "themis-"))]
    assert [row[3] for row in rows] == ["ms"] * 4
    done = themis_opt_command("describe", "3d-fc-ring-sw")
    table = [line.split() for line in done.stdout.splitlines() if line.startswith("dim") and " direct " in line]
    assert table[0][-4:] == ["175", "GB/s", "0.7", "us"]


def test_a_long_name_is_told_below_a_table_of_80_columns(
    tmp_path: Path, themis_opt_command: CommandLine, schedule_file: Path
) -> None:
    name = "a-schedule-with-a-name-of-some-length.json"
    schedule_file.rename(tmp_path / name)
    done = themis_opt_command("compare", "2d-sw-sw", name, "--chunks", "4", "--solver", "none", "--schedulers", "all")
    lines = done.stdout.splitlines()
    (row,) = [line for line in lines if line.startswith("...me-length.json ") and " is " not in line]
    assert len(row) <= 80
    assert f"...me-length.json is {name}" in lines


@pytest.mark.parametrize("kind", ["network", "instance", "schedule"])
def test_schema(kind: str, themis_opt_command: CommandLine) -> None:
    assert read_json(themis_opt_command("schema", kind).stdout)["title"] == f"themis-opt/{kind}/1"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopping_saves_the_incumbent(number: signal.Signals, code: int, tmp_path: Path) -> None:
    """A signal in the middle of a long search: the schedule so far is saved whole, and the exit code tells."""
    main, side = pty.openpty()  # a terminal on stderr, to see when the search is on
    process = subprocess.Popen(
        [sys.executable, "-m", "themis_opt", "solve", "4d-ring-sw-sw-sw", "--chunks", "8", "--time-limit", "300s",
         "-o", "best.json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=side,
        text=True,
    )  # fmt: skip
    os.close(side)
    seen = b""
    deadline = time.monotonic() + 60
    while b"  search" not in seen and time.monotonic() < deadline:
        seen += os.read(main, 4096)
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    os.close(main)
    assert process.returncode == code, out
    schedule = load_schedule(tmp_path / "best.json")
    assert schedule.num_chunks == 8
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["best.json"]


def test_progress_shows_incumbent_bound_and_gap(tmp_path: Path) -> None:
    main, side = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "themis_opt", "solve", "4d-ring-sw-sw-sw", "--chunks", "3", "--time-limit", "5s"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=side,
    )
    os.close(side)
    seen = b""
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:  # the other end of a pseudo-terminal has closed
            break
        if not part:
            break
        seen += part
    process.wait(timeout=30)
    os.close(main)
    text = seen.decode(errors="replace")
    assert "incumbent" in text
    assert "bound" in text
    assert "gap" in text


def test_a_closed_stdout_is_no_traceback(tmp_path: Path) -> None:
    command = f"{sys.executable} -m themis_opt list networks >&-"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_broken_pipe_is_no_traceback(tmp_path: Path) -> None:
    command = f"{sys.executable} -m themis_opt simulate 2d-sw-sw --stages | head -n 1"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, check=True)
    assert done.stderr == b""


def test_a_signal_while_saving_waits_until_all_is_saved(tmp_path: Path) -> None:
    """The signals come from within: one when the solver is done, and one in the middle of writing."""
    program = """
import os, signal, sys
from themis_opt.cli.main import run
from themis_opt.files import atomic
from themis_opt.solving.incumbent import Incumbent
result, write = Incumbent.result, atomic._write
def interrupted_result(*arguments):
    os.kill(os.getpid(), signal.SIGTERM)
    return result(*arguments)
def interrupted_write(*arguments):
    os.kill(os.getpid(), signal.SIGINT)
    write(*arguments)
Incumbent.result, atomic._write = interrupted_result, interrupted_write
sys.exit(run(["solve", "2d-sw-sw", "--chunks", "1", "-o", "best.json"]))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (143, "")
    assert load_schedule(tmp_path / "best.json").num_chunks == 1


def test_a_signal_between_runs_keeps_those_that_are_done(tmp_path: Path) -> None:
    program = """
import os, signal, sys
from themis_opt.questions import comparison
from themis_opt.cli.main import run
run_solver, calls = comparison.run_solver, []
def interrupted(*arguments):
    if calls:
        os.kill(os.getpid(), signal.SIGINT)
    calls.append(1)
    return run_solver(*arguments)
comparison.run_solver = interrupted
sys.exit(run(["compare", "2d-sw-sw", "--chunks", "1,2", "--solver", "cp-sat", "--json", "runs.json"]))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 130, done.stderr
    assert [run["num_chunks"] for run in json.loads((tmp_path / "runs.json").read_text())["runs"]] == [1]


def test_makespans_of_nothing_have_no_speedup_to_average(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    (tmp_path / "instant.yaml").write_text(
        "format: themis-opt/network/1\nname: instant\ndimensions:\n"
        "  - {topology: ring, size: 2, bandwidth: 1 TB/s, latency: 0 s}\n"
        "  - {topology: ring, size: 3, bandwidth: 1 TB/s, latency: 0 s}\n"
    )
    done = themis_opt_command(
        "compare", "instant.yaml", "--size", "1B", "--chunks", "1", "--solver", "none", "--schedulers", "all",
        "--collective", "all-reduce,reduce-scatter",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    # For one byte 'random' takes 2 ps and the baseline nothing: a speedup of 0, and infinitely far from a bound of 0.
    assert [
        line for line in done.stdout.splitlines() if line.startswith("random ") and "0.00x" in line and " inf " in line
    ]
    figures = themis_opt_command(
        "compare", "instant.yaml", "--size", "1B", "--chunks", "1", "--solver", "none", "--schedulers", "random",
        "--json", "-",
    )  # fmt: skip
    (result,) = json.loads(figures.stdout)["runs"][0]["results"]
    assert (result["makespan_ps"], result["speedup"], result["gap"]) == (2, 0.0, None)
    for verb in ("simulate", "bound", "explain", "describe", "solve"):
        assert themis_opt_command(verb, "instant.yaml", "--size", "1B", "--chunks", "1").returncode == 0


def test_one_npu_has_nothing_to_communicate(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    (tmp_path / "one.yaml").write_text(
        "format: themis-opt/network/1\nname: one\ndimensions:\n"
        "  - {topology: ring, size: 1, bandwidth: 1 TB/s, latency: 0 s}\n"
    )
    done = themis_opt_command("compare", "one.yaml", "--solver", "none")
    assert done.returncode == 2
    assert done.stderr.startswith("error: one.yaml: network 'one' has no involved dimension with more than one NPU")


def test_what_is_written_can_be_read_however_long_its_numbers(tmp_path: Path, themis_opt_command: CommandLine) -> None:
    (tmp_path / "long.yaml").write_text(
        "format: themis-opt/network/1\nname: long\ndimensions:\n"
        f"  - {{topology: ring, size: 2, bandwidth: 1.{'123456789' * 7} GB/s, latency: 1 us}}\n"
    )
    assert themis_opt_command("simulate", "long.yaml", "-o", "long.json").returncode == 0
    assert themis_opt_command("validate", "long.json").returncode == 0
