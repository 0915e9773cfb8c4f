"""The version is told in one voice, and with everything a result depends on when asked."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml

import themis_opt
from themis_opt.cli.main import run

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").is_file())


def test_the_version_is_the_same_wherever_it_stands() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert project["version"] == themis_opt.__version__ == citation["version"]
    assert f"## {themis_opt.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("arguments", [["--version", "--verbose"], ["--verbose", "--version"]])
def test_a_bug_report_names_every_dependency_and_plug_in(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"themis-opt {themis_opt.__version__}"
    names = {line.split()[0].lower() for line in told}
    wanted = {"python", "numpy", "ortools", "highspy", "pulp", "numba", "networkx", "matplotlib", "plotly"}
    assert wanted <= names
    assert [line.split()[1] for line in told if line.startswith("solver ")] == ["auto", "cp-sat", "milp"]
    assert any(line.startswith("matplotlib ") and line.endswith("(extra plot)") for line in told)


def test_version_alone_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"themis-opt, version {themis_opt.__version__}\n"


def test_verbose_without_version_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--verbose", "list", "networks"]) == 2
    assert "--verbose: goes with --version" in capsys.readouterr().err
