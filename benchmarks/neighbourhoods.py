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

import themis_opt
from themis_opt.instance import Instance
from themis_opt.search.annealing import NEIGHBOURHOODS_EQUAL, anneal
from themis_opt.search.space import candidate_of, random_candidate, search_space

NETWORKS = ("3d-fc-ring-sw-artifact", "4d-ring-sw-sw-sw-artifact", "4d-ring-fc-ring-sw-artifact")
SIZE_BYTES = 100 * 2**20
COLD = 2e-5

# Shares of flips, exchanges and new priorities.
NEIGHBOURHOODS = {
    "all three": NEIGHBOURHOODS_EQUAL,
    "flips only": np.array([1.0, 0.0, 0.0, 0.0]),
    "no exchanges": np.array([0.65, 0.0, 0.35, 0.0]),
    "no priorities": np.array([0.6, 0.4, 0.0, 0.0]),
}
STARTS = (("random", 1e-2), ("random", 1e-3), ("themis-scf", 1e-2), ("themis-scf", 1e-3))


def gap(instance: Instance, start: str, hot: float, shares: np.ndarray, num_stages: int, seed: int) -> float:
    """Anneal once and return the gap to the fluid bound."""
    space = search_space(instance)
    bound_ps = float(themis_opt.lower_bound(instance).value_ps)
    if start == "random":
        candidate = random_candidate(space, instance.equal_chunk_sizes(), np.random.default_rng(seed))
    else:
        candidate = candidate_of(space, themis_opt.schedule(instance, start))
        candidate.priority[:] = 1.0
    num_moves = max(1, num_stages // candidate.path.size)
    makespan_ps = anneal(
        candidate.path, candidate.chunk_bytes, candidate.priority, *space.arrays, False, 1.0, 0.0, shares, num_moves,
        hot * bound_ps, COLD * bound_ps, bound_ps, seed,
    )  # fmt: skip
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
            for start, hot in STARTS:
                gaps = [gap(instance, start, hot, NEIGHBOURHOODS_EQUAL, chosen.stages, seed) for seed in seeds]
                print(f"  from {start:11} hot {hot:6g}  {statistics.median(gaps):9.4%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
