"""The solver `auto` beside what people run: a ring and a tree through all NPUs, the baseline and Themis at their best.

All-Reduce under exclusive occupancy on two networks of Table 2, on GPU servers and on a torus, 64 KB to 4 GB. `auto`
chooses 1 to 16 chunks of any size; the baseline and Themis take the best of 1, 2, 4 ... 512 equal chunks; ring and tree
are predicted by formulas (docs/formulation.md). Exits 1 where `auto` is slower than the baseline or Themis on average.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from math import inf

from checks import Check, report

from themis_opt.files.network_file import load_network
from themis_opt.problem.bound import Sizing
from themis_opt.problem.chunking import ChunkingChoice
from themis_opt.problem.instance import Instance
from themis_opt.problem.units import format_size, format_time, parse_size
from themis_opt.questions.comparison import compare
from themis_opt.timing.metrics import geometric_mean

NETWORKS = ("3d-fc-ring-sw", "4d-ring-sw-sw-sw", "hgx-h100-256", "tpu-v4-4096")
SIZES = ("64KB", "256KB", "1MB", "4MB", "16MB", "64MB", "256MB", "1GB", "4GB")
OTHERS = ("flat-ring", "double-binary-tree", "baseline-best", "themis-best")
MAX_CHUNKS = 16


def speedups(network: str, time_limit_s: float) -> Iterator[dict[str, float]]:
    """Print a line for each size, and yield what `auto` gains there: over each of the others, and the best not ours."""
    print(f"\n{network}\n")
    headings = ["size", "`auto` (chunks)", *(f"`{name}`" for name in OTHERS), "best of others"]
    print(f"| {' | '.join(headings)} |\n|{'---|' * len(headings)}", flush=True)
    instances = [Instance(load_network(network), size_bytes=parse_size(size)) for size in SIZES]
    choices = {"auto": ChunkingChoice(Sizing.FREE, MAX_CHUNKS)}
    for run in compare(instances, schedulers=OTHERS, solver="auto", choices=choices, time_limit_s=time_limit_s):
        *made, ours = run.rows
        gains = {row.name: row.makespan_ps / ours.makespan_ps for row in (*run.predictions, *made)}
        chunks = {row.name: f" ({row.schedule.num_chunks})" for row in made}
        cells = [f"{gains[name]:.2f}{chunks.get(name, '')}" for name in OTHERS]
        ours_text = f"{format_time(ours.makespan_ps)} ({ours.schedule.num_chunks})"
        best = f"{ours.speedup:.2f} ({run.reference.name})"
        print(f"| {' | '.join([format_size(run.instance.size_bytes), ours_text, *cells, best])} |", flush=True)
        yield {**gains, "best of others": ours.speedup}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=NETWORKS, metavar="NETWORK")
    parser.add_argument("--time-limit", type=float, default=5.0, metavar="SECONDS", help="per size (default 5)")
    options = parser.parse_args(arguments)
    checks = []
    for network in options.networks:
        gains = list(speedups(network, options.time_limit))
        for name in (*OTHERS, "best of others"):
            mean = geometric_mean([found[name] for found in gains])
            low = 1.0 if name in ("baseline-best", "themis-best") else -inf
            checks.append(Check(f"{network}: speedup over {name}", mean, low=low, unit="x", digits=3))
    print()
    return report(checks)


if __name__ == "__main__":
    sys.exit(main())
