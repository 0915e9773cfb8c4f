"""Every schedule of every scheduler is right: complete, free of deadlock, and as long as it says."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random

import pytest
from nightly import mostly_nightly
from random_instances import random_instance

from themis_opt.files.network_file import load_network
from themis_opt.files.shipped import shipped_networks
from themis_opt.judging.execution import execute
from themis_opt.judging.validator import check
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.schedulers.registry import get_scheduler, scheduler_names

CHUNK_COUNTS = (1, 2, 3, 5, 8, 16, 64)


@pytest.mark.parametrize("name", scheduler_names())
def test_on_a_few_random_instances(name: str) -> None:
    for seed in range(40):
        instance = random_instance(Random(seed), max_chunks=8)
        schedule = get_scheduler(name)(instance, seed=seed)
        assert schedule.makespan_ps is not None
        check(instance, schedule)
        execute(instance, schedule)


@pytest.mark.slow
@pytest.mark.parametrize("collective", list(Collective))
@pytest.mark.parametrize("name", mostly_nightly(scheduler_names(), ["themis-flex-scf"]))
def test_on_random_networks(name: str, collective: Collective) -> None:
    for seed, num_chunks, occupancy in product(range(30), CHUNK_COUNTS, Occupancy):
        random = Random(seed)
        instance = replace(
            random_instance(random, max_size=9, collective=collective),
            size_bytes=num_chunks * random.choice([1, 7, 1000, 10**6]) + random.randrange(num_chunks),
            num_chunks=num_chunks,
            occupancy=occupancy,
        )
        check(instance, get_scheduler(name)(instance, seed=seed))


@pytest.mark.slow
@pytest.mark.parametrize("network", mostly_nightly(shipped_networks(), ["3d-fc-ring-sw"]))
def test_on_shipped_networks(network: str) -> None:
    """The whole grid: every scheduler, chunk count, collective and occupancy."""
    shipped = load_network(network)
    for num_chunks, collective, occupancy in product(CHUNK_COUNTS, Collective, Occupancy):
        instance = Instance(shipped, collective, 100_000_007, num_chunks, occupancy)
        for name in scheduler_names():
            check(instance, get_scheduler(name)(instance))
