"""The tutorial's commands, run as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from command_line import CommandLine

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial_astra_sim.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_from_an_astra_sim_configuration_to_an_optimal_custom_collective(
    themis_opt_command: CommandLine, tmp_path: Path
) -> None:
    (network,) = blocks("yml")
    (tmp_path / "pod.yml").write_text(network)
    commands = [shlex.split(line) for block in blocks("sh") for line in block.splitlines()]
    assert [command[:2] for command in commands] == [
        ["themis-opt", verb] for verb in ("import", "solve", "export", "validate")
    ]
    done = [themis_opt_command(*command[1:]) for command in commands]
    told = [" ".join(f"{run.stdout} {run.stderr}".split()) for run in done]
    for line in blocks("text")[0].splitlines():
        assert line in told[0]
    (speedup,) = re.findall(r"(\d\.\d\d)x", told[1])
    assert float(speedup) > 1.45  # over the baseline with its best number of chunks
    (cycles,) = re.findall(r"will report (\d+) cycles", told[2])
    assert f"sys[i] finished, {cycles} cycles" in (tmp_path / "replay" / "README.md").read_text()
    assert "every rank ends with every contribution exactly once" in told[3]
    assert f"makespan {cycles} ns by ASTRA-sim's rule" in told[3]
