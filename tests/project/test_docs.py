"""The examples in README and docs/ run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from themis_opt.files.documents import InstanceFile, NetworkFile, StudyFile
from themis_opt.files.instance_file import instance_from_data
from themis_opt.files.strict import decode
from themis_opt.files.strict_yaml import parse_yaml
from themis_opt.studies.planning import plan
from themis_opt.studies.study_file import study_from_document

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page are one program, run in an empty folder."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "example"}
    for block in blocks(page, "python"):
        exec(compile(block, page.name, "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_file_examples_are_valid(page: Path) -> None:
    for block in blocks(page, "yaml"):
        data = yaml.safe_load(block)
        if "study/1" in data["format"]:
            assert plan(study_from_document(decode(parse_yaml(block), StudyFile), block, ROOT, "example"))
            continue
        kind = NetworkFile if "network/1" in data["format"] else InstanceFile
        decode(data, kind)
        instance_from_data(data, "example.yaml")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
