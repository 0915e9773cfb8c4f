r"""The bound for exactly `C` chunks of any size, `C` small: all sequences of starts, the sizes left open.

With few chunks some dimension has nothing to do now and then, whatever the orders, and the fluid bound does not see it.
Here the stages of all chunks are sorted by their starts, and the sequences are explored depth first. After some of them
let :math:`t(x)` be the latest start and :math:`e_k(x)` the end of the last stage on dimension :math:`k`, for sizes
:math:`x` of the chunks. All stages left start neither before :math:`t` nor, on dimension :math:`k`, before :math:`e_k`:

.. math::

    T ≥ Σ_k y_k \max(e_k, t) + Σ_c \min_{orders} Σ_{left} y_k·duration                                           (I1)

    T ≥ \max(r_c, t) + \min_{orders} Σ_{left\ of\ c} duration                                                    (I2)

    T ≥ \max(e_k, t) + Σ_c \min_{orders} duration_{left\ of\ c\ on\ k}                                           (I3)

with :math:`r_c` the time a chunk is ready and :math:`y` the weights of a certificate. In (I1) it is the idle time so
far, weighted, that counts: with weights in proportion to the bandwidths and no reduction time, all orders carry the
same. All three are convex in :math:`x`, so their least value over all sizes is a linear program (`few_chunks_kernel`),
and a sequence with which it is not below a makespan known need not be continued. Few are continued for long.

What comes out is a bound, and where a complete sequence allows less the best schedule with fractional sizes. Floating
point is no proof: its errors, a part in :math:`10^{12}`, are covered a thousandfold by `MARGIN`, and half a picosecond
for each stage covers its rounding.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isfinite

import numpy as np

from themis_models.few_chunks_kernel import OUT_OF_NODES, Terms, explore
from themis_models.search.costing import FloatArray, IntArray
from themis_opt.problem.bound import Bound, BoundKind, BoundScope, Sizing
from themis_opt.problem.instance import Instance, Occupancy
from themis_opt.proof.order_lattice import Arc
from themis_opt.timing.cost import CostModel

MAX_STAGES = 24
"""Stages of all chunks: the four chunks of an All-Reduce in three dimensions take millions of nodes, seconds."""

SPLIT_DEPTH = 5
"""By so many starts sequences are continued to be shared out among the threads: some hundred."""

MAX_SPLIT = 20_000
"""And never more than this."""

NODES_AT_ONCE = 20_000
"""So many nodes, hundredths of a second, are explored at once; what takes more is shared out again."""

PARTS = 1000.0
"""Times are in this part of the bound known before."""

MARGIN = 1e-9
"""This part is taken off, for floating point."""


@dataclass(frozen=True)
class Sequences:
    """A complete sequence of starts, and the sizes best for it.

    Attributes
    ----------
    path
        (chunks, stages) The dimension of each stage, as a position among those involved.
    served
        For each dimension (position) the ``(chunk, stage)`` pairs in sequence.
    sizes
        (chunks) Parts of the collective's size.
    """

    path: IntArray
    served: list[list[tuple[int, int]]]
    sizes: FloatArray


@dataclass(frozen=True)
class Exploration:
    """What exploring all sequences gave.

    Attributes
    ----------
    bound
        No schedule takes less; ``None`` when time ran out.
    found
        The best schedule that takes less than was asked for, with fractional sizes; ``None`` when there is none.
    num_nodes
        Sequences looked at.
    """

    bound: Bound | None
    found: Sequences | None
    num_nodes: int


def is_provable(instance: Instance, num_chunks: int) -> bool:
    """Return whether the chunks are few enough, and the instance one of those this argument is made for."""
    num_stages = num_chunks * len(instance.phases) * len(instance.involved)
    is_covered = instance.occupancy is Occupancy.EXCLUSIVE and instance.collective.has_free_orders
    return is_covered and 0 < num_stages <= MAX_STAGES


def explore_sequences(
    instance: Instance,
    known: Bound,
    below_ps: float,
    deadline: float,
    num_workers: int = 1,
    max_nodes: int | None = None,
) -> Exploration:
    """Prove that no schedule takes less than `below_ps`, or find the best one that does.

    Parameters
    ----------
    instance
        The problem, `is_provable`; its own number of chunks does not matter.
    known
        A bound for exactly one number of chunks of any size, with its certificate.
    below_ps
        Schedules with less are looked for: finite, and above the known bound.
    deadline
        When to give up, on the clock of `time.monotonic`.
    num_workers
        Threads.
    max_nodes
        Also give up after about so many nodes.
    """
    scope, num_chunks = known.scope, known.scope.max_chunks
    if scope.sizes is not Sizing.FREE or scope.min_chunks != num_chunks or not is_provable(instance, num_chunks):
        raise ValueError(f"cannot explore the sequences of {scope}")
    if known.value_ps <= 0 or not isfinite(below_ps):
        return Exploration(None, None, 0)
    terms = _Tables(instance, known).terms()
    num_stages = num_chunks * len(instance.phases) * len(instance.involved)
    run = _Run(terms, num_chunks, num_stages, (below_ps / known.value_ps - 1) * PARTS, deadline, max_nodes)
    run.explore(num_workers)
    if run.is_given_up:
        return Exploration(None, None, run.num_nodes)
    least_ps = known.value_ps * (1 + run.limit / PARTS) * (1 - MARGIN) - num_stages / 2
    value_ps = max(known.value_ps, floor(least_ps))
    bound = Bound(value_ps, BoundKind.SEQUENCES, scope, known.certificate, known.certified_ps)
    found = None if run.best is None else _sequences(run.best, run.best_sizes, len(instance.involved))
    return Exploration(bound, found, run.num_nodes)


def compile_exploration(instance: Instance) -> None:
    """Call the compiled function once, on next to nothing."""
    scope = BoundScope(Sizing.FREE, 1, 1)
    weights = tuple(Fraction(1, instance.network.num_dimensions) for _ in instance.network.dimensions)
    explore_sequences(instance, Bound(1, BoundKind.FLUID, scope, weights, 1), 2.0, float("inf"))


class _Run:
    """One exploration: the limit and the best schedule so far, shared by its threads."""

    def __init__(
        self, terms: Terms, num_chunks: int, num_stages: int, limit: float, deadline: float, max_nodes: int | None
    ) -> None:
        self._terms = terms
        self._num_stages = num_stages
        self._deadline = deadline
        self._max_nodes = max_nodes
        self._lock = threading.Lock()
        self.limit = limit
        self.best: IntArray | None = None
        self.best_sizes = np.zeros(num_chunks)
        self.num_nodes = 0
        self.is_given_up = False

    def explore(self, num_workers: int) -> None:
        """Share out the sequences of some length among threads."""
        with ThreadPoolExecutor(num_workers) as pool:
            root = np.zeros((0, 2), np.int64)
            pending = deque(pool.submit(self._explore_from, prefix) for prefix in self._continued(root))
            while pending:
                pending.extend(pool.submit(self._explore_from, prefix) for prefix in pending.popleft().result())

    def _explore_from(self, prefix: IntArray) -> Iterable[IntArray]:
        """Explore what begins with some starts; return the continuations to explore instead if that is too much."""
        if self.is_given_up or time.monotonic() >= self._deadline or self._nodes_left < 1:
            self.is_given_up = True
            return ()
        opened = np.zeros((1, self._num_stages, 2), np.int64)
        sizes = np.zeros(len(self.best_sizes))
        limit, num_opened, num_nodes, status = explore(
            self._terms, prefix, self._num_stages, self.limit, min(NODES_AT_ONCE, self._nodes_left), opened, sizes
        )
        with self._lock:
            self.num_nodes += num_nodes
            if num_opened and limit < self.limit:
                self.limit, self.best, self.best_sizes = limit, opened[0], sizes
        return self._continued(prefix) if status == OUT_OF_NODES else ()

    @property
    def _nodes_left(self) -> int:
        """Nodes that may still be explored; as many as are explored at once where there is no limit."""
        return NODES_AT_ONCE if self._max_nodes is None else self._max_nodes - self.num_nodes

    def _continued(self, prefix: IntArray) -> IntArray:
        """Return all continuations of some starts, by `SPLIT_DEPTH` more, that may lead to less than the limit."""
        depth = min(len(prefix) + SPLIT_DEPTH, self._num_stages - 1)
        if depth == len(prefix):
            return prefix[np.newaxis]
        opened = np.zeros((MAX_SPLIT, depth, 2), np.int64)
        sizes = np.zeros(len(self.best_sizes))
        _, num_opened, num_nodes, status = explore(self._terms, prefix, depth, self.limit, NODES_AT_ONCE, opened, sizes)
        with self._lock:
            self.num_nodes += num_nodes
            self.is_given_up |= status == OUT_OF_NODES or num_opened > MAX_SPLIT
        return opened[:num_opened]


class _Tables:
    """The tables of `Terms`, worked out backwards from the end of a chunk's way."""

    def __init__(self, instance: Instance, known: Bound) -> None:
        self._instance = instance
        self._involved = instance.involved
        self._base_ps = known.value_ps
        self._unit_ps = known.value_ps / Fraction(int(PARTS))
        certificate = known.certificate
        assert certificate is not None, "a fluid bound has a certificate"
        self._weights = [float(certificate[k]) for k in self._involved]
        self._model = instance.derived(CostModel)
        num_dims = len(self._involved)
        self._full = 2**num_dims - 1
        shape = (len(instance.phases), self._full + 1, num_dims)
        self._rate, self._fixed = np.zeros(shape), np.zeros(shape)
        for p in range(shape[0]):
            for visited in range(self._full):
                for k in self._missing(visited):
                    self._rate[p, visited, k], self._fixed[p, visited, k] = self._stage(p, visited, k)

    def terms(self) -> Terms:
        """Return all the tables."""
        weights = np.array(self._weights)
        alone = np.eye(len(weights))
        return Terms(
            rate=self._rate,
            fixed=self._fixed,
            path_rate=self._least(self._rate),
            path_fixed=self._least(self._fixed),
            load_rate=np.stack([self._least(self._rate * one) for one in alone], axis=-1),
            load_fixed=np.stack([self._least(self._fixed * one) for one in alone], axis=-1),
            mean_rate=self._least(self._rate * weights),
            mean_fixed=self._least(self._fixed * weights),
            weights=weights,
            base=PARTS,
        )

    def _stage(self, p: int, visited: int, k: int) -> tuple[float, float]:
        """Return the time of a stage with the whole size, in excess of that with none, and that with none."""
        phase, dimension = self._instance.phases[p], self._involved[k]
        arc = Arc(phase, frozenset(d for j, d in enumerate(self._involved) if visited >> j & 1), dimension)
        per_byte = self._model.sent_fraction(*arc) * self._model.transfer_rate(phase, dimension)
        fixed = Fraction(self._model.latency_ps(phase, dimension))
        if p == 0 and visited == 0:
            fixed += self._instance.chunk_overhead_ps
        return float(self._instance.size_bytes * per_byte / self._unit_ps), float(fixed / self._unit_ps)

    def _missing(self, visited: int) -> list[int]:
        return [k for k in range(len(self._involved)) if not visited >> k & 1]

    def _least(self, table: FloatArray) -> FloatArray:
        """Return the least total of a table's entries from every vertex to the end."""
        num_phases = table.shape[0]
        least = np.zeros((num_phases + 1, self._full + 1))
        for p in reversed(range(num_phases)):
            least[p, self._full] = least[p + 1, 0]
            for visited in reversed(range(self._full)):
                least[p, visited] = min(
                    table[p, visited, k] + least[p, visited | 1 << k] for k in self._missing(visited)
                )
        return least


def _sequences(starts: IntArray, sizes: FloatArray, num_dims: int) -> Sequences:
    """Return a complete sequence of starts by chunk and by dimension."""
    paths: list[list[int]] = [[] for _ in sizes]
    served: list[list[tuple[int, int]]] = [[] for _ in range(num_dims)]
    for chunk, dimension in starts.tolist():
        served[dimension].append((chunk, len(paths[chunk])))
        paths[chunk].append(dimension)
    parts = np.maximum(sizes, 0.0)
    return Sequences(np.array(paths, dtype=np.int64), served, parts / parts.sum())


def prove_few_chunks(
    instance: Instance,
    known: Bound,
    makespan_of: Callable[[], float],
    offer: Callable[[Sequences], None],
    deadline: float,
    num_workers: int,
    rungs: Sequence[float] = (0.5, 1.0),
    max_nodes: int | None = None,
) -> tuple[Bound, int]:
    """Raise a bound towards the best makespan in some steps, as far as time allows; offer what is found to be shorter.

    Parameters
    ----------
    instance
        The problem, `is_provable`.
    known
        The fluid bound.
    makespan_of
        Returns the best makespan [ps].
    offer
        Takes a schedule with fractional sizes that is shorter.
    deadline
        When to give up, on the clock of `time.monotonic`.
    num_workers
        Threads.
    rungs
        How much of the gap each step is to close.
    max_nodes
        Also give up after about so many nodes.

    Returns
    -------
    tuple
        The bound, and the nodes explored.
    """
    best = known
    num_nodes = 0
    for rung in rungs:
        below_ps = known.value_ps + rung * (makespan_of() - known.value_ps)
        if best.value_ps >= below_ps - 1:
            continue
        nodes_left = None if max_nodes is None else max_nodes - num_nodes
        explored = explore_sequences(instance, known, below_ps, deadline, num_workers, nodes_left)
        num_nodes += explored.num_nodes
        if explored.bound is None:
            break
        if explored.found is not None:
            offer(explored.found)
        if explored.bound.value_ps > best.value_ps:
            best = explored.bound
        if explored.found is not None:
            break
    return best, num_nodes
