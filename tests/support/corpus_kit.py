"""What the tests of the corpus share: a tiny instance, worked out by hand, and what to demand of a record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from themis_opt.problem.bound import Bound
from themis_opt.solving.bounds import best_bound, bound_over_counts, quick_bounds

ROOT = Path(__file__).parents[2]

TINY = """\
format: themis-opt/instance/1
network: 2d-figure-5
collective: all-reduce
size: 256 MB
chunks: 2
"""
# Two chunks of 128 MB on the network of Figure 5. A chunk of 128 MB whole on dim1 takes 2 ms there and then a quarter
# of it 1 ms on dim2 (half the bandwidth). Both phases: 2 + 1 + 1 + 2 = 6 ms, the shortest path of one chunk; begun on
# dim2 it is 4 + 0.5 + 0.5 + 4 = 9 ms.
TINY_PATH_PS = 6 * 10**9

# The baseline: chunk 0 and 1 begin on dim1, 2 ms each; on dim2 0 runs from 2 to 3 and 1 from 4 to 5 (RS), and then
# their AG on dim2 for 1 ms each: 0 from 3 to 4, before 1 comes; 1 from 5 to 6. On dim1 2 ms each: 0 from 4 to 6,
# 1 from 6 to 8.
BASELINE_PS = 8 * 10**9

GOOD = """format: themis-opt/record/1
best:
  status: feasible
  num_chunks: 2
  makespan_ps: 8000000000
  found: {solver: auto, version: 0.1.0, seed: 0, workers: 2, time: 6.0 s, date: '2026-01-31'}
  proof:
    bound_ps: 6000000000
    kind: critical-path
    certificate: [1/1, 0/1]
    certified_ps: 2000000000
    proved: {solver: auto, version: 0.1.0, seed: 0, workers: 2, time: 6.0 s, date: '2026-01-31'}
"""
# All weight on dim1: each phase of each chunk has at least a quarter of its 2 ms there, 4 x 0.5 ms.


TOLERANCE = 1e-6
"""Another release of the LP solver may find other weights, worth a little less."""


def disagreements(entry: Any) -> list[str]:
    """Return what in a record cannot be, or is less than what costs milliseconds to prove."""
    record, found = entry.record, []
    own_ps = quick_ps(entry, record.num_chunks)
    if own_ps > record.makespan_ps:
        found.append("makespan")
    if not own_ps * (1 - TOLERANCE) <= record.proof.bound_ps:
        found.append("bound too low")
    if record.proof.searchless_ps > own_ps * (1 + TOLERANCE):
        found.append("bound too high")
    if record.proof_any is not None:
        over_ps = bound_over_counts(entry.instance, entry.chunking, lambda count: quick(entry, count)).value_ps
        if not over_ps * (1 - TOLERANCE) <= record.proof_any.bound_ps <= record.makespan_ps:
            found.append("bound for all numbers")
        if record.proof_any.searchless_ps > over_ps * (1 + TOLERANCE):
            found.append("bound for all numbers too high")
    return found


def quick(entry: Any, num_chunks: int) -> Bound:
    return best_bound(quick_bounds(entry.instance, entry.chunking.scope(num_chunks)))


def quick_ps(entry: Any, num_chunks: int) -> int:
    return quick(entry, num_chunks).value_ps
