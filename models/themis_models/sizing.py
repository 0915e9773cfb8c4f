r"""The best chunk sizes for given orders and sequences: a linear program.

With orders and sequences fixed, stage times are affine in the chunk sizes :math:`x_c`, so sizes and starts are a linear
program (:math:`r` the transfer per byte, :math:`λ` what a stage takes besides: latency and launch overhead, :math:`s`
its start):

.. math::

    \min T \quad\text{with}\quad Σ_c x_c = S, \qquad x_c ≥ x_{min}                                            (Z1)

    s_{c,l+1} ≥ s_{c,l} + r_{c,l}\,x_c + λ_{c,l}, \qquad T ≥ s_{c,L} + r_{c,L}\,x_c + λ_{c,L}                 (Z2)

    s_{next} ≥ s_{c,l} + r_{c,l}\,x_c + λ^h_{c,l} \quad\text{along each dimension's sequence}                   (Z3)

with :math:`λ^h` without the latency where occupancy is pipelined.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from themis_models.quiet import quiet_stdout
from themis_models.search.costing import Candidate, FloatArray
from themis_models.search.space import SearchSpace, candidate_costs

if TYPE_CHECKING:
    import highspy


def best_sizes(
    space: SearchSpace, candidate: Candidate, served: Sequence[Sequence[tuple[int, int]]], min_bytes: float
) -> tuple[float, FloatArray] | None:
    """Return the makespan [ps] and the chunk sizes [bytes, fractional] that solve (Z1)-(Z3).

    Parameters
    ----------
    space
        The instance.
    candidate
        Gives the orders.
    served
        For each dimension (position) the ``(chunk, stage)`` pairs in sequence.
    min_bytes
        The least size of a chunk.

    Returns
    -------
    tuple or None
        ``None`` when HiGHS does not solve it, which needs a sequence that deadlocks or a minimum that does not fit.
    """
    import highspy

    rows = _Rows(space, candidate)
    rows.add_total(min_bytes)
    rows.add_chunk_precedences()
    rows.add_sequence_precedences(served)
    with quiet_stdout():
        highs = highspy.Highs()  # type: ignore[no-untyped-call]
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 1)
        highs.passModel(rows.program())
        highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    values = np.array(highs.getSolution().col_value)
    num_chunks = len(candidate.path)
    return float(values[-1]) * rows.unit_ps, np.maximum(values[:num_chunks], 0.0) * rows.total_bytes


class _Rows:
    """The rows of the program, times in units of the largest transfer and sizes as parts of the whole."""

    def __init__(self, space: SearchSpace, candidate: Candidate) -> None:
        self._space = space
        self._path = candidate.path
        self.total_bytes = float(space.instance.size_bytes)
        whole_duration, _ = self._times(candidate, self.total_bytes)
        duration, hold = self._times(candidate, 0.0)
        self.unit_ps = max(float((whole_duration - duration).max()), 1.0)
        self._transfer = (whole_duration - duration) / self.unit_ps
        self._fixed_duration = duration / self.unit_ps
        self._fixed_hold = hold / self.unit_ps
        self._lower: list[float] = []
        self._upper: list[float] = []
        self._starts = [0]
        self._columns: list[int] = []
        self._values: list[float] = []
        self._min_part = 0.0

    def _times(self, candidate: Candidate, chunk_bytes: float) -> tuple[FloatArray, FloatArray]:
        """Return duration and hold of every stage if every chunk had so many bytes."""
        sizes = np.full(len(candidate.path), chunk_bytes)
        _, hold, duration, _ = candidate_costs(self._space, candidate._replace(chunk_bytes=sizes))
        return duration, hold

    def add_total(self, min_bytes: float) -> None:
        """Require that the chunks together are the whole, none below the least size (Z1)."""
        self._min_part = min_bytes / self.total_bytes
        self._add([(chunk, 1.0) for chunk in range(len(self._path))], 1.0, 1.0)

    def add_chunk_precedences(self) -> None:
        """Require that a stage starts when its chunk is there, and the makespan covers the last one (Z2)."""
        num_chunks, num_stages = self._path.shape
        for c in range(num_chunks):
            for stage in range(num_stages):
                following = self._start(c, stage + 1) if stage + 1 < num_stages else self._makespan
                self._add_after(following, c, stage, self._fixed_duration[c, stage])

    def add_sequence_precedences(self, served: Sequence[Sequence[tuple[int, int]]]) -> None:
        """Require that a stage starts when its dimension no longer holds the one before it (Z3)."""
        for sequence in served:
            for (c, stage), following in pairwise(sequence):
                self._add_after(self._start(*following), c, stage, self._fixed_hold[c, stage])

    def program(self) -> highspy.HighsLp:
        """Return the program for HiGHS."""
        import highspy

        num_chunks = len(self._path)
        num_columns = self._makespan + 1
        program = highspy.HighsLp()
        program.num_col_ = num_columns
        program.num_row_ = len(self._lower)
        cost = np.zeros(num_columns)
        cost[-1] = 1.0
        program.col_cost_ = cost
        lower = np.zeros(num_columns)
        lower[:num_chunks] = self._min_part
        program.col_lower_ = lower
        program.col_upper_ = np.full(num_columns, highspy.kHighsInf)
        program.row_lower_ = np.array(self._lower)
        program.row_upper_ = np.array(self._upper)
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.array(self._starts)
        program.a_matrix_.index_ = np.array(self._columns)
        program.a_matrix_.value_ = np.array(self._values)
        return program

    @property
    def _makespan(self) -> int:
        return len(self._path) + self._path.size

    def _start(self, chunk: int, stage: int) -> int:
        num_chunks, num_stages = self._path.shape
        return int(num_chunks + chunk * num_stages + stage)

    def _add_after(self, column: int, chunk: int, stage: int, fixed: float) -> None:
        """Require that `column` is at least the start of a stage plus its transfer plus `fixed`."""
        transfer = float(self._transfer[chunk, stage])
        self._add([(column, 1.0), (self._start(chunk, stage), -1.0), (chunk, -transfer)], float(fixed), float("inf"))

    def _add(self, terms: Sequence[tuple[int, float]], lower: float, upper: float) -> None:
        for column, value in terms:
            self._columns.append(column)
            self._values.append(value)
        self._starts.append(len(self._columns))
        self._lower.append(lower)
        self._upper.append(upper)
