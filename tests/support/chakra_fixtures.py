"""Fixtures of the tests that spoil folders of traces; a file that wants them names this module in `pytest_plugins`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from chakra_folders import right_folder


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is right."""
    return right_folder(tmp_path_factory.mktemp("right") / "x")


@pytest.fixture
def folder(right: Path, tmp_path: Path) -> Path:
    """A copy of it to spoil."""
    shutil.copytree(right, tmp_path / "x")
    return tmp_path / "x"
