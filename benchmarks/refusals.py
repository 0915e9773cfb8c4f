"""What it takes to refuse files that nobody could have meant: peak memory and processor seconds, up to the size limits.

Every file is judged by the command in a process of its own, one after the other.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from checks import Check, report

import themis_opt
from themis_opt.files.schedule_file import schedule_document

MAX_MB = 500.0
MAX_S = 5.0
MB = 2**20
SLOT = '[0, "rs"]'

_RUN = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "themis_opt", *sys.argv[1:]], capture_output=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime)
"""

Write = Callable[[], str]


def schedule(changes: dict[str, object], long_list: str = "", entries: str = "") -> str:
    """Return a schedule file of two chunks with some keys changed (``None``: dropped) and one list as given."""
    instance = themis_opt.Instance(themis_opt.load_network("2d-sw-sw"), size_bytes=1_000_000, num_chunks=2)
    data = {**schedule_document(themis_opt.schedule(instance, "baseline")), **changes}
    text = json.dumps({key: value for key, value in data.items() if value is not None and key != long_list})
    return f'{text[:-1]}, "{long_list}": [{entries}]}}' if long_list else text


def network(line: str) -> str:
    """Return a network file with a line of its own."""
    return f"format: themis-opt/network/1\nname: a\n{line}\n"


FILES: dict[str, tuple[str, str, Write]] = {
    "a word of 150 MB as format": ("validate", "a.json", lambda: f'{{"format": "{"x" * 150 * MB}"}}'),
    "as key": ("validate", "a.json", lambda: f'{{"format": "themis-opt/schedule/1", "{"x" * 150 * MB}": 1}}'),
    "as status": ("validate", "a.json", lambda: schedule({"status": "x" * 150 * MB})),
    "a number of 100 million digits": ("validate", "a.json", lambda: f'{{"makespan_ps": {"9" * 100 * MB}}}'),
    "lists in each other, 2 million deep": ("validate", "a.json", lambda: "[" * 2 * 10**6),
    "190,000 chunks and no instance": (
        "validate",
        "a.json",
        lambda: schedule({"instance": None}, "chunks", ",".join(['{"size_bytes": 1}'] * 190_000)),
    ),
    "4 million slots under an unknown key": (
        "validate",
        "a.json",
        lambda: schedule({}, "sequence", f"[{','.join(['[0,1]'] * 4 * 10**6)}]"),
    ),
    "4 million slots of 2 chunks": (
        "validate",
        "a.json",
        lambda: schedule({}, "sequences", f"[{','.join([SLOT] * 4 * 10**6)}]"),
    ),
    "a network's name of 2 MB": ("describe", "a.yaml", lambda: network(f"{'x' * (2 * MB - 100)}: 1")),
    "70,000 dimensions without a bandwidth": (
        "describe",
        "a.yaml",
        lambda: network("dimensions:\n" + "- {topology: ring, size: 4}\n" * 70_000),
    ),
    "an alias of aliases": (
        "describe",
        "a.yaml",
        lambda: network("\n".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 40))),
    ),
    "an XML name of 30 MB": ("validate", "a.xml", lambda: f'<algo name="{"x" * 30 * MB}"></algo>'),
}


def measure(verb: str, path: Path) -> tuple[float, float]:
    """Return the peak memory [MB] and processor seconds of a verb that refuses a file."""
    done = subprocess.run([sys.executable, "-c", _RUN, verb, str(path)], capture_output=True, text=True, check=True)
    code, peak_mb, seconds = map(float, done.stdout.split())
    if code not in (1, 2):
        raise RuntimeError(f"{path}: exit code {code:g}; this file was to be refused")
    return peak_mb, seconds


def main() -> int:
    """Print the table; return 1 when a limit is missed."""
    checks = []
    with tempfile.TemporaryDirectory() as folder:
        for what, (verb, name, write) in FILES.items():
            path = Path(folder) / name
            path.write_text(write())
            peak_mb, seconds = measure(verb, path)
            checks += [
                Check(what, peak_mb, high=MAX_MB, unit="MB", digits=0),
                Check("", seconds, high=MAX_S, unit="s", digits=1),
            ]
    return report(checks)


if __name__ == "__main__":
    sys.exit(main())
