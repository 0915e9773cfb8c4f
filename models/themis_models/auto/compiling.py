"""Compiling what the portfolio runs before its clock starts: after installation that takes many seconds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from themis_models.auto.balanced import balanced_candidate
from themis_models.few_chunks import compile_exploration
from themis_models.search.annealing import NEIGHBOURHOODS_EQUAL, Cooling, Rules, anneal
from themis_models.search.rounding import FixedSequences
from themis_models.search.space import schedule_of, search_space, served_sequences
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Dimension, Network, Topology
from themis_opt.timing.sequencing import simulate


def compile_search() -> None:
    """Call every compiled function once, on next to nothing; from the cache that takes a fraction of a second."""
    dimension = Dimension(Topology.RING, 2, Fraction(10**9))
    instance = Instance(Network("two rings", (dimension, dimension)), Collective.ALL_REDUCE, 4096, 2)
    compile_exploration(instance)
    space = search_space(instance)
    sizes = instance.equal_chunk_sizes()
    candidate = balanced_candidate(space, sizes, 1.0, np.random.default_rng(0), lambda *found: None, num_moves=1)
    anneal(space.costs, candidate, Rules(NEIGHBOURHOODS_EQUAL), Cooling(1, 1.0, 1.0), 0)
    served = served_sequences(space, candidate)
    FixedSequences(space, candidate, served).makespan(candidate.chunk_bytes)
    simulate(instance, schedule_of(space, candidate, sizes, served))
