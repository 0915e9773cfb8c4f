"""The best number of chunks, their sizes and the scheduler for each message size."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Unpack

from themis_opt.problem.bound import Bound, Sizing
from themis_opt.problem.chunking import BYTES_PER_PIECE, Chunking, make_chunking
from themis_opt.problem.instance import Instance
from themis_opt.problem.interruption import INTERRUPTION
from themis_opt.problem.parameters import DEFAULT_MAX_CHUNKS
from themis_opt.problem.ratios import ratio
from themis_opt.problem.schedule import Schedule
from themis_opt.questions.fixed_choices import FIXED_COUNTS, best_fixed_choices, shortest
from themis_opt.questions.tune.further_counts import solve_with_further_counts
from themis_opt.schedulers.registry import scheduler_names
from themis_opt.solving.any_count import bound_for_any_count
from themis_opt.solving.bounds import with_own_bound
from themis_opt.solving.keywords import Limits, params_of
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import DEFAULT_SOLVER, SolverParams
from themis_opt.solving.result import Result
from themis_opt.timing import metrics

BASELINE = "baseline"


@dataclass(frozen=True)
class TunedSize:
    """What to do for messages of one size.

    Attributes
    ----------
    schedule
        The shortest schedule found, with the bound for its own sizing and number of chunks.
    fixed
        The best that a fixed number of chunks, 1, 2, 4 … 512, with any scheduler gives.
    baseline
        The same of the baseline alone.
    bound_any
        A bound for chunks of any size and every number of them that was looked at.
    wall_s
        Seconds it took.
    note
        A sentence from the solver, or nothing.
    interruption
        The exception of Ctrl-C or a termination signal that cut the solver short, or ``None``.
    """

    schedule: Schedule
    fixed: Schedule
    baseline: Schedule
    bound_any: Bound
    wall_s: float = 0.0
    note: str = ""
    interruption: KeyboardInterrupt | None = None

    @property
    def size_bytes(self) -> int:
        """The message size."""
        return self.schedule.instance.size_bytes

    @property
    def makespan_ps(self) -> int:
        """The simulated makespan."""
        return self.schedule.timed_ps

    @property
    def algbw_Bps(self) -> float:
        """The algorithm bandwidth [bytes/s]."""
        return metrics.algbw_Bps(self.schedule.instance, self.makespan_ps)

    @property
    def busbw_Bps(self) -> float:
        """The bus bandwidth of nccl-tests [bytes/s]."""
        return metrics.busbw_Bps(self.schedule.instance, self.makespan_ps)

    @property
    def gap(self) -> float:
        """``makespan / bound - 1`` with the bound for its own sizing and number of chunks."""
        assert self.schedule.bound is not None
        return ratio(self.makespan_ps, self.schedule.bound.value_ps) - 1

    @property
    def gap_any(self) -> float:
        """``makespan / bound - 1`` with the bound for all numbers and sizes of chunks."""
        return ratio(self.makespan_ps, self.bound_any.value_ps) - 1

    @property
    def speedup_fixed(self) -> float:
        """The makespan of the best fixed choice over this one's: at least 1."""
        return ratio(self.fixed.timed_ps, self.makespan_ps)

    @property
    def speedup_baseline(self) -> float:
        """The makespan of the baseline at its best fixed number of chunks over this one's: at least 1."""
        return ratio(self.baseline.timed_ps, self.makespan_ps)


def tune(
    instance: Instance,
    sizes: Sequence[int],
    *,
    solver: str | None = DEFAULT_SOLVER,
    params: SolverParams | None = None,
    max_chunks: int = DEFAULT_MAX_CHUNKS,
    process: SolverProcess | None = None,
    **limits: Unpack[Limits],
) -> Iterator[TunedSize]:
    """Yield the best schedule for each message size, in the order given.

    For every size all schedulers are tried with 1, 2, 4 … 512 chunks, as many as there are bytes for; then the solver
    looks for something better. So what is yielded is never longer than any of those fixed choices. Among equally long
    schedules the one with fewest chunks is taken, then the simplest scheduler's.

    Parameters
    ----------
    instance
        Network, collective and the rest; its size and number of chunks do not matter.
    sizes
        Message sizes [bytes per NPU].
    solver
        The name of a solver, or ``None`` for the fixed choices alone. The default one chooses sizes and number of
        chunks; any other one schedules as many equal chunks as the best fixed choice has.
    params, limits
        The solver's limits, per size, as `SolverParams`, as keywords (see `Limits`), or both; the seed also goes to the
        schedulers.
    max_chunks
        The most chunks that the solver may choose.
    process
        A process of this solver that was started before; its starter ends it.

    Raises
    ------
    InputError
        When there is no such solver.
    SchedulerError
        When a scheduler fails.
    """
    params = params_of(params, limits)
    started_here = nullcontext(process) if process is not None or solver is None else SolverProcess(solver)
    with started_here as running:
        for size_bytes in sizes:
            INTERRUPTION.release()
            tuned = _tune(instance, size_bytes, solver, params, max_chunks, running)
            yield tuned
            if tuned.interruption is not None:
                return


def _tune(
    instance: Instance,
    size_bytes: int,
    solver: str | None,
    params: SolverParams,
    max_chunks: int,
    process: SolverProcess | None,
) -> TunedSize:
    started = time.perf_counter()
    sized = with_size(instance, size_bytes)
    names = scheduler_names()
    choices = best_fixed_choices(sized, names, params.seed)
    fixed = shortest(choices.values(), names)
    best, outcome = fixed, None
    if solver is not None:
        assert process is not None
        outcome = solve_size(fixed, solver, params, max_chunks, process)
        best = shortest([fixed, outcome.schedule], names)
    most = max(*FIXED_COUNTS, max_chunks, best.num_chunks)
    return TunedSize(
        with_own_bound(best),
        fixed,
        choices[BASELINE],
        bound_for_any_count(sized, most),
        time.perf_counter() - started,
        "" if outcome is None else outcome.note,
        None if outcome is None else outcome.interruption,
    )


def with_size(instance: Instance, size_bytes: int) -> Instance:
    """Return the instance with another size, and one chunk, which every size allows."""
    return replace(instance, size_bytes=size_bytes, num_chunks=1, known=None)


def solve_size(fixed: Schedule, solver: str, params: SolverParams, max_chunks: int, process: SolverProcess) -> Result:
    """Return what the solver makes of the instance of the best fixed choice."""
    instance = fixed.instance
    chunking = widest_chunking(instance, max_chunks) if solver == DEFAULT_SOLVER else make_chunking(instance)
    outcome = solve_with_further_counts(instance, process, solver, replace(params, chunking=chunking)).best
    counted = replace(instance, num_chunks=outcome.schedule.num_chunks)
    return replace(outcome, schedule=replace(outcome.schedule, instance=counted))


def widest_chunking(instance: Instance, max_chunks: int) -> Chunking:
    """Return the most that a solver may choose: sizes and number; of tiny messages the number of equal chunks."""
    if instance.size_bytes < instance.num_npus * BYTES_PER_PIECE:
        return make_chunking(instance, Sizing.EQUAL, max_chunks)
    return make_chunking(instance, Sizing.FREE, max_chunks)
