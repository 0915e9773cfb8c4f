"""Running the solver `auto` for the benchmarks: one process for all of them, so that its start-up is not measured."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType

from themis_opt.problem.bound import Bound, Sizing
from themis_opt.problem.chunking import make_chunking
from themis_opt.problem.instance import Instance
from themis_opt.problem.schedule import Schedule
from themis_opt.solving.process import SolverProcess
from themis_opt.solving.protocol import SolverParams
from themis_opt.solving.resources import usable_processors
from themis_opt.solving.run import run_solver

SOLVER = "auto"


@dataclass(frozen=True, slots=True)
class Solved:
    """What the solver found on one instance.

    Attributes
    ----------
    schedule
        Its best schedule, simulated and validated, with the best bound for the number of chunks it has.
    bound_any
        Where the number of chunks was free: the bound for all numbers allowed.
    wall_s
        Seconds of solving.
    note
        What the solver has to say, or nothing.
    """

    schedule: Schedule
    bound_any: Bound | None
    wall_s: float
    note: str

    @property
    def makespan_ps(self) -> int:
        """The simulated makespan."""
        assert self.schedule.makespan_ps is not None
        return self.schedule.makespan_ps

    @property
    def bound_ps(self) -> int:
        """The bound for exactly its number of chunks."""
        assert self.schedule.bound is not None
        return self.schedule.bound.value_ps

    @property
    def gap_pct(self) -> float:
        """How far the makespan is above that bound [%]."""
        return 100 * (self.makespan_ps / self.bound_ps - 1)

    @property
    def gap_any_pct(self) -> float | None:
        """Where the number of chunks was free: how far the makespan is above the bound for all numbers allowed [%]."""
        return None if self.bound_any is None else 100 * (self.makespan_ps / self.bound_any.value_ps - 1)


class AutoSolver:
    """The solver `auto` in a process of its own; use it as a context manager.

    Asking the same again gives the first answer: parts of a benchmark share their solves.

    Parameters
    ----------
    num_workers
        Threads of the solver; default: the processors this process may use.
    """

    def __init__(self, num_workers: int | None = None) -> None:
        self.num_workers = num_workers or usable_processors()
        self._process = SolverProcess(SOLVER)
        self._known: dict[tuple[object, ...], Solved] = {}

    def __enter__(self) -> AutoSolver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.stop()

    def free(self, instance: Instance, time_limit_s: float, *, max_chunks: int | None = None, gap: float = 0) -> Solved:
        """Solve with chunks of free size: as many as the instance says, or any number up to `max_chunks`."""
        return self.solve(instance, time_limit_s, sizing=Sizing.FREE, max_chunks=max_chunks, gap=gap)

    def equal(self, instance: Instance, time_limit_s: float, *, seed: int = 0, gap: float = 0) -> Solved:
        """Solve with as many equal chunks as the instance says."""
        return self.solve(instance, time_limit_s, gap=gap, seed=seed)

    def solve(
        self,
        instance: Instance,
        time_limit_s: float,
        *,
        sizing: Sizing = Sizing.EQUAL,
        max_chunks: int | None = None,
        gap: float = 0,
        seed: int = 0,
    ) -> Solved:
        """Solve with chunks of this sizing: as many as the instance says, or any number up to `max_chunks`.

        Raises
        ------
        KeyboardInterrupt
            When the solver was interrupted.
        """
        question = (instance, time_limit_s, sizing, max_chunks, gap, seed)
        if question not in self._known:
            chunking = make_chunking(instance, sizing, max_chunks)
            params = SolverParams(time_limit_s, self.num_workers, seed, chunking=chunking, gap=gap)
            outcome = run_solver(instance, self._process, SOLVER, params)
            if outcome.interruption is not None:
                raise outcome.interruption
            self._known[question] = Solved(outcome.schedule, outcome.bound_any, outcome.wall_s, outcome.note)
        return self._known[question]
