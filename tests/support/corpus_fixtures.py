"""Fixtures of the tests of the corpus: the script's modules, and a folder with one tiny instance.

A file that wants them names this module in `pytest_plugins`; importing it as well would keep pytest from rewriting it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from corpus_kit import ROOT, TINY

MODULES = ("proofs", "records", "solves", "corpus")


@pytest.fixture(scope="module")
def modules() -> Iterator[SimpleNamespace]:
    """The script and what it imports, as modules: importing them runs nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        for name in MODULES:
            patch.delitem(sys.modules, name, raising=False)
        loaded: dict[str, ModuleType] = {name: import_module(name) for name in MODULES}
        yield SimpleNamespace(**loaded)
        for name in MODULES:
            del sys.modules[name]


@pytest.fixture(scope="module")
def entries(modules: SimpleNamespace) -> list[Any]:
    return modules.records.load_corpus()


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    (folder / "records").mkdir(parents=True)
    (folder / "tiny.yaml").write_text(TINY)
    return folder
