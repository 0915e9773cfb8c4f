"""Fixtures that several test files share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A machine under load is slow without anything being wrong; and a red run must be red again when it is looked at.
settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

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
