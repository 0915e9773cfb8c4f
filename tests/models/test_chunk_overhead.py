"""Launching a chunk costs: in the times, in the bounds, in the search, and in how many chunks are best."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from brute_force import optimum_ps
from test_exact_solvers import ONE_PHASE, SMALL, random_certificate, random_instance
from themis_models.auto.portfolio import solve_auto
from themis_models.cp_sat.cp_sat_solver import solve_cp_sat
from themis_models.fluid import fluid_bound
from themis_models.milp.milp_solver import solve_milp

import themis_opt
from themis_opt.files.network_file import load_network
from themis_opt.problem.bound import BoundScope, Sizing
from themis_opt.problem.chunking import make_chunking
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.problem.network import Dimension, Network, Topology
from themis_opt.problem.schedule import Status
from themis_opt.proof.certificate import certified_bound_ps
from themis_opt.proof.critical_path import critical_path_bound
from themis_opt.solving.protocol import SolverParams
from themis_opt.timing.cost import CostModel


@pytest.mark.parametrize("occupancy", list(Occupancy))
def test_only_the_first_stage_pays_and_holds(occupancy: Occupancy) -> None:
    # Two switches of 2 at 1 B/us, no latency, one chunk of 8 B, All-Reduce dim1, dim2, dim2, dim1: stages send 4, 2, 2
    # and 4 bytes: 12 us. The overhead of 5 us is paid once, on dim1: it holds dim1 for 9 us.
    network = Network("two", (Dimension(Topology.SWITCH, 2, Fraction(10**6)), Dimension(Topology.SWITCH, 2, 10**6)))
    instance = Instance(network, size_bytes=8, num_chunks=1, occupancy=occupancy, chunk_overhead_ps=5 * 10**6)
    schedule = themis_opt.schedule(instance, "baseline")
    assert schedule.makespan_ps == 17 * 10**6
    model = CostModel(instance)
    first = model.stage(8, instance.phases[0], (), 0)
    later = model.stage(8, instance.phases[1], (), 0)
    assert (model.hold_ps(first), model.hold_ps(later)) == (9 * 10**6, 2 * 10**6)


@pytest.mark.parametrize("seed", range(36))
def test_solvers_bounds_and_brute_force_agree(seed: int) -> None:
    overhead_ps = random.Random(seed).choice([1, 1000, 50_000])
    instance = replace(random_instance(SMALL * 4 + ONE_PHASE, seed), chunk_overhead_ps=overhead_ps)
    optimum = optimum_ps(instance)
    for solve in (solve_cp_sat, solve_milp):
        result = solve(instance, SolverParams(60.0))
        assert result.bound is not None
        assert result.schedule is not None
        assert (result.schedule.makespan_ps, result.bound.value_ps) == (optimum, optimum)
    certificate = random_certificate(instance, random.Random(seed))
    for sizing in Sizing:
        scope = BoundScope(sizing, instance.num_chunks, instance.num_chunks)
        assert certified_bound_ps(instance, certificate, scope) <= optimum
        assert fluid_bound(instance, scope, SolverParams()).value_ps <= optimum
        assert critical_path_bound(instance, scope).value_ps <= optimum


@pytest.mark.parametrize(("overhead_us", "gap", "counts"), [(0, 0.01, {3, 4}), (500, 0.12, {2})])
def test_overhead_makes_fewer_chunks_best(overhead_us: int, gap: float, counts: set[int]) -> None:
    """With 1 to 4 chunks of any size to choose from; the search ends at the gap, which only these numbers reach.

    No schedule ends before 780 us without overhead, nor before 1180 us with 500 us for each chunk. One chunk takes
    1341 us or 1841 us, two at best 820 us or 1320 us (as far as anybody found), and three end at 781 us or cannot end
    before 1420 us.
    """
    network = load_network("2d-sw-sw-artifact")
    instance = Instance(network, size_bytes=100 * 2**20, num_chunks=4, chunk_overhead_ps=overhead_us * 10**6)
    chunking = make_chunking(instance, Sizing.FREE, 4)
    result = solve_auto(instance, SolverParams(60.0, 2, chunking=chunking, gap=gap))
    assert result.schedule is not None
    themis_opt.check(instance, result.schedule.replace(bound=result.bound, status=Status.FEASIBLE))
    assert result.schedule.num_chunks in counts
