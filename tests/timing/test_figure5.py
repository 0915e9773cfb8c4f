"""The paper's Figure 5: 256 MB All-Reduce on 4 x 4 NPUs, bandwidth 2 : 1, no latency, 4 chunks of 64 MB.

The unit is a Reduce-Scatter of a whole chunk on dim1: 64 MB * 3/4 / B1. The same on dim2 takes 2 units; after dim1 the
chunk is 4 times smaller, so dim2 takes 1/2; after dim2, dim1 takes 1/4. All-Gather mirrors Reduce-Scatter.

    order 1-2: RS dim1 1, RS dim2 1/2, AG dim2 1/2, AG dim1 1
    order 2-1: RS dim2 2, RS dim1 1/4, AG dim1 1/4, AG dim2 2
"""

from __future__ import annotations

import pytest
from themis_models.cp_sat.cp_sat_solver import solve_cp_sat

import themis_opt
from themis_opt.files.instance_file import load_instance
from themis_opt.problem.collective import Phase
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Chunk, Schedule, Slot, Status
from themis_opt.solving.protocol import SolverParams

RS, AG = Phase.REDUCE_SCATTER, Phase.ALL_GATHER
UNIT_PS = 10**9  # 64 MB * 3/4 / 48 GB/s = 1 ms

THEMIS_ORDERS = [(0, 1), (1, 0), (0, 1), (0, 1)]


@pytest.fixture
def instance() -> Instance:
    return load_instance("figure-5")


def test_the_instance_is_the_paper_s(instance: Instance) -> None:
    assert [dimension.size for dimension in instance.network.dimensions] == [4, 4]
    dim1, dim2 = instance.network.dimensions
    assert dim1.bandwidth_Bps == 2 * dim2.bandwidth_Bps
    assert 64 * 10**6 * 3 / 4 / dim1.bandwidth_Bps * 10**12 == UNIT_PS
    assert (instance.size_bytes, instance.num_chunks) == (256 * 10**6, 4)


def test_the_baseline_takes_8_units(instance: Instance) -> None:
    # Every chunk is on dim1 for 1 + 1 units, so dim1 is busy for 4 * 2 = 8 units; it starts at once, and the first
    # All-Gather is ready (at 1 + 1/2 + 1/2 = 2) long before the last Reduce-Scatter ends (at 4): no gap, 8 units.
    assert themis_opt.schedule(instance, "baseline").makespan_ps == 8 * UNIT_PS


@pytest.mark.parametrize("name", ["themis-fifo", "themis-scf"])
def test_themis_picks_the_orders_of_figure_7(name: str, instance: Instance) -> None:
    # Loads after chunk 0 (baseline): (1, 1/2), apart by more than 1/16 * 2 units; dim2 is least loaded: chunk 1 goes
    # 2-1: (1 + 1/4, 1/2 + 2). Chunk 2 goes 1-2: (2 1/4, 3), and so does chunk 3.
    schedule = themis_opt.schedule(instance, name)
    assert [schedule.order(c, RS) for c in range(4)] == THEMIS_ORDERS
    assert schedule.makespan_ps == 8 * UNIT_PS  # sequences matter as much as orders


def test_a_sequence_for_themis_s_orders_takes_7_units(instance: Instance) -> None:
    # Loads: dim1 3 * (1 + 1) + 2 * 1/4 = 6 1/2, dim2 3 * (1/2 + 1/2) + 2 * 2 = 7. So 7 is the least these orders allow,
    # and dim2 must never wait. Chunk 1 keeps it busy from 0 to 2 and, in the end, from 5 to 7; chunks 0, 2 and 3 fill
    # the time between, 1/2 a stage:
    #   dim1: RS0 0-1, RS2 1-2, RS1 2-2 1/4, AG1 2 1/4-2 1/2, RS3 2 1/2-3 1/2, AG0 3 1/2-4 1/2, AG2 4 1/2-5 1/2,
    #         AG3 5 1/2-6 1/2
    #   dim2: RS1 0-2, RS0 2-2 1/2, RS2 2 1/2-3, AG0 3-3 1/2, RS3 3 1/2-4, AG2 4-4 1/2, AG3 4 1/2-5, AG1 5-7
    schedule = Schedule(
        instance,
        tuple(Chunk(64 * 10**6, order, order[::-1]) for order in THEMIS_ORDERS),
        (
            (Slot(0, RS), Slot(2, RS), Slot(1, RS), Slot(1, AG), Slot(3, RS), Slot(0, AG), Slot(2, AG), Slot(3, AG)),
            (Slot(1, RS), Slot(0, RS), Slot(2, RS), Slot(0, AG), Slot(3, RS), Slot(2, AG), Slot(3, AG), Slot(1, AG)),
        ),
        makespan_ps=7 * UNIT_PS,
    )
    themis_opt.check(instance, schedule)
    timeline = themis_opt.simulate(instance, schedule)
    assert timeline.makespan_ps == 7 * UNIT_PS
    assert timeline.dimensions[1].idle_gaps == ()
    themis_opt.execute(instance, schedule)


def test_fifo_and_scf_leave_themis_s_orders_at_8_units(instance: Instance) -> None:
    chunks = [Chunk(64 * 10**6, order, order[::-1]) for order in THEMIS_ORDERS]
    for policy in ("fifo", "scf"):
        assert (
            themis_opt.dispatch(instance, chunks, themis_opt.DispatchPolicy(policy)).timeline.makespan_ps == 8 * UNIT_PS
        )


def test_the_solver_proves_that_7_units_are_optimal(instance: Instance) -> None:
    result = solve_cp_sat(instance, SolverParams(60.0, 2))
    assert result.status is Status.OPTIMAL
    assert result.bound is not None
    assert result.schedule is not None
    assert result.bound.value_ps == result.schedule.makespan_ps == 7 * UNIT_PS
