"""How much faster two processes run a study than one: 2,000 points of heuristics and bounds, pool start excluded.

    python benchmarks/study_throughput.py [--repeats 3] [--least 1.6]

Runs alternate; the figure is the ratio of the medians. It exits with 1 when that is below `--least`.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median

from themis_opt.studies.local_engine import LocalEngine
from themis_opt.studies.reading_table import read_table
from themis_opt.studies.study_file import load_study
from themis_opt.studies.study_run import run_study

STUDY = Path(__file__).parent / "studies" / "two_thousand.yaml"


class ReadyEngine(LocalEngine):
    """A local engine whose processes have loaded everything before the clock starts."""

    def __enter__(self) -> ReadyEngine:
        super().__enter__()
        self.wait_until_ready()
        return self


def points_per_s(num_processes: int, path: Path) -> float:
    """Return the points per second of a run into a new file."""
    end = run_study(load_study(STUDY), path, lambda wanted: ReadyEngine(num_processes, wanted))
    assert end.num_done == end.num_points
    assert not end.num_failed
    return end.rate


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--least", type=float, default=1.6)
    arguments = parser.parse_args()
    rates: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(arguments.repeats):
            for num_processes, found in rates.items():
                path = Path(folder) / f"{repeat}-{num_processes}.db"
                found.append(points_per_s(num_processes, path))
                print(f"{num_processes} process(es): {found[-1]:.1f} points/s", flush=True)
        seconds = sorted(row.seconds or 0.0 for row in read_table(path).rows)
    print(f"seconds per point with two processes: least {seconds[0]:.4f}, median {median(seconds):.4f}")
    ratio = median(rates[2]) / median(rates[1])
    print(f"medians: {median(rates[1]):.1f} and {median(rates[2]):.1f} points/s")
    print(f"ratio {ratio:.2f}, at least {arguments.least} wanted")
    return int(ratio < arguments.least)


if __name__ == "__main__":
    raise SystemExit(main())
