"""The best number of chunks, their sizes and the scheduler for each message size."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Unpack

from themis_opt.problem.bound import Sizing
from themis_opt.problem.chunking import BYTES_PER_PIECE, Chunking, make_chunking
from themis_opt.problem.instance import Instance
from themis_opt.problem.interruption import INTERRUPTION
from themis_opt.problem.parameters import DEFAULT_MAX_CHUNKS
from themis_opt.problem.ratios import gap, ratio
from themis_opt.problem.schedule import Schedule
from themis_opt.questions.fixed_choices import best_fixed_choices, shortest
from themis_opt.questions.further_counts import solve_with_further_counts
from themis_opt.questions.row import Row
from themis_opt.questions.speedup_reference import Reference, reference_of
from themis_opt.schedulers.best_counts import FIXED_COUNTS
from themis_opt.schedulers.registry import COUNT_CHOOSERS, scheduler_names
from themis_opt.solving.bounds import bound_for_any_count, with_own_bound
from themis_opt.solving.keywords import Limits, params_of
from themis_opt.solving.process import SolverProcess, process_of
from themis_opt.solving.protocol import DEFAULT_SOLVER, SolverParams
from themis_opt.solving.result import Result

BASELINE = "baseline"


@dataclass(frozen=True, kw_only=True)
class TunedSize(Row):
    """What to do for messages of one size: the row of the shortest schedule found, and what it was chosen from.

    Its speedup is over the best of what is not ours (`questions.speedup_reference`), its `bound_any` holds for
    chunks of any size and every number of them that was looked at.

    Attributes
    ----------
    choices
        The best that a fixed number of chunks, 1, 2, 4 … 512, gives with each scheduler, the simplest first.
    reference
        What its speedup is over.
    interruption
        The exception of Ctrl-C or a termination signal that cut the solver short, or ``None``.
    """

    choices: Mapping[str, Schedule]
    reference: Reference
    interruption: KeyboardInterrupt | None = None

    @property
    def size_bytes(self) -> int:
        """The message size."""
        return self.instance.size_bytes

    @property
    def baseline(self) -> Schedule:
        """The baseline with the best fixed number of chunks."""
        return self.choices[BASELINE]

    @property
    def fixed(self) -> Schedule:
        """The best that a fixed number of chunks with any scheduler gives."""
        return self.best_of(*self.choices)

    @property
    def gap_any(self) -> float:
        """``makespan / bound - 1`` with the bound for all numbers and sizes of chunks."""
        assert self.bound_any is not None
        return gap(self.makespan_ps, self.bound_any.value_ps)

    def best_of(self, *schedulers: str) -> Schedule:
        """Return the best that a fixed number of chunks with any of some schedulers gives."""
        return shortest((self.choices[name] for name in schedulers), tuple(self.choices))

    @property
    def speedup_baseline(self) -> float:
        """The makespan of the baseline with the best fixed number of chunks over this one's: at least 1."""
        return ratio(self.baseline.timed_ps, self.makespan_ps)

    @property
    def speedup_fixed(self) -> float:
        """The makespan of the best fixed choice over this one's: at least 1."""
        return ratio(self.fixed.timed_ps, self.makespan_ps)


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
    schedules the one with fewest chunks is taken, then the simplest scheduler's. An interruption ends it after the size
    that it cut short.

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
    # Those that try these numbers by themselves find nothing else.
    names = tuple(name for name in scheduler_names() if name not in COUNT_CHOOSERS)
    with nullcontext() if solver is None else process_of(solver, process) as running:
        for size_bytes in sizes:
            INTERRUPTION.release()
            started = time.perf_counter()
            # Every size allows one chunk.
            sized = replace(instance, size_bytes=size_bytes, num_chunks=1, known=None)
            # First what costs next to nothing: the solver is only kept where it finds something better.
            choices = best_fixed_choices(sized, names, params.seed)
            best = shortest(choices.values(), names)
            outcome = Result(best)
            if solver is not None and running is not None:
                outcome = _solve_size(best, solver, params, max_chunks, running)
                best = shortest([best, outcome.schedule], names)
            reference = reference_of(sized)
            bound_any = bound_for_any_count(sized, max(*FIXED_COUNTS, max_chunks, best.num_chunks))
            yield TunedSize(
                best.scheduler,
                with_own_bound(best),
                reference.makespan_ps,
                time.perf_counter() - started,
                outcome.note,
                bound_any,
                choices=choices,
                reference=reference,
                interruption=outcome.interruption,
            )
            if outcome.interruption is not None:
                return


def _solve_size(fixed: Schedule, solver: str, params: SolverParams, max_chunks: int, process: SolverProcess) -> Result:
    """Return what the solver makes of the instance of the best fixed choice."""
    instance = fixed.instance
    chunking = _widest_chunking(instance, max_chunks) if solver == DEFAULT_SOLVER else make_chunking(instance)
    outcome = solve_with_further_counts(instance, process, solver, replace(params, chunking=chunking)).best
    # So that the schedule file says how many chunks to launch.
    counted = replace(instance, num_chunks=outcome.schedule.num_chunks)
    return replace(outcome, schedule=outcome.schedule.replace(instance=counted))


def _widest_chunking(instance: Instance, max_chunks: int) -> Chunking:
    """Return the most that a solver may choose: sizes and number; of tiny messages the number of equal chunks."""
    # With fewer bytes than this a default granule does not fit, and there is no size to choose.
    has_pieces = instance.size_bytes >= instance.num_npus * BYTES_PER_PIECE
    return make_chunking(instance, Sizing.FREE if has_pieces else Sizing.EQUAL, max_chunks)
