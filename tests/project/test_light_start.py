"""Starting is cheap: nothing heavy is loaded before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numpy", "networkx", "numba", "pulp", "highspy", "ortools", "rich", "yaml", "msgspec")


def loaded_by(code: str) -> set[str]:
    """Return which heavy packages a fresh interpreter has loaded after running some code."""
    probe = f"{code}\nimport sys\nprint(*(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "code",
    [
        "import themis_opt",
        "from themis_opt.cli.main import run\nassert run(['--help']) == 0",
        "from themis_opt.cli.main import run\nassert run(['--version']) == 0",
        "from themis_opt.cli.main import run\nassert run(['compare', '--help']) == 0",
        "from themis_opt.cli.main import run\nassert run(['export', '--help']) == 0",
    ],
)
def test_nothing_heavy_is_loaded(code: str) -> None:
    assert loaded_by(code) == set()


def test_until_ctrl_c_is_handled_next_to_nothing_is_loaded() -> None:
    # An interruption before `main` runs is a traceback, so there must be no time for one.
    probe = "import sys\nbefore = set(sys.modules)\nimport themis_opt.cli.entry\nprint(*{*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    ours = {"themis_opt", "themis_opt.cli", "themis_opt.cli.entry"}
    assert ours <= set(done.stdout.split()) <= {*ours, "__future__"}


def test_heuristics_need_no_solver() -> None:
    code = "import themis_opt as t\nt.schedule(t.load_instance('2d-sw-sw'), 'themis-scf')"
    assert loaded_by(code) & {"pulp", "highspy", "ortools"} == set()


def test_the_probe_sees_what_is_loaded() -> None:
    assert loaded_by("import numpy") == {"numpy"}
