"""Whole and exact numbers of other libraries become Python's own, and everything else is refused where it enters."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_instances import RS, dimension, network

import themis_opt
from themis_opt.files.schedule_file import load_schedule, save_schedule
from themis_opt.problem.bound import Bound, BoundScope, Sizing
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance, Known
from themis_opt.problem.network import Dimension, Network
from themis_opt.problem.schedule import Chunk, Schedule, Slot, StageTime

NETWORK = network(dimension(2), dimension(2))
INSTANCE = Instance(NETWORK, "reduce-scatter", size_bytes=8, num_chunks=1)
SCOPE = BoundScope(Sizing.EQUAL, 1, 1)


def schedule(**changes: Any) -> Schedule:
    """One chunk of 8 bytes at 1 byte/ps: 4 ps on dim1, then 2 ps on dim2."""
    fields: dict[str, Any] = {
        "instance": INSTANCE,
        "chunks": (Chunk(8, (0, 1)),),
        "sequences": ((Slot(0, RS),), (Slot(0, RS),)),
        "stages": (StageTime(0, RS, 0, 0, 4), StageTime(0, RS, 1, 4, 6)),
        "makespan_ps": 6,
    }
    return Schedule(**{**fields, **changes})


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "a float for a group size": (lambda: Dimension("ring", 4.0, 1), "size is 4.0; it must be a whole number"),
    "a truth value for links": (lambda: Dimension("ring", 4, 1, links=True), "links is True"),
    "a text for a bandwidth": (lambda: Dimension("ring", 4, "1 GB/s"), "bandwidth is '1 GB/s'; it must be a number"),
    "a truth value for a bandwidth": (lambda: Dimension("ring", 4, True), "bandwidth is True"),
    "an infinite bandwidth": (lambda: Dimension("ring", 4, float("inf")), "bandwidth is inf"),
    "a latency that is no number": (lambda: Dimension("ring", 4, 1, float("nan")), "latency is nan"),
    "a bandwidth beyond measure": (lambda: Dimension("ring", 4, 10**60), r"bandwidth is about 10\^60"),
    "a latency of 1001 digits": (lambda: Dimension("ring", 4, 1, Fraction(1, 3**2100)), "latency has more than a thou"),
    "a size of 40 digits": (lambda: Dimension("ring", 10**40, 1), "size is 1000.*at most 1000000000"),
    "a name that is no text": (lambda: Network(3, (Dimension("ring", 4, 1),)), "name is 3; it must be a text"),
    "dimensions that are none": (lambda: Network("n", ("ring",)), r"dimensions is \('ring',\)"),
    "a network by its name": (lambda: Instance("2d-sw-sw"), "network is '2d-sw-sw'; it must be a Network"),
    "a float for a size": (lambda: Instance(NETWORK, size_bytes=1e8), "size_bytes is 100000000.0"),
    "a truth value for a count": (lambda: Instance(NETWORK, num_chunks=True), "num_chunks is True"),
    "a text for an overhead": (lambda: Instance(NETWORK, chunk_overhead_ps="5us"), "chunk_overhead_ps is '5us'"),
    "a float index": (lambda: Instance(NETWORK, dimensions=(0, 1.0)), r"dimensions\[1\] is 1.0"),
    "an index alone": (lambda: Instance(NETWORK, dimensions=0), "dimensions is 0; it must be a sequence"),
    "a float makespan that is known": (lambda: Known(makespan_ps=1.0), "known.makespan_ps is 1.0"),
    "a float for bytes": (lambda: Chunk(8.0, (0, 1)), "size_bytes is 8.0"),
    "an order of texts": (lambda: Chunk(8, "01"), "rs_order is '01'; it must be a sequence"),
    "an order with a truth value": (lambda: Chunk(8, (0, True)), r"rs_order\[1\] is True"),
    "a float makespan": (lambda: schedule(makespan_ps=6.0), "makespan_ps is 6.0"),
    "a text for a seed": (lambda: schedule(seed="3"), "seed is '3'"),
    "a scheduler that is no name": (lambda: schedule(scheduler=None), "scheduler is None; it must be a text"),
    "a float chunk in a sequence": (
        lambda: schedule(sequences=((Slot(0.0, RS),), (Slot(0, RS),))),
        r"sequences\[0\]\[0\]: chunk is 0.0",
    ),
    "a float end": (
        lambda: schedule(stages=(StageTime(0, RS, 0, 0, 4), StageTime(0, RS, 1, 4, 6.0))),
        r"stages\[1\]: end_ps is 6.0",
    ),
    "a float bound": (lambda: Bound(5.5, "fluid", SCOPE), "bound_ps is 5.5"),
    "a scope without end": (lambda: BoundScope(Sizing.EQUAL, 1, None), "bound_scope.max_chunks is None"),
    "a seed below zero": (lambda: themis_opt.schedule(INSTANCE, seed=-1), "seed is -1; allowed are 0 to 2147483647"),
    "a float seed": (lambda: themis_opt.schedule(INSTANCE, seed=0.0), "seed is 0.0"),
    "half a worker": (lambda: themis_opt.solve(INSTANCE, num_workers=0.5), "num_workers is 0.5"),
    "no worker": (lambda: themis_opt.solve(INSTANCE, num_workers=0), "workers is 0; allowed are 1 to 1024"),
    "a time limit with a unit": (lambda: themis_opt.solve(INSTANCE, time_limit_s="10s"), "time_limit_s is '10s'"),
    "an endless time limit": (lambda: themis_opt.solve(INSTANCE, time_limit_s=float("inf")), "time_limit_s is inf"),
    "a gap that is no number": (lambda: themis_opt.solve(INSTANCE, gap=float("nan")), "gap is nan"),
    "a float for the most chunks": (lambda: themis_opt.solve(INSTANCE, max_chunks=4.0), "max_chunks is 4.0"),
    "a float granularity": (
        lambda: themis_opt.solve(INSTANCE, sizes="free", granularity_bytes=1.5),
        "granularity_bytes is 1.5",
    ),
    "an instance by its name": (lambda: themis_opt.solve("2d-sw-sw"), "instance is '2d-sw-sw'; it must be an Instance"),
    "a bound's endless time limit": (
        lambda: themis_opt.lower_bound(INSTANCE, time_limit_s=float("inf")),
        "time_limit_s is inf",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_such_number_is_refused_where_it_enters(what: str) -> None:
    make, message = REFUSED[what]
    with pytest.raises(InputError, match=message):
        make()


def test_numbers_of_numpy_become_pythons_own(tmp_path: Path) -> None:
    one = np.int64(1)
    dim = Dimension("fully-connected", np.int32(2), np.int64(10**12), np.float32(0.5), links=np.uint8(3))
    assert dim == Dimension("fully-connected", 2, Fraction(10**12), Fraction(1, 2), links=3)
    assert type(dim.size) is type(dim.links) is type(dim.bandwidth_Bps.numerator) is int

    instance = Instance(NETWORK, "reduce-scatter", np.int64(8), one, dimensions=np.array([0, 1]))
    assert instance == Instance(NETWORK, "reduce-scatter", 8, 1, dimensions=(0, 1))

    made = Schedule(
        INSTANCE,
        (Chunk(np.int64(8), np.array([0, 1])),),
        ((Slot(np.int64(0), RS),), (Slot(0, RS),)),
        makespan_ps=np.int64(6),
        seed=np.uint32(7),
        bound=Bound(np.int64(6), "cp-sat", BoundScope(Sizing.EQUAL, one, one)),
        stages=(StageTime(0, RS, 0, 0, np.int64(4)), StageTime(0, RS, np.int8(1), 4, 6)),
    )
    # JSON refuses numpy's integers, so whatever is left of them would show.
    save_schedule(made, tmp_path / "made.json")
    assert load_schedule(tmp_path / "made.json") == made
    assert json.loads((tmp_path / "made.json").read_text())["stages"][1] == [0, "rs", 1, 4, 6]


def test_exact_numbers_stay_exact() -> None:
    assert Dimension("ring", 2, Decimal("0.1")).bandwidth_Bps == Fraction(1, 10)
    assert Dimension("ring", 2, 0.1).bandwidth_Bps == Fraction(*(0.1).as_integer_ratio())
    assert Dimension("ring", 2, Fraction(1, 3)).bandwidth_Bps == Fraction(1, 3)


def test_checking_numbers_loads_no_numpy() -> None:
    program = (
        "import sys; from themis_opt import Instance, Network, Dimension\n"
        "Instance(Network('n', (Dimension('ring', 4, 10**9),)))\n"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
