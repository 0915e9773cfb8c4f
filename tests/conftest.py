"""Fixtures that several test files share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

CommandLine = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def themis_opt_command(tmp_path: Path) -> CommandLine:
    """Run ``python -m themis_opt`` with some arguments in an empty folder, as a user would."""

    def run(*arguments: str | Path, timeout_s: float = 120.0) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "themis_opt", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=timeout_s,
            check=False,
        )

    return run
