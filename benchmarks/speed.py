"""How fast simulator and command line are, against the limits the project sets itself.

Every time is a median. Calls are measured in processor time and ratios between calls made one right after the other, so
that a busy machine disturbs them little. Commands are measured in wall time, less the start of a bare interpreter: they
need a free processor. Exits 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import cycle
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from checks import Check, report
from themis_models.search import search_kernel as search_kernel
from themis_models.search.annealing import NEIGHBOURHOODS_EQUAL, Cooling, Rules, anneal
from themis_models.search.space import candidate_costs, candidate_of, kernel_scratch, random_candidate, search_space
from timing import ProcessUse, median_ratio, median_s, run_python

from themis_opt.files.network_file import load_network
from themis_opt.problem.collective import Collective
from themis_opt.problem.instance import Instance
from themis_opt.problem.network import Dimension, Network, Topology
from themis_opt.problem.schedule import Schedule
from themis_opt.schedulers.registry import get_scheduler
from themis_opt.timing import kernel, reference
from themis_opt.timing.cost import CostModel
from themis_opt.timing.dispatch import dispatch
from themis_opt.timing.policy import DispatchPolicy
from themis_opt.timing.sequencing import simulate
from themis_opt.timing.stage_table import build_stage_table

NETWORK = "4d-ring-sw-sw-sw"
SIZE_BYTES = 100_000_000

MIN_STAGES_PER_S = 5e6
MIN_REFERENCE_RATIO = 100
MIN_SEARCH_STAGES_PER_S = 10e6
MIN_SEARCH_REFERENCE_RATIO = 300
NPU_RATIOS = (0.8, 1.25)
MAX_SIMULATION_MS = 5.0
MAX_HELP_S = 0.25
MAX_IMPORT_S = 0.15
MAX_COMPARE_S = 2.5
MAX_COMPARE_MB = 400
SOLVE_LIMIT_S = 1.0
MAX_FIRST_SOLVE_S = 20.0
MAX_SOLVE_START_S = 1.0
NUM_PROCESSES = 7
NUM_INPUTS = 64
ANNEALING_MOVES = 20_000


def all_reduce(network: Network, num_chunks: int) -> Instance:
    """Return an All-Reduce of `SIZE_BYTES`."""
    return Instance(network, Collective.ALL_REDUCE, SIZE_BYTES, num_chunks)


class KernelCalls:
    """The compiled functions and their plain references as calls without arguments, on arrays made beforehand.

    Parameters
    ----------
    schedule
        Its chunks are dispatched under SCF, and the sequences that gives are timed.
    """

    def __init__(self, schedule: Schedule) -> None:
        table = build_stage_table(schedule.instance.derived(CostModel), schedule.chunks)
        num_dims = schedule.instance.network.num_dimensions
        num_chunks = schedule.num_chunks
        keys = table.resident_units()
        plain = reference.ReferenceDispatcher(table, DispatchPolicy.SCF, table.by_chunk(keys), num_dims)
        plain.run()
        self.num_stages = num_chunks * table.num_stages
        start = np.empty((num_chunks, table.num_stages), np.int64)
        served = np.empty((num_dims, num_chunks * len(schedule.instance.phases), 2), np.int64)
        arrays = (table.stage_array, table.array(keys))
        self.dispatch = partial(kernel.dispatch_by_key, *arrays, False, False, start, served)
        self.dispatch()
        counts = np.array([len(sequence) for sequence in plain.served], dtype=np.int64)
        self._num_done = np.zeros_like(counts)
        self._time_sequences = partial(kernel.time_sequences, table.stage_array, served, counts, start)
        self.reference_dispatch = partial(_run_reference, table, table.by_chunk(keys), num_dims)
        self.reference_time_sequences = partial(reference.time_sequences, table, plain.served)

    def time_sequences(self) -> None:
        """Time the sequences, compiled."""
        self._num_done[:] = 0
        self._time_sequences(self._num_done)


def _run_reference(*arguments: object) -> None:
    table, keys, num_dims = arguments
    reference.ReferenceDispatcher(table, DispatchPolicy.SCF, keys, num_dims).run()  # type: ignore[arg-type]


def kernel_checks() -> list[Check]:
    """Measure the compiled kernel: on one input again and again, and on inputs that change from call to call.

    The second is what a search does, and slower, since the processor cannot learn the branches by heart.
    """
    few = all_reduce(load_network(NETWORK), 64)
    one = KernelCalls(get_scheduler("themis-scf")(few))
    changing = [KernelCalls(get_scheduler("random")(few, seed=seed)) for seed in range(NUM_INPUTS)]
    many = KernelCalls(get_scheduler("themis-scf")(all_reduce(load_network(NETWORK), 512)))
    compiled, plain = cycle(call.dispatch for call in changing), cycle(call.reference_dispatch for call in changing)

    def rate(call: Callable[[], object]) -> float:
        return one.num_stages / median_s(call, samples=31, calls_per_sample=5 * NUM_INPUTS) / 1e6

    def next_compiled() -> None:
        next(compiled)()

    def next_plain() -> None:
        next(plain)()

    ratio = median_ratio(one.reference_dispatch, one.dispatch, samples=31, fast_calls=NUM_INPUTS)
    changing_ratio = median_ratio(next_plain, next_compiled, samples=31, fast_calls=NUM_INPUTS)
    timed_ratio = median_ratio(many.reference_time_sequences, many.time_sequences, samples=31, fast_calls=NUM_INPUTS)
    low = MIN_STAGES_PER_S / 1e6
    return [
        Check("dispatch, 64 chunks x 4 dimensions", rate(one.dispatch), low, unit="M stages/s", digits=1),
        Check("  over the plain reference", ratio, MIN_REFERENCE_RATIO, unit="x", digits=0),
        Check("  with changing inputs", rate(next_compiled), low, unit="M stages/s", digits=1),
        Check("  with changing inputs, over the reference", changing_ratio, unit="x", digits=0),
        Check("timing sequences, 64 chunks x 4 dimensions", rate(one.time_sequences), low, unit="M stages/s", digits=1),
        Check("  over the plain reference, 512 chunks", timed_ratio, unit="x", digits=0),
    ]


def search_checks() -> list[Check]:
    """Measure the search's kernel beside the simulator's plain reference, and annealing with it.

    Annealing gives most moves up early, and its rate counts the stages of every candidate it judges.
    """
    instance = all_reduce(load_network(NETWORK), 64)
    space = search_space(instance)
    schedule = get_scheduler("themis-scf")(instance)
    candidate = candidate_of(space, schedule)
    candidate.priority[:] = 1.0
    costs = candidate_costs(space, candidate)
    scratch = kernel_scratch(space, candidate)
    num_stages = candidate.path.size

    def dispatch_once() -> None:
        search_kernel.dispatch(candidate.path, costs, False, search_kernel.NEVER, scratch, False)

    def anneal_a_while() -> None:
        changing = random_candidate(space, instance.equal_chunk_sizes(), np.random.default_rng(0))
        bound = float(costs[-1].max())
        cooling = Cooling(ANNEALING_MOVES, 1e-2 * bound, 2e-5 * bound)
        anneal(space.costs, changing, Rules(NEIGHBOURHOODS_EQUAL), cooling, 0)

    dispatch_once()
    anneal_a_while()
    rate = num_stages / median_s(dispatch_once, samples=31, calls_per_sample=5 * NUM_INPUTS) / 1e6
    reference_dispatch = KernelCalls(schedule).reference_dispatch
    ratio = median_ratio(reference_dispatch, dispatch_once, samples=31, fast_calls=NUM_INPUTS)
    annealing = ANNEALING_MOVES * num_stages / median_s(anneal_a_while, samples=5) / 1e6
    low = MIN_SEARCH_STAGES_PER_S / 1e6
    return [
        Check("search kernel, 64 chunks x 4 dimensions", rate, low, unit="M stages/s", digits=1),
        Check("  over the simulator's plain reference", ratio, MIN_SEARCH_REFERENCE_RATIO, unit="x", digits=0),
        Check("annealing with it", annealing, low, unit="M stages/s", digits=1),
    ]


def num_npus_check() -> Check:
    """Compare the time it takes to simulate on 65,536 and on 64 NPUs."""

    def simulation(*sizes: int) -> Callable[[], object]:
        dimensions = tuple(Dimension(Topology.SWITCH, size, Fraction(10**11)) for size in sizes)
        instance = all_reduce(Network("three switches", dimensions), 64)
        return partial(simulate, instance, get_scheduler("round-robin")(instance))

    ratio = median_ratio(simulation(64, 32, 32), simulation(4, 4, 4), samples=201)
    return Check("time on 65,536 NPUs over time on 64 NPUs", ratio, *NPU_RATIOS)


def simulation_checks() -> list[Check]:
    """Measure what a user calls: simulating and dispatching 512 chunks on 4 dimensions."""
    instance = all_reduce(load_network(NETWORK), 512)
    schedule = get_scheduler("themis-scf")(instance)
    calls: dict[str, Callable[[], object]] = {
        "simulate(), 512 chunks x 4 dimensions": partial(simulate, instance, schedule),
        "dispatch(), 512 chunks x 4 dimensions": partial(dispatch, instance, schedule.chunks, DispatchPolicy.SCF),
    }
    return [
        Check(what, 1000 * median_s(call, samples=101), high=MAX_SIMULATION_MS, unit="ms")
        for what, call in calls.items()
    ]


def process_checks() -> list[Check]:
    """Measure commands, each in a fresh interpreter and less the start of a bare one, and the memory of `compare`."""
    limits_s = {
        ("-m", "themis_opt", "--help"): MAX_HELP_S,
        ("-c", "import themis_opt"): MAX_IMPORT_S,
        ("-m", "themis_opt", "compare", "3d-fc-ring-sw", "--solver", "none"): MAX_COMPARE_S,
    }
    result = []
    uses: list[ProcessUse] = []
    for command, limit_s in limits_s.items():
        run_python(command)
        bare_s, uses = [], []
        for _ in range(NUM_PROCESSES):
            bare_s.append(run_python(("-c", "pass")).wall_s)
            uses.append(run_python(command))
        wall_s = median(use.wall_s for use in uses) - median(bare_s)
        result.append(Check(" ".join(command[1:4]), wall_s, high=limit_s, unit="s", digits=3))
    result.append(Check("  its processor time", median(use.processor_s for use in uses), unit="s", digits=3))
    peak_MB = max(use.peak_bytes for use in uses) / 1e6
    result.append(Check("  its peak memory", peak_MB, high=MAX_COMPARE_MB, unit="MB", digits=0))
    return result


def solve_checks() -> list[Check]:
    """Measure the first `solve` after installation, which compiles, and what later ones take beyond their limit."""
    command = ("-m", "themis_opt", "solve", NETWORK, "--time-limit", f"{SOLVE_LIMIT_S:g}s", "--gap", "0%")
    with TemporaryDirectory() as empty:
        # Python's own cache is filled, too, as it is after an installation, whatever the shell that runs this says.
        caches = {"NUMBA_CACHE_DIR": empty, "PYTHONDONTWRITEBYTECODE": ""}
        first_s = run_python(command, caches).wall_s
        again_s = [run_python(command, caches).wall_s for _ in range(NUM_PROCESSES)]
    start_s = median(again_s) - SOLVE_LIMIT_S
    return [
        Check("first solve, compilation included", first_s, high=MAX_FIRST_SOLVE_S, unit="s", digits=1),
        Check("later ones, less their time limit", start_s, high=MAX_SOLVE_START_S, unit="s", digits=2),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args(arguments)
    print(f"{os.cpu_count()} processors, {os.getloadavg()[0]:.1f} programs running or waiting on average")
    return report(
        [
            *kernel_checks(),
            *search_checks(),
            num_npus_check(),
            *simulation_checks(),
            *process_checks(),
            *solve_checks(),
        ]
    )


if __name__ == "__main__":
    raise SystemExit(main())
