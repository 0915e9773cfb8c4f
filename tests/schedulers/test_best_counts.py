"""The heuristics at their best number of chunks are the shortest of what they make with 1, 2, 4 … 512 chunks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from random_instances import random_instance

import themis_opt
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Dimension, Network, Topology
from themis_opt.schedulers.registry import COUNT_CHOOSERS

BASES = {"baseline-best": ("baseline",), "themis-best": ("themis-fifo", "themis-scf")}


@pytest.mark.parametrize("name", COUNT_CHOOSERS)
@pytest.mark.parametrize("seed", range(8))
def test_they_are_the_shortest_of_every_number_tried_alone(name: str, seed: int) -> None:
    instance = random_instance(Random(seed), max_chunks=8)
    tried = {
        (made.makespan_ps, count): made
        for count in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
        if count <= instance.size_bytes
        for base in reversed(BASES[name])
        for made in (themis_opt.schedule(replace(instance, num_chunks=count), base),)
    }
    shortest_ps, fewest = min(tried)
    made = themis_opt.schedule(instance, name)
    assert (made.makespan_ps, made.num_chunks) == (shortest_ps, fewest)
    assert (made.chunks, made.sequences) == (tried[min(tried)].chunks, tried[min(tried)].sequences)
    assert (made.scheduler, made.instance) == (name, instance)


def test_the_best_number_of_chunks_by_hand() -> None:
    # Reduce-Scatter of 64 B over two pairs, 1 B/us and 1 us of latency each. C chunks hold dim1 for C + 32 us, and
    # the last of them ends 1 + 16/C us later, on dim2: 50, 43, 41, 43 us for 1, 2, 4 and 8 chunks.
    pair = Dimension(Topology.SWITCH, 2, Fraction(10**6), Fraction(10**6))
    instance = Instance(Network("pairs", (pair, pair)), "reduce-scatter", 64, 64)
    made = themis_opt.schedule(instance, "baseline-best")
    assert (made.num_chunks, made.makespan_ps) == (4, 41_000_000)
    assert themis_opt.schedule(replace(instance, num_chunks=1), "baseline-best").chunks == made.chunks


@pytest.mark.parametrize("name", COUNT_CHOOSERS)
def test_a_message_of_three_bytes_has_at_most_two_chunks(name: str) -> None:
    instance = Instance(themis_opt.load_network("2d-sw-sw"), size_bytes=3, num_chunks=3)
    assert themis_opt.schedule(instance, name).num_chunks in (1, 2)
