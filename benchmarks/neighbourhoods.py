"""Which neighbourhoods and which starts serve the search best: gaps after equal work, on the networks as simulated.

    python benchmarks/neighbourhoods.py

Every line anneals once per seed with the same number of stages timed; the gap is to the fluid bound.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence

import numpy as np
from themis_models.auto.balanced import balanced_candidate
from themis_models.search.annealing import NEIGHBOURHOODS_EQUAL, NEIGHBOURHOODS_KEEPING, Cooling, Rules, anneal
from themis_models.search.space import candidate_of, random_candidate, search_space

import themis_opt
from themis_opt.problem.instance import Instance

NETWORKS = ("3d-fc-ring-sw-artifact", "4d-ring-sw-sw-sw-artifact", "4d-ring-fc-ring-sw-artifact")
SIZE_BYTES = 100 * 2**20
COLD = 2e-5

# Shares of flips, exchanges, crossings, new priorities and moved bytes.
NEIGHBOURHOODS = {
    "all four": NEIGHBOURHOODS_EQUAL,
    "flips only": np.array([1.0, 0.0, 0.0, 0.0, 0.0]),
    "no exchanges, no crossings": np.array([0.65, 0.0, 0.0, 0.35, 0.0]),
    "no crossings": np.array([0.45, 0.3, 0.0, 0.25, 0.0]),
    "no priorities": np.array([0.5, 0.25, 0.25, 0.0, 0.0]),
}
# From what, how hot, and with which shares; None: not annealed at all.
STARTS = (
    ("random", 1e-2, NEIGHBOURHOODS_EQUAL),
    ("random", 1e-3, NEIGHBOURHOODS_EQUAL),
    ("themis-scf", 1e-2, NEIGHBOURHOODS_EQUAL),
    ("themis-scf", 1e-3, NEIGHBOURHOODS_EQUAL),
    ("balanced", 3e-4, NEIGHBOURHOODS_KEEPING),
    ("balanced", 0.0, None),
)


def gap(instance: Instance, start: str, hot: float, shares: np.ndarray | None, num_stages: int, seed: int) -> float:
    """Anneal once and return the gap to the fluid bound."""
    space = search_space(instance)
    bound_ps = float(themis_opt.lower_bound(instance).value_ps)
    sizes, random = instance.equal_chunk_sizes(), np.random.default_rng(seed)
    found: list[float] = []
    if start == "random":
        candidate = random_candidate(space, sizes, random)
    elif start == "balanced":
        candidate = balanced_candidate(space, sizes, bound_ps, random, lambda _, makespan_ps: found.append(makespan_ps))
    else:
        candidate = candidate_of(space, themis_opt.schedule(instance, start))
        candidate.priority[:] = 1.0
    if shares is None:
        return min(found) / bound_ps - 1
    num_moves = max(1, num_stages // candidate.path.size)
    cooling = Cooling(num_moves, hot * bound_ps, COLD * bound_ps, bound_ps)
    makespan_ps = anneal(space.costs, candidate, Rules(shares), cooling, seed)
    return makespan_ps / bound_ps - 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both tables; return 0, for there is nothing to miss."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chunks", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--stages", type=int, default=20_000_000, help="stages timed per annealing")
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args(arguments)
    seeds = range(chosen.seeds)
    for num_chunks in chosen.chunks:
        for name in NETWORKS:
            instance = Instance(themis_opt.load_network(name), size_bytes=SIZE_BYTES, num_chunks=num_chunks)
            print(f"\n{name}, {num_chunks} chunks, median gap of {chosen.seeds} seeds")
            for label, shares in NEIGHBOURHOODS.items():
                gaps = [gap(instance, "random", 1e-2, shares, chosen.stages, seed) for seed in seeds]
                print(f"  {label:28} {statistics.median(gaps):9.4%}")
            for start, hot, shares in STARTS:
                gaps = [gap(instance, start, hot, shares, chosen.stages, seed) for seed in seeds]
                how = f"hot {hot:6g}" if hot else "as it is  "
                print(f"  from {start:11} {how}  {statistics.median(gaps):9.4%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
